"""Checks for labels that a trained model does not know."""

import warnings
from collections import Counter
from collections.abc import Collection, Iterable

from keras_tagging.corpora.problems import refuse_one_label
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.vocabulary import count_vocabulary


def tags_to_learn(sentences: Iterable[Sentence], least: int) -> list[str]:
    """The tag inventory of training sentences.

    Args:
        sentences: sentences with tags.
        least: the number of occurrences that a tag needs.

    Raises:
        ValueError: if no tag is left, or all tokens have the same one.
    """
    refuse_one_label(sentences)
    tags = count_vocabulary((tag for s in sentences for tag in s.tags), least)
    if not tags:
        raise ValueError(
            "no tag to learn: the training sentences have no tokens, or no tag "
            f"occurs min_count={least} times"
        )
    return tags


def check_labels(
    kind: str, labels: Counter, known: Collection[str], least: int = 1
) -> None:
    """Refuse training labels if the model knows none of them; warn if it lacks some.

    A model that has been trained, or loaded, keeps its labels, and learns nothing from
    others.

    Args:
        kind: a name for messages, such as "tags".
        labels: the frequency of each label in training.
        known: the labels of the model.
        least: rarer labels are left out on purpose, without a warning.

    Raises:
        ValueError: if there are labels, and the model knows none of them.
    """
    refuse_unknown(kind, labels, known, "training")
    unknown = Counter({k: n for k, n in labels.items() if k not in known})
    if missed := Counter({k: n for k, n in unknown.items() if n >= least}):
        warnings.warn(
            f"{missed.total():,} of {labels.total():,} training tokens have {kind} "
            f"that this model does not know ({some(missed)}), and it learns nothing "
            "from them: build a new model to learn these",
            stacklevel=7,  # the line that calls fit
        )


def refuse_unknown(
    kind: str, labels: Collection[str], known: Collection[str], split: str
) -> None:
    """Raise a ValueError if there are labels, and the model knows none of them.

    Args:
        kind, labels, known: as in `check_labels`.
        split: "training" or "development".
    """
    if labels and not any(label in known for label in labels):
        remedy = "build a new model for these sentences"
        if split == "development":
            remedy = "read both in the same format, with the same columns"
        raise ValueError(
            f"this model knows none of the {kind} of the {split} sentences "
            f"({some(labels)}): its own are {some(known)}; {remedy}"
        )


def some(labels: Collection[str], most: int = 5) -> str:
    """The first labels, and the number of further ones."""
    left = len(labels) - most
    more = f" and {left:,} more" if left > 0 else ""
    return ", ".join(map(repr, list(labels)[:most])) + more
