"""Arc-standard with plain lists, one sentence a time.

Elkaref & Bohnet (2017), section 2 and Table 1. Words are numbered from 1, ROOT is 0.
"""

from itertools import product
from typing import NamedTuple

SHIFT, LEFT_ARC, RIGHT_ARC = "shift", "left-arc", "right-arc"
MOVES = (SHIFT, LEFT_ARC, RIGHT_ARC)
ARCS = (LEFT_ARC, RIGHT_ARC)  # the moves that have a label


class Configuration(NamedTuple):
    stack: list  # the top is last
    buffer: list  # the front is first
    arcs: list  # (head, dependent, label)


def start(length):
    return Configuration([0], list(range(1, length + 1)), [])


def legal(configuration):
    """The moves that may be done. ROOT gets no head, and one child: the last arc."""
    stack, buffer, _ = configuration
    moves = []
    if buffer:
        moves.append(SHIFT)
    if len(stack) >= 2 and stack[-2] != 0:
        moves.append(LEFT_ARC)
    if len(stack) >= 2 and (stack[-2] != 0 or not buffer):
        moves.append(RIGHT_ARC)
    return moves


def advance(configuration, move, label):
    stack, buffer, arcs = configuration
    if move == SHIFT:
        return Configuration([*stack, buffer[0]], buffer[1:], arcs)
    *rest, s1, s0 = stack
    head, dependent = (s0, s1) if move == LEFT_ARC else (s1, s0)
    return Configuration([*rest, head], buffer, [*arcs, (head, dependent, label)])


def features(configuration):
    """The nodes and labels of Table 1, None where there is none."""
    stack, buffer, arcs = configuration

    def nth(nodes, n):
        return nodes[n] if n < len(nodes) else None

    def rc(n, node):
        children = [d for h, d, _ in arcs if h == node and d > node]
        return nth(sorted(children, reverse=True), n - 1)

    def lc(n, node):
        return nth(sorted(d for h, d, _ in arcs if h == node and d < node), n - 1)

    s0, s1, s2 = (nth(stack[::-1], n) for n in range(3))
    b0, b1, b2 = (nth(buffer, n) for n in range(3))
    children = [
        *(rc(1, s0), rc(2, s0), rc(1, s1), rc(2, s1)),
        *(lc(1, s0), lc(2, s0), lc(1, s1), lc(2, s1)),
        *(rc(1, rc(1, s0)), lc(1, lc(1, s0)), rc(1, rc(1, s1)), lc(1, lc(1, s1))),
    ]
    label_of = {dependent: label for _, dependent, label in arcs}
    labels = [label_of.get(child) for child in children]
    return [s0, s1, s2, b0, b1, b2, *children], labels


def oracle(heads, labels):
    """The moves to a projective tree, each with a label or None."""
    configuration = start(len(heads))
    moves = []
    while configuration.buffer or len(configuration.stack) > 1:
        stack, _, arcs = configuration
        s0, s1 = stack[-1], stack[-2] if len(stack) > 1 else None
        attached = {dependent for _, dependent, _ in arcs}
        children = {word for word, head in enumerate(heads, 1) if head == s0}
        if s1 and heads[s1 - 1] == s0:
            move = LEFT_ARC, labels[s1 - 1]
        elif s0 and heads[s0 - 1] == s1 and children <= attached:
            move = RIGHT_ARC, labels[s0 - 1]
        else:
            move = SHIFT, None
        moves.append(move)
        configuration = advance(configuration, *move)
    return moves


def trees(length):
    """All heads that make a tree of `length` words with one root."""
    for heads in product(range(length + 1), repeat=length):
        rooted = all(0 in path(heads, word) for word in range(1, length + 1))
        if rooted and (heads.count(0) == 1 or not length):
            yield heads


def path(heads, word):
    """The word, its head, the head of that, and so on, while they are new."""
    found = [word]
    while found[-1] != 0 and heads[found[-1] - 1] not in found:
        found.append(heads[found[-1] - 1])
    return found


def is_projective_arc(heads, word):
    """Whether the head of the word dominates all words between the two."""
    head = heads[word - 1]
    between = range(min(head, word) + 1, max(head, word))
    return all(head in path(heads, other) for other in between)


def is_projective(heads):
    """Nivre & Nilsson (2005), section 2: whether all arcs of a tree are projective."""
    return all(is_projective_arc(heads, word) for word in range(1, len(heads) + 1))
