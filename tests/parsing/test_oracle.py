"""Against plain lists, and on all projective trees of up to five words."""

import numpy as np
import pytest
from parsing.walks import as_lists, random_walk, row
from reference import arc_standard as reference

from keras_tagging.parsing import (
    LEFT_ARC,
    NUM_LABELS,
    NUM_NODES,
    RIGHT_ARC,
    SHIFT,
    advance,
    legal,
    oracle,
    start,
)

TREES = [
    np.array(heads, int)
    for length in range(6)
    for heads in reference.trees(length)
    if reference.is_projective(heads)
]


def random_labels(trees, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 9, len(tree)) for tree in trees]


def long_trees():
    """Projective trees of many lengths, in no order."""
    lengths = np.random.default_rng(0).permutation(np.arange(300) % 17)
    *_, (_, theirs, _, _) = random_walk(lengths, 5)
    head_of = [{word: head for head, word, _ in one.arcs} for one in theirs]
    return [np.array([one[i + 1] for i in range(len(one))], int) for one in head_of]


def built(moves, length):
    """Heads and labels of the tree that moves make; all of them must be legal."""
    configuration = start(np.array([length], "int32"), length + 2)
    for move, label in zip(moves.moves, moves.labels, strict=True):
        assert legal(configuration)[0, move]
        assert (label > 0) == (move != SHIFT)
        configuration = advance(configuration, move[None], label[None])
    assert not legal(configuration).any()
    arcs = sorted(
        (word, head, label) for head, word, label in as_lists(configuration, 0)[2]
    )
    return [head for _, head, _ in arcs], [label for _, _, label in arcs]


def test_all_short_trees():
    # C(3n - 2, n - 1) / n projective trees of n words with one root
    assert np.bincount([len(tree) for tree in TREES]).tolist() == [1, 1, 2, 7, 30, 143]
    labels = random_labels(TREES)
    for heads, some_labels, moves in zip(
        TREES, labels, oracle(TREES, labels), strict=True
    ):
        assert len(moves.moves) == 2 * len(heads)
        assert built(moves, len(heads)) == (heads.tolist(), some_labels.tolist())


def test_by_hand():
    """She read old letters from Rome."""
    (moves,) = oracle([[2, 0, 4, 2, 6, 4]], [[1, 2, 3, 4, 5, 6]])
    expected = [
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 1)),
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 3)),
        *((SHIFT, 0), (SHIFT, 0), (LEFT_ARC, 5)),
        *((RIGHT_ARC, 6), (RIGHT_ARC, 4), (RIGHT_ARC, 2)),
    ]
    assert list(zip(moves.moves, moves.labels, strict=True)) == expected


@pytest.mark.parametrize("trees", [TREES, long_trees()], ids=["short", "long"])
def test_moves_and_features_of_the_reference(trees):
    """More trees than are advanced at once, and of ragged lengths."""
    labels = random_labels(trees)
    for heads, some_labels, found in zip(
        trees, labels, oracle(trees, labels), strict=True
    ):
        expected = reference.oracle(heads.tolist(), some_labels.tolist())
        configuration = reference.start(len(heads))
        for step, (move, label) in enumerate(expected):
            assert reference.MOVES[found.moves[step]] == move
            assert found.labels[step] == (label or 0)
            nodes, node_labels = reference.features(configuration)
            assert found.nodes[step].tolist() == [row(node) for node in nodes]
            assert found.node_labels[step].tolist() == [n or 0 for n in node_labels]
            configuration = reference.advance(configuration, move, label)
        assert len(found.moves) == len(expected)


def test_a_batch_equals_one_by_one():
    trees = long_trees()[:40]
    labels = random_labels(trees)
    for i, together in enumerate(oracle(trees, labels)):
        (alone,) = oracle(trees[i : i + 1], labels[i : i + 1])
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
