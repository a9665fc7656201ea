"""Arc-standard against plain lists: by hand, short sentences, random ones."""

import numpy as np
import pytest
from keras import ops
from reference import arc_standard as reference
from transitions.walks import advance_both, assert_same, random_walk, row, start_both

from keras_tagging.transitions import ARC_STANDARD, gold_moves
from keras_tagging.transitions.arc_standard import (
    LEFT_ARC,
    NUM_LABELS,
    NUM_NODES,
    RIGHT_ARC,
    SHIFT,
)


def agree(ours, theirs):
    """Asserts that both see and allow the same; returns what is allowed, and nodes."""
    assert_same(ours, theirs)
    assert all(part.dtype == np.int32 for part in ours)
    allowed = ARC_STANDARD.legal(ours, np)
    nodes, labels = ARC_STANDARD.features(ours, np)
    for i, one in enumerate(theirs):
        may = reference.legal(one)
        assert allowed[i].tolist() == [move in may for move in reference.MOVES]
        expected_nodes, expected_labels = reference.features(one)
        assert nodes[i].tolist() == [row(node) for node in expected_nodes]
        assert labels[i].tolist() == [label or 0 for label in expected_labels]
    return allowed, nodes


# The moves


def test_all_moves_of_all_short_sentences():
    """Every legal sequence ends in a tree within the bound, and every tree that the
    system can build is reached."""
    longest, rng = 4, np.random.default_rng(0)
    ours, theirs = start_both(range(longest + 1), longest + 3)
    reached = [set() for _ in range(longest + 1)]
    for step in range(2 * longest + 1):
        allowed, _ = agree(ours, theirs)
        heads, _ = ARC_STANDARD.result(ours, np)
        for some_heads, length, may in zip(heads, ours.lengths, allowed, strict=True):
            assert may.any() == (step < 2 * length)
            if not may.any():
                reached[length].add(tuple(some_heads[:length].tolist()))
        before, actions = np.nonzero(allowed)
        if len(before):
            ours = type(ours)(*(part[before] for part in ours))
            theirs = [theirs[i] for i in before]
            labels = rng.integers(1, 9, len(before)).tolist()
            ours, theirs = advance_both(ours, theirs, actions.tolist(), labels)
    assert not allowed.any()
    for length, trees in enumerate(reached):
        every = reference.trees(length)
        assert trees == set(filter(reference.is_projective, every))


def test_random_moves_of_ragged_batches():
    """Those that are parsed stay as they are while the others go on."""
    seen = np.zeros(NUM_NODES, int)
    for ours, theirs, *_ in random_walk([16] * 25 + [7, 0, 1, 12, 3, 9], 0):
        seen += (agree(ours, theirs)[1] > 0).sum(0)
    assert seen.min() > 10  # no node is hardly ever there


def test_keras_equals_numpy():
    system, tensors = ARC_STANDARD, None
    for ours, _, actions, labels in random_walk([5, 0, 1, 8], 4):
        if tensors is None:
            lengths = ops.convert_to_tensor(ours.lengths)
            tensors = system.initial(lengths, ours.nodes.shape[1], ops)
        of_numpy, of_keras = (
            (*state, *system.features(state, xp), *system.result(state, xp))
            + (system.legal(state, xp), system.cases.of(state, xp))
            for state, xp in ((ours, np), (tensors, ops))
        )
        for one, other in zip(of_numpy, of_keras, strict=True):
            other = ops.convert_to_numpy(other)
            assert np.array_equal(one, other) and one.dtype == other.dtype
        moves = [[action or SHIFT for action in actions], labels]
        moves = (ops.convert_to_tensor(np.array(x, "int32")) for x in moves)
        tensors = system.advance(tensors, *moves, ops)


# The oracle

ALL = [np.array(heads, int) for length in range(6) for heads in reference.trees(length)]
TREES = [heads for heads in ALL if reference.is_projective(heads.tolist())]


def random_labels(trees):
    rng = np.random.default_rng(0)
    return [rng.integers(1, 9, len(tree)) for tree in trees]


def projective_trees():
    """Of many lengths, in no order, and more than are advanced at once."""
    lengths = np.random.default_rng(0).permutation(np.arange(300) % 17)
    *_, (_, theirs, _, _) = random_walk(lengths, 5)
    head_of = [{word: head for head, word, _ in one.arcs} for one in theirs]
    return [np.array([one[i + 1] for i in range(len(one))], int) for one in head_of]


def oracle(trees, labels):
    return gold_moves(ARC_STANDARD, trees, labels)


def test_gold_moves_by_hand():
    """She read old letters from Rome."""
    (moves,) = oracle([[2, 0, 4, 2, 6, 4]], [[1, 2, 3, 4, 5, 6]])
    expected = [
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 1)),
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 3)),
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 5)),
        *((RIGHT_ARC, 6), (RIGHT_ARC, 4), (RIGHT_ARC, 2)),
    ]
    assert list(zip(moves.actions, moves.labels, strict=True)) == expected


def test_gold_moves_and_features_of_the_reference():
    """A batch of ragged lengths equals one tree after the other."""
    trees = [*TREES, *projective_trees()]
    labels = random_labels(trees)
    for heads, some_labels, moves in zip(
        trees, labels, oracle(trees, labels), strict=True
    ):
        assert all(part.dtype == np.int32 for part in moves)
        expected = reference.oracle(heads.tolist(), some_labels.tolist())
        configuration = reference.start(len(heads))
        for step, (move, label) in enumerate(expected):
            assert reference.MOVES[moves.actions[step]] == move
            assert moves.labels[step] == (label or 0)
            nodes, node_labels = reference.features(configuration)
            assert moves.nodes[step].tolist() == [row(node) for node in nodes]
            assert moves.node_labels[step].tolist() == [n or 0 for n in node_labels]
            configuration = reference.advance(configuration, move, label)
        assert len(moves.actions) == len(expected)


def test_no_sentences_and_empty_ones():
    assert oracle([], []) == []
    for moves in oracle([[], []], [[], []]):
        assert [part.shape for part in moves] == [
            *((0,), (0,), (0, NUM_NODES), (0, NUM_LABELS))
        ]


@pytest.mark.parametrize(
    ("heads", "labels", "message"),
    [
        ([3, 4, 0, 3], [1] * 4, "the tree is not projective: leave it out, or lift"),
        ([0, 1, 5, 3, 4], [1] * 5, "the words 3, 5 and 4 form a cycle"),
    ],
)
def test_trees_that_are_refused(heads, labels, message):
    with pytest.raises(ValueError, match=f"^sentence 2: {message}"):
        oracle([[0], heads, [2, 0]], [[1], labels, [1, 1]])
