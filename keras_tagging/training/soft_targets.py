"""Soft targets: a teacher's probabilities of labels, from which a pupil learns.

Hinton et al. (2015), "Distilling the Knowledge in a Neural Network",
:cite:`hinton2015`. No Keras here; the loss is in `training.objectives`.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from keras_tagging.data.lemmas import is_script, lemmas_of
from keras_tagging.data.named_columns import labels_of, with_labels
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import EncodedSentences, slices
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import StoredArrays

FORMAT = 1
REMEDY = "make them again with SoftTargets.of(teacher, sentences)"


@dataclass(frozen=True, eq=False)
class SoftTargets:
    """Probabilities of the most probable labels of each token of some sentences.

    They are kept for each column of labels. A column without a name, None, is
    `Sentence.tags`::

        targets = keras_tagging.SoftTargets.of(teacher, corpus.train)
        pupil.fit(corpus.train, soft_targets=targets, temperature=2.0)

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
        return (
            f"SoftTargets({len(self)} sentences, {self.offsets[-1]} tokens, {columns})"
        )

    @classmethod
    def of(cls, teacher, sentences: Iterable, *, top_k: int = 8) -> "SoftTargets":
        """The predictions of a teacher for sentences.

        Args:
            teacher: a `Tagger`, or any model whose `predict` gives probabilities of the
                labels in its `tags`. With a CRF they are marginals.
            sentences: sentences, or lists of words.
            top_k: the number of labels that are kept of each token.

        Raises:
            ValueError: if the model has no labels for tokens, there is no sentence, or
                `top_k` is below 1.
        """
        if top_k < 1:
            raise ValueError(f"top_k={top_k}: give 1 or more")
        if not hasattr(teacher, "tags") or not hasattr(teacher, "predict"):
            raise ValueError(
                f"a {type(teacher).__name__} gives no probabilities of labels for "
                "tokens: give a Tagger"
            )
        sentences, tags = as_sentences(sentences), teacher.tags
        labels = tags if isinstance(tags, Mapping) else {None: tags}
        labels = {name: tuple(own) for name, own in labels.items()}
        kept: dict = {name: ([], []) for name in labels}
        for part in slices(sentences, sum(map(len, labels.values()))):
            for rows in teacher.predict(part):
                for name, lists in kept.items():
                    row = rows if name is None else rows[name]
                    best = np.argsort(-row, -1, kind="stable")[:, :top_k]
                    small = best.astype(np.min_scalar_type(len(labels[name])))
                    lists[0].append(small)
                    lists[1].append(np.take_along_axis(row, best, -1))
        if not sentences:
            raise ValueError("soft targets need sentences: there are none")
        ids, values = (
            {name: np.concatenate(lists[i]) for name, lists in kept.items()}
            for i in (0, 1)
        )
        offsets = np.cumsum([0, *map(len, sentences)])
        return cls(labels, ids, values, offsets, fingerprint_of(sentences))

    # Use

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise a ValueError if they are not of these sentences, in this order."""
        if fingerprint_of(sentences) != self.fingerprint:
            raise ValueError(
                f"the soft targets are of {len(self):,} other sentences than these "
                f"{len(sentences):,}, or of another order of them: {REMEDY}"
            )

    def digest(self) -> str:
        """SHA-256 of everything that is learnt from."""
        found = hashlib.sha256(self.fingerprint.encode())
        for name in self.labels:
            found.update(json.dumps([name, *self.labels[name]]).encode())
            found.update(self.ids[name].astype("<i8").tobytes())
            found.update(self.probabilities[name].astype("<f8").tobytes())
        return found.hexdigest()

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
                labels = {name: tuple(own) for name, *own in columns}
                ids, values = (
                    {name: arrays[f"{array}{i}"] for i, name in enumerate(labels)}
                    for array in ("ids", "probabilities")
                )
                return cls(labels, ids, values, arrays["offsets"], sentences)
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{path}: is no file of soft targets, or damaged ({error}): {REMEDY}"
            ) from error


@dataclass(frozen=True)
class Teaching:
    """How a pupil learns from soft targets: see `objectives.soft_cross_entropy`.

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
        if not isinstance(self.targets, SoftTargets):
            raise ValueError(
                f"soft_targets is a {type(self.targets).__name__}: give "
                "SoftTargets.of(teacher, sentences), or SoftTargets.load(path)"
            )
        if not 0 <= self.weight <= 1:
            raise ValueError(f"soft_weight={self.weight}: give a number from 0 to 1")
        if not 0 < self.temperature < float("inf"):
            raise ValueError(f"temperature={self.temperature}: give a number above 0")

    @property
    def run(self) -> dict[str, object]:
        """The values that identify it, for `Resume`."""
        own = {"weight": self.weight, "temperature": self.temperature}
        return {"digest": self.targets.digest(), **own}

    def labelled(self, sentences, names: Sequence[str | None]) -> list[Sentence]:
        """The sentences; those without gold tags have the teacher's best ones.

        These tell a new pupil which tags there are. They are not learnt as gold tags:
        see `encoded`.

        Args:
            sentences: sentences, or lists of words.
            names: of the pupil's columns.

        Raises:
            ValueError: if the soft targets are not of these sentences, or lack a
                column.
        """
        sentences, targets = as_sentences(sentences), self.targets
        targets.check(sentences)
        for name in names:
            if name not in targets.labels:
                theirs = ", ".join(repr(own or "tags") for own in targets.labels)
                raise ValueError(
                    f"the soft targets have no column {name or 'tags'!r}: theirs are "
                    f"{theirs}; build the pupil with tags= as the teacher"
                )
        found = []
        spans = zip(targets.offsets[:-1], targets.offsets[1:], strict=True)
        for sentence, (begin, end) in zip(sentences, spans, strict=True):
            best = {
                name or "tags": self._best(name, slice(begin, end), sentence)
                for name in names
                if labels_of(sentence, name) is None
            }
            found.append(with_labels(sentence, best) if best else sentence)
        return found

    def _best(self, name: str | None, rows: slice, sentence: Sentence) -> list[str]:
        labels = self.targets.labels[name]
        values = self.targets.probabilities[name][rows]
        places = self.targets.ids[name][rows][np.arange(len(values)), values.argmax(-1)]
        best = [labels[place] for place in places]
        scripts = name == "lemma" and all(map(is_script, labels))
        return lemmas_of(sentence.tokens, best) if scripts else best

    def encoded(
        self, encoded: EncodedSentences, given: Iterable[Sentence], columns
    ) -> EncodedSentences:
        """The sentences of a pupil with soft targets: see `EncodedSentences.soft`.

        The teacher's distribution is softened: its probabilities to the power of 1 /
        temperature, scaled to sum to 1. So the mass beyond the top k, and that of
        labels which the pupil lacks, goes to the others in proportion, as in the top-k
        distillation of Tan et al. (2019), :cite:`tan2019`: spread over hundreds of
        labels, a high temperature would make it most of the distribution. A token of
        which the pupil knows no label has no soft target.

        Args:
            encoded: of the sentences of `labelled`.
            given: the same sentences as the user gave them. Where they have no gold
                tags, the targets are -1.
            columns: the pupil's `LabelColumn` each.
        """
        parts = [self._softened(column) for column in columns]
        soft = np.zeros((2, len(encoded.ids), len(parts), max(map(_size, parts))))
        known = np.empty((len(encoded.ids), len(parts)), bool)
        for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
            soft[:, :, i, : _size(part)] = part
            gold = [labels_of(sentence, column.name) is not None for sentence in given]
            known[:, i] = np.repeat(gold, encoded.lengths)
        targets = np.where(known.reshape(encoded.targets.shape), encoded.targets, -1)
        ids, values = soft[0].astype("int32"), soft[1].astype("float32")
        return replace(encoded, targets=targets.astype("int32"), soft=(ids, values))

    def _softened(self, column) -> tuple[np.ndarray, np.ndarray]:
        """The pupil's ids `(tokens, k)` of a column, best first, and their values."""
        labels = self.targets.labels[column.name]
        places = np.array([column.ids.get(label, -1) for label in labels])
        if (places < 0).all():
            raise ValueError(
                f"the pupil knows no {column.name or 'tag'} of the soft targets: train "
                "it on sentences with the teacher's tags"
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


def fingerprint_of(sentences: Iterable[Sentence]) -> str:
    """SHA-256 over the tokens of sentences, in their order."""
    digest = hashlib.sha256()
    for sentence in sentences:
        text = "\x01".join(sentence.tokens)
        digest.update(text.encode("utf-8", "surrogatepass") + b"\x03")
    return digest.hexdigest()


def _are_columns(columns) -> bool:
    """Whether these are lists of the name of a column and its labels."""
    return (
        isinstance(columns, list)
        and all(isinstance(own, list) and len(own) > 1 for own in columns)
        and all(isinstance(x, str) for _, *labels in columns for x in labels)
        and all(own[0] is None or isinstance(own[0], str) for own in columns)
        and len({own[0] for own in columns}) == len(columns)
    )
