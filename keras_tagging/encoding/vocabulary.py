"""Vocabularies: the strings that have an id, in order.

Words may share an id. The vocabulary `CLUSTER`, of classes of words such as Brown
clusters, has a string for each class: its name or path, and its words, with tabs
between them. `VECTOR` has one for each row of pretrained vectors: the words whose
vector it is. So a saved model needs no other file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

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


#: features, and their vocabularies
CLUSTER, VECTOR = "cluster", "vector"


def grouped(classes: Mapping[str, str]) -> list[str]:
    """The vocabulary for the class of each word."""
    words: dict[str, list[str]] = {}
    for word, name in classes.items():
        words.setdefault(name, []).append(word)
    return ["\t".join([name, *words[name]]) for name in sorted(words)]


def numbered(name: str, entries: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The words of a vocabulary with their ids.

    Args:
        name: of the vocabulary.
        entries: its strings.
    """
    for i, entry in enumerate(entries, FIRST_ID):
        if name in (CLUSTER, VECTOR):
            words = entry.split("\t")[name == CLUSTER :]
            yield from ((word, i) for word in words)
        else:
            yield entry, i


def prefix_rows(entries: Sequence[str], lengths: Sequence[int]) -> np.ndarray:
    """The rows of one table for the prefixes of each class, and for the class itself.

    Args:
        entries: the vocabulary.
        lengths: of the prefixes, in steps of the path; a shorter path is its own.

    Returns:
        `(FIRST_ID + classes, len(lengths) + 1)` int32. Prefixes of one length have one
        row if they are equal; padding is 0 and a word without a class 1.
    """
    paths = [entry.split("\t", 1)[0] for entry in entries]
    rows = np.zeros((FIRST_ID + len(paths), len(lengths) + 1), "int32")
    rows[1:FIRST_ID] = 1
    numbers: dict[tuple[int, str], int] = {}
    for column, length in enumerate([*lengths, None]):
        for i, path in enumerate(paths, FIRST_ID):
            key = column, path[:length]
            rows[i, column] = numbers.setdefault(key, FIRST_ID + len(numbers))
    return rows
