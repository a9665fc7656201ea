import itertools

import numpy as np
import pytest
from scipy.stats import permutation_test

from keras_tagging.metrics import holm, paired_permutation


def accuracy(counts):
    return counts[:, 1] / counts[:, 0]


def f1(counts):
    return 200 * counts[:, 2] / (counts[:, 0] + counts[:, 1])


def counts_of(*right):
    """One seed, sentences of 10 words with this many right ones."""
    return np.array([[[10, n] for n in right]])


def chunk_counts(rng, seeds, sentences, quality):
    gold = np.broadcast_to(rng.integers(1, 5, sentences), (seeds, sentences))
    correct = rng.binomial(gold, quality)
    return np.stack([gold, correct + rng.integers(0, 2, gold.shape), correct], -1)


def enumerated(first, second, figure):
    """p from all exchanges of units, one at a time."""
    observed = abs(np.mean(figure(first.sum(1)) - figure(second.sum(1))))
    reached = []
    for chosen in itertools.product((False, True), repeat=first.shape[1]):
        mask = np.array(chosen)[None, :, None]
        these = np.where(mask, second, first).sum(1)
        those = np.where(mask, first, second).sum(1)
        found = abs(np.mean(figure(these) - figure(those)))
        reached.append(found >= observed - 1e-9)
    return np.mean(reached)


@pytest.mark.parametrize("case", range(6))
def test_equals_enumeration_with_seeds_and_uneven_counts(case):
    rng = np.random.default_rng(case)
    first, second = (chunk_counts(rng, 3, 9, q) for q in (0.8, 0.6))
    second[:, :, 0] = first[:, :, 0]
    second[:, :, 2] = np.minimum(second[:, :, 2], second[:, :, 0])
    second[:, -2:] = first[:, -2:]  # no difference
    second[:, 1], first[:, 1] = second[:, 0], first[:, 0]  # the same difference twice
    p = enumerated(first, second, f1)
    assert paired_permutation(first, second, f1) == pytest.approx(p)
    drawn = paired_permutation(first, second, f1, resamples=127, seed=case)
    assert drawn != p  # 2 ** 7 exchanges are more than these
    assert drawn == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 127) + 1 / 128)


def test_equals_scipys_test_where_the_exchanges_are_drawn():
    rng = np.random.default_rng(1)
    right = [rng.random((2, 400)) < quality for quality in (0.83, 0.8)]
    first, second = (np.stack([np.ones(r.shape, int), r], -1) for r in right)
    by_scipy = permutation_test(
        [r.sum(0) for r in right],
        lambda a, b, axis: (a - b).sum(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9999,
        rng=np.random.default_rng(2),
    ).pvalue
    p = paired_permutation(first, second, accuracy)
    assert 0.02 < by_scipy < 0.5
    assert p == pytest.approx(by_scipy, abs=5 * np.sqrt(2 * 0.25 / 9999))


def test_kinds_of_every_size_are_drawn_in_full():
    """8, 9 and 1 alike: whole bytes of random bits, parts of one, and both."""
    gaps = np.repeat([1, 2, -5], [8, 9, 1])
    first = np.stack([np.full(18, 10), 5 + gaps.clip(0)], -1)[None]
    second = np.stack([np.full(18, 10), 5 + (-gaps).clip(0)], -1)[None]
    gaps = (first - second)[0, :, 1]
    signs = np.array([*itertools.product((-1, 1), repeat=len(gaps))])
    p = np.mean(np.abs(signs @ gaps) >= abs(gaps.sum()))
    drawn = paired_permutation(first, second, accuracy, resamples=49_999)
    assert drawn == pytest.approx(p, rel=0.15)
    assert 1e-3 < p < 0.05


def test_equal_systems_and_very_different_ones():
    first, worse = counts_of(*[9] * 100), counts_of(*[5] * 100)
    assert paired_permutation(first, first, accuracy) == 1
    assert paired_permutation(first, worse, accuracy, resamples=500) == 1 / 501


def test_what_cannot_be_compared():
    with pytest.raises(ValueError, match="shape"):
        paired_permutation(counts_of(1, 2), counts_of(1, 2, 3), accuracy)
    none = np.zeros((2, 0, 2), int)
    with pytest.raises(ValueError, match="nothing to compare"):
        paired_permutation(none, none, lambda counts: np.full(len(counts), np.nan))


def test_holm_is_the_closed_test_of_bonferronis():
    """A hypothesis is rejected if each set that it is in is, by its least p."""
    values = np.random.default_rng(4).random(5) ** 3
    expected = [
        max(
            min(1, len(group) * values[list(group)].min())
            for size in range(1, 6)
            for group in itertools.combinations(range(5), size)
            if i in group
        )
        for i in range(5)
    ]
    assert holm(values) == pytest.approx(expected)
