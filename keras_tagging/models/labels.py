"""Messages about labels that a trained model does not know."""

from collections.abc import Collection


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
