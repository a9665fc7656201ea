"""Significance of the differences between systems.

Paired tests exchange rows of counts, each of a token or a sentence, and compute the
figure from their sums.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from keras_tagging.metrics.derivations import F1_FIGURES, DerivationScores
from keras_tagging.utils.checks import check_known

_BATCH = 2**20  # random bytes that are drawn at once


def is_limit(p: float, resamples: int) -> bool:
    """Whether a p-value is the smallest that this many random exchanges can give."""
    return p <= 1.001 / (resamples + 1)


def paired_permutation(
    first: np.ndarray,
    second: np.ndarray,
    figure: Callable[[np.ndarray], np.ndarray],
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> float:
    """The two-sided p-value of a difference between two systems.

    The test is approximate randomisation. Under the null hypothesis, the two systems'
    answers to a unit (a sentence or a token) are exchangeable, those of all seeds
    together. The statistic is the difference of the figures, averaged over the seeds.
    So p tells how strongly these units support a difference between these trained
    models; it says nothing about other seeds. Tokens of a sentence depend on each
    other, which the test by tokens ignores: its p is often smaller than by sentences.

    Sums of counts are linear in the exchanges. Units on which the systems agree have no
    effect; among units that differ in the same way, only the number of exchanged ones
    matters. So 50,000 tokens take seconds, while SciPy's `permutation_test`, which
    gives the same result, permutes all units every time.

    Args:
        first, second: `(seeds, units, counts)`, of the same units: the counts that the
            figure needs, such as gold, predicted and correct chunks of sentences.
        figure: function from summed counts `(n, counts)` to `(n,)`.
        resamples: the number of random exchanges. If there are no more than this, each
            is tried once, and p is exact.
        seed: the seed of the random exchanges.

    Returns:
        The share of the exchanges with a difference at least as large, in either
        direction. If exchanges are random, the original assignment counts as one more.

    Raises:
        ValueError: if the shapes differ, or a figure of the systems is not a number,
            for instance without units.
    """
    first, second = np.asarray(first), np.asarray(second)
    seeds, units, counts = first.shape
    sums = np.stack([first.sum(1), second.sum(1)])
    observed = figure(sums.reshape(-1, counts))
    if not units or np.isnan(observed).any():
        raise ValueError("there is nothing to compare: a figure is not a number")

    gaps = (first - second).swapaxes(0, 1).reshape(units, -1)
    gaps = gaps[gaps.any(1)]
    kinds, sizes = np.unique(gaps, axis=0, return_counts=True)
    kinds = kinds.astype(float)  # products of floats are faster

    def sizes_of_differences(exchanged):
        """Differences for `(n, kinds)`, the exchanged units of each kind."""
        moved = (exchanged @ kinds).reshape(-1, seeds, counts)
        these, those = (
            figure(total.reshape(-1, counts)).reshape(-1, seeds).mean(1)
            for total in (sums[0] - moved, sums[1] + moved)
        )
        return np.abs(these - those)

    # rounding must not make equal differences unequal
    [least] = sizes_of_differences(np.zeros((1, len(kinds))))
    least -= 1e-10 * np.abs(observed).max()
    if len(gaps) < 64 and 2 ** len(gaps) <= resamples:
        every = np.array([*product((0, 1), repeat=len(gaps))])
        starts = np.cumsum(sizes) - sizes
        exchanged = np.add.reduceat(every, starts, axis=1) if len(gaps) else every
        return float(np.mean(sizes_of_differences(exchanged) >= least))
    draws = _binomials(sizes, resamples, np.random.default_rng(seed))
    reached = sum(int(np.sum(sizes_of_differences(d) >= least)) for d in draws)
    return (reached + 1) / (resamples + 1)


def _binomials(sizes, count, rng) -> Iterator[np.ndarray]:
    """Draw `count` times how many of `sizes` fair coins show heads, in batches.

    It counts random bits: NumPy's generator takes a hundred times as long for small
    sizes.
    """
    widths = -(-sizes // 8)  # in bytes
    ends = np.cumsum(widths)
    used = np.full(ends[-1], 255, np.uint8)
    used[ends - 1] = 255 >> (8 * widths - sizes)  # the bits of each last byte
    batch = max(1, _BATCH // len(used))
    for start in range(0, count, batch):
        shape = min(batch, count - start), len(used)
        drawn = np.frombuffer(rng.bytes(shape[0] * shape[1]), np.uint8).reshape(shape)
        ones = np.bitwise_count(drawn & used)
        if len(used) > len(sizes):
            ones = np.add.reduceat(ones, ends - widths, axis=1, dtype=np.int32)
        yield ones


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Correct p-values for multiple tests, with the step-down method of Holm (1979).

    The probability of rejecting any true null hypothesis stays below the level, however
    the tests depend on each other. SciPy has no such function.

    Args:
        p_values: `(tests,)`, in any order.

    Returns:
        `(tests,)`, the corrected p-values in the same order, at most 1.
    """
    values = np.asarray(p_values, float)
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    factors = np.arange(len(values), 0, -1)
    corrected[order] = np.maximum.accumulate(factors * values[order]).clip(max=1)
    return corrected


BY_TOKENS = ("accuracy", "word")  # a row is a token, else a sentence
F1 = ("f1", *F1_FIGURES)
FIGURES = ("accuracy", "f1", "word", "sent", "uas", "las")
FIGURES += DerivationScores._fields


def figure_of(figure: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function that computes a figure, in per cent, from summed counts.

    Args:
        figure: accuracy, f1, uas, las, word, sent, or a name of `DerivationScores`.

    Returns:
        A function from sums `(..., counts)` to `(...)`: F1, that of derivations too, is
        200 * correct / (gold + predicted), 0 if there is no chunk; all others are 100 *
        right / all, nan if there is nothing to count. The third count of word is not
        used.

    Raises:
        ValueError: for an unknown figure.
    """
    check_known("figure", figure, FIGURES)
    return _f1 if figure in F1 else _share


def _f1(sums):
    gold, predicted, correct = np.moveaxis(np.asarray(sums, float), -1, 0)
    return 200 * correct / np.maximum(gold + predicted, 1)


def _share(sums):
    every, right, *_ = np.moveaxis(np.asarray(sums, float), -1, 0)
    return 100 * right / np.where(every > 0, every, np.nan)
