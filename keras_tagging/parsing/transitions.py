"""The arc-standard transition system, for many sentences at once.

Nivre (2004), as in section 2 of Elkaref & Bohnet (2017). A configuration holds the
stack, the buffer and the arcs of every sentence of a batch as arrays. Nodes are row
numbers: 0 is no node, 1 is ROOT, i + 1 is word i. So they can index a table of vectors
with a row for each node. Labels count from 1; 0 is no label.

All functions take the array library as `xp`: NumPy, or `keras.ops` inside a graph.
"""

from typing import Any, NamedTuple

import numpy as np

NONE, ROOT = 0, 1
SHIFT, LEFT_ARC, RIGHT_ARC = 0, 1, 2

# The fields of a node: the node below it on the stack; its head, and the label of that
# arc; its leftmost and second leftmost child among those to its left; its rightmost and
# second rightmost child among those to its right.
BELOW, HEAD, LABEL, LEFT1, LEFT2, RIGHT1, RIGHT2 = range(7)


class Configuration(NamedTuple):
    """Stack, buffer and arcs; int32 arrays.

    Attributes:
        nodes: `(batch, width, 7)`, the fields of each node, see above; the width is at
            least 2 more than the words of the longest sentence.
        top: `(batch,)`, the node s_0 on top of the stack.
        front: `(batch,)`, the node b_0 at the front of the buffer; one past the last
            word if the buffer is empty.
        lengths: `(batch,)`, the number of words of each sentence.
    """

    nodes: Any
    top: Any
    front: Any
    lengths: Any


def start(lengths, width, xp=np) -> Configuration:
    """ROOT on the stack, all words in the buffer, no arcs.

    Args:
        lengths: `(batch,)` int32, the number of words of each sentence.
        width: rows of the table of nodes, at least 2 more than the longest sentence.
    """
    nodes = xp.zeros((xp.shape(lengths)[0], width, 7), "int32")
    root = xp.ones_like(lengths)
    return Configuration(nodes, root, root + 1, lengths)


def rows(configuration, nodes, xp=np):
    """The fields `(batch, k, 7)` of the nodes `(batch, k)`."""
    batch, width = xp.shape(configuration.nodes)[:2]
    first = xp.expand_dims(xp.arange(batch, dtype="int32") * width, -1)
    return xp.take(xp.reshape(configuration.nodes, (-1, 7)), first + nodes, axis=0)


def stack_top(configuration, xp=np):
    """The nodes s_0, s_1 and s_2: `(batch, 3)`, and the fields of the first two."""
    top = xp.expand_dims(configuration.top, -1)
    of_top = rows(configuration, top, xp)
    second = of_top[:, :, BELOW]
    of_second = rows(configuration, second, xp)
    third = of_second[:, :, BELOW]
    nodes = xp.concatenate([top, second, third], 1)
    return nodes, xp.concatenate([of_top, of_second], 1)


def buffer_is_empty(configuration):
    return configuration.front > configuration.lengths + 1


def legal(configuration, xp=np):
    """Whether SHIFT, LEFT_ARC and RIGHT_ARC are legal: `(batch, 3)` bool.

    No move is legal for a finished sentence: its buffer is empty, and only ROOT is on
    the stack. LEFT_ARC must not give ROOT a head; RIGHT_ARC attaches to ROOT only when
    the buffer is empty, so that ROOT has one child.
    """
    empty = buffer_is_empty(configuration)
    second = stack_top(configuration, xp)[0][:, 1]
    right = (second > ROOT) | ((second == ROOT) & empty)
    return xp.stack([~empty, second > ROOT, right], 1)


def with_label(configuration, left, right, masks, xp=np):
    """Whether LEFT_ARC, and RIGHT_ARC, may have each label: `(batch, V)` bool each.

    Args:
        left, right: the same before the rule, `(batch, V)` bool.
        masks: whether an arc from ROOT, and one from a word, may have each label:
            `(1, V)` bool each.
    """
    from_root, from_word = masks
    root = stack_top(configuration, xp)[0][:, 1:2] == ROOT
    return left & from_word, right & ((root & from_root) | (~root & from_word))


def advance(configuration, moves, labels, xp=np) -> Configuration:
    """The configuration after a legal move.

    Args:
        moves: `(batch,)` SHIFT, LEFT_ARC or RIGHT_ARC; finished sentences do not
            change.
        labels: `(batch,)` labels of the new arcs, counted from 1; unused with SHIFT.
    """
    nodes, top, front, lengths = configuration
    stack, known = stack_top(configuration, xp)
    s0, s1 = stack[:, 0], stack[:, 1]
    shift = (moves == SHIFT) & ~buffer_is_empty(configuration)
    left = (moves == LEFT_ARC) & (s1 > ROOT)
    right = (moves == RIGHT_ARC) & (s1 >= ROOT)
    below, head, label, left1, left2, right1, right2 = (
        known[:, :, field] for field in range(7)
    )
    # the head of a left arc is s_0, whose new child is its leftmost one
    of_s0 = [
        xp.where(left, below[:, 1], below[:, 0]),
        xp.where(right, s1, head[:, 0]),
        xp.where(right, labels, label[:, 0]),
        xp.where(left, s1, left1[:, 0]),
        xp.where(left, left1[:, 0], left2[:, 0]),
        right1[:, 0],
        right2[:, 0],
    ]
    # the head of a right arc is s_1, whose new child is its rightmost one
    of_s1 = [
        below[:, 1],
        xp.where(left, s0, head[:, 1]),
        xp.where(left, labels, label[:, 1]),
        left1[:, 1],
        left2[:, 1],
        xp.where(right, s0, right1[:, 1]),
        xp.where(right, right1[:, 1], right2[:, 1]),
    ]
    of_front = [xp.where(shift, s0, NONE), *[xp.zeros_like(s0)] * 6]
    # row 0 is no node, so it is never written; b_0 has no fields before SHIFT
    every = xp.expand_dims(xp.arange(xp.shape(nodes)[1], dtype="int32"), 0)
    for node, fields in ((s0, of_s0), (s1, of_s1), (front, of_front)):
        here = (every == xp.expand_dims(node, 1)) & (every > NONE)
        fields = xp.expand_dims(xp.stack(fields, 1), 1)
        nodes = xp.where(xp.expand_dims(here, 2), fields, nodes)
    top = xp.where(shift, front, xp.where(right, s1, top))
    front = xp.where(shift, front + 1, front)
    return Configuration(nodes, top, front, lengths)
