"""The features of a configuration: Table 1 of Elkaref & Bohnet (2017).

Word and tag of 18 nodes, and the labels of the 12 among them that are children.
"""

import numpy as np

from keras_tagging.parsing.transitions import (
    LABEL,
    LEFT1,
    LEFT2,
    NONE,
    RIGHT1,
    RIGHT2,
    rows,
    stack_top,
)

#: the nodes in the order of `features`; rc and lc: right and left children
NODES = (
    *("s0", "s1", "s2", "b0", "b1", "b2"),
    *("rc1(s0)", "rc2(s0)", "rc1(s1)", "rc2(s1)"),
    *("lc1(s0)", "lc2(s0)", "lc1(s1)", "lc2(s1)"),
    *("rc1(rc1(s0))", "lc1(lc1(s0))", "rc1(rc1(s1))", "lc1(lc1(s1))"),
)
NUM_NODES = len(NODES)
NUM_LABELS = NUM_NODES - 6  # of the children


def features(configuration, xp=np):
    """The part of a configuration that the network reads.

    As in Chen & Manning (2014), the leftmost children of a node are taken from the
    children to its left, and the rightmost ones from those to its right; the paper does
    not say whether it considers the others too.

    Returns:
        The nodes `(batch, 18)` in the order of `NODES`, NONE for a missing node; and
        the labels `(batch, 12)` of the last 12, 0 for a missing node.
    """
    stack, known = stack_top(configuration, xp)
    ahead = xp.arange(3, dtype="int32") + xp.expand_dims(configuration.front, 1)
    last = xp.expand_dims(configuration.lengths, 1) + 1
    buffer = xp.where(ahead <= last, ahead, NONE)
    right1, right2 = known[:, :, RIGHT1], known[:, :, RIGHT2]
    left1, left2 = known[:, :, LEFT1], known[:, :, LEFT2]
    children = [
        *(right1[:, 0], right2[:, 0], right1[:, 1], right2[:, 1]),
        *(left1[:, 0], left2[:, 0], left1[:, 1], left2[:, 1]),
    ]
    children = xp.stack(children, 1)
    of_children = rows(configuration, children, xp)
    grandchildren = [
        *(of_children[:, 0, RIGHT1], of_children[:, 4, LEFT1]),
        *(of_children[:, 2, RIGHT1], of_children[:, 6, LEFT1]),
    ]
    grandchildren = xp.stack(grandchildren, 1)
    of_grandchildren = rows(configuration, grandchildren, xp)
    nodes = xp.concatenate([stack, buffer, children, grandchildren], 1)
    labels = xp.concatenate(
        [of_children[:, :, LABEL], of_grandchildren[:, :, LABEL]], 1
    )
    return nodes, labels
