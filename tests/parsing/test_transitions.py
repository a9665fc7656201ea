"""Against plain lists: by hand, all moves of short sentences, random ones of longer."""

import numpy as np
import pytest
from keras import ops
from parsing.walks import advance_both, assert_same, random_walk, row, start_both
from reference import arc_standard as reference

from keras_tagging.parsing import (
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    Configuration,
    advance,
    features,
    legal,
    start,
)

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


def agree(ours, theirs):
    """Asserts that both see and allow the same; returns what is allowed."""
    assert_same(ours, theirs)
    allowed = legal(ours)
    nodes, labels = features(ours)
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
        assert legal(ours)[0, move]
        ours, theirs = advance_both(ours, theirs, [move], [label])
        if arc:
            arcs.add((*numbers(arc), label))
        assert theirs[0].stack == numbers(stack.split())
        assert theirs[0].buffer == list(range(7 - left, 7))
        assert set(theirs[0].arcs) == arcs
        agree(ours, theirs)
    assert not legal(ours).any()


def test_all_moves_of_all_short_sentences():
    """Every legal sequence ends in a tree, and every tree is reached."""
    longest = 4
    rng = np.random.default_rng(0)
    ours, theirs = start_both(range(longest + 1), longest + 3)
    reached = [set() for _ in range(longest + 1)]
    for step in range(2 * longest + 1):
        allowed = agree(ours, theirs)
        for one, may in zip(theirs, allowed, strict=True):
            length = len(one.buffer) + len(one.stack) - 1 + len(one.arcs)
            assert may.any() == (step < 2 * length)
            if not may.any():
                head_of = {word: head for head, word, _ in one.arcs}
                reached[length].add(tuple(head_of[i + 1] for i in range(length)))
        before, moves = np.nonzero(allowed)
        if len(before):
            ours = Configuration(*(part[before] for part in ours))
            theirs = [theirs[i] for i in before]
            labels = rng.integers(1, 9, len(before)).tolist()
            ours, theirs = advance_both(ours, theirs, moves.tolist(), labels)
    for length, found in enumerate(reached):
        trees = filter(reference.is_projective, reference.trees(length))
        assert found == set(trees)


def test_moves_that_are_not_legal():
    """Each reason by itself, as words are shifted."""
    ours, _ = start_both([3])
    shift, none = np.array([SHIFT], "int32"), np.zeros(1, "int32")
    assert legal(ours)[0].tolist() == [True, False, False]  # ROOT alone
    ours = advance(ours, shift, none)
    # ROOT has no head, and gets its only child last
    assert legal(ours)[0].tolist() == [True, False, False]
    ours = advance(ours, shift, none)
    assert legal(ours)[0].tolist() == [True, True, True]
    ours = advance(ours, shift, none)
    assert legal(ours)[0].tolist() == [False, True, True]  # nothing left to shift


@pytest.mark.parametrize("seed", range(3))
def test_ragged_batches_equal_one_by_one(seed):
    """Those that are parsed stay as they are while the others go on."""
    lengths = [7, 0, 1, 12, 3, 1, 5, 10]
    for ours, theirs, _, _ in random_walk(lengths, seed):
        agree(ours, theirs)
        for part in ours:
            assert part.dtype == np.int32


def test_a_wider_table_changes_nothing():
    wide = None
    for ours, _, moves, labels in random_walk([4, 6, 2], 1):
        if wide is None:
            wide = start(ours.lengths, 11)
        assert np.array_equal(ours.nodes, wide.nodes[:, :8])
        assert not wide.nodes[:, 8:].any()
        assert np.array_equal(legal(ours), legal(wide))
        for one, other in zip(features(ours), features(wide), strict=True):
            assert np.array_equal(one, other)
        wide = advance(wide, *arrays(moves, labels))


def test_keras_equals_numpy():
    tensors = None
    for ours, _, moves, labels in random_walk([5, 0, 1, 8], 4):
        if tensors is None:
            lengths = ops.convert_to_tensor(ours.lengths)
            tensors = start(lengths, ours.nodes.shape[1], ops)
        expected = (*ours, legal(ours), *features(ours))
        found = (*tensors, legal(tensors, ops), *features(tensors, ops))
        for one, other in zip(expected, found, strict=True):
            other = ops.convert_to_numpy(other)
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype
        moves, labels = map(ops.convert_to_tensor, arrays(moves, labels))
        tensors = advance(tensors, moves, labels, ops)
