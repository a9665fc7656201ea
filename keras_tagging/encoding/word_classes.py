"""Classes of words, such as Brown clusters: what a model keeps of them.

The vocabulary `CLUSTER` has a string for each class: its name or path, and its words,
with tabs between them. So the words of a large table have an id, that of their class,
and a saved model needs no other file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from keras_tagging.encoding.vocabulary import FIRST_ID

#: the feature, and its vocabulary
CLUSTER = "cluster"


def grouped(classes: Mapping[str, str]) -> list[str]:
    """The vocabulary for the class of each word."""
    words: dict[str, list[str]] = {}
    for word, name in classes.items():
        words.setdefault(name, []).append(word)
    return ["\t".join([name, *words[name]]) for name in sorted(words)]


def ids_of(name: str, entries: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The strings of a vocabulary with their ids: of `CLUSTER` those of their classes.

    Args:
        name: of the vocabulary.
        entries: its strings.
    """
    for i, entry in enumerate(entries, FIRST_ID):
        if name == CLUSTER:
            yield from ((word, i) for word in entry.split("\t")[1:])
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
