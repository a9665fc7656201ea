"""Arc-standard with SWAP, which builds non-projective trees.

Nivre (2009), :cite:`nivre2009`. SWAP takes s_1 back to the front of the buffer, so
words may change their order until the tree is projective. As no two words change places
twice, every sequence of moves ends.

The field BELOW of a node in the buffer is the node behind it, NONE for the last one;
the front is NONE if the buffer is empty. The left and right children of a node are
those of its left and right arcs, the outermost one the last to be attached: in a
projective tree that is as in arc-standard.

The oracle is the lazy one of Nivre, Kuhlmann & Hall (2009), :cite:`nivre2009b`, which
swaps words only when no arc can be made before.

*Departures*: as in arc-standard here, ROOT gets its only child last.
"""

from dataclasses import replace

import numpy as np

from keras_tagging.transitions.arc_standard import (
    ARC_STANDARD,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    SWAP,
    children_of,
)
from keras_tagging.transitions.arc_standard import oracle as arc_standard_moves
from keras_tagging.transitions.node_table import (
    BELOW,
    CORE,
    CORE_LABELS,
    KEPT,
    LEFT,
    MORE,
    NONE,
    RIGHT,
    ROOT,
    S0,
    S2,
    Configuration,
    core_of,
    features_of,
    picked,
    rows,
    stack_top,
    written,
)
from keras_tagging.transitions.system import Action, register

#: as in arc-standard; b_0 may have been on the stack before: it keeps its children
FRONT = [*range(MORE + 1, MORE + 8)]
SOURCES = np.array(
    [
        [*KEPT, S0, *FRONT[1:]],
        [*LEFT, *FRONT],
        [*RIGHT, *FRONT],
        [S2, *KEPT[1:7], MORE, *KEPT[8:], *FRONT],
        [*KEPT, *FRONT],
    ],
    "int32",
)


def initial(lengths, width, xp=np) -> Configuration:
    """ROOT on the stack, all words in the buffer, no arcs."""
    batch = xp.shape(lengths)[0]
    every = xp.expand_dims(xp.arange(width, dtype="int32"), 0)
    has_next = (every > ROOT) & (every <= xp.expand_dims(lengths, 1))
    behind = xp.expand_dims(xp.where(has_next, every + 1, NONE), 2)
    others = xp.zeros((batch, width, 6), "int32")
    root = xp.ones_like(lengths)
    front = xp.where(lengths > 0, root + 1, NONE)
    return Configuration(xp.concatenate([behind, others], 2), root, front, lengths)


def legal(configuration, xp=np):
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


def advance(configuration, actions, labels, xp=np) -> Configuration:
    """The configuration after a legal move."""
    nodes, top, front, lengths = configuration
    stack = stack_top(configuration, xp)[0]
    s0, s1 = stack[:, 0], stack[:, 1]
    shift = (actions == SHIFT) & (front > NONE)
    left = (actions == LEFT_ARC) & (s1 > ROOT)
    right = (actions == RIGHT_ARC) & (s1 >= ROOT)
    swap = (actions == SWAP) & (s1 > ROOT)
    cases = xp.where(shift | left | right | swap, actions, len(SOURCES) - 1)
    before = rows(nodes, xp.expand_dims(front, 1), xp)[:, 0]
    behind = before[:, BELOW]
    more = xp.concatenate([xp.expand_dims(front, 1), before], 1)
    fields = picked(configuration, labels, more, SOURCES, cases, xp)
    places = xp.stack([s0, s1, front], 1)
    nodes = written(nodes, places, fields, xp)
    top = xp.where(shift, front, xp.where(right, s1, top))
    front = xp.where(shift, behind, xp.where(swap, s1, front))
    return Configuration(nodes, top, front, lengths)


def features(configuration, xp=np):
    """The nodes and labels of Table 1: see `node_table.features_of`."""
    places = [xp.expand_dims(configuration.front, 1)]
    for _ in range(2):
        places.append(rows(configuration.nodes, places[-1], xp)[:, :, BELOW])
    return features_of(configuration, xp.concatenate(places, 1), xp)


def core(configuration, xp=np):
    """Eight nodes: see `node_table.core_of`."""
    return core_of(configuration, xp.expand_dims(configuration.front, 1), xp)


def from_root(configuration, xp=np):
    """Whether the arc of each move hangs from ROOT: a right arc may."""
    root = stack_top(configuration, xp)[0][:, 1] == ROOT
    never = xp.zeros_like(root)
    return xp.stack([never, never, root, never], 1)


def steps(length):
    """The most moves of n words: n arcs, n (n - 1) / 2 swaps, a shift after each swap
    and one for each word."""
    return length * length + length


def oracle(heads, labels) -> tuple[list[int], list[int]]:
    """The moves that build a tree, and their labels.

    As in arc-standard, but SWAP comes if s_0 goes before s_1 in the projective order of
    the words, unless b_0 belongs to the maximal projective component of s_0.
    """
    place = projective_order(heads)
    component = projective_components(heads)

    def swaps(s0, s1, b0):
        together = b0 is not None and component[s0] == component[b0]
        return place[s0] < place[s1] and not together

    return arc_standard_moves(heads, labels, swaps)


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
        initial=initial,
        legal=legal,
        advance=advance,
        features=features,
        steps=steps,
        oracle=oracle,
        from_root=from_root,
        fixed_steps=False,
        nonprojective=True,
    )
)
SWAP_CORE = register(
    replace(
        ARC_STANDARD_WITH_SWAP,
        name="swap-core",
        features=core,
        num_nodes=len(CORE),
        num_labels=CORE_LABELS,
    )
)
