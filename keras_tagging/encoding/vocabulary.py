"""Vocabularies: the strings that have an id, in order."""

from collections import Counter
from collections.abc import Iterable, Mapping

# 0 pads
UNKNOWN_ID = 1
FIRST_ID = 2


def count_vocabulary(
    values: Iterable[str] | Mapping[str, int], min_count: int = 1
) -> list[str]:
    """The strings that occur at least `min_count` times, most frequent first.

    Takes the strings or their counts. Strings of equal frequency are in code-point
    order, so the ids do not depend on the order of the sentences. In an embedding table
    the first one has id `FIRST_ID`; the ids below it are padding and unknown.
    """
    counts = Counter(values)
    kept = [value for value, count in counts.items() if count >= min_count]
    return sorted(kept, key=lambda value: (-counts[value], value))


class Inventory:
    """The labels that a model knows, in the order of their ids.

    Args:
        names: the labels, without repetition.
        first_id: the id of the first one.
    """

    def __init__(self, names: Iterable[str], first_id: int = 0):
        self.names = list(names)
        self.ids = {name: i for i, name in enumerate(self.names, first_id)}

    def __len__(self) -> int:
        return len(self.names)
