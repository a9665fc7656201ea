"""Trees against a search with plain lists, NumPy scores and the reference's moves."""

from contextlib import nullcontext

import keras
import numpy as np
import pytest
from cells.cases import named_weights, op_by_op
from keras import ops
from layers.scorers import CELLS, NUM_LABELS, SIZE, make_scorer, random_tokens
from reference import parser as reference

from keras_tagging.parsing import check_tree

EVERY = pytest.mark.parametrize("name", CELLS)
LENGTHS = [5, 1, 3, 7, 2, 4, 6, 1]
SHORT = [3, 1, 2, 3, 2, 3]


@pytest.fixture(autouse=True)
def loops_op_by_op(request):
    """Except where they are compiled."""
    with nullcontext() if "compiled" in request.node.name else op_by_op():
        yield


def trees(scorer, tokens, lengths):
    """Heads and labels of every sentence, as lists without the padding."""
    arguments = ops.convert_to_tensor(tokens), np.array(lengths, "int32")
    heads, labels = map(ops.convert_to_numpy, scorer.parse(*arguments))
    assert heads.dtype == labels.dtype == "int32"
    assert heads.shape == labels.shape == tokens.shape[:2]
    return [unpadded(*rows, n) for *rows, n in zip(heads, labels, lengths, strict=True)]


def unpadded(heads, labels, length):
    assert (heads[length:] == -1).all() and not labels[length:].any()
    return heads[:length].tolist(), labels[:length].tolist()


def expected_trees(find, name, scorer, tokens, lengths, *options):
    weights, gates = named_weights(scorer), CELLS[name][2]
    return [
        find(row[:length].astype("float64"), weights, gates, *options)
        for row, length in zip(tokens, lengths, strict=True)
    ]


def by_search(*arguments):
    return reference.search(*arguments)[0].tree()


@EVERY
@pytest.mark.parametrize("weights_seed", [1, 2, 3])
def test_greedy_search(name, weights_seed):
    scorer = make_scorer(name, weights_seed)
    tokens = random_tokens(LENGTHS, weights_seed + 10)
    expected = expected_trees(reference.greedy, name, scorer, tokens, LENGTHS)
    found = trees(scorer, tokens, LENGTHS)
    assert found == expected
    assert len({len(set(labels)) for _, labels in found}) > 1
    # a beam of one is greedy
    assert expected == expected_trees(by_search, name, scorer, tokens, LENGTHS, 1)


@EVERY
@pytest.mark.parametrize("width", [2, 3, 8])
def test_beam_search(name, width):
    scorer = make_scorer(name, beam_width=width)
    tokens = random_tokens(LENGTHS)
    expected = expected_trees(by_search, name, scorer, tokens, LENGTHS, width)
    assert trees(scorer, tokens, LENGTHS) == expected
    scorer.beam_width = 1
    assert trees(scorer, tokens, LENGTHS) != expected


@EVERY
def test_a_wide_beam_finds_the_best_of_all_sequences_of_moves(name):
    tokens = random_tokens(SHORT)
    scorer = make_scorer(name, scale=0.3)
    every = expected_trees(reference.search, name, scorer, tokens, SHORT)
    assert [len(all_moves) for all_moves in every] == [64, 2, 8, 64, 8, 64]
    expected = [all_moves[0].tree() for all_moves in every]
    assert trees(scorer, tokens, SHORT) != expected  # greedy does not
    scorer.beam_width = 64
    assert trees(scorer, tokens, SHORT) == expected


@EVERY
@pytest.mark.parametrize("width", [1, 3])
def test_a_batch_equals_one_by_one(name, width):
    scorer = make_scorer(name, beam_width=width)
    tokens = random_tokens(LENGTHS, words=9)
    together = trees(scorer, tokens, LENGTHS)
    for row, length, expected in zip(tokens, LENGTHS, together, strict=True):
        assert trees(scorer, row[None, :length], [length]) == [expected]
    # what stands in the padding does not matter
    spoilt = tokens.copy()
    spoilt[np.arange(9) >= np.array(LENGTHS)[:, None]] = 1e3
    assert trees(scorer, spoilt, LENGTHS) == together


@EVERY
@pytest.mark.parametrize("width", [1, 4])
def test_always_a_tree_with_one_root(name, width):
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 11, 60).tolist()
    scorer = make_scorer(name, beam_width=width)
    tokens, kernel = random_tokens(lengths), scorer.output_kernel
    # scores as they are; far apart; those of networks that have diverged
    for factor in (1, 1e3, 1e30, np.inf, np.nan):
        kernel.assign(ops.convert_to_numpy(kernel) * factor)
        found = trees(scorer, tokens, lengths)
        for heads, labels in found:
            check_tree(heads)
            assert set(labels) <= set(range(1, NUM_LABELS + 1))
        if factor == 1:
            assert len({tuple(heads) for heads, _ in found}) > 15


@pytest.mark.parametrize("width", [1, 3])
def test_empty_sentences(width):
    scorer = make_scorer("lstm", beam_width=width)
    tokens = random_tokens([4, 0, 2])
    found = trees(scorer, tokens, [4, 0, 2])
    assert found[1] == ([], [])
    assert [found[0], found[2]] == trees(scorer, tokens[[0, 2]], [4, 2])
    assert trees(scorer, tokens, [0, 0, 0]) == [([], [])] * 3


@pytest.mark.parametrize("width", [1, 3])
@EVERY
def test_compiled_with_a_batch_and_a_length_that_are_not_known(name, width):
    scorer = make_scorer(name, beam_width=width)
    tokens, lengths = keras.Input((None, SIZE)), keras.Input((), dtype="int32")
    outputs = keras.layers.Lambda(
        lambda given: scorer.parse(*given), output_shape=((None,), (None,))
    )([tokens, lengths])
    model = keras.Model([tokens, lengths], outputs)
    for given in (LENGTHS, [2], [1, 1, 3]):
        rows = random_tokens(given)
        found = model.predict([rows, np.array(given, "int32")], verbose=0)
        pairs = [unpadded(*row) for row in zip(*found, given, strict=True)]
        assert pairs == trees(scorer, rows, given)
