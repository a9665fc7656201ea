"""Against plain lists, and on all projective trees of up to five words."""

import numpy as np
import pytest
from reference import arc_standard
from transitions.walks import PAIRS, random_walk, replayed, row

from keras_tagging.transitions import gold_moves, transition_system
from keras_tagging.transitions.arc_standard import LEFT_ARC, RIGHT_ARC, SHIFT
from keras_tagging.transitions.node_table import NUM_LABELS, NUM_NODES
from keras_tagging.transitions.swap import SWAP, projective_order

ALL = [
    np.array(heads, int) for length in range(6) for heads in arc_standard.trees(length)
]
TREES = [heads for heads in ALL if arc_standard.is_projective(heads.tolist())]
BOTH = pytest.mark.parametrize("name", PAIRS)


def random_labels(trees, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 9, len(tree)) for tree in trees]


def long_trees():
    """Projective trees of many lengths, in no order."""
    lengths = np.random.default_rng(0).permutation(np.arange(300) % 17)
    *_, (_, theirs, _, _) = random_walk(lengths, 5)
    head_of = [{word: head for head, word, _ in one.arcs} for one in theirs]
    return [np.array([one[i + 1] for i in range(len(one))], int) for one in head_of]


def oracle(trees, labels, name="arc-standard"):
    return gold_moves(transition_system(name), trees, labels)


def random_trees():
    """Trees of many lengths, most with crossing arcs.

    Each word but the first, in random order, hangs from one before it.
    """
    rng = np.random.default_rng(2)
    found = []
    for length in rng.integers(0, 20, 300):
        order, heads = rng.permutation(length) + 1, np.zeros(length, int)
        for i in range(1, length):
            heads[order[i] - 1] = rng.choice(order[:i])
        found.append(heads)
    return found


def of(name, size):
    if size == "short":
        return ALL if name == "swap" else TREES
    return [*long_trees(), *(random_trees() if name == "swap" else [])]


@BOTH
@pytest.mark.parametrize("size", ["short", "long"])
def test_every_tree_comes_back(name, size):
    trees = of(name, size)
    labels = random_labels(trees)
    system = transition_system(name)
    moves = oracle(trees, labels, name)
    for heads, some in zip(trees, moves, strict=True):
        assert len(some.actions) <= system.steps(len(heads))
        if system.fixed_steps:
            assert len(some.actions) == system.steps(len(heads))
    expected = [
        [*map(np.ndarray.tolist, pair)] for pair in zip(trees, labels, strict=True)
    ]
    assert replayed(system, moves) == expected


def test_the_number_of_short_trees():
    # C(3n - 2, n - 1) / n projective trees of n words with one root, n^(n - 1) in all
    assert np.bincount([len(tree) for tree in TREES]).tolist() == [1, 1, 2, 7, 30, 143]
    assert np.bincount([len(tree) for tree in ALL]).tolist() == [1, 1, 2, 9, 64, 625]


def test_by_hand():
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


def test_lazy_swaps_are_fewer():
    """Than of the oracle of Nivre (2009), which swaps as soon as it can."""
    trees = random_trees()
    labels = random_labels(trees)
    lazy = sum((m.actions == SWAP).sum() for m in oracle(trees, labels, "swap"))
    reference = PAIRS["swap"][1]
    eager = sum(
        move == "swap"
        for tree, some in zip(trees, labels, strict=True)
        for move, _ in reference.oracle(tree.tolist(), some.tolist(), lazy=False)
    )
    assert 0 < lazy < eager


@BOTH
@pytest.mark.parametrize("size", ["short", "long"])
def test_moves_and_features_of_the_reference(name, size):
    """More trees than are advanced at once, and of ragged lengths."""
    trees, reference = of(name, size), PAIRS[name][1]
    labels = random_labels(trees)
    for heads, some_labels, found in zip(
        trees, labels, oracle(trees, labels, name), strict=True
    ):
        expected = reference.oracle(heads.tolist(), some_labels.tolist())
        configuration = reference.start(len(heads))
        for step, (move, label) in enumerate(expected):
            assert reference.MOVES[found.actions[step]] == move
            assert found.labels[step] == (label or 0)
            nodes, node_labels = reference.features(configuration)
            assert found.nodes[step].tolist() == [row(node) for node in nodes]
            assert found.node_labels[step].tolist() == [n or 0 for n in node_labels]
            configuration = reference.advance(configuration, move, label)
        assert len(found.actions) == len(expected)


@BOTH
def test_a_batch_equals_one_by_one(name):
    trees = of(name, "long")[-40:]
    labels = random_labels(trees)
    for i, together in enumerate(oracle(trees, labels, name)):
        (alone,) = oracle(trees[i : i + 1], labels[i : i + 1], name)
        for one, other in zip(together, alone, strict=True):
            assert np.array_equal(one, other)
            assert one.dtype == np.int32


def test_no_sentences_and_empty_ones():
    assert oracle([], []) == []
    for moves in oracle([[], []], [[], []]):
        assert [part.shape for part in moves] == [
            *((0,), (0,), (0, NUM_NODES), (0, NUM_LABELS))
        ]


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([3, 4, 0, 3], "the tree is not projective: leave it out, or lift its arcs"),
        (
            [0, 1, 5, 3, 4],
            "the words 3, 5 and 4 form a cycle: each depends on the next",
        ),
        ([0, 2], "word 2 forms a cycle: it is its own head"),
        ([0, 1, 0], "the words 1 and 3 are roots: only one may be"),
        ([2, 1], "no word is the root: one word must have the head 0"),
        ([0, 3], "the head of word 2 is 3 in a sentence of 2 words"),
        ([0, -1], "the head of word 2 is -1 in a sentence of 2 words"),
    ],
)
def test_trees_that_are_refused(heads, message):
    trees = [[0], heads, [2, 0]]
    with pytest.raises(ValueError) as error:
        oracle(trees, [[1] * len(tree) for tree in trees])
    assert str(error.value).startswith(f"sentence 2: {message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("labels", [[1], [1, 2, 3], [1, 0]])
def test_labels_that_are_refused(labels):
    with pytest.raises(ValueError, match="sentence 1: the labels of 2 words are"):
        oracle([[0, 1]], [labels])
