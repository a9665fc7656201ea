"""How a pupil learns from soft targets: with which weight, softened how much."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from keras_tagging.data.lemmas.scripts import is_script, lemmas_of
from keras_tagging.data.named_columns import labels_of, with_labels
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.training.soft_targets import MOVES, SoftTargets


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
        self.check_columns(names)
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
        parts = [self.softened(column) for column in columns]
        soft = np.zeros((2, len(encoded.ids), len(parts), max(map(_size, parts))))
        known = np.empty((len(encoded.ids), len(parts)), bool)
        for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
            soft[:, :, i, : _size(part)] = part
            gold = [labels_of(sentence, column.name) is not None for sentence in given]
            known[:, i] = np.repeat(gold, encoded.lengths)
        targets = np.where(known.reshape(encoded.targets.shape), encoded.targets, -1)
        ids, values = soft[0].astype("int32"), soft[1].astype("float32")
        return replace(encoded, targets=targets.astype("int32"), soft=(ids, values))

    def softened(self, column) -> tuple[np.ndarray, np.ndarray]:
        """The pupil's ids `(tokens, k)` of a column, best first, and their values.

        Args:
            column: the pupil's `LabelColumn`, which the soft targets have.

        Raises:
            ValueError: if the pupil knows none of its labels.
        """
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


def check_columns(what: str, theirs: Iterable[str | None], names) -> None:
    """Raise a ValueError if a teacher lacks a column of its pupil.

    Args:
        what: the beginning of the message.
        theirs: the columns of the teacher.
        names: those of the pupil.
    """
    for name in names:
        if name not in theirs:
            known = ", ".join(repr(own or "tags") for own in theirs)
            remedy = "build the pupil with tags= as the teacher"
            if any(str(x).startswith(MOVES) for x in (name, *theirs)):
                remedy = "a parser learns from one of the same transition system"
            raise ValueError(
                f"{what} no column {name or 'tags'!r}: theirs are {known}; {remedy}"
            )
