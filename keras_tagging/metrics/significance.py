"""Whether differences between systems are more than chance."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

_BATCH = 2**20  # random bytes that are drawn at once


def is_limit(p: float, resamples: int) -> bool:
    """Whether a p-value is the least that so many drawn exchanges can give."""
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

    Approximate randomisation: under the null hypothesis the answers of the two to a
    unit, a sentence or a token, are exchangeable, those of all seeds together. The
    statistic is the difference of the figures, averaged over the seeds. So p tells how
    far these units bear out a difference between these trained models, not how far
    other seeds would. Tokens of a sentence depend on each other, which the test by
    tokens leaves out: its p is often the smaller one.

    Sums of counts are linear in the exchanges: units on which the systems do not differ
    have no part in them, and of units that differ alike only the number of those that
    are exchanged has. So 50,000 tokens take seconds, where SciPy's `permutation_test`,
    which gives the same, permutes all of them every time.

    Args:
        first, second: `(seeds, units, counts)`, of the same units: whatever the figure
            is computed from, such as gold, found and correct chunks of sentences.
        figure: function of summed counts `(n, counts)` that gives `(n,)`.
        resamples: exchanges that are drawn. If there are no more than these, each is
            tried once, and p is exact.
        seed: of the draws.

    Returns:
        The share of the exchanges that leave a difference at least as large, in either
        direction; where they are drawn, the systems as they are count as one more.

    Raises:
        ValueError: if the shapes differ, `resamples` is below 1, or a figure of the
            systems is not a number, as where there is no unit.
    """
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.ndim != 3:
        raise ValueError(
            f"{first.shape} and {second.shape}: both are (seeds, units, counts)"
        )
    if resamples < 1:
        raise ValueError(f"resamples={resamples}: at least one is drawn")
    seeds, units, counts = first.shape
    sums = np.stack([first.sum(1), second.sum(1)])
    observed = figure(sums.reshape(-1, counts))
    if not units or np.isnan(observed).any():
        raise ValueError("there is nothing to compare: a figure is not a number")

    gaps = (first - second).swapaxes(0, 1).reshape(units, -1)
    gaps = gaps[gaps.any(1)]
    kinds, sizes = np.unique(gaps, axis=0, return_counts=True)
    kinds = kinds.astype(float)  # a product of floats is the fast one

    def sizes_of_differences(exchanged):
        """Of `(n, kinds)`, how many units of each kind are exchanged."""
        moved = (exchanged @ kinds).reshape(-1, seeds, counts)
        these, those = (
            figure(total.reshape(-1, counts)).reshape(-1, seeds).mean(1)
            for total in (sums[0] - moved, sums[1] + moved)
        )
        return np.abs(these - those)

    # rounding must not tell differences apart that are equal
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
    """How many of `sizes` fair coins fall on one side, `count` times, in batches.

    By random bits: NumPy's generator takes a hundred times as long for small sizes.
    """
    widths = -(-sizes // 8)  # in bytes
    ends = np.cumsum(widths)
    used = np.full(ends[-1], 255, np.uint8)
    used[ends - 1] = 255 >> (8 * widths - sizes)  # of the last byte of each
    batch = max(1, _BATCH // len(used))
    for start in range(0, count, batch):
        shape = min(batch, count - start), len(used)
        drawn = np.frombuffer(rng.bytes(shape[0] * shape[1]), np.uint8).reshape(shape)
        ones = np.bitwise_count(drawn & used)
        if len(used) > len(sizes):
            ones = np.add.reduceat(ones, ends - widths, axis=1, dtype=np.int32)
        yield ones


def holm(p_values: Sequence[float]) -> np.ndarray:
    """Correct p-values for their number, by the step-down method of Holm (1979).

    The chance that any true null hypothesis is rejected stays below the level, however
    the tests depend on each other. Own code, as SciPy has no such function.

    Args:
        p_values: `(tests,)`, in any order.

    Returns:
        `(tests,)`, the corrected ones in the same order, at most 1.

    Raises:
        ValueError: if one is outside [0, 1].
    """
    values = np.asarray(p_values, float)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"{values.tolist()}: a p-value is between 0 and 1")
    order = np.argsort(values, kind="stable")
    corrected = np.empty_like(values)
    factors = np.arange(len(values), 0, -1)
    corrected[order] = np.maximum.accumulate(factors * values[order]).clip(max=1)
    return corrected
