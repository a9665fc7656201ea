"""Statistics of a table of tokens.

It has one row a token, and bool columns such as `accuracy` for whether it is right.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from keras_tagging.metrics.accuracy import share

CONFIDENCE = 0.95  # level of the intervals
CONTEXT = 4  # words on either side of an example
EXAMPLES = 3

FREQUENCIES = {1: "1-9", 10: "10-99", 100: "100-999", 1000: "1000+"}
FREQUENT = "10+ (all)"  # the sum of the bins from 10 on
WORD_FREQUENCIES = {1: "1", 2: "2-9", 10: "10-99", 100: "100-999", 1000: "1000+"}
POSITIONS = {1: "1", 2: "2", 3: "3", 4: "4", 5: "5"}
POSITIONS |= {6: "6-10", 11: "11-20", 21: "21-40", 41: "41+"}


def wilson(right: int, total: int) -> tuple[float, float]:
    """The 95 % interval of Wilson (1927) for a share; nan if there is no token."""
    if not total:
        return float("nan"), float("nan")
    interval = binomtest(int(right), int(total)).proportion_ci(CONFIDENCE, "wilson")
    return float(interval.low), float(interval.high)


def bins(values: Sequence[int], names: dict[int, str], below: str | None = None):
    """Sort values into bins, as an ordered `Categorical`.

    Args:
        values: integers.
        names: the names of the bins by their lowest values, in ascending order.
        below: the name of the bin below the first of them.
    """
    codes = np.digitize(np.asarray(values, int), list(names))
    categories = [below, *names.values()]
    if below is None:
        categories, codes = categories[1:], codes - 1
    return pd.Categorical.from_codes(codes, categories, ordered=True)


def tens(lengths: Sequence[int]):
    """Bins 1-10, 11-20 and so on, those of McDonald & Nivre (2007)."""
    lengths = np.asarray(lengths, int)
    starts = range(1, max(1, lengths.max(initial=1)) + 1, 10)
    return bins(lengths, {start: f"{start}-{start + 9}" for start in starts})


def shares_by(tokens: pd.DataFrame, key: str, groups, figures: Sequence[str]):
    """The share of right tokens in each group.

    Args:
        tokens: a table with the bool columns in `figures`.
        key: the name of the groups' column in the result.
        groups: the group of each token: a `Categorical`, whose categories become the
            rows; or any other values, whose rows are in order of frequency.
        figures: names of columns; the last one gets the interval.

    Returns:
        A table with the columns `key`, `tokens`, the figures, and `low` and `high`.
    """
    grouped = tokens[list(figures)].groupby(groups, observed=False, sort=True)
    right = grouped.sum().astype(int)
    table = pd.DataFrame({"tokens": grouped.size(), **right})
    if not isinstance(groups, pd.Categorical):
        table = table.sort_values("tokens", ascending=False, kind="stable")
    table.index = pd.Index(table.index.astype(object), name=key)
    return with_shares(table.reset_index(), figures)


def with_shares(table: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """Turn counts of right tokens into shares of `tokens`, with `low` and `high`."""
    low, high = intervals(table[figures[-1]], table["tokens"])
    table = table.astype(dict.fromkeys(figures, float))
    for name in figures:
        table[name] = table[name] / table["tokens"].where(table["tokens"] > 0)
    return table.assign(low=low, high=high)


def intervals(right: pd.Series, total: pd.Series) -> np.ndarray:
    """`(2, rows)`: the ends of the interval of `wilson` for each row."""
    pairs = zip(right, total, strict=True)
    return np.reshape([wilson(*pair) for pair in pairs], (-1, 2)).T


def with_interval(table: pd.DataFrame, share: str, total: str) -> pd.DataFrame:
    """Insert `low` and `high` after a column that is a share of another."""
    right = (table[share] * table[total]).fillna(0).round().astype(int)
    table, position = table.copy(), table.columns.get_loc(share) + 1
    low, high = intervals(right, table[total])
    table.insert(position, "low", low)
    table.insert(position + 1, "high", high)
    return table


def by_label_frequency(tokens: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """The figures by the frequency of the gold label in training.

    The row `FREQUENT`, the third, is the sum of the rows below it.

    Args:
        tokens: a table with the columns `label_frequency` and `gold`.
        figures: as in `shares_by`.
    """
    groups = bins(tokens["label_frequency"], FREQUENCIES, "unseen")
    table = shares_by(tokens, "training", groups, figures)
    labels = tokens.groupby(groups, observed=False)["gold"].nunique()
    table.insert(1, "labels", labels.to_numpy())
    often = tokens[tokens["label_frequency"] >= 10]
    groups = pd.Categorical([FREQUENT] * len(often), [FREQUENT])
    total = shares_by(often, "training", groups, figures)
    total.insert(1, "labels", often["gold"].nunique())
    return pd.concat([table[:2], total, table[2:]], ignore_index=True)


def by_word_frequency(tokens: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """The figures by the frequency of the word in training.

    Args:
        tokens: a table with the columns `known`, bool, and `frequency`, that of the
            word's normal form. Unknown words are in the first row whatever their
            frequency.
        figures: as in `shares_by`.
    """
    frequency = tokens["frequency"].where(tokens["known"], -1)
    names = {0: "0", **WORD_FREQUENCIES}
    table = shares_by(tokens, "training", bins(frequency, names, "unknown"), figures)
    # known words of frequency 0 come from pretrained vectors, or from other sentences
    return table[(table["training"] != "0") | (table["tokens"] > 0)].reset_index(
        drop=True
    )


def confusions(tokens: pd.DataFrame, keys: Sequence[str], errors) -> pd.DataFrame:
    """Kinds of errors, the most frequent first.

    Args:
        tokens: a table with the columns in `keys`.
        keys: the columns whose values define the kind, gold ones first.
        errors: `(tokens,)` bool.

    Returns:
        A table with the keys, `count`, and `share_of_errors`.
    """
    counts = tokens[errors].groupby(list(keys), sort=True).size()
    counts = counts.sort_values(ascending=False, kind="stable")
    table = counts.reset_index(name="count")
    table["share_of_errors"] = table["count"] / max(1, table["count"].sum())
    return table


def examples(tokens, keys, errors, sentences, details=()) -> pd.DataFrame:
    """The first few errors of each kind, with different words if there are some.

    Args:
        tokens, keys, errors: as in `confusions`.
        sentences: the sentences, which `tokens` counts from 1.
        details: further columns to show.
    """
    wrong = tokens[errors]
    # stable: repeated words come after new ones
    order = wrong.duplicated([*keys, "word"]).sort_values(kind="stable").index
    wrong = wrong.loc[order].groupby(list(keys), sort=False).head(EXAMPLES)
    wrong = wrong.sort_index()
    return wrong[list(keys)].join(in_context(wrong, sentences, details))


def in_context(tokens, sentences, details=()) -> pd.DataFrame:
    """The position of tokens, `sentence` and `position` from 1, and their context."""
    rows = []
    for sentence, position in zip(tokens["sentence"], tokens["position"], strict=True):
        words = sentences[sentence - 1].tokens
        i = position - 1
        left, right = words[max(0, i - CONTEXT) : i], words[i + 1 : i + 1 + CONTEXT]
        rows.append((sentence, position, " ".join(left), words[i], " ".join(right)))
    names = ["sentence", "position", "left", "word", "right"]
    table = pd.DataFrame(rows, columns=names, index=tokens.index)
    return table.join(tokens[list(details)])


def calibration(confidence, right, count: int = 15) -> tuple[pd.DataFrame, float]:
    """The reliability table of probabilities, and the expected calibration error.

    Section 2 of Guo et al. (2017): confidences fall into M bins of equal width, (0,
    1/M], (1/M, 2/M] and so on. The expected calibration error is the mean distance
    between a bin's accuracy and its mean confidence, weighted by its number of tokens.
    M=15, as in the paper.

    Args:
        confidence: `(tokens,)`, the probability of the predicted tag.
        right: `(tokens,)` bool.
        count: M.

    Returns:
        A table with a row for each bin that is not empty, and the error, nan without
        tokens.
    """
    confidence = np.asarray(confidence, float)
    # rounding may make a probability slightly larger than 1
    index = np.clip(np.ceil(confidence * count).astype(int) - 1, 0, count - 1)
    tokens = np.bincount(index, minlength=count)
    rows = pd.DataFrame({"above": np.arange(count) / count, "tokens": tokens})
    rows.insert(1, "up_to", (np.arange(count) + 1) / count)
    rows["confidence"] = np.bincount(index, confidence, count) / np.maximum(1, tokens)
    rows["accuracy"] = np.bincount(index[np.asarray(right, bool)], minlength=count)
    rows = with_shares(rows[tokens > 0].reset_index(drop=True), ["accuracy"])
    gaps = (rows["accuracy"] - rows["confidence"]).abs()
    return rows, share(float((gaps * rows["tokens"]).sum()), int(tokens.sum()))
