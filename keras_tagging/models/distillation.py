"""Distillation: a model that learns from the probabilities of a trained one.

Hinton et al. (2015), "Distilling the Knowledge in a Neural Network",
:cite:`hinton2015`. No Keras here; the loss is in `training.objectives`.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from keras_tagging.data.lemmas.scripts import is_script, lemmas_of
from keras_tagging.data.named_columns import field_of, labels_of, with_labels
from keras_tagging.data.sentence import Corpus, Sentence, Sentences, as_sentences
from keras_tagging.encoding.batching import EncodedSentences, slices
from keras_tagging.models.files.run_folder import ENSEMBLE, MODEL, SOFT_TARGETS
from keras_tagging.models.labels import some
from keras_tagging.transitions.arborescence import best_heads
from keras_tagging.transitions.search import NumPy
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.named_models import find_model
from keras_tagging.utils.stored import StoredArrays, sha256_of

if TYPE_CHECKING:  # with Keras, which soft targets need not
    from keras_tagging.models.calls import SentenceCalls

FORMAT = 1
#: labels that are kept of each token
TOP_K = 8
#: the column of heads, whose labels are the numbers of words, and 0 for ROOT
HEAD = "head"
#: of a head, as far as trees are searched
LEAST = 1e-9
REMEDY = "remove it, and make them again with SoftTargets.of(teacher, sentences)"


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
        if not self._is_consistent():
            raise ValueError("labels, ids, probabilities and offsets do not fit")

    def _is_consistent(self) -> bool:
        """Whether the arrays, which may come from any file, fit each other."""
        offsets = self.offsets
        if offsets.ndim != 1 or not len(offsets) or offsets.dtype.kind not in "iu":
            return False
        if offsets[0] != 0 or (np.diff(offsets.astype("int64")) < 0).any():
            return False
        if not {*self.labels} == {*self.ids} == {*self.probabilities} or not self.ids:
            return False
        for name, labels in self.labels.items():
            ids, values = self.ids[name], self.probabilities[name]
            if ids.dtype.kind not in "iu" or values.dtype.kind != "f":
                return False
            if ids.shape != values.shape or ids.ndim != 2 or not ids.shape[1]:
                return False
            if len(ids) != offsets[-1]:
                return False
            if ids.size and not 0 <= ids.min() <= ids.max() < len(labels):
                return False
            # NaN is in no range
            sums = values.sum(-1, dtype="float64")
            if not ((values >= 0).all() and (sums <= 1.001).all()):
                return False
        return True

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        columns = ", ".join(f"{x.shape[1]} {n or 'tags'}" for n, x in self.ids.items())
        count = self.offsets[-1]
        return f"SoftTargets({len(self)} sentences, {count} tokens, {columns})"

    @classmethod
    def of(
        cls,
        teacher: "SentenceCalls",
        sentences: Sentences,
        *,
        top_k: int = TOP_K,
        watch: Callable[[Sequence[Sentence]], Iterable[Sentence]] = iter,
    ) -> "SoftTargets":
        """The predictions of a teacher for sentences.

        Args:
            teacher: a `Tagger`, or any model whose `predict` gives probabilities of the
                labels in its `tags`, such as an `Ensemble`. With a CRF they are
                marginals.
            sentences: sentences, or lists of words.
            top_k: the number of labels that are kept of each token.
            watch: function from the sentences to the same ones, which shows how many
                the teacher has read.

        Raises:
            ValueError: if the teacher has no `tags`.
        """
        sentences, labels = as_sentences(sentences), teacher_labels(teacher)
        if HEAD in labels:
            numbers = range(max(top_k, 1 + max(map(len, sentences), default=0)))
            labels[HEAD] = tuple(map(str, numbers))
        kept: dict = {name: ([], []) for name in labels}
        lengths = [0]
        for part in slices(watch(sentences), sum(map(len, labels.values()))):
            for rows in teacher.predict(part):
                for name, lists in kept.items():
                    row = rows if name is None else rows[name]
                    if name == HEAD:  # a short sentence has few
                        row = np.pad(row, [(0, 0), (0, max(0, top_k - row.shape[1]))])
                    best = np.argsort(-row, -1, kind="stable")[:, :top_k]
                    small = best.astype(np.min_scalar_type(len(labels[name])))
                    lists[0].append(small)
                    lists[1].append(np.take_along_axis(row, best, -1))
                lengths.append(len(lists[0][-1]))
        ids, values = (
            {name: np.concatenate(lists[i]) for name, lists in kept.items()}
            for i in (0, 1)
        )
        fingerprint = fingerprint_of(sentences)
        return cls(labels, ids, values, np.cumsum(lengths), fingerprint)

    # Use

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise a ValueError if they are not of these sentences, in this order."""
        if fingerprint_of(sentences) != self.fingerprint:
            raise ValueError("the soft targets are of other sentences: make them again")

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
            OSError: if it cannot be written.
        """
        columns = [[name, *labels] for name, labels in self.labels.items()]
        header = {"format": FORMAT, "sentences": self.fingerprint, "columns": columns}
        arrays = {"header": json.dumps(header), "offsets": self.offsets}
        for i, name in enumerate(self.labels):
            arrays[f"ids{i}"] = self.ids[name]
            arrays[f"probabilities{i}"] = self.probabilities[name]
        with replacing(Path(path)) as partial, partial.open("wb") as stream:
            np.savez(stream, **arrays)

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
                header = arrays.header()
                if header["format"] != FORMAT:
                    raise ValueError("it has another format")
                labels = {name: tuple(names) for name, *names in header["columns"]}
                texts = [header["sentences"], *filter(None, labels)]
                if not all(isinstance(x, str) for x in chain(texts, *labels.values())):
                    raise ValueError("its header has something else than strings")
                ids, values = (
                    {name: arrays[f"{array}{i}"] for i, name in enumerate(labels)}
                    for array in ("ids", "probabilities")
                )
                return cls(labels, ids, values, arrays["offsets"], texts[0])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(
                f"{path}: is no file of soft targets, or damaged ({error}): {REMEDY}"
            ) from error


def teacher_labels(teacher) -> dict[str | None, tuple[str, ...]]:
    """The labels of a teacher by column."""
    labels = getattr(teacher, "soft_labels", None) or getattr(teacher, "tags", None)
    if labels is None:
        raise ValueError("a teacher is a tagger, a biaffine parser, or an ensemble")
    labels = labels if isinstance(labels, Mapping) else {None: labels}
    return {name: tuple(of_column) for name, of_column in labels.items()}


def fingerprint_of(sentences: Iterable[Sentence]) -> str:
    """SHA-256 over the tokens of sentences, in their order."""
    digest = hashlib.sha256()
    for sentence in sentences:
        text = "\x01".join(sentence.tokens)
        digest.update(text.encode("utf-8", "surrogatepass") + b"\x03")
    return digest.hexdigest()


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
            ValueError: if the soft targets are not of these sentences, or lack the
                column of some labels.
        """
        sentences, targets = as_sentences(sentences), self.targets
        targets.check(sentences)
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

    def _labels(self, name: str | None) -> Sequence[str]:
        check_column("the soft targets", self.targets.labels, name)
        return self.targets.labels[name]

    def _best(self, name: str | None, rows: slice, sentence: Sentence) -> list[str]:
        labels = self._labels(name)
        values = self.targets.probabilities[name][rows]
        if name == HEAD:
            return _best_tree(self.targets.ids[name][rows], values)
        places = self.targets.ids[name][rows][np.arange(len(values)), values.argmax(-1)]
        best = [labels[place] for place in places]
        if name == "lemma" and all(map(is_script, labels)):
            best = lemmas_of(sentence.tokens, best)
        # a sentence of nothing else counts as one without lemmas
        return [*sentence.tokens] if name == "lemma" and {*best} == {"_"} else best

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
        size = max(ids.shape[1] for ids, _ in parts)
        soft = np.zeros((2, len(encoded.ids), len(parts), size))
        is_gold = np.empty((len(encoded.ids), len(parts)), bool)
        for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
            soft[:, :, i, : part[0].shape[1]] = part
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
            column: the student's `LabelColumn`.

        Raises:
            ValueError: if the soft targets lack it, or the student knows none of its
                labels.
        """
        labels = self._labels(column.name)
        places = np.array([column.ids.get(label, -1) for label in labels])
        if (places < 0).all():
            name = column.name or "tag"
            raise ValueError(f"the student knows no {name} of the soft targets")
        ids = places[self.targets.ids[column.name]]
        values = np.where(ids < 0, 0, self.targets.probabilities[column.name])
        # of the largest first: no small power is lost in rounding
        values = values.astype("float64")
        best = values.max(-1, keepdims=True)
        values = (values / np.where(best > 0, best, 1)) ** (1 / self.temperature)
        values /= np.maximum(values.sum(-1, keepdims=True), 1)
        order = np.argsort(-values, -1, kind="stable")
        ids, values = (np.take_along_axis(x, order, -1) for x in (ids, values))
        return np.where(values > 0, ids, 0), values


def _best_tree(ids: np.ndarray, values: np.ndarray) -> list[str]:
    """The heads of the best tree, of the probabilities of some heads of each word."""
    count = len(ids)
    scores = np.full((1, count, count + 1), np.log(LEAST), "float32")
    words, places = np.nonzero(values > LEAST)
    scores[0, words, ids[words, places]] = np.log(values[words, places])
    return [*map(str, best_heads(NumPy(), scores, np.array([count], "int32"))[0])]


def check_column(teacher: str, columns: Iterable[str | None], name: str | None) -> None:
    """Raise a ValueError if a teacher lacks a column of its student.

    Args:
        teacher: in the message.
        columns: of the teacher.
        name: of the column.
    """
    names = [column or "tags" for column in columns]
    check_known(f"column of {teacher}", name or "tags", names)


# Text without annotation, and a teacher in a run


def without(sentence: Sentence, names) -> Sentence:
    """A sentence without what it has of some columns of labels.

    Args:
        sentence: the sentence.
        names: of the columns; None and "tags" for its tags.
    """
    fields = {x for name in names if name for x in (name, field_of(name))}
    columns = {k: v for k, v in sentence.columns.items() if k not in fields}
    return replace(sentence, tags=None, columns=columns)


def digest_of(path: str | Path) -> str:
    """The SHA-256 of a model's file; of an ensemble that of the list of its files.

    Args:
        path: as `keras_tagging.load` takes it.

    Raises:
        OSError: if there is no such file.
    """
    path = find_model(path)
    if path.is_dir():
        path /= ENSEMBLE if not (path / MODEL).exists() else MODEL
    return sha256_of(path)


@dataclass(frozen=True)
class Teacher:
    """A trained model, or an ensemble, from which another one learns.

    Args:
        model: a tagger, or an ensemble of them.
        path: where it was, for messages and metadata.
        sha256: from `digest_of`.
        weight, temperature: `soft_weight` and `temperature` of `fit`.
        watch: as in `SoftTargets.of`.
        text: further sentences, whose labels are not read.
    """

    model: object
    path: str
    sha256: str
    weight: float = 0.5
    temperature: float = 1.0
    watch: Callable[[Sequence], Iterable] = iter
    text: Sequence[Sentence] = ()

    def check(self, student) -> list[str]:
        """Refuse a student that cannot learn from it, before anything is computed.

        Args:
            student: a model with vocabularies.

        Returns:
            Lines about labels that one of them lacks.

        Raises:
            ValueError: if the student learns from no soft targets, or has a column that
                the teacher lacks.
        """
        student.check_student()
        of_teacher, lines = teacher_labels(self.model), []
        for name, labels in teacher_labels(student).items():
            check_column(f"the teacher, {self.path},", of_teacher, name)
            column, theirs = name or "tags", of_teacher[name]
            shared = {*labels} & {*theirs}
            missed = [label for label in labels if label not in shared]
            more = [label for label in theirs if label not in shared]
            if missed or more:
                lines.append(
                    f"Labels in {column!r} that the teacher lacks: "
                    f"{some(missed) or '-'}; those that the student lacks: "
                    f"{some(more) or '-'}"
                )
        return lines

    def fit_arguments(
        self, student, sentences: Sequence[Sentence], out: Path
    ) -> tuple[list[Sentence], dict[str, object]]:
        """The sentences of the student's `fit`, and its keywords.

        What the teacher says is computed once, and kept in the folder of the run, where
        a resumed run finds it.

        Args:
            student: a model with vocabularies.
            sentences: the training sentences.
            out: the folder.

        Raises:
            ValueError: if the file in the folder is damaged.
        """
        names = student.learnt_columns
        sentences = [*sentences, *(without(sentence, names) for sentence in self.text)]
        # with every column that the teacher may read
        fingerprint = Corpus(sentences).fingerprint(self.model.input_columns)
        identity = f"{self.sha256} {fingerprint} {TOP_K}"
        key = hashlib.sha256(identity.encode()).hexdigest()
        path = out / SOFT_TARGETS.replace("*", key[:16])
        if not path.exists():
            SoftTargets.of(self.model, sentences, watch=self.watch).save(path)
        return sentences, {
            "soft_targets": SoftTargets.load(path),
            "soft_weight": self.weight,
            "temperature": self.temperature,
        }

    @cached_property
    def about(self) -> dict[str, object]:
        """The teacher in the metadata of its student."""
        about = {
            "path": self.path,
            "sha256": self.sha256,
            "model": self.name,
            "weight": self.weight,
            "temperature": self.temperature,
        }
        return about | ({"unlabelled sentences": len(self.text)} if self.text else {})

    @property
    def name(self) -> str:
        """Its architecture, or those of its members."""
        members = getattr(self.model, "members", None)
        if members is None:
            return self.model.architecture
        return f"ensemble of {', '.join(model.architecture for model in members)}"

    def __str__(self) -> str:
        beside = ", also on text without annotation" if self.text else ""
        return (
            f"Learns from {self.path} ({self.name}), with the weight {self.weight:g} "
            f"and the temperature {self.temperature:g}{beside}"
        )
