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
    stack, known = stack_top(configuration, xp)
    right1, right2 = known[:, :, RIGHT1], known[:, :, RIGHT2]
    left1, left2 = known[:, :, LEFT1], known[:, :, LEFT2]
    children = [
        *(right1[:, 0], right2[:, 0], right1[:, 1], right2[:, 1]),
        *(left1[:, 0], left2[:, 0], left1[:, 1], left2[:, 1]),
    ]
    children = xp.stack(children, 1)
    of_children = rows(configuration.nodes, children, xp)
    grandchildren = [
        *(of_children[:, 0, RIGHT1], of_children[:, 4, LEFT1]),
        *(of_children[:, 2, RIGHT1], of_children[:, 6, LEFT1]),
    ]
    grandchildren = xp.stack(grandchildren, 1)
    of_grandchildren = rows(configuration.nodes, grandchildren, xp)
    nodes = xp.concatenate([stack, buffer, children, grandchildren], 1)
    labels = xp.concatenate(
        [of_children[:, :, LABEL], of_grandchildren[:, :, LABEL]], 1
    )
    return nodes, labels


def with_arc(stack, known, left, right, labels, xp=np):
    """The fields of s_0 and s_1 after an arc between the two.

    The dependent leaves the stack, and is now its head's outermost child.

    Args:
        stack, known: from `stack_top`.
        left, right: `(batch,)` bool, whether s_0 becomes the head of s_1, and whether
            s_1 that of s_0. Without either the fields stay as they are.
        labels: `(batch,)`, of the arc.

    Returns:
        Two lists of seven arrays `(batch,)`.
    """
    s0, s1 = stack[:, 0], stack[:, 1]
    below, head, label, left1, left2, right1, right2 = (
        known[:, :, field] for field in range(7)
    )
    of_s0 = [
        xp.where(left, below[:, 1], below[:, 0]),
        xp.where(right, s1, head[:, 0]),
        xp.where(right, labels, label[:, 0]),
        xp.where(left, s1, left1[:, 0]),
        xp.where(left, left1[:, 0], left2[:, 0]),
        right1[:, 0],
        right2[:, 0],
    ]
    of_s1 = [
        below[:, 1],
        xp.where(left, s0, head[:, 1]),
        xp.where(left, labels, label[:, 1]),
        left1[:, 1],
        left2[:, 1],
        xp.where(right, s0, right1[:, 1]),
        xp.where(right, right1[:, 1], right2[:, 1]),
    ]
    return of_s0, of_s1


def written(nodes, changes, xp=np):
    """The table with other fields for some nodes.

    Args:
        nodes: `(batch, width, 7)`.
        changes: pairs of a node `(batch,)` and its fields, seven arrays `(batch,)`.
            Row 0 is no node, and stays as it is.
    """
    every = xp.expand_dims(xp.arange(xp.shape(nodes)[1], dtype="int32"), 0)
    for node, fields in changes:
        here = (every == xp.expand_dims(node, 1)) & (every > NONE)
        fields = xp.expand_dims(xp.stack(fields, 1), 1)
        nodes = xp.where(xp.expand_dims(here, 2), fields, nodes)
    return nodes


def tree(configuration, xp=np):
    """Heads and labels of all words: `(batch, width - 2)` each."""
    nodes = configuration.nodes
    return nodes[:, 2:, HEAD] - 1, nodes[:, 2:, LABEL]
