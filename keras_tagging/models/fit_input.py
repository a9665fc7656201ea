"""Keras' own keywords of `fit` for sentences: weights, a held-out share."""

import hashlib
from collections.abc import Mapping

import numpy as np

from keras_tagging.data.named_columns import with_targets
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.suggestions import check_known

#: arguments of Keras' `fit` that make no sense for sentences
WITHOUT_USE = ("shuffle", "initial_epoch", "steps_per_epoch", "validation_steps")
WITHOUT_USE += ("validation_batch_size", "validation_freq")


def refuse_unused(arguments: Mapping[str, object]) -> None:
    """Refuse further arguments of `fit`.

    Raises:
        ValueError: for one of Keras' that has no use here.
        TypeError: for any other.
    """
    for name in arguments:
        if name in WITHOUT_USE:
            raise ValueError(
                f"{name} has no use: every epoch reads all sentences, in an order of "
                "its own, and evaluates all development sentences; leave it out"
            )
        raise TypeError(f"fit() got an unexpected keyword argument {name!r}")


def development(validation_data, names):
    """Development sentences, also as Keras' pair of sentences and targets.

    Raises:
        ValueError: for a triple, whose weights nothing reads, and as `with_targets`.
    """
    pair = isinstance(validation_data, tuple) and len(validation_data) in (2, 3)
    if not pair or _is_sentence(validation_data[0]):
        return with_targets(validation_data or [], None, names)
    if len(validation_data) == 3:
        raise ValueError(
            "validation_data has weights, but figures count every token once: give "
            "(sentences, targets)"
        )
    return with_targets(*validation_data, names)


def _is_sentence(x) -> bool:
    if isinstance(x, Sentence) or not isinstance(x, list | tuple):
        return isinstance(x, Sentence)
    return bool(x) and isinstance(x[0], str)


def held_out(sentences, share: float) -> tuple[list[Sentence], list[Sentence]]:
    """The first sentences, and the last ones, of which there are this share.

    Raises:
        ValueError: unless 0 < share < 1, or if there are no first ones.
    """
    number = isinstance(share, int | float) and not isinstance(share, bool)
    if not number or not 0 < share < 1:
        raise ValueError(f"validation_split={share!r}: give a share, such as 0.1")
    first = int(len(sentences) * (1 - share))  # as Keras counts
    if not first:
        raise ValueError(
            f"validation_split={share}: of {len(sentences):,} sentences, that leaves "
            "none to train on"
        )
    return sentences[:first], sentences[first:]


class Weights:
    """How much each token counts in the loss, as in Keras' `fit`.

    Args:
        sample_weight: a number for each sentence, or a list of numbers for each, one a
            token; None for 1.
        class_weight: dict from labels to numbers; others have 1. Both are multiplied.

    Raises:
        ValueError: if something is neither a weight nor None.
    """

    def __init__(self, sample_weight=None, class_weight=None):
        if class_weight is not None and not isinstance(class_weight, Mapping):
            raise ValueError(
                f"class_weight={class_weight!r:.60}: give a dict of labels and their "
                "weights, {'O': 0.1}"
            )
        self.classes = {
            label: float(_checked(weight, f"class_weight of {label!r}"))
            for label, weight in (class_weight or {}).items()
        }
        self.samples = None if sample_weight is None else list(sample_weight)

    def __bool__(self) -> bool:
        return bool(self.classes) or self.samples is not None

    @property
    def of_sentences(self) -> bool:
        """Whether all tokens of a sentence have the same."""
        return not self.classes and all(np.ndim(x) == 0 for x in self.samples)

    def of_tokens(self, sentences, label_columns=()) -> list[np.ndarray] | None:
        """For each sentence `(tokens,)` float32; None if all weights are 1.

        Args:
            sentences: with gold labels. There may be more weights of sentences: those
                of the sentences that were held out.
            label_columns: of the model; classes are those of a single one.

        Raises:
            ValueError: if the weights do not fit the sentences, or a class is unknown.
        """
        parts = [np.ones(len(sentence), "float32") for sentence in sentences]
        if self.samples is not None:
            for i, (part, given) in enumerate(
                zip(parts, self.samples, strict=False), start=1
            ):
                given = _checked(given, f"sample_weight of sentence {i}")
                if given.ndim > 1 or given.ndim and len(given) != len(part):
                    raise ValueError(
                        f"sentence {i} has {len(part)} tokens, but a sample_weight of "
                        f"shape {given.shape}: give one number, or one a token"
                    )
                part *= given
        if self.classes:
            [column] = label_columns
            for label in self.classes:
                if not isinstance(label, str):
                    raise ValueError(
                        f"class_weight of {label!r}: name labels, not their ids, such "
                        f"as {column.labels[0]!r}"
                    )
                check_known("label in class_weight", label, column.labels)
            for part, labels in zip(parts, column.learnt(sentences), strict=True):
                part *= [self.classes.get(label, 1.0) for label in labels]
        if not any(part.any() for part in parts):
            raise ValueError("all weights are 0: nothing to learn from")
        return None if all((part == 1).all() for part in parts) else parts

    def check_single(self) -> None:
        """Raise a ValueError if they have no effect in batches of one sentence."""
        if self.of_sentences and len({*map(float, self.samples)} - {0.0}) > 1:
            raise ValueError(
                "sample_weight has no effect in batches of one sentence, whose loss is "
                "the mean of its own tokens: give batch_size= or token_budget=, or a "
                "weight a token"
            )

    def check_columns(self, names) -> None:
        """Raise a ValueError for weights of classes in several columns of labels."""
        if self.classes and len(names) > 1:
            raise ValueError(
                "class_weight is for a tagger of one column: give sample_weight, one "
                "number a token, which counts in all columns"
            )

    def check_count(self, sentences) -> None:
        """Raise a ValueError if there is not one for each sentence."""
        if self.samples is not None and len(self.samples) != len(sentences):
            raise ValueError(
                f"{len(sentences):,} sentences, but sample_weight has "
                f"{len(self.samples):,}: give one number, or one list, a sentence"
            )


def _checked(weight, name: str) -> np.ndarray:
    """A weight, or several, as floats.

    Raises:
        ValueError: if they are no numbers from 0 on.
    """
    try:
        found = np.asarray(weight, "float32")
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if not (np.isfinite(found) & (found >= 0)).all():
        raise ValueError(f"{name} is {weight!r:.60}: weights are numbers from 0 on")
    return found


def digest_of(weights: list[np.ndarray] | None) -> str | None:
    """SHA-256 of the weights of all tokens, by which `Resume` tells a run."""
    if weights is None:
        return None
    return hashlib.sha256(np.concatenate(weights).astype("<f4").tobytes()).hexdigest()
