"""The arc-standard transition system.

Nivre (2004), :cite:`nivre2004`, as in section 2 of Elkaref & Bohnet (2017),
:cite:`elkaref2017`. The words in the buffer are the last ones of the sentence; its
front is one past the last word if it is empty.

With SWAP, of Nivre (2009), :cite:`nivre2009`, it builds non-projective trees. SWAP
takes s_1 back to the front of the buffer, so words may change their order until the
tree is projective. As no two words change places twice, every sequence of moves ends.
There the field BELOW of a node in the buffer is the node behind it, NONE for the last
one; the front is NONE if the buffer is empty. The left and right children of a node are
those of its left and right arcs, the outermost one the last to be attached: in a
projective tree that is as without SWAP. The oracle is the lazy one of Nivre, Kuhlmann &
Hall (2009), :cite:`nivre2009b`, which swaps words only when no arc can be made before.

*Departures*: with SWAP, as without it, ROOT gets its only child last.

The network reads the features of Elkaref & Bohnet (2017), Table 1: word and tag of 18
nodes, and the labels of the 12 among them that are children; or a part of them.
"""

from dataclasses import replace
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


def moved(configuration, labels, more, sources, cases, xp=np) -> Configuration:
    """The configuration after a move, which writes the fields of two nodes.

    The dependent of an arc leaves the stack, and is now its head's outermost child. All
    values are picked at once: each operation of a step costs more than its numbers do.

    Args:
        configuration: a `Configuration`.
        labels: `(batch,)`, of the arc.
        more: `(batch, m)`, further values.
        sources: `(cases, 18)`, where the fields of two nodes come from, then these
            nodes, and the top and the front: S0 and so on, from MORE on those of
            `more`, of which the last is used; `KEPT`, `LEFT` and `RIGHT` are the fields
            of s_0 and s_1.
        cases: `(batch,)`, of each move.
    """
    stack, top_fields = stack_top(configuration, xp)
    top_fields, width = xp.reshape(top_fields, (-1, 14)), int(sources.max()) + 1
    values = xp.concatenate([top_fields, stack, xp.expand_dims(labels, 1), more], 1)
    first = xp.arange(xp.shape(configuration.top)[0], dtype="int32") * width
    places = xp.take(sources, cases, axis=0) + xp.expand_dims(first, 1)
    values = xp.take(xp.reshape(values, (-1,)), places, axis=0)
    nodes = written(configuration.nodes, values[:, 14:16], values[:, :14], xp)
    return Configuration(nodes, values[:, 16], values[:, 17], configuration.lengths)


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

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)  # of which arc-standard has three
ZERO, ONE = np.int32(0), np.int32(1)
FRONT, BEHIND = MORE + 1, MORE + 2  # b_0, and the node behind it
#: by move: the fields of two nodes, of which b_0 has none before SHIFT; these nodes;
#: top and front after. The last one changes nothing.
MOVES = (
    [*KEPT[:7], S0, *[MORE] * 6, S0, FRONT, FRONT, BEHIND],
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
    """The configuration after a legal move."""
    nothing = xp.expand_dims(xp.zeros_like(configuration.lengths), 1)
    front = xp.expand_dims(configuration.front, 1)
    more = xp.concatenate([nothing, front, front + 1], 1)
    cases = actions * 6 + case_of(configuration, xp)
    return moved(configuration, labels, more, SOURCES, cases, xp)


def features(configuration, xp=np):
    """The nodes and labels of Table 1: see `features_of`."""
    nodes = xp.arange(3, dtype="int32") + xp.expand_dims(configuration.front, 1)
    last = xp.expand_dims(configuration.lengths, 1) + 1
    return features_of(configuration, xp.where(nodes <= last, nodes, NONE), xp)


def oracle(heads, labels, swaps=lambda *_: False) -> tuple[list[int], list[int]]:
    """The moves that build a projective tree, and their labels.

    LEFT_ARC and RIGHT_ARC come once the dependent has all its children, and SHIFT
    otherwise.

    Args:
        heads, labels: of the words.
        swaps: function of s_0, s_1 and b_0 (None if there is none): whether SWAP comes
            in place of SHIFT.
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

# With SWAP

#: as in arc-standard; b_0 may have been on the stack before: it keeps its children
OF_FRONT = [*range(MORE + 1, MORE + 8)]
SOURCES_WITH_SWAP = np.array(
    [
        [*KEPT[:7], S0, *OF_FRONT[1:], S0, MORE, MORE, OF_FRONT[BELOW]],
        [*LEFT, S0, S1, S0, MORE],
        [*RIGHT, S0, S1, S1, MORE],
        [S2, *KEPT[1:7], MORE, *KEPT[8:], S0, S1, S0, S1],
        [*KEPT, S0, S1, S0, MORE],
    ],
    "int32",
)


def initial_with_swap(lengths, width, xp=np) -> Configuration:
    """ROOT on the stack, all words in the buffer, no arcs."""
    batch = xp.shape(lengths)[0]
    every = xp.expand_dims(xp.arange(width, dtype="int32"), 0)
    has_next = (every > ROOT) & (every <= xp.expand_dims(lengths, 1))
    behind = xp.expand_dims(xp.where(has_next, every + 1, NONE), 2)
    others = xp.zeros((batch, width, 6), "int32")
    root = xp.ones_like(lengths)
    front = xp.where(lengths > 0, root + 1, NONE)
    return Configuration(xp.concatenate([behind, others], 2), root, front, lengths)


def legal_with_swap(configuration, xp=np):
    """Whether SHIFT, LEFT_ARC, RIGHT_ARC and SWAP are legal: `(batch, 4)` bool.

    The first three are as in arc-standard. SWAP needs two words that stand on the stack
    as they do in the sentence (Nivre 2009, section 3).
    """
    stack = stack_top(configuration, xp)[0]
    first, second = stack[:, 0], stack[:, 1]
    empty = configuration.front == NONE
    word = second > ROOT
    right = word | ((second == ROOT) & empty)
    return xp.stack([~empty, word, right, word & (second < first)], 1)


def advance_with_swap(configuration, actions, labels, xp=np) -> Configuration:
    """The configuration after a legal move."""
    s1 = stack_top(configuration, xp)[0][:, 1]
    may = (actions == SHIFT) & (configuration.front > NONE)
    may = may | ((actions == RIGHT_ARC) & (s1 == ROOT))
    may = may | ((actions > SHIFT) & (s1 > ROOT))
    cases = xp.where(may, actions, len(SOURCES_WITH_SWAP) - 1)
    front = xp.expand_dims(configuration.front, 1)
    more = xp.concatenate([front, rows(configuration.nodes, front, xp)[:, 0]], 1)
    return moved(configuration, labels, more, SOURCES_WITH_SWAP, cases, xp)


def features_with_swap(configuration, xp=np):
    """The nodes and labels of Table 1: see `features_of`."""
    places = [xp.expand_dims(configuration.front, 1)]
    for _ in range(2):
        places.append(rows(configuration.nodes, places[-1], xp)[:, :, BELOW])
    return features_of(configuration, xp.concatenate(places, 1), xp)


def core_with_swap(configuration, xp=np):
    """Eight nodes: see `core_of`."""
    return core_of(configuration, xp.expand_dims(configuration.front, 1), xp)


def from_root_with_swap(configuration, xp=np):
    """Whether the arc of each move hangs from ROOT: a right arc may."""
    root = stack_top(configuration, xp)[0][:, 1] == ROOT
    never = xp.zeros_like(root)
    return xp.stack([never, never, root, never], 1)


def steps_with_swap(length):
    """The most moves of n words: n arcs, n (n - 1) / 2 swaps, a shift after each swap
    and one for each word."""
    return length * length + length


def oracle_with_swap(heads, labels) -> tuple[list[int], list[int]]:
    """The moves that build a tree, and their labels.

    As in arc-standard, but SWAP comes if s_0 goes before s_1 in the projective order of
    the words, unless b_0 belongs to the maximal projective component of s_0.
    """
    place = projective_order(heads)
    component = projective_components(heads)

    def swaps(s0, s1, b0):
        together = b0 is not None and component[s0] == component[b0]
        return place[s0] < place[s1] and not together

    return oracle(heads, labels, swaps)


def projective_order(heads) -> list[int]:
    """The place of ROOT and of each word when a tree is read from left to right.

    Each node comes after its left children and what is below them, and before its right
    ones (Nivre 2009, section 2).
    """
    left, right = ([[] for _ in range(len(heads) + 1)] for _ in range(2))
    for word, head in enumerate(heads, 1):
        (left if word < head else right)[head].append(word)
    place, count = [0] * len(left), 0
    waiting = [(0, False)]  # nodes, and whether what is left of them has been read
    while waiting:
        node, ready = waiting.pop()
        if ready:
            place[node] = count
            count += 1
            continue
        waiting += [(child, False) for child in reversed(right[node])]
        waiting.append((node, True))
        waiting += [(child, False) for child in reversed(left[node])]
    return place


def projective_components(heads) -> list[int]:
    """The top of the maximal projective component of ROOT and of each word.

    What arc-standard makes of the tree when it attaches whatever it can (Nivre,
    Kuhlmann & Hall 2009, section 3).
    """
    head_of, pending = [-1, *heads], children_of(heads)
    above = list(range(len(head_of)))  # the head of what is attached, else the node
    stack = []
    for node in above[:]:
        stack.append(node)
        while len(stack) > 1:
            s1, s0 = stack[-2:]
            if head_of[s1] == s0 and not pending[s1]:
                dependent = stack.pop(-2)
            elif head_of[s0] == s1 and not pending[s0]:
                dependent = stack.pop()
            else:
                break
            above[dependent] = head_of[dependent]
            pending[head_of[dependent]] -= 1
    # a head is followed to the top; the way is short, and shortened
    for node in range(len(above)):
        while above[above[node]] != above[node]:
            above[node] = above[above[node]]
    return above


ARC_STANDARD_WITH_SWAP = register(
    replace(
        ARC_STANDARD,
        name="swap",
        actions=(*ARC_STANDARD.actions, Action("SWAP")),
        initial=initial_with_swap,
        legal=legal_with_swap,
        advance=advance_with_swap,
        features=features_with_swap,
        steps=steps_with_swap,
        oracle=oracle_with_swap,
        from_root=from_root_with_swap,
        fixed_steps=False,
        nonprojective=True,
    )
)
SWAP_CORE = register(
    replace(
        ARC_STANDARD_WITH_SWAP,
        name="swap-core",
        features=core_with_swap,
        num_nodes=len(CORE),
        num_labels=CORE_LABELS,
    )
)
