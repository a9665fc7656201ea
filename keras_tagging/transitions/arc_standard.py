"""The arc-standard transition system.

Nivre (2004), :cite:`nivre2004`, as in section 2 of Elkaref & Bohnet (2017),
:cite:`elkaref2017`. The words in the buffer are the last ones of the sentence; its
front is one past the last word if it is empty.
"""

import numpy as np

from keras_tagging.transitions.node_table import (
    KEPT,
    LEFT,
    MORE,
    NONE,
    NUM_LABELS,
    NUM_NODES,
    RIGHT,
    ROOT,
    S0,
    S1,
    SHAPES,
    Configuration,
    features_of,
    picked,
    stack_top,
    tree,
    written,
)
from keras_tagging.transitions.system import (
    DEPRELS,
    Action,
    Cases,
    TransitionSystem,
    register,
)

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)  # the last one of `swap` alone
ZERO, ONE = np.int32(0), np.int32(1)
FRONT, BEHIND = MORE + 1, MORE + 2  # b_0, and the node behind it
#: by move: the fields of s_0, s_1 and b_0, which has none before SHIFT; the nodes that
#: these are written to; top and front after. The last one changes nothing.
MOVES = (
    [*KEPT, S0, *[MORE] * 6, S0, S1, FRONT, FRONT, BEHIND],
    [*LEFT, *[MORE] * 7, S0, S1, MORE, S0, FRONT],
    [*RIGHT, *[MORE] * 7, S0, S1, MORE, S1, FRONT],
    [*KEPT, *[MORE] * 7, S0, S1, MORE, S0, FRONT],
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
    """The configuration after a legal move."""
    nothing = xp.expand_dims(xp.zeros_like(configuration.lengths), 1)
    front = xp.expand_dims(configuration.front, 1)
    more = xp.concatenate([nothing, front, front + 1], 1)
    cases = actions * 6 + case_of(configuration, xp)
    values = picked(configuration, labels, more, SOURCES, cases, xp)
    nodes = written(configuration.nodes, values[:, 21:24], values[:, :21], xp)
    return Configuration(nodes, values[:, 24], values[:, 25], configuration.lengths)


def features(configuration, xp=np):
    """The nodes and labels of Table 1: see `node_table.features_of`."""
    return features_of(configuration, ahead(configuration, 3, xp), xp)


def ahead(configuration, count, xp):
    """The first nodes of the buffer: `(batch, count)`."""
    nodes = xp.arange(count, dtype="int32") + xp.expand_dims(configuration.front, 1)
    last = xp.expand_dims(configuration.lengths, 1) + 1
    return xp.where(nodes <= last, nodes, NONE)


def oracle(heads, labels, swaps=lambda *_: False) -> tuple[list[int], list[int]]:
    """The moves that build a projective tree, and their labels.

    LEFT_ARC and RIGHT_ARC come once the dependent has all its children, and SHIFT
    otherwise.

    Args:
        heads, labels: of the words.
        swaps: function of s_0, s_1 and b_0 (None if there is none): whether `swap.SWAP`
            comes in place of SHIFT.
    """
    head_of, label_of = [-1, *heads], [0, *labels]
    pending = children_of(heads)  # not yet attached
    stack, buffer = [0], [*range(len(heads), 0, -1)]  # both with the next one last
    actions, of_actions = [], []
    while buffer or len(stack) > 1:
        s0, s1 = stack[-1], stack[-2] if len(stack) > 1 else -1
        dependent = 0
        if s1 > 0 and head_of[s1] == s0 and not pending[s1]:
            action, dependent = LEFT_ARC, stack.pop(-2)
        elif s0 > 0 and head_of[s0] == s1 and not pending[s0]:
            action, dependent = RIGHT_ARC, stack.pop()
        elif s1 > 0 and swaps(s0, s1, buffer[-1] if buffer else None):
            action = SWAP
            buffer.append(stack.pop(-2))
        else:
            action = SHIFT
            stack.append(buffer.pop())
        if dependent:
            pending[head_of[dependent]] -= 1
        actions.append(action)
        of_actions.append(label_of[dependent])
    return actions, of_actions


def children_of(heads) -> list[int]:
    """The number of children of ROOT and of each word."""
    counts = [0] * (len(heads) + 1)
    for head in heads:
        counts[head] += 1
    return counts


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
        from_root=CASES.from_root,
        fixed_steps=True,
    )
)
