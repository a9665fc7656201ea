"""Labels that a model learns, and messages about those that it does not know."""

from collections.abc import Collection

from keras_tagging.encoding.vocabulary import count_vocabulary


def refuse_unknown(
    kind: str, labels: Collection[str], inventory: Collection[str], split: str
) -> None:
    """Raise a ValueError if there are labels, and the model knows none of them.

    Args:
        kind: a name for messages, such as "tags".
        labels: of the sentences.
        inventory: the labels of the model.
        split: "training" or "development".
    """
    if labels and not any(label in inventory for label in labels):
        remedy = "build a new model for these sentences"
        if split == "development":
            remedy = "read both in the same format, with the same columns"
        raise ValueError(
            f"this model knows none of the {kind} of the {split} sentences "
            f"({some(labels)}): its own are {some(inventory)}; {remedy}"
        )


def some(labels: Collection[str], most: int = 5) -> str:
    """The first labels, and the number of further ones."""
    left = len(labels) - most
    more = f" and {left:,} more" if left > 0 else ""
    return ", ".join(map(repr, list(labels)[:most])) + more


def count_relations(trees) -> list[str]:
    """The relations of training trees, pairs of heads and relations, by frequency.

    Raises:
        ValueError: if there is none.
    """
    labels = count_vocabulary(label for _, deprels in trees for label in deprels)
    if not labels:
        raise ValueError("no tree to learn: no training sentence has a token")
    return labels


def refuse_unknown_relations(sentences, inventory: Collection[str]) -> None:
    """As `refuse_unknown`, for the relations of development sentences."""
    labels = dict.fromkeys(d for s in sentences for d in s.columns["deprel"])
    refuse_unknown("dependency labels", labels, inventory, "development")
