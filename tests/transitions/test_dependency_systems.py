"""Arc-standard and SWAP against plain lists: by hand, short sentences, random ones."""

import numpy as np
import pytest
from keras import ops
from reference import arc_standard
from transitions.crossing import random_tree
from transitions.walks import (
    PAIRS,
    advance_both,
    assert_same,
    random_walk,
    row,
    start_both,
)

from keras_tagging.transitions import NODES, gold_moves, transition_system
from keras_tagging.transitions.arc_standard import (
    CORE,
    LEFT_ARC,
    NUM_LABELS,
    NUM_NODES,
    RIGHT_ARC,
    SHIFT,
    SWAP,
    projective_order,
)

BOTH = pytest.mark.parametrize("name", PAIRS)


def agree(ours, theirs, name="arc-standard"):
    """Asserts that both see and allow the same; returns what is allowed, and nodes."""
    system, reference = PAIRS[name]
    assert_same(ours, theirs, name)
    assert all(part.dtype == np.int32 for part in ours)
    allowed = system.legal(ours, np)
    nodes, labels = system.features(ours, np)
    for i, one in enumerate(theirs):
        may = reference.legal(one)
        assert allowed[i].tolist() == [move in may for move in reference.MOVES]
        expected_nodes, expected_labels = reference.features(one)
        assert nodes[i].tolist() == [row(node) for node in expected_nodes]
        assert labels[i].tolist() == [label or 0 for label in expected_labels]
    return allowed, nodes


# The moves


@BOTH
def test_all_moves_of_all_short_sentences(name):
    """Every legal sequence ends in a tree within the bound, and every tree that the
    system can build is reached."""
    system, _ = PAIRS[name]
    longest = 4 if name == "arc-standard" else 3
    rng = np.random.default_rng(0)
    ours, theirs = start_both(range(longest + 1), longest + 3, name)
    reached = [set() for _ in range(longest + 1)]
    for step in range(system.steps(longest) + 1):
        allowed, _ = agree(ours, theirs, name)
        heads, _ = system.result(ours, np)
        for some_heads, length, may in zip(heads, ours.lengths, allowed, strict=True):
            if system.fixed_steps:
                assert may.any() == (step < system.steps(length))
            if not may.any():
                reached[length].add(tuple(some_heads[:length].tolist()))
        before, actions = np.nonzero(allowed)
        if len(before):
            ours = type(ours)(*(part[before] for part in ours))
            theirs = [theirs[i] for i in before]
            labels = rng.integers(1, 9, len(before)).tolist()
            ours, theirs = advance_both(ours, theirs, actions.tolist(), labels, name)
    assert not allowed.any()
    for length, trees in enumerate(reached):
        expected = arc_standard.trees(length)
        if not system.nonprojective:
            expected = filter(arc_standard.is_projective, expected)
        assert trees == set(expected)


@BOTH
def test_random_moves_of_ragged_batches(name):
    """Those that are parsed stay as they are while the others go on."""
    seen = np.zeros(NUM_NODES, int)
    for ours, theirs, *_ in random_walk([16] * 25 + [7, 0, 1, 12, 3, 9], 0, name):
        seen += (agree(ours, theirs, name)[1] > 0).sum(0)
    assert seen.min() > 10  # no node is hardly ever there


@BOTH
def test_keras_equals_numpy(name):
    system, _ = PAIRS[name]
    tensors = None
    for ours, _, actions, labels in random_walk([5, 0, 1, 8], 4, name):
        if tensors is None:
            lengths = ops.convert_to_tensor(ours.lengths)
            tensors = system.initial(lengths, ours.nodes.shape[1], ops)
        of_numpy, of_keras = (
            (*state, *system.features(state, xp), *system.result(state, xp))
            + (system.legal(state, xp), system.from_root(state, xp))
            for state, xp in ((ours, np), (tensors, ops))
        )
        for one, other in zip(of_numpy, of_keras, strict=True):
            other = ops.convert_to_numpy(other)
            assert np.array_equal(one, other) and one.dtype == other.dtype
        moves = [[action or SHIFT for action in actions], labels]
        moves = (ops.convert_to_tensor(np.array(x, "int32")) for x in moves)
        tensors = system.advance(tensors, *moves, ops)


# The features


@BOTH
def test_the_core_is_eight_of_the_nodes(name):
    core, places = transition_system(f"{name}-core"), [NODES.index(n) for n in CORE]
    of_labels, full = [place - 6 for place in places[4:]], PAIRS[name][0]
    assert (core.num_nodes, core.num_labels) == (8, 4)
    lengths, seen = [16] * 20 + [9, 1, 0, 8, 6, 7], np.zeros(8, int)
    state = core.initial(np.array(lengths, "int32"), 18, np)
    for ours, _, actions, of_actions in random_walk(lengths, 1, name):
        nodes, labels = core.features(state, np)
        all_nodes, all_labels = full.features(ours, np)
        assert nodes.tolist() == all_nodes[:, places].tolist()
        assert labels.tolist() == all_labels[:, of_labels].tolist()
        for function in ("legal", "from_root", "result"):
            one, other = (
                np.array(getattr(system, function)(x, np)).tolist()
                for system, x in ((core, state), (full, ours))
            )
            assert one == other
        seen += (nodes > 0).sum(0)
        moves = [action or 0 for action in actions], of_actions
        state = core.advance(state, *(np.array(x, "int32") for x in moves), np)
    assert seen.min() > 5


# The oracles

ALL = [
    np.array(heads, int) for length in range(6) for heads in arc_standard.trees(length)
]
TREES = [heads for heads in ALL if arc_standard.is_projective(heads.tolist())]


def random_labels(trees):
    rng = np.random.default_rng(0)
    return [rng.integers(1, 9, len(tree)) for tree in trees]


def projective_trees():
    """Of many lengths, in no order, and more than are advanced at once."""
    lengths = np.random.default_rng(0).permutation(np.arange(300) % 17)
    *_, (_, theirs, _, _) = random_walk(lengths, 5)
    head_of = [{word: head for head, word, _ in one.arcs} for one in theirs]
    return [np.array([one[i + 1] for i in range(len(one))], int) for one in head_of]


def random_trees():
    """Most with crossing arcs."""
    rng = np.random.default_rng(2)
    return [random_tree(length, rng) for length in rng.integers(0, 20, 300)]


def oracle(trees, labels, name="arc-standard"):
    return gold_moves(transition_system(name), trees, labels)


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


def test_a_tree_with_crossing_arcs_by_hand():
    """Figure 1 of Nivre (2009): "A hearing is scheduled on the issue today ." """
    heads = [2, 3, 0, 3, 2, 7, 5, 4, 3]
    # on the issue goes with hearing: it is read before "is scheduled"
    order = projective_order(heads)
    assert sorted(range(10), key=order.__getitem__) == [0, 1, 2, 5, 6, 7, 3, 4, 8, 9]
    (moves,) = oracle([heads], [range(1, 10)], "swap")
    shift, swap = (SHIFT, 0), (SWAP, 0)
    expected = [
        *(shift, shift, (LEFT_ARC, 1)),  # A
        *(shift, shift, shift),  # is scheduled on
        # on ... issue is one component, which is built first
        *(shift, shift, (LEFT_ARC, 6), (RIGHT_ARC, 7)),  # the, issue
        *(swap, swap, (RIGHT_ARC, 5)),  # on passes scheduled and is
        *(shift, (LEFT_ARC, 2), shift),  # is takes hearing; scheduled
        *(shift, (RIGHT_ARC, 8), (RIGHT_ARC, 4)),  # today, scheduled
        *(shift, (RIGHT_ARC, 9), (RIGHT_ARC, 3)),
    ]
    assert list(zip(moves.actions, moves.labels, strict=True)) == expected


@BOTH
def test_gold_moves_and_features_of_the_reference(name):
    """A batch of ragged lengths equals one tree after the other."""
    trees, reference = [*TREES, *projective_trees()], PAIRS[name][1]
    if name == "swap":  # whose lazy oracle swaps as late as it can
        trees = [*ALL[::3], *trees[-50:], *random_trees()]
    labels = random_labels(trees)
    for heads, some_labels, moves in zip(
        trees, labels, oracle(trees, labels, name), strict=True
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
