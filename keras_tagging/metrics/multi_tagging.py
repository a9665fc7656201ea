"""Multi-tagging: every category whose probability is close to the best one's."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_tagging.metrics.accuracy import paired, share
from keras_tagging.utils.checks import check_known

if TYPE_CHECKING:
    import pandas as pd

#: The levels of Table 4 of Kadari et al. (2018), the C&C parser's defaults.
BETAS = (0.075, 0.030, 0.010, 0.005, 0.001)


def assigned(probabilities: np.ndarray, beta: float) -> np.ndarray:
    """The categories assigned to each word: those with `p >= beta * max(p)`.

    Section 3.3.2 of Kadari et al. (2018). With `beta=1` these are the most probable
    category and any that tie with it; with `beta=0` they are all categories.

    Args:
        probabilities: `(tokens, tags)`.
        beta: from 0 to 1.

    Returns:
        `(tokens, tags)`, bool.

    Raises:
        ValueError: if `beta` is below 0 or above 1.
    """
    _check(beta)
    return probabilities >= beta * probabilities.max(axis=-1, keepdims=True)


def within_beta(
    rows: np.ndarray, tags: Sequence[str], beta: float
) -> list[list[tuple[str, float]]]:
    """For every token the tags with p >= beta * max p, best first (K18 3.3.2).

    Args:
        rows: probabilities `(tokens, tags)`.
        tags: their names.
        beta: from 0 to 1.
    """
    ranked = []
    for row, mask in zip(rows, assigned(rows, beta), strict=True):
        ids = np.flatnonzero(mask)
        ids = ids[np.argsort(-row[ids], kind="stable")]
        ranked.append([(tags[j], float(row[j])) for j in ids])
    return ranked


def betas_of(beta, names: Sequence[str | None]) -> list[float | None]:
    """The level of beta of each column; None for the best label alone.

    Args:
        beta: a level for all columns, or levels by name.
        names: of the columns.

    Raises:
        ValueError: for an unknown column or a level below 0 or above 1.
    """
    if isinstance(beta, Mapping):
        for name in beta:
            check_known("column in beta=", name, filter(None, names))
        levels = [beta.get(name) for name in names]
    else:
        levels = [beta] * len(names)
    for level in filter(lambda level: level is not None, levels):
        _check(level)
    return levels


def entries_of(levels: Sequence[float | None], sizes: Sequence[int]) -> int:
    """The number of labels that each token is given by the columns with `beta=0`.

    Args:
        levels: the level of each column; None for one label.
        sizes: the number of labels of each column.

    Returns:
        At least 1. What other levels give is few, and not counted.
    """
    pairs = zip(levels, sizes, strict=True)
    return max(1, sum(size for level, size in pairs if level == 0))


def multi_tagging(
    gold_ids: Iterable[np.ndarray],
    probabilities: Iterable[np.ndarray],
    betas: Sequence[float] = BETAS,
) -> "pd.DataFrame":
    """WORD and SENT accuracy of multi-tagging, for each level of beta.

    Table 4 of Kadari et al. (2018), section 3.3.2. A word is right if its gold
    category is among the assigned ones, a sentence if all its words are. Both
    inputs are read one sentence at a time and may be generators. Empty sentences
    are allowed but not counted.

    Departures: `categories_per_word` is not in the paper; figures are fractions, while
    the paper prints percentages.

    Args:
        gold_ids: the gold tag ids of each sentence, `(tokens,)`; -1 is a tag unseen in
            training, which always counts as wrong.
        probabilities: the probabilities of each sentence, `(tokens, tags)`.
        betas: the levels, each from 0 to 1.

    Returns:
        A table with a row for each beta and the columns `beta`, `word`, `sent` and
        `categories_per_word`; nan without tokens.

    Raises:
        ValueError: if a beta is below 0 or above 1, or a sentence does not have
            one row of probabilities for each gold id.
    """
    import pandas as pd  # takes longer than most commands that do not need it

    betas = list(betas)
    # words, sentences and categories
    counts = np.zeros((len(betas), 3), int)
    tokens = sentences = 0
    for gold, rows in paired(gold_ids, probabilities, "gold ids", "probabilities"):
        if not len(gold):
            continue
        gold = np.asarray(gold)
        tokens += len(gold)
        sentences += 1
        seen = gold >= 0
        for i, beta in enumerate(betas):
            mask = assigned(rows, beta)
            hits = mask[np.arange(len(gold)), gold] & seen
            counts[i] += hits.sum(), hits.all(), mask.sum()
    rows = [
        (beta, share(words, tokens), share(whole, sentences), share(several, tokens))
        for beta, (words, whole, several) in zip(betas, counts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["beta", "word", "sent", "categories_per_word"])


def _check(beta: float) -> None:
    if not 0 <= beta <= 1:
        raise ValueError(f"beta is {beta}; it must be from 0 to 1")
