"""Figures as functions of counts, which can be summed over any units.

A row of counts belongs to a token or a sentence. Paired tests exchange rows and compute
the figure from their sums.
"""

from collections.abc import Callable

import numpy as np

from keras_tagging.metrics.derivations import F1_FIGURES, DerivationScores
from keras_tagging.utils.suggestions import check_known

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
