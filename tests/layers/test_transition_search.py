"""Trees against a search with plain lists, NumPy scores and the reference's moves."""

from functools import cache

import keras
import numpy as np
import pytest
from cells.cases import named_weights
from keras import ops
from layers.scorers import (
    CELLS,
    NUM_LABELS,
    SIZE,
    make_scorer,
    random_tokens,
    randomize_scorer,
)
from reference import parser as reference

from keras_tagging.data.trees import check_tree

WIDTHS = pytest.mark.parametrize("width", [1, 3])
LENGTHS = [5, 1, 3, 6, 2, 4, 6, 1]
SHORT = [3, 1, 2, 3, 2, 3, 3, 3]


@cache
def compiled_scorer(name, width):
    """A scorer and its `parse`; TensorFlow compiles it for shapes it does not know."""
    scorer = make_scorer(name, beam_width=width)
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        shapes = tf.TensorSpec((None, None, SIZE)), tf.TensorSpec((None,), tf.int32)
        return scorer, tf.function(scorer.parse, input_signature=shapes)
    if keras.backend.backend() == "jax":
        import jax

        @jax.jit
        def parse(values, *given):
            mapping = list(zip(scorer.variables, values, strict=True))
            with keras.StatelessScope(state_mapping=mapping):
                return scorer.parse(*given)

        return scorer, lambda *given: parse([v.value for v in scorer.variables], *given)
    return scorer, scorer.parse


class RandomParser:
    """With weights that are drawn anew."""

    def __init__(self, name, width=1, seed=4):
        self.scorer, self.parse = compiled_scorer(name, width)
        randomize_scorer(self.scorer, seed, 0.3)
        self.gates = CELLS[name][2]

    def __call__(self, tokens, lengths):
        """Heads and labels of every sentence, as lists without the padding."""
        given = map(ops.convert_to_tensor, (tokens, np.array(lengths, "int32")))
        heads, labels = map(ops.convert_to_numpy, self.parse(*given))
        assert heads.dtype == labels.dtype == "int32"
        assert heads.shape == labels.shape == tokens.shape[:2]
        found = []
        for some_heads, some_labels, n in zip(heads, labels, lengths, strict=True):
            assert (some_heads[n:] == -1).all() and not some_labels[n:].any()
            found.append((some_heads[:n].tolist(), some_labels[:n].tolist()))
        return found

    def expected(self, find, tokens, lengths, *options):
        """What a function of the reference finds for each sentence."""
        weights = named_weights(self.scorer)
        return [
            find(row[:n].astype("float64"), weights, self.gates, *options)
            for row, n in zip(tokens, lengths, strict=True)
        ]


def best(*arguments):
    return reference.search(*arguments)[0].tree()


@pytest.mark.parametrize("name", CELLS)
@WIDTHS
def test_search(name, width):
    """A beam of one is greedy."""
    trees, others = set(), 0
    for seed in (3, 4, 5):
        parser = RandomParser(name, width, seed)
        tokens = random_tokens(LENGTHS, seed)
        expected = parser.expected(best, tokens, LENGTHS, width)
        assert parser(tokens, LENGTHS) == expected
        greedy = parser.expected(reference.greedy, tokens, LENGTHS)
        others += sum(map(tuple.__ne__, expected, greedy))
        trees |= {(tuple(heads), tuple(labels)) for heads, labels in expected}
    assert others > 1 if width > 1 else others == 0
    assert len(trees) > 10 and sum(len(set(labels)) > 1 for _, labels in trees) > 5


@pytest.mark.one_backend
def test_a_wide_beam_finds_the_best_of_all_sequences_of_moves():
    others = 0
    for seed in (3, 4, 5):
        parser, tokens = RandomParser("lstm", 64, seed), random_tokens(SHORT, seed)
        every = parser.expected(reference.search, tokens, SHORT)
        assert list(map(len, every)) == [64, 2, 8, 64, 8, 64, 64, 64]
        expected = [sequences[0].tree() for sequences in every]
        assert parser(tokens, SHORT) == expected
        greedy = parser.expected(reference.greedy, tokens, SHORT)
        others += sum(map(tuple.__ne__, expected, greedy))
    assert others > 0


@pytest.mark.parametrize("width, arc_labels", [(3, ((1,), (2,))), (1, ((2,), (1, 2)))])
def test_arcs_from_root_and_from_words_have_labels_of_their_own(width, arc_labels):
    parser = RandomParser("lstm", width)
    tokens = random_tokens(SHORT)
    free = parser.expected(best, tokens, SHORT, width)
    weights = parser.scorer.get_weights()
    parser.scorer = make_scorer("lstm", beam_width=width, arc_labels=arc_labels)
    parser.scorer.set_weights(weights)
    parser.parse = parser.scorer.parse
    found = parser(tokens, SHORT)
    assert found == parser.expected(best, tokens, SHORT, width, arc_labels)
    assert found != free
    for heads, labels in found:
        for head, label in zip(heads, labels, strict=True):
            assert label in arc_labels[head > 0]


@WIDTHS
def test_always_a_tree_with_one_root(width):
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 11, 60).tolist()
    parser = RandomParser("gru", width)
    tokens = random_tokens(lengths)
    kernel = parser.scorer.output_kernel
    # scores as they are; far apart; those of networks that have diverged
    for factor in (1, 1e3, 1e30, np.inf, np.nan):
        kernel.assign(ops.convert_to_numpy(kernel) * factor)
        found = parser(tokens, lengths)
        for heads, labels in found:
            check_tree(heads)
            assert set(labels) <= set(range(1, NUM_LABELS + 1))
        if factor == 1:
            assert len({tuple(heads) for heads, _ in found}) > 15


def test_empty_sentences():
    parser = RandomParser("gru", 3)
    tokens = random_tokens([4, 0, 2])
    found = parser(tokens, [4, 0, 2])
    assert found[1] == ([], [])
    assert [found[0], found[2]] == parser(tokens[[0, 2]], [4, 2])
    assert parser(tokens, [0, 0, 0]) == [([], [])] * 3
