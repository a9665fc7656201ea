"""Pseudo-projective parsing, scheme Head, by the definitions.

Nivre & Nilsson (2005), section 2. Words are numbered from 1, ROOT is 0. A lifted word
has the pair (its deprel, that of its head) as deprel.
"""

from reference.arc_standard import is_projective_arc, path


def lift(heads, deprels):
    lifted = list(heads)
    words = range(1, len(heads) + 1)
    while crossing := [word for word in words if not is_projective_arc(lifted, word)]:
        ends = [sorted((word, lifted[word - 1])) for word in crossing]
        _, _, smallest = min(
            (right - left, left, word)
            for (left, right), word in zip(ends, crossing, strict=True)
        )
        lifted[smallest - 1] = lifted[lifted[smallest - 1] - 1]
    labels = [
        deprel if old == new else (deprel, deprels[old - 1])
        for deprel, old, new in zip(deprels, heads, lifted, strict=True)
    ]
    return lifted, labels


def unlift(heads, labels):
    heads = list(heads)
    words = range(1, len(heads) + 1)

    def place(word):
        """Sorts words breadth first, from the top down and left to right."""
        above = path(heads, word)[::-1]
        return len(above), above

    left = [word for word in words if not isinstance(labels[word - 1], str)]
    left.sort(key=place)
    before = None
    while left != before:
        before = list(left)
        for word in before:
            candidates = [
                other
                for other in words
                if heads[word - 1] in path(heads, other)[1:]
                and word not in path(heads, other)
                and deprel_of(labels[other - 1]) == labels[word - 1][1]
            ]
            if candidates:
                heads[word - 1] = min(candidates, key=place)
                left.remove(word)
    return heads, [deprel_of(label) for label in labels]


def deprel_of(label):
    return label if isinstance(label, str) else label[0]
