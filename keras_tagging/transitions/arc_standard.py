"""The arc-standard transition system.

Nivre (2004), :cite:`nivre2004`, as in section 2 of Elkaref & Bohnet (2017),
:cite:`elkaref2017`. The words in the buffer are the last ones of the sentence; its
front is one past the last word if it is empty.

The network reads the features of Elkaref & Bohnet (2017), Table 1: word and tag of 18
nodes, and the labels of the 12 among them that are children.
"""

from typing import Any, NamedTuple

import numpy as np

from keras_tagging.transitions.system import (
    DEPRELS,
    Action,
    Cases,
    TransitionSystem,
    register,
)

# Stack, buffer and arcs in one table of nodes

NONE, ROOT = 0, 1

# The fields of a node: the node below it on the stack; its head, and the label of that
# arc; its outermost and second outermost child among those to its left; and among those
# to its right.
BELOW, HEAD, LABEL, LEFT1, LEFT2, RIGHT1, RIGHT2 = range(7)

#: the nodes in the order of `features`; rc and lc: right and left children
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
        nodes: `(batch, width, 7)`, the fields of each node, see `BELOW` and so on; the
            width is at least 2 more than the words of the longest sentence.
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
#: what a field may become: one of s_0 (0 to 6) or s_1 (7 to 13), a node, the label, 0,
#: b_0, and the node behind it
S0, S1, S2, OF_ARC, NOTHING, FRONT, BEHIND = range(14, 21)
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


def buffer_top(configuration, xp=np):
    """The nodes b_0, b_1 and b_2: `(batch, 3)`."""
    nodes = xp.arange(3, dtype="int32") + xp.expand_dims(configuration.front, 1)
    last = xp.expand_dims(configuration.lengths, 1) + 1
    return xp.where(nodes <= last, nodes, NONE)


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


# The moves

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)
ZERO, ONE = np.int32(0), np.int32(1)
#: by move: the fields of two nodes, of which b_0 has none before SHIFT; these nodes;
#: top and front after. The last one changes nothing.
MOVES = (
    [*KEPT[:7], S0, *[NOTHING] * 6, S0, FRONT, FRONT, BEHIND],
    [*LEFT, S0, S1, S0, FRONT],
    [*RIGHT, S0, S1, S1, FRONT],
    [*KEPT, S0, S1, S0, FRONT],
)
#: by s_1, which is none, ROOT or a word, and by whether the buffer is empty
LEGAL = np.array(
    [
        [not empty, second == 2, second == 2 or (second == 1 and empty)]
        for second in range(3)
        for empty in (False, True)
    ]
)
FROM_ROOT = np.array([[False, False, case // 2 == ROOT] for case in range(6)])
#: by action, whether it does anything: a right arc from ROOT while words are left is no
#: error, but not legal
POSSIBLE = [LEGAL[:, SHIFT], LEGAL[:, LEFT_ARC], np.arange(6) >= 2]
#: by action, s_1 and buffer
SOURCES = np.array(
    [
        MOVES[action if may else -1]
        for action, allows in enumerate(POSSIBLE)
        for may in allows
    ],
    "int32",
)


def initial(lengths, width, xp=np) -> Configuration:
    """ROOT on the stack, all words in the buffer, no arcs."""
    nodes = xp.zeros((xp.shape(lengths)[0], width, 7), "int32")
    root = xp.ones_like(lengths)
    return Configuration(nodes, root, root + 1, lengths)


def case_of(configuration, xp):
    """The row of `LEGAL`: `(batch,)`."""
    second = stack_top(configuration, xp)[0][:, 1]
    empty = configuration.front > configuration.lengths + 1
    return xp.minimum(second, 2) * 2 + xp.where(empty, ONE, ZERO)


#: No move is legal for a parsed sentence: its buffer is empty, and only ROOT is on the
#: stack. LEFT_ARC must not give ROOT a head; RIGHT_ARC attaches to ROOT only when the
#: buffer is empty, so that ROOT has one child.
CASES = Cases(case_of, LEGAL, FROM_ROOT)


def advance(configuration, actions, labels, xp=np) -> Configuration:
    """The configuration after a legal move, which writes the fields of two nodes.

    The dependent of an arc leaves the stack, and is now its head's outermost child. All
    values are picked at once: each operation of a step costs more than its numbers do.
    """
    stack, top_fields = stack_top(configuration, xp)
    top_fields, label = xp.reshape(top_fields, (-1, 14)), xp.expand_dims(labels, 1)
    front = xp.expand_dims(configuration.front, 1)
    others = [label, xp.zeros_like(label), front, front + 1]
    values = xp.concatenate([top_fields, stack, *others], 1)
    batch, width = xp.shape(configuration.top)[0], BEHIND + 1
    places = xp.take(SOURCES, actions * 6 + case_of(configuration, xp), axis=0)
    places = places + xp.expand_dims(xp.arange(batch, dtype="int32") * width, 1)
    values = xp.take(xp.reshape(values, (-1,)), places, axis=0)
    nodes = written(configuration.nodes, values[:, 14:16], values[:, :14], xp)
    return Configuration(nodes, values[:, 16], values[:, 17], configuration.lengths)


def features(configuration, xp=np):
    """The part of a configuration that the network reads.

    As in Chen & Manning (2014), the leftmost children of a node are taken from the
    children to its left, and the rightmost ones from those to its right; the paper does
    not say whether it considers the others too.

    Returns:
        The nodes `(batch, 18)` in the order of `NODES`, NONE for a missing node; and
        the labels `(batch, 12)` of the last 12, 0 for a missing node.
    """
    buffer = buffer_top(configuration, xp)
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


def oracle(heads, labels) -> tuple[list[int], list[int]]:
    """The moves that build a projective tree, and their labels.

    LEFT_ARC and RIGHT_ARC come once the dependent has all its children, and SHIFT
    otherwise.
    """
    head_of, label_of = [-1, *heads], [0, *labels]
    pending = [0] * len(head_of)  # children that are not yet attached
    for head in heads:
        pending[head] += 1
    stack, buffer = [0], [*range(len(heads), 0, -1)]  # both with the next one last
    actions, of_actions = [], []
    while buffer or len(stack) > 1:
        s0, s1 = stack[-1], stack[-2] if len(stack) > 1 else -1
        dependent = 0
        if s1 > 0 and head_of[s1] == s0 and not pending[s1]:
            action, dependent = LEFT_ARC, stack.pop(-2)
        elif s0 > 0 and head_of[s0] == s1 and not pending[s0]:
            action, dependent = RIGHT_ARC, stack.pop()
        else:
            action = SHIFT
            stack.append(buffer.pop())
        if dependent:
            pending[head_of[dependent]] -= 1
        actions.append(action)
        of_actions.append(label_of[dependent])
    return actions, of_actions


ARC_STANDARD = register(
    TransitionSystem(
        name="arc-standard",
        actions=(
            Action("SHIFT"),
            Action("LEFT_ARC", DEPRELS),
            Action("RIGHT_ARC", DEPRELS),
        ),
        fields=SHAPES,
        initial=initial,
        legal=CASES.legal,
        advance=advance,
        features=features,
        num_nodes=NUM_NODES,
        num_labels=NUM_LABELS,
        steps=lambda length: 2 * length,
        oracle=oracle,
        result=tree,
        cases=CASES,
        fixed_steps=True,
    )
)
