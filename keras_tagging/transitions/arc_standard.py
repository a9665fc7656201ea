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
    SHAPES,
    Configuration,
    features_of,
    stack_top,
    tree,
    with_arc,
    written,
)
from keras_tagging.transitions.system import DEPRELS, Action, TransitionSystem, own

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)
#: by move, the last one of a sentence that is parsed: the fields of s_0, s_1 and b_0,
#: which has none before SHIFT
SOURCES = np.array(
    [
        [*KEPT, S0, *[MORE] * 6],
        [*LEFT, *[MORE] * 7],
        [*RIGHT, *[MORE] * 7],
        [*KEPT, *[MORE] * 7],
    ],
    "int32",
)


def initial(lengths, width, xp=np) -> Configuration:
    """ROOT on the stack, all words in the buffer, no arcs."""
    nodes = xp.zeros((xp.shape(lengths)[0], width, 7), "int32")
    root = xp.ones_like(lengths)
    return Configuration(nodes, root, root + 1, lengths)


def buffer_is_empty(configuration):
    return configuration.front > configuration.lengths + 1


def legal(configuration, xp=np):
    """Whether SHIFT, LEFT_ARC and RIGHT_ARC are legal: `(batch, 3)` bool.

    No move is legal for a parsed sentence: its buffer is empty, and only ROOT is on the
    stack. LEFT_ARC must not give ROOT a head; RIGHT_ARC attaches to ROOT only when the
    buffer is empty, so that ROOT has one child.
    """
    empty = buffer_is_empty(configuration)
    second = stack_top(configuration, xp)[0][:, 1]
    right = (second > ROOT) | ((second == ROOT) & empty)
    return xp.stack([~empty, second > ROOT, right], 1)


def advance(configuration, actions, labels, xp=np) -> Configuration:
    """The configuration after a legal move."""
    nodes, top, front, lengths = configuration
    stack, known = stack_top(configuration, xp)
    s0, s1 = stack[:, 0], stack[:, 1]
    shift = (actions == SHIFT) & ~buffer_is_empty(configuration)
    left = (actions == LEFT_ARC) & (s1 > ROOT)
    right = (actions == RIGHT_ARC) & (s1 >= ROOT)
    cases = xp.where(shift | left | right, actions, len(SOURCES) - 1)
    nothing = xp.expand_dims(xp.zeros_like(s0), 1)
    fields = with_arc(stack, known, labels, nothing, SOURCES, cases, xp)
    nodes = written(nodes, (s0, s1, front), fields, xp)
    top = xp.where(shift, front, xp.where(right, s1, top))
    front = xp.where(shift, front + 1, front)
    return Configuration(nodes, top, front, lengths)


def features(configuration, xp=np):
    """The nodes and labels of Table 1: see `node_table.features_of`."""
    ahead = xp.arange(3, dtype="int32") + xp.expand_dims(configuration.front, 1)
    last = xp.expand_dims(configuration.lengths, 1) + 1
    return features_of(configuration, xp.where(ahead <= last, ahead, NONE), xp)


def from_root(configuration, xp=np):
    """Whether the arc of each move hangs from ROOT: a right arc may."""
    root = stack_top(configuration, xp)[0][:, 1] == ROOT
    never = xp.zeros_like(root)
    return xp.stack([never, never, root], 1)


def oracle(heads, labels) -> tuple[list[int], list[int]]:
    """The moves that build a projective tree, and their labels.

    LEFT_ARC comes as early as possible, RIGHT_ARC once s_0 has all its children, and
    SHIFT otherwise.
    """
    head_of, label_of = [-1, *heads], [0, *labels]
    pending = children_of(heads)  # not yet attached
    stack, front = [0], 1
    actions, of_actions = [], []
    while front < len(head_of) or len(stack) > 1:
        s0, s1 = stack[-1], stack[-2] if len(stack) > 1 else -1
        if s1 > 0 and head_of[s1] == s0:
            action, dependent = LEFT_ARC, stack.pop(-2)
        elif s0 > 0 and head_of[s0] == s1 and not pending[s0]:
            action, dependent = RIGHT_ARC, stack.pop()
        else:
            action, dependent = SHIFT, 0
            stack.append(front)
            front += 1
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


ARC_STANDARD = own(
    TransitionSystem(
        name="arc-standard",
        actions=(
            Action("SHIFT"),
            Action("LEFT_ARC", DEPRELS),
            Action("RIGHT_ARC", DEPRELS),
        ),
        fields=SHAPES,
        initial=initial,
        legal=legal,
        advance=advance,
        features=features,
        num_nodes=NUM_NODES,
        num_labels=NUM_LABELS,
        steps=lambda length: 2 * length,
        oracle=oracle,
        result=tree,
        from_root=from_root,
        fixed_steps=True,
    )
)
