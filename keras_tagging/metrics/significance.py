"""Whether a difference between two systems is more than chance."""

from collections.abc import Callable

import numpy as np
from scipy.stats import permutation_test


def paired_permutation(
    first: np.ndarray,
    second: np.ndarray,
    figure: Callable[[np.ndarray], np.ndarray],
    *,
    resamples: int = 9999,
    seed: int = 0,
) -> float:
    """The two-sided p-value of a difference between two systems.

    Under the null hypothesis the answers of the two to a sentence are exchangeable;
    sentences and not tokens, as the tokens of one depend on each other. The statistic
    is the difference of the figures, averaged over the seeds. So p tells how far these
    sentences bear out a difference between these trained models, not how far other
    seeds would.

    Args:
        first, second: `(seeds, sentences, counts)`, of the same sentences: whatever the
            figure is computed from, such as gold, found and correct chunks.
        figure: function of summed counts `(seeds, counts)` that gives `(seeds,)`.
        resamples: exchanges that are drawn, or fewer if there are no more.
        seed: of the draws.

    Raises:
        ValueError: if the shapes differ.
    """
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.ndim != 3:
        raise ValueError(
            f"{first.shape} and {second.shape}: both are (seeds, sentences, counts)"
        )
    both = np.concatenate([first, second], 1)
    number = np.arange(first.shape[1])

    def difference(these, those):
        of_these, of_those = (
            np.mean(figure(both[:, x].sum(1))) for x in (these, those)
        )
        return of_these - of_those

    return permutation_test(
        (number, number + len(number)),
        difference,
        permutation_type="samples",
        vectorized=False,
        n_resamples=resamples,
        rng=np.random.default_rng(seed),
    ).pvalue
