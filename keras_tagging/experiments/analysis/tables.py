"""Tables from a table of tokens: one row a token, with bool columns such as `accuracy`
that say whether it is right."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from keras_tagging.metrics.accuracy import share

CONFIDENCE = 0.95  # of the intervals
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
    """An ordered `Categorical`: the name of the largest bound that is not larger.

    Args:
        values: integers.
        names: names of the bins by their lowest values, in rising order.
        below: name of what is below the first of them.
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
    """How many tokens of each group are right.

    Args:
        tokens: with bool columns of the names in `figures`.
        key: name of the groups in the table.
        groups: the group of each token, a `Categorical`, whose categories are the rows;
            or any other values, whose rows are in order of frequency.
        figures: the last of them gets the interval.

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
    """Count of what is right, among `tokens`, as shares, with `low` and `high`."""
    counts = list(zip(table[figures[-1]], table["tokens"], strict=True))
    table = table.astype(dict.fromkeys(figures, float))
    for name in figures:
        table[name] = table[name] / table["tokens"].where(table["tokens"] > 0)
    intervals = [wilson(right, total) for right, total in counts]
    table["low"], table["high"] = np.reshape(intervals, (-1, 2)).T
    return table


def with_interval(table: pd.DataFrame, share: str, total: str) -> pd.DataFrame:
    """The table with `low` and `high` behind a column that is a share of another."""
    right = (table[share] * table[total]).fillna(0).round().astype(int)
    intervals = [wilson(*pair) for pair in zip(right, table[total], strict=True)]
    table, position = table.copy(), table.columns.get_loc(share) + 1
    low, high = np.reshape(intervals, (-1, 2)).T
    table.insert(position, "low", low)
    table.insert(position + 1, "high", high)
    return table


def by_label_frequency(tokens: pd.DataFrame, figures: Sequence[str]) -> pd.DataFrame:
    """By how often the gold label occurs in training.

    The row `FREQUENT`, the third, is the sum of those below it.

    Args:
        tokens: with the column `label_frequency`, and `gold`.
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
    """By how often the word occurs in training.

    Args:
        tokens: with the columns `known`, bool, and `frequency`, how often the word's
            normal form occurs; an unknown word is in the first row however often.
        figures: as in `shares_by`.
    """
    frequency = tokens["frequency"].where(tokens["known"], -1)
    names = {0: "0", **WORD_FREQUENCIES}
    table = shares_by(tokens, "training", bins(frequency, names, "unknown"), figures)
    # known words that do not occur: of pretrained vectors, or of other sentences
    return table[(table["training"] != "0") | (table["tokens"] > 0)].reset_index(
        drop=True
    )


def confusions(tokens: pd.DataFrame, keys: Sequence[str], errors) -> pd.DataFrame:
    """Kinds of errors, the most frequent first.

    Args:
        tokens: with the columns in `keys`.
        keys: columns whose values make the kind; the first are gold.
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
        sentences: which `tokens` counts from 1.
        details: further columns to show.
    """
    wrong = tokens[errors]
    # stable: a word that has been shown comes after those that have not
    order = wrong.duplicated([*keys, "word"]).sort_values(kind="stable").index
    wrong = wrong.loc[order].groupby(list(keys), sort=False).head(EXAMPLES)
    wrong = wrong.sort_index()
    return wrong[list(keys)].join(in_context(wrong, sentences, details))


def in_context(tokens, sentences, details=()) -> pd.DataFrame:
    """Where tokens stand: `sentence`, `position`, both from 1, and the words around."""
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
    """How far probabilities can be believed: a reliability table, and its ECE.

    Section 2 of Guo et al. (2017): confidences fall into M bins of equal width, (0,
    1/M], (1/M, 2/M] and so on; the expected calibration error is the mean distance of
    a bin's accuracy and its mean confidence, weighted with its tokens. M=15, as there.

    Args:
        confidence: `(tokens,)`, the probability of the predicted tag.
        right: `(tokens,)` bool.
        count: M.

    Returns:
        A table with a row for each bin that is not empty, and the error; nan if there
        is no token.
    """
    confidence = np.asarray(confidence, float)
    # rounding may leave a probability a little above 1
    index = np.clip(np.ceil(confidence * count).astype(int) - 1, 0, count - 1)
    tokens = np.bincount(index, minlength=count)
    rows = pd.DataFrame({"above": np.arange(count) / count, "tokens": tokens})
    rows.insert(1, "up_to", (np.arange(count) + 1) / count)
    rows["confidence"] = np.bincount(index, confidence, count) / np.maximum(1, tokens)
    rows["accuracy"] = np.bincount(index[np.asarray(right, bool)], minlength=count)
    rows = with_shares(rows[tokens > 0].reset_index(drop=True), ["accuracy"])
    gaps = (rows["accuracy"] - rows["confidence"]).abs()
    return rows, share(float((gaps * rows["tokens"]).sum()), int(tokens.sum()))
