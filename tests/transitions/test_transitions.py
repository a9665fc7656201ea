"""Against plain lists: by hand, all moves of short sentences, random ones of longer."""

import numpy as np
import pytest
from keras import ops
from reference import arc_standard
from transitions.walks import (
    PAIRS,
    advance_both,
    as_lists,
    assert_same,
    random_walk,
    row,
    start_both,
)

from keras_tagging.data.trees import check_tree
from keras_tagging.transitions.arc_standard import (
    CASES,
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    advance,
)
from keras_tagging.transitions.swap import SWAP

BOTH = pytest.mark.parametrize("name", PAIRS)

WORDS = "ROOT She read old letters from Rome".split()
# After each move: the stack, how many words are left in the buffer, the new arc. The
# words that follow `letters` depend on it, so it waits for its own head.
BY_HAND = [
    (SHIFT, "ROOT She", 5, None),
    (SHIFT, "ROOT She read", 4, None),
    (LEFT_ARC, "ROOT read", 4, ("read", "She")),
    (SHIFT, "ROOT read old", 3, None),
    (SHIFT, "ROOT read old letters", 2, None),
    (LEFT_ARC, "ROOT read letters", 2, ("letters", "old")),
    (SHIFT, "ROOT read letters from", 1, None),
    (SHIFT, "ROOT read letters from Rome", 0, None),
    (LEFT_ARC, "ROOT read letters Rome", 0, ("Rome", "from")),
    (RIGHT_ARC, "ROOT read letters", 0, ("letters", "Rome")),
    (RIGHT_ARC, "ROOT read", 0, ("read", "letters")),
    (RIGHT_ARC, "ROOT", 0, ("ROOT", "read")),
]


def numbers(words):
    return [WORDS.index(word) for word in words]


def arrays(moves, labels):
    """Moves of a random walk; parsed sentences have none, any will do."""
    moves = [SHIFT if move is None else move for move in moves]
    return np.array(moves, "int32"), np.array(labels, "int32")


def agree(ours, theirs, name="arc-standard"):
    """Asserts that both see and allow the same; returns what is allowed."""
    system, reference = PAIRS[name]
    assert_same(ours, theirs, name)
    allowed = system.legal(ours, np)
    nodes, labels = system.features(ours, np)
    for i, one in enumerate(theirs):
        may = reference.legal(one)
        assert allowed[i].tolist() == [move in may for move in reference.MOVES]
        expected_nodes, expected_labels = reference.features(one)
        assert nodes[i].tolist() == [row(node) for node in expected_nodes]
        assert labels[i].tolist() == [label or 0 for label in expected_labels]
    return allowed


def test_by_hand():
    ours, theirs = start_both([6])
    agree(ours, theirs)
    arcs = set()
    for label, (move, stack, left, arc) in enumerate(BY_HAND, 1):
        assert CASES.legal(ours, np)[0, move]
        ours, theirs = advance_both(ours, theirs, [move], [label])
        if arc:
            arcs.add((*numbers(arc), label))
        assert theirs[0].stack == numbers(stack.split())
        assert theirs[0].buffer == list(range(7 - left, 7))
        assert set(theirs[0].arcs) == arcs
        agree(ours, theirs)
    assert not CASES.legal(ours, np).any()


@BOTH
def test_all_moves_of_all_short_sentences(name):
    """Every legal sequence ends in a tree within the bound, and every tree that the
    system can build is reached."""
    system, reference = PAIRS[name]
    longest = 4 if name == "arc-standard" else 3
    rng = np.random.default_rng(0)
    ours, theirs = start_both(range(longest + 1), longest + 3, name)
    reached = [set() for _ in range(longest + 1)]
    most = [0] * (longest + 1)
    for step in range(system.steps(longest) + 1):
        allowed = agree(ours, theirs, name)
        heads, _ = system.result(ours, np)
        for row_, length, may in zip(heads, ours.lengths, allowed, strict=True):
            if system.fixed_steps:
                assert may.any() == (step < system.steps(length))
            if not may.any() and -1 not in row_[:length]:
                reached[length].add(tuple(row_[:length].tolist()))
                most[length] = max(most[length], step)
            assert may.any() or -1 not in row_[:length]
        before, actions = np.nonzero(allowed)
        assert len(before) or step >= max(most)
        if len(before):
            ours = type(ours)(*(part[before] for part in ours))
            theirs = [theirs[i] for i in before]
            labels = rng.integers(1, 9, len(before)).tolist()
            ours, theirs = advance_both(ours, theirs, actions.tolist(), labels, name)
    assert not allowed.any()
    for length, found in enumerate(reached):
        trees = arc_standard.trees(length)
        if not system.nonprojective:
            trees = filter(arc_standard.is_projective, trees)
        assert found == set(trees)


def test_moves_that_are_not_legal():
    """Each reason by itself, as words are shifted."""
    ours, _ = start_both([3])
    shift, none = np.array([SHIFT], "int32"), np.zeros(1, "int32")
    assert CASES.legal(ours, np)[0].tolist() == [True, False, False]  # ROOT alone
    ours = advance(ours, shift, none, np)
    # ROOT has no head, and gets its only child last
    assert CASES.legal(ours, np)[0].tolist() == [True, False, False]
    ours = advance(ours, shift, none, np)
    assert CASES.legal(ours, np)[0].tolist() == [True, True, True]
    ours = advance(ours, shift, none, np)
    assert CASES.legal(ours, np)[0].tolist() == [
        False,
        True,
        True,
    ]  # nothing left to shift


def test_a_swap_is_legal_once():
    """For words in the order of the sentence; ROOT stays where it is."""
    ours, theirs = start_both([3], name="swap")
    swap = PAIRS["swap"][0]
    found = []
    for action in (SHIFT, SHIFT, SWAP, SHIFT, SHIFT, SWAP, SWAP):
        found.append(swap.legal(ours, np)[0, SWAP])
        ours, theirs = advance_both(ours, theirs, [action], [0], "swap")
    # 2 and 1 are not swapped again; 3 passes 1, and then 2
    assert found == [False, False, True, False, False, True, True]
    assert as_lists(ours, 0, "swap")[:2] == ([0, 3], [2, 1])
    assert not swap.legal(ours, np)[0, SWAP]


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_ragged_batches_equal_one_by_one(seed, name):
    """Those that are parsed stay as they are while the others go on."""
    lengths = [7, 0, 1, 12, 3, 1, 5, 10]
    for ours, theirs, _, _ in random_walk(lengths, seed, name):
        agree(ours, theirs, name)
        for part in ours:
            assert part.dtype == np.int32


@BOTH
def test_random_moves_end_within_the_bound_in_a_tree(name):
    system, _ = PAIRS[name]
    lengths = [*range(12)] * 3
    for step, (found, _, actions, _) in enumerate(random_walk(lengths, 7, name)):
        ours = found
        for length, action in zip(lengths, actions, strict=True):
            assert action is None or step < system.steps(length)
    heads, labels = system.result(ours, np)
    for some_heads, some_labels, n in zip(heads, labels, lengths, strict=True):
        check_tree(some_heads[:n])
        assert (some_labels[:n] > 0).all()
        assert (some_heads[n:] == -1).all() and not some_labels[n:].any()


@BOTH
def test_a_wider_table_changes_nothing(name):
    system, _ = PAIRS[name]
    wide = None
    for ours, _, actions, labels in random_walk([4, 6, 2], 1, name):
        if wide is None:
            wide = system.initial(ours.lengths, 11, np)
        assert np.array_equal(ours.nodes, wide.nodes[:, :8])
        assert not wide.nodes[:, 8:].any()
        assert np.array_equal(system.legal(ours, np), system.legal(wide, np))
        for one, other in zip(
            system.features(ours, np), system.features(wide, np), strict=True
        ):
            assert np.array_equal(one, other)
        wide = system.advance(wide, *arrays(actions, labels), np)


@BOTH
def test_keras_equals_numpy(name):
    system, _ = PAIRS[name]
    tensors = None
    for ours, _, actions, labels in random_walk([5, 0, 1, 8], 4, name):
        if tensors is None:
            lengths = ops.convert_to_tensor(ours.lengths)
            tensors = system.initial(lengths, ours.nodes.shape[1], ops)
        expected, found = (
            (*state, *system.features(state, xp), *system.result(state, xp))
            + (system.legal(state, xp), system.from_root(state, xp))
            for state, xp in ((ours, np), (tensors, ops))
        )
        for one, other in zip(expected, found, strict=True):
            other = ops.convert_to_numpy(other)
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype
        given = map(ops.convert_to_tensor, arrays(actions, labels))
        tensors = system.advance(tensors, *given, ops)
