"""Arc-standard with SWAP, with plain lists, one sentence a time.

Nivre (2009), sections 2 to 4, and the lazy oracle of Nivre, Kuhlmann & Hall (2009),
section 3. Words are numbered from 1, ROOT is 0.
"""

from typing import NamedTuple

from reference import arc_standard
from reference.arc_standard import ARCS, LEFT_ARC, RIGHT_ARC, SHIFT

SWAP = "swap"
MOVES = (SHIFT, LEFT_ARC, RIGHT_ARC, SWAP)
__all__ = ["ARCS", "MOVES", "advance", "features", "legal", "oracle", "start"]


class Configuration(NamedTuple):
    stack: list  # the top is last
    buffer: list  # the front is first
    arcs: list  # (head, dependent, label), in the order in which they are made
    left: list  # the dependents of left arcs


def start(length):
    return Configuration([0], list(range(1, length + 1)), [], [])


def legal(configuration):
    """Those of arc-standard; and SWAP, for two words in the order of the sentence."""
    stack = configuration.stack
    moves = arc_standard.legal(configuration[:3])
    if len(stack) >= 2 and 0 < stack[-2] < stack[-1]:
        moves.append(SWAP)
    return moves


def advance(configuration, move, label):
    stack, buffer, arcs, left = configuration
    if move == SWAP:
        return Configuration([*stack[:-2], stack[-1]], [stack[-2], *buffer], arcs, left)
    if move == LEFT_ARC:
        left = [*left, stack[-2]]
    return Configuration(
        *arc_standard.advance(
            arc_standard.Configuration(stack, buffer, arcs), move, label
        ),
        left,
    )


def features(configuration):
    """Table 1; the outermost child of a node is the last on its side."""
    arcs, lefts = configuration.arcs, configuration.left

    def left(node):
        return [d for h, d, _ in arcs if h == node and d in lefts][::-1]

    def right(node):
        return [d for h, d, _ in arcs if h == node and d not in lefts][::-1]

    return arc_standard.table_1(configuration, left, right)


def oracle(heads, labels, lazy=True):
    """The moves to a tree, each with a label or None."""
    order = in_order(heads, 0)
    configuration = start(len(heads))
    moves = []
    while configuration.buffer or len(configuration.stack) > 1:
        stack, buffer, arcs, _ = configuration
        s0, s1 = stack[-1], stack[-2] if len(stack) > 1 else None
        attached = {dependent for _, dependent, _ in arcs}
        if s1 and heads[s1 - 1] == s0 and children(heads, s1) <= attached:
            move = LEFT_ARC, labels[s1 - 1]
        elif s0 and heads[s0 - 1] == s1 and children(heads, s0) <= attached:
            move = RIGHT_ARC, labels[s0 - 1]
        elif s1 and order.index(s0) < order.index(s1):
            move = SWAP, None
            # wait for words of the same component
            if lazy and buffer and buffer[0] in component(heads, s0):
                move = SHIFT, None
        else:
            move = SHIFT, None
        moves.append(move)
        configuration = advance(configuration, *move)
    return moves


def children(heads, node):
    return {word for word, head in enumerate(heads, 1) if head == node}


def in_order(heads, node):
    """The nodes below a node, and itself, each between its children on either side."""
    below = sorted(children(heads, node))
    left = [n for child in below if child < node for n in in_order(heads, child)]
    right = [n for child in below if child > node for n in in_order(heads, child)]
    return [*left, node, *right]


def component(heads, node):
    """The words of the maximal projective component of a word.

    Arcs are made without SWAP until none can be: what hangs together then is one.
    """
    parts = []  # [the top, all words]
    for word in range(len(heads) + 1):
        parts.append([word, {word}])
        while len(parts) > 1:
            (s1, below_s1), (s0, below_s0) = parts[-2:]
            if s1 and heads[s1 - 1] == s0 and children(heads, s1) <= below_s1:
                parts[-2:] = [[s0, below_s0 | below_s1]]
            elif heads[s0 - 1] == s1 and children(heads, s0) <= below_s0:
                parts[-2:] = [[s1, below_s0 | below_s1]]
            else:
                break
    return next(words for _, words in parts if node in words)
