"""Arc-hybrid (Kuhlmann et al. 2011), a transition system that is not of the package."""

from typing import Any, NamedTuple

from keras_tagging.transitions import DEPRELS, Action, TransitionSystem


class State(NamedTuple):
    below: Any  # (batch, width): of each node the one below it on the stack
    head: Any  # (batch, width): of each node its head, 0 as long as it has none
    label: Any  # (batch, width)
    top: Any  # (batch,): the node on top of the stack
    front: Any  # (batch,): the node at the front of the buffer
    lengths: Any  # (batch,)


def here(table, node, xp):
    rows = xp.arange(xp.shape(table)[1], dtype="int32")
    return xp.expand_dims(rows, 0) == xp.expand_dims(node, 1)


def read(table, node, xp):
    return xp.max(xp.where(here(table, node, xp), table, 0), 1)


def written(table, node, value, xp):
    return xp.where(here(table, node, xp), xp.expand_dims(value, 1), table)


def initial(lengths, width, xp):
    table = xp.zeros((xp.shape(lengths)[0], width), "int32")
    root = xp.ones_like(lengths)
    return State(table, table, table, root, root + 1, lengths)


def legal(state, xp):
    empty = state.front > state.lengths + 1
    word = state.top > 1
    last = empty | (read(state.below, state.top, xp) > 1)
    return xp.stack([~empty, word & ~empty, word & last], 1)


def advance(state, actions, labels, xp):
    may = legal(state, xp)
    shift, left, right = ((actions == i) & may[:, i] for i in range(3))
    below = read(state.below, state.top, xp)
    node = xp.where(left | right, state.top, 0)
    head = written(state.head, node, xp.where(left, state.front, below), xp)
    label = written(state.label, node, labels, xp)
    stack = written(state.below, xp.where(shift, state.front, 0), state.top, xp)
    top = xp.where(shift, state.front, xp.where(left | right, below, state.top))
    front = xp.where(shift, state.front + 1, state.front)
    return State(stack, head, label, top, front, state.lengths)


def features(state, xp):
    front = xp.where(state.front > state.lengths + 1, 0, state.front)
    nodes = xp.stack([state.top, read(state.below, state.top, xp), front], 1)
    label = read(state.label, read(state.below, state.top, xp), xp)
    return nodes, xp.expand_dims(label, 1)


def oracle(heads, labels):
    heads, labels = [-1, *heads], [0, *labels]
    missing = [heads.count(node) for node in range(len(heads))]  # children
    stack, front, moves = [0], 1, []
    while front < len(heads) or len(stack) > 1:
        word, left = stack[-1], heads[stack[-1]] == front
        if word and not missing[word] and (left or heads[word] == stack[-2]):
            missing[heads[stack.pop()]] -= 1
            moves.append((1 if left else 2, labels[word]))
        else:
            stack.append(front)
            moves.append((0, 0))
            front += 1
    return [action for action, _ in moves], [label for _, label in moves]


ARC_HYBRID = TransitionSystem(
    name="arc-hybrid",
    actions=(Action("SHIFT"), Action("LEFT", DEPRELS), Action("RIGHT", DEPRELS)),
    fields=State((None,), (None,), (None,), (), (), ()),
    initial=initial,
    legal=legal,
    advance=advance,
    features=features,
    num_nodes=3,
    num_labels=1,
    steps=lambda length: 2 * length,
    oracle=oracle,
    result=lambda state, xp: (state.head[:, 2:] - 1, state.label[:, 2:]),
    fixed_steps=True,
)
