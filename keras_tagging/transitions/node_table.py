"""Stack, buffer and arcs in one table of nodes, for systems with both.

Also the features of Elkaref & Bohnet (2017), Table 1: word and tag of 18 nodes, and the
labels of the 12 among them that are children.
"""

from typing import Any, NamedTuple

import numpy as np

NONE, ROOT = 0, 1

# The fields of a node: the node below it on the stack; its head, and the label of that
# arc; its outermost and second outermost child among those to its left; and among those
# to its right.
BELOW, HEAD, LABEL, LEFT1, LEFT2, RIGHT1, RIGHT2 = range(7)

#: the nodes in the order of `features_of`; rc and lc: right and left children
NODES = (
    *("s0", "s1", "s2", "b0", "b1", "b2"),
    *("rc1(s0)", "rc2(s0)", "rc1(s1)", "rc2(s1)"),
    *("lc1(s0)", "lc2(s0)", "lc1(s1)", "lc2(s1)"),
    *("rc1(rc1(s0))", "lc1(lc1(s0))", "rc1(rc1(s1))", "lc1(lc1(s1))"),
)
NUM_NODES = len(NODES)
NUM_LABELS = NUM_NODES - 6  # of the children
#: the nodes of `core_of`
CORE = ("s0", "s1", "s2", "b0", "rc1(s0)", "rc1(s1)", "lc1(s0)", "lc1(s1)")
CORE_LABELS = len(CORE) - 4  # of the children


class Configuration(NamedTuple):
    """Stack, buffer and arcs; int32 arrays.

    Attributes:
        nodes: `(batch, width, 7)`, the fields of each node, see above; the width is at
            least 2 more than the words of the longest sentence.
        top: `(batch,)`, the node s_0 on top of the stack.
        front: `(batch,)`, the node b_0 at the front of the buffer.
        lengths: `(batch,)`, the number of words of each sentence.
    """

    nodes: Any
    top: Any
    front: Any
    lengths: Any


#: places among the fields of the children in the order of `NODES`
GRANDCHILDREN = np.array(
    [7 * i + field for i, field in ((0, RIGHT1), (4, LEFT1), (2, RIGHT1), (6, LEFT1))],
    "int32",
)
#: what a field may become: one of s_0 (0 to 6) or s_1 (7 to 13), a node, the label
S0, S1, S2, OF_ARC, MORE = range(14, 19)
KEPT = [*range(14)]
LEFT = [7 + BELOW, HEAD, LABEL, S1, LEFT1, RIGHT1, RIGHT2]
LEFT += [7 + BELOW, S0, OF_ARC, *range(7 + LEFT1, 14)]
RIGHT = [BELOW, S1, OF_ARC, LEFT1, LEFT2, RIGHT1, RIGHT2]
RIGHT += [*range(7, 7 + RIGHT1), S0, 7 + RIGHT1]

SHAPES = Configuration((None, 7), (), (), ())


def rows(nodes, places, xp=np):
    """The fields `(batch, k, 7)` of the nodes at places `(batch, k)`."""
    batch, width = xp.shape(nodes)[:2]
    first = xp.expand_dims(xp.arange(batch, dtype="int32") * width, -1)
    return xp.take(xp.reshape(nodes, (-1, 7)), first + places, axis=0)


def stack_top(configuration, xp=np):
    """The nodes s_0, s_1 and s_2: `(batch, 3)`, and the fields of the first two."""
    top = xp.expand_dims(configuration.top, -1)
    of_top = rows(configuration.nodes, top, xp)
    second = of_top[:, :, BELOW]
    of_second = rows(configuration.nodes, second, xp)
    third = of_second[:, :, BELOW]
    nodes = xp.concatenate([top, second, third], 1)
    return nodes, xp.concatenate([of_top, of_second], 1)


def features_of(configuration, buffer, xp=np):
    """The part of a configuration that the network reads.

    As in Chen & Manning (2014), the leftmost children of a node are taken from the
    children to its left, and the rightmost ones from those to its right; the paper does
    not say whether it considers the others too.

    Args:
        configuration: a `Configuration`.
        buffer: the nodes b_0, b_1 and b_2, `(batch, 3)`.

    Returns:
        The nodes `(batch, 18)` in the order of `NODES`, NONE for a missing node; and
        the labels `(batch, 12)` of the last 12, 0 for a missing node.
    """
    stack, top_fields = stack_top(configuration, xp)
    # of s_0, then of s_1
    right = xp.reshape(top_fields[:, :, RIGHT1 : RIGHT2 + 1], (-1, 4))
    left = xp.reshape(top_fields[:, :, LEFT1 : LEFT2 + 1], (-1, 4))
    children = xp.concatenate([right, left], 1)
    of_children = rows(configuration.nodes, children, xp)
    fields = xp.reshape(of_children, (-1, 56))
    grandchildren = xp.take(fields, GRANDCHILDREN, axis=1)
    of_grandchildren = rows(configuration.nodes, grandchildren, xp)
    nodes = xp.concatenate([stack, buffer, children, grandchildren], 1)
    labels = xp.concatenate(
        [of_children[:, :, LABEL], of_grandchildren[:, :, LABEL]], 1
    )
    return nodes, labels


def core_of(configuration, front, xp=np):
    """The part that a network reads whose vectors know the sentence.

    The four nodes of Kiperwasser & Goldberg (2016b), section 4.2, and the outermost
    children of two of them: what else stands around is in the vectors that a recurrent
    stack gives these nodes.

    Args:
        configuration: a `Configuration`.
        front: the node b_0, `(batch, 1)`.

    Returns:
        The nodes `(batch, 8)` in the order of `CORE`, NONE for a missing node; and the
        labels `(batch, 4)` of the last 4, 0 for a missing node.
    """
    stack, top_fields = stack_top(configuration, xp)
    children = xp.concatenate([top_fields[:, :, RIGHT1], top_fields[:, :, LEFT1]], 1)
    labels = rows(configuration.nodes, children, xp)[:, :, LABEL]
    return xp.concatenate([stack, front, children], 1), labels


def picked(configuration, labels, more, sources, cases, xp=np):
    """The values that a move writes: `(batch, n)`.

    The dependent of an arc leaves the stack, and is now its head's outermost child. All
    is picked at once: each operation of a step costs more than its numbers do.

    Args:
        configuration: a `Configuration`.
        labels: `(batch,)`, of the arc.
        more: `(batch, m)`, further values.
        sources: `(cases, n)`, where each value comes from: S0 and so on, from MORE on
            those of `more`, of which the last is used; `KEPT`, `LEFT` and `RIGHT` are
            the fields of s_0 and s_1.
        cases: `(batch,)`, of each move.
    """
    stack, top_fields = stack_top(configuration, xp)
    top_fields, width = xp.reshape(top_fields, (-1, 14)), int(sources.max()) + 1
    values = xp.concatenate([top_fields, stack, xp.expand_dims(labels, 1), more], 1)
    first = xp.arange(xp.shape(configuration.top)[0], dtype="int32") * width
    places = xp.take(sources, cases, axis=0) + xp.expand_dims(first, 1)
    return xp.take(xp.reshape(values, (-1,)), places, axis=0)


def written(nodes, places, fields, xp=np):
    """The table with other fields for some nodes.

    Args:
        nodes: `(batch, width, 7)`.
        places: the nodes `(batch, k)`. Row 0 is no node: what is written there must be
            what is there.
        fields: theirs, `(batch, 7 * k)`.
    """
    batch, width = xp.shape(nodes)[:2]
    first = xp.expand_dims(xp.arange(batch, dtype="int32") * width, 1)
    flat, fields = xp.reshape(nodes, (-1, 7)), xp.reshape(fields, (-1, 7))
    places = xp.reshape(places + first, (-1, 1))
    if hasattr(xp, "scatter_update"):
        flat = xp.scatter_update(flat, places, fields)
    else:  # NumPy
        flat = flat + 0
        flat[places[:, 0]] = fields
    return xp.reshape(flat, (-1, width, 7))


def tree(configuration, xp=np):
    """Heads and labels of all words: `(batch, width - 2)` each."""
    nodes = configuration.nodes
    return nodes[:, 2:, HEAD] - 1, nodes[:, 2:, LABEL]
