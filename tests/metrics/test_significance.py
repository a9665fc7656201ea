import itertools

import numpy as np
import pytest

from keras_tagging.metrics import paired_permutation


def accuracy(counts):
    return counts[:, 1] / counts[:, 0]


def counts_of(*right):
    """One seed, sentences of 10 words with this many right ones."""
    return np.array([[[10, n] for n in right]])


def test_equals_the_exact_test_of_few_sentences():
    first, second = counts_of(9, 7, 8, 10, 6), counts_of(6, 7, 9, 5, 5)
    gaps = (first - second)[0, :, 1]
    sums = [
        (gaps * signs).sum() for signs in itertools.product((1, -1), repeat=len(gaps))
    ]
    more = np.mean([s >= gaps.sum() for s in sums])
    assert paired_permutation(first, second, accuracy) == pytest.approx(2 * more)


def test_equal_systems_and_different_ones():
    rng = np.random.default_rng(0)
    words = np.full((3, 200), 20)
    first = np.stack([words, rng.binomial(20, 0.9, words.shape)], -1)
    same = np.stack([words, rng.binomial(20, 0.9, words.shape)], -1)
    worse = np.stack([words, rng.binomial(20, 0.8, words.shape)], -1)
    options = {"resamples": 500}
    assert paired_permutation(first, first, accuracy, **options) == 1.0
    assert paired_permutation(first, same, accuracy, **options) > 0.05
    assert paired_permutation(first, worse, accuracy, **options) < 0.01
    assert paired_permutation(first, worse, accuracy, **options) == paired_permutation(
        worse, first, accuracy, **options
    )


def test_sentences_must_be_the_same():
    with pytest.raises(ValueError, match=r"\(1, 2, 2\) and \(1, 3, 2\)"):
        paired_permutation(counts_of(1, 2), counts_of(1, 2, 3), accuracy)
