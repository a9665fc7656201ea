"""Soft targets: a teacher's probabilities of labels, from which a student learns.

Hinton et al. (2015), "Distilling the Knowledge in a Neural Network",
:cite:`hinton2015`. No Keras here; the loss is in `training.objectives`.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from keras_tagging.data.lemmas.scripts import is_script, lemmas_of
from keras_tagging.data.named_columns import labels_of, with_labels
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import EncodedSentences, slices
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import StoredArrays

FORMAT = 1
#: labels that are kept of each token
TOP_K = 8
#: the moves of a parser are a column whose name begins so, and has its system
MOVES = "moves:"
REMEDY = "make them again with SoftTargets.of(teacher, sentences)"


@dataclass(frozen=True, eq=False)
class SoftTargets:
    """Probabilities of the most probable labels of each token of some sentences.

    They are kept for each column of labels. A column without a name, None, is
    `Sentence.tags`::

        targets = keras_tagging.SoftTargets.of(teacher, corpus.train)
        student.fit(corpus.train, soft_targets=targets, temperature=2.0)

    Args:
        labels: the teacher's labels of each column.
        ids: `(tokens, k)` integers of each column: places in its `labels`.
        probabilities: `(tokens, k)` of each column; they sum to at most 1.
        offsets: `(sentences + 1,)`: sentence `i` has the tokens from `offsets[i]` to
            before `offsets[i + 1]`.
        fingerprint: of the sentences: see `fingerprint_of`.

    Raises:
        ValueError: if the arrays do not fit each other, or are no probabilities.
    """

    labels: Mapping[str | None, Sequence[str]]
    ids: Mapping[str | None, np.ndarray]
    probabilities: Mapping[str | None, np.ndarray]
    offsets: np.ndarray
    fingerprint: str

    def __post_init__(self):
        offsets = self.offsets
        whole = offsets.ndim == 1 and len(offsets) and offsets.dtype.kind in "iu"
        if not whole or offsets[0] != 0 or (np.diff(offsets.astype("int64")) < 0).any():
            raise ValueError("soft targets: offsets must rise from 0")
        if not self.labels or not set(self.labels) == {*self.ids} == {
            *self.probabilities
        }:
            raise ValueError("soft targets: each column needs labels, ids and values")
        for name, labels in self.labels.items():
            ids, values = self.ids[name], self.probabilities[name]
            if ids.shape != values.shape or ids.ndim != 2 or not ids.shape[1]:
                shapes = f"{ids.shape} and {values.shape}"
                raise ValueError(
                    f"soft targets: ids and probabilities are (tokens, k), not {shapes}"
                )
            if len(ids) != offsets[-1]:
                raise ValueError(
                    f"soft targets: {len(ids):,} rows for {offsets[-1]:,} tokens"
                )
            if ids.dtype.kind not in "iu" or values.dtype.kind != "f":
                raise ValueError("soft targets: ids are integers, probabilities floats")
            if ids.size and not 0 <= ids.min() <= ids.max() < len(labels):
                raise ValueError(f"soft targets: an id without one of {len(labels)}")
            # NaN is in no range
            sums = values.sum(-1, dtype="float64")
            if not ((values >= 0).all() and (sums <= 1.001).all()):
                raise ValueError("soft targets: these are no probabilities")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        columns = ", ".join(f"{x.shape[1]} {n or 'tags'}" for n, x in self.ids.items())
        rows = "moves" if any(map(_is_moves, self.labels)) else "tokens"
        count = self.offsets[-1]
        return f"SoftTargets({len(self)} sentences, {count} {rows}, {columns})"

    @classmethod
    def of(
        cls,
        teacher,
        sentences: Iterable,
        *,
        top_k: int = TOP_K,
        watch: Callable[[Sequence], Iterable] = iter,
    ) -> "SoftTargets":
        """The predictions of a teacher for sentences.

        Args:
            teacher: a `Tagger`, or any model whose `predict` gives probabilities of the
                labels in its `tags`. With a CRF they are marginals. Or a `Parser`, of
                which the probabilities are those of the moves, before each of the moves
                that build the tree of a sentence; or an `Ensemble`.
            sentences: sentences, or lists of words; for a parser sentences with trees.
            top_k: the number of labels that are kept of each token, or move.
            watch: function from the sentences to the same ones, which shows how many
                the teacher has read.

        Raises:
            ValueError: if the model has no labels for tokens, there is no sentence or
                a tree is missing, or `top_k` is below 1.
        """
        if top_k < 1:
            raise ValueError(f"top_k={top_k}: give 1 or more")
        sentences, labels = as_sentences(sentences), teacher_labels(teacher)
        kept: dict = {name: ([], []) for name in labels}
        moves = next((name for name in labels if _is_moves(name)), None)
        predict = teacher.predict if moves is None else teacher.predict_moves
        lengths = [0]
        for part in slices(watch(sentences), sum(map(len, labels.values()))):
            for rows in predict(part):
                for name, lists in kept.items():
                    row = rows if name in (None, moves) else rows[name]
                    best = np.argsort(-row, -1, kind="stable")[:, :top_k]
                    small = best.astype(np.min_scalar_type(len(labels[name])))
                    lists[0].append(small)
                    lists[1].append(np.take_along_axis(row, best, -1))
                lengths.append(len(lists[0][-1]))
        if not sentences:
            raise ValueError("soft targets need sentences: there are none")
        ids, values = (
            {name: np.concatenate(lists[i]) for name, lists in kept.items()}
            for i in (0, 1)
        )
        fingerprint = fingerprint_of(sentences, trees=moves is not None)
        return cls(labels, ids, values, np.cumsum(lengths), fingerprint)

    # Use

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise a ValueError if they are not of these sentences, in this order."""
        trees = any(map(_is_moves, self.labels))
        if fingerprint_of(sentences, trees) != self.fingerprint:
            raise ValueError(
                f"the soft targets are of {len(self):,} other sentences than these "
                f"{len(sentences):,}, or of another order of them: {REMEDY}"
            )

    def digest(self) -> str:
        """SHA-256 of everything that is learnt from."""
        sha256 = hashlib.sha256(self.fingerprint.encode())
        for name in self.labels:
            sha256.update(json.dumps([name, *self.labels[name]]).encode())
            sha256.update(self.ids[name].astype("<i8").tobytes())
            sha256.update(self.probabilities[name].astype("<f8").tobytes())
        return sha256.hexdigest()

    # Files

    def save(self, path: str | Path) -> None:
        """Write an `.npz` file, atomically.

        Raises:
            ValueError: if its name ends otherwise.
            OSError: if it cannot be written.
        """
        path = Path(path)
        if path.suffix != ".npz":
            raise ValueError(f"{path}: the name of soft targets must end in .npz")
        columns = [[name, *labels] for name, labels in self.labels.items()]
        header = {"format": FORMAT, "sentences": self.fingerprint, "columns": columns}
        arrays = {"header": json.dumps(header), "offsets": self.offsets}
        for i, name in enumerate(self.labels):
            arrays[f"ids{i}"] = self.ids[name]
            arrays[f"probabilities{i}"] = self.probabilities[name]
        with replacing(path) as partial:
            np.savez(partial, **arrays)

    @classmethod
    def load(cls, path: str | Path) -> "SoftTargets":
        """Read what `save` has written. Nothing is unpickled.

        Raises:
            ValueError: if the file has anything else, or is damaged.
            OSError: if it cannot be opened.
        """
        path = Path(path)
        try:
            with StoredArrays(path) as arrays:
                if arrays.size("header") > limits.RESUME_HEADER_BYTES:
                    raise ValueError("its header is too large")
                header = json.loads(str(arrays["header"]))
                if not isinstance(header, dict) or header.get("format") != FORMAT:
                    raise ValueError("it has another format")
                columns, sentences = header.get("columns"), header.get("sentences")
                if not isinstance(sentences, str) or not _are_columns(columns):
                    raise ValueError("its header lacks the columns")
                labels = {name: tuple(names) for name, *names in columns}
                ids, values = (
                    {name: arrays[f"{array}{i}"] for i, name in enumerate(labels)}
                    for array in ("ids", "probabilities")
                )
                return cls(labels, ids, values, arrays["offsets"], sentences)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path}: is no file of soft targets, or damaged ({error}): {REMEDY}"
            ) from error


def _is_moves(name: str | None) -> bool:
    return name is not None and name.startswith(MOVES)


def teacher_labels(teacher) -> dict[str | None, tuple[str, ...]]:
    """The labels of a teacher by column; of a parser its moves.

    Raises:
        ValueError: if the model has no labels for tokens.
    """
    if hasattr(teacher, "predict_moves"):
        return {
            name: tuple(of_column) for name, of_column in teacher.move_labels.items()
        }
    if not hasattr(teacher, "tags") or not hasattr(teacher, "predict"):
        raise ValueError(
            f"a {type(teacher).__name__} gives no probabilities of labels for tokens: "
            "give a Tagger"
        )
    tags = teacher.tags
    labels = tags if isinstance(tags, Mapping) else {None: tags}
    return {name: tuple(of_column) for name, of_column in labels.items()}


def fingerprint_of(sentences: Iterable[Sentence], trees: bool = False) -> str:
    """SHA-256 over the tokens of sentences, in their order.

    Args:
        sentences: the sentences.
        trees: whether it is over their trees too.
    """
    digest = hashlib.sha256()
    for sentence in sentences:
        text = "\x01".join(sentence.tokens)
        for name in ("head", "deprel") * trees:
            text += "\x02" + "\x01".join(sentence.columns.get(name, ()))
        digest.update(text.encode("utf-8", "surrogatepass") + b"\x03")
    return digest.hexdigest()


def _are_columns(columns) -> bool:
    """Whether these are lists of the name of a column and its labels."""
    return (
        isinstance(columns, list)
        and all(isinstance(column, list) and len(column) > 1 for column in columns)
        and all(isinstance(x, str) for _, *labels in columns for x in labels)
        and all(column[0] is None or isinstance(column[0], str) for column in columns)
        and len({column[0] for column in columns}) == len(columns)
    )


@dataclass(frozen=True, eq=False)
class Unlabelled:
    """Sentences that a teacher annotates as a student needs them.

    In each epoch the student learns from as many batches of them as of the training
    sentences, or from all if there are fewer; the next epoch goes on where the last one
    ended. Memory does not grow with the text::

        text = keras_tagging.Unlabelled(teacher, CorpusFiles(["news.txt"]))
        student.fit(corpus.train, soft_targets=targets, unlabelled=text)

    What the sentences have of the labels to learn is not read.

    Args:
        teacher: as in `SoftTargets.of`, which made the soft targets.
        sentences: sentences, or lists of words, which can be read again and again: a
            list, or `data.CorpusFiles`.
        watch: as in `SoftTargets.of`; it is called in each epoch.

    Raises:
        ValueError: if the sentences can be read only once.
    """

    teacher: object
    sentences: Iterable
    watch: Callable[[Sequence], Iterable] = iter

    def __post_init__(self):
        if iter(self.sentences) is self.sentences:
            raise ValueError(
                f"unlabelled sentences are read again in later epochs, and a "
                f"{type(self.sentences).__name__} can be read once: give a list, or "
                "CorpusFiles(paths)"
            )


@dataclass(frozen=True)
class Distillation:
    """How a student learns from soft targets: see `objectives.soft_cross_entropy`.

    Args:
        targets: the `SoftTargets`.
        weight: the share of the soft targets in the loss; the rest is of the gold tags.
        temperature: above 1, what the teacher thinks of improbable labels counts more.

    Raises:
        ValueError: if a number is not possible.
    """

    targets: SoftTargets
    weight: float
    temperature: float

    def __post_init__(self):
        if not 0 <= self.weight <= 1:
            raise ValueError(f"soft_weight={self.weight}: give a number from 0 to 1")
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"temperature={self.temperature}: give a number above 0")

    @property
    def run(self) -> dict[str, object]:
        """The values that identify it, for `Resume`."""
        numbers = {"weight": self.weight, "temperature": self.temperature}
        return {"digest": self.targets.digest(), **numbers}

    def labelled(self, sentences, names: Sequence[str | None]) -> list[Sentence]:
        """The sentences; those without gold tags have the teacher's best ones.

        These tell a new student which tags there are. They are not learnt as gold tags:
        see `encoded`.

        Args:
            sentences: sentences, or lists of words.
            names: of the student's columns.

        Raises:
            ValueError: if the soft targets are not of these sentences, or lack a
                column.
        """
        sentences, targets = as_sentences(sentences), self.targets
        targets.check(sentences)
        self.check_columns(names)
        labelled = []
        spans = zip(targets.offsets[:-1], targets.offsets[1:], strict=True)
        for sentence, (begin, end) in zip(sentences, spans, strict=True):
            best = {
                name or "tags": self._best(name, slice(begin, end), sentence)
                for name in names
                if labels_of(sentence, name) is None
            }
            labelled.append(with_labels(sentence, best) if best else sentence)
        return labelled

    def check_columns(self, names: Iterable[str | None]) -> None:
        """Raise a ValueError if the soft targets lack a column."""
        check_columns("the soft targets have", self.targets.labels, names)

    def _best(self, name: str | None, rows: slice, sentence: Sentence) -> list[str]:
        labels = self.targets.labels[name]
        values = self.targets.probabilities[name][rows]
        places = self.targets.ids[name][rows][np.arange(len(values)), values.argmax(-1)]
        best = [labels[place] for place in places]
        scripts = name == "lemma" and all(map(is_script, labels))
        return lemmas_of(sentence.tokens, best) if scripts else best

    def encoded(
        self, encoded: EncodedSentences, unannotated: Iterable[Sentence], columns
    ) -> EncodedSentences:
        """The sentences of a student with soft targets: see `EncodedSentences.soft`.

        The teacher's distribution is softened: its probabilities to the power of 1 /
        temperature, scaled to sum to 1. So the mass beyond the top k, and that of
        labels which the student lacks, goes to the others in proportion, as in the
        top-k distillation of Tan et al. (2019), :cite:`tan2019`: spread over hundreds
        of labels, a high temperature would make it most of the distribution. A token of
        which the student knows no label has no soft target.

        Args:
            encoded: of the sentences of `labelled`.
            unannotated: the same sentences as the user gave them. Where they have no
                gold tags, the targets are -1.
            columns: the student's `LabelColumn` each.
        """
        parts = [self.softened(column) for column in columns]
        soft = np.zeros((2, len(encoded.ids), len(parts), max(map(_size, parts))))
        is_gold = np.empty((len(encoded.ids), len(parts)), bool)
        for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
            soft[:, :, i, : _size(part)] = part
            gold = [
                labels_of(sentence, column.name) is not None for sentence in unannotated
            ]
            is_gold[:, i] = np.repeat(gold, encoded.lengths)
        targets = np.where(is_gold.reshape(encoded.targets.shape), encoded.targets, -1)
        ids, values = soft[0].astype("int32"), soft[1].astype("float32")
        return replace(encoded, targets=targets.astype("int32"), soft=(ids, values))

    def softened(self, column) -> tuple[np.ndarray, np.ndarray]:
        """The student's ids `(tokens, k)` of a column, best first, and their values.

        Args:
            column: the student's `LabelColumn`, which the soft targets have.

        Raises:
            ValueError: if the student knows none of its labels.
        """
        labels = self.targets.labels[column.name]
        places = np.array([column.ids.get(label, -1) for label in labels])
        if (places < 0).all():
            raise ValueError(
                f"the student knows no {column.name or 'tag'} of the soft targets: "
                "train it on sentences with the teacher's tags"
            )
        ids = places[self.targets.ids[column.name]]
        values = np.where(ids < 0, 0, self.targets.probabilities[column.name])
        # of the largest first: no small power is lost in rounding
        values = values.astype("float64")
        best = values.max(-1, keepdims=True)
        values = (values / np.where(best > 0, best, 1)) ** (1 / self.temperature)
        values /= np.maximum(values.sum(-1, keepdims=True), 1)
        order = np.argsort(-values, -1, kind="stable")
        ids, values = (np.take_along_axis(x, order, -1) for x in (ids, values))
        return np.maximum(ids, 0), values


def _size(part) -> int:
    return part[0].shape[1]


def check_columns(what: str, theirs: Iterable[str | None], names) -> None:
    """Raise a ValueError if a teacher lacks a column of its student.

    Args:
        what: the beginning of the message.
        theirs: the columns of the teacher.
        names: those of the student.
    """
    for name in names:
        if name not in theirs:
            listed = ", ".join(repr(column or "tags") for column in theirs)
            raise ValueError(
                f"{what} no column {name or 'tags'!r}: theirs are {listed}; build the "
                "student with the tags=, or the transition system, of the teacher"
            )
