"""The statistics of a report: means, ranks, and tests of which rows differ."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from keras_tagging.experiments.comparison import p_value
from keras_tagging.experiments.papers.table import Column, Table
from keras_tagging.metrics import holm
from keras_tagging.metrics.counts import figure_of

RESAMPLES = 9999
LEVEL = 0.05  # of significance
ALL_TESTED = 2  # a table with more columns is tested in one of them
PAIR_COLUMNS = ["column", "better", "worse", "difference", "seeds", "ahead", "p"]
PAIR_COLUMNS += ["holm", "published_difference", "direction"]


def figures(table: Table, results: Sequence[Mapping]) -> pd.DataFrame:
    """The published and measured figures, with a line for each row and column.

    Columns: `group`, `row`, `citation`; `column`, `figure`, `beta`, `split`;
    `published`; `mean` and `sd` over the seeds (n - 1 in the denominator); `n`;
    `difference`, which is mean - published; `published_rank` and `rank`, from 1, among
    the rows that have both figures, where ties share their best rank; `tags_a_word`,
    for `word` figures: the average number of assigned tags over the seeds that counted
    them. Figures that do not exist are nan, and so is the `sd` of one seed.

    Raises:
        ValueError: if the table has no row of the name in a result.
    """
    by_row = {row.name: [] for row in table.rows}
    for result in results:
        if result["row"] not in by_row:
            raise ValueError(
                f"a result of {result['row']!r}, which is not a row of Table "
                f"{table.number} of {table.paper}"
            )
        by_row[result["row"]].append(result)
    records = []
    for row in table.rows:
        for column, published in zip(table.columns, row.published, strict=True):
            own = by_row[row.name]
            values = [result["figures"][column.name] for result in own]
            values = pd.Series(values, dtype=float).dropna()
            record = {"group": row.group, "row": row.name, "citation": row.citation}
            record |= {"column": column.name, "figure": column.figure}
            record |= {"beta": column.beta, "split": column.split}
            record |= {"published": np.nan if published is None else published}
            record |= {"mean": values.mean(), "sd": values.std()}
            record |= {"tags_a_word": _tags_a_word(own, column), "n": len(values)}
            records.append(record)
    frame = pd.DataFrame(records)
    frame["difference"] = frame["mean"] - frame["published"]
    both = frame[frame["difference"].notna()].round({"mean": 9})
    for rank, figure in (("published_rank", "published"), ("rank", "mean")):
        groups = both.groupby("column")[figure]
        frame[rank] = groups.rank(method="min", ascending=False)
    return frame


def _tags_a_word(results: Sequence[Mapping], column: Column) -> float:
    if column.figure != "word":
        return np.nan
    counts = [result["evidence"][column.name] for result in results]
    # results of earlier versions have two counts
    return pd.Series([np.mean(c[2]) for c in counts if len(c) > 2], dtype=float).mean()


class Agreement(NamedTuple):
    """The agreement of the measured ranking of the rows with the published one."""

    column: str
    rows: int  # that have both figures
    rho: float | None  # Spearman's; None for fewer than 3 rows, or if all rows tie
    same: int  # pairs of rows in the same order, or tied in both rankings
    opposite: int
    tied: int  # in one of the two rankings
    best_published: tuple[str, ...]  # several if they tie
    best: tuple[str, ...]


def agreement(frame: pd.DataFrame, column: Column) -> Agreement:
    """Compare the two rankings of a column in a frame of `figures`."""
    frame = frame[(frame["column"] == column.name) & frame["rank"].notna()]
    ranks = frame[["rank", "published_rank"]].to_numpy()
    first, second = np.triu_indices(len(frame), 1)
    ours, theirs = np.sign(ranks[first] - ranks[second]).T
    rho = None
    if len(frame) >= 3 and (frame[["rank", "published_rank"]].nunique() > 1).all():
        rho = float(spearmanr(*ranks.T).statistic)
    return Agreement(
        column=column.name,
        rows=len(frame),
        rho=rho,
        same=int((ours == theirs).sum()),
        opposite=int((ours * theirs < 0).sum()),
        tied=int(((ours == 0) != (theirs == 0)).sum()),
        best_published=tuple(frame["row"][frame["published_rank"] == 1]),
        best=tuple(frame["row"][frame["rank"] == 1]),
    )


def tested_columns(table: Table) -> tuple[Column, ...]:
    """The columns in which rows are compared: all of them if there are at most two.

    Otherwise the first column of test sentences, or the first of all. More tests of the
    same models would say little more, and each needs a correction.
    """
    if len(table.columns) <= ALL_TESTED:
        return table.columns
    test = [column for column in table.columns if column.split == "test"]
    return ((test or table.columns)[0],)


def pairs(
    table: Table, results: Sequence[Mapping], column: Column
) -> pd.DataFrame | None:
    """Test which measured rows differ in a column: all pairs, the smallest p first.

    A pair is tested on the seeds that both rows have, see `metrics.paired_permutation`.

    Returns:
        A line for each pair, with `column`; `better` and `worse`, the names of the
        rows; `difference` of their means over the shared seeds, not negative; `seeds`;
        `ahead`, the number of seeds in which the better row is ahead; `p`; `holm`, p
        corrected for all pairs of the column; `published_difference`, nan if a figure
        is missing; `direction`: "as published", "opposite", "tied" if either difference
        is 0, or "". None if the seeds have different sentences, because each seed holds
        out its own for development.
    """
    counts = {}
    for result in results:
        if result["figures"][column.name] is not None:
            # the third count of `word`, which some results lack, is not tested
            used = 3 if column.figure == "f1" else 2
            rows = np.array(result["evidence"][column.name][:used]).T
            counts.setdefault(result["row"], {})[result["seed"]] = rows
    held_out = table.held_out is not None and column.split == "dev"
    if held_out and len({seed for seeds in counts.values() for seed in seeds}) > 1:
        return None
    figure = figure_of(column.figure)
    records = []
    for names in combinations([r.name for r in table.rows if r.name in counts], 2):
        seeds = sorted(set(counts[names[0]]) & set(counts[names[1]]))
        if not seeds:
            continue
        both = [np.stack([counts[name][seed] for seed in seeds]) for name in names]
        by_seed = [figure(part.sum(1)) for part in both]
        # the last digits of a mean depend on the order of the seeds
        gap = round(float(by_seed[0].mean() - by_seed[1].mean()), 9)
        sign = 1 if gap >= 0 else -1
        better, worse = names[::sign]
        record = {"column": column.name, "better": better, "worse": worse}
        record |= {"difference": abs(gap), "seeds": len(seeds)}
        record["ahead"] = int((sign * (by_seed[0] - by_seed[1]).round(9) > 0).sum())
        record["p"] = p_value(*both, column.figure, resamples=RESAMPLES)
        records.append(record)
    frame = pd.DataFrame(records, columns=PAIR_COLUMNS)
    frame["holm"] = holm(frame["p"])
    index = table.columns.index(column)
    published = {row.name: row.published[index] for row in table.rows}
    published = pd.Series(published, dtype=float)
    gaps = (frame["better"].map(published) - frame["worse"].map(published)).round(9)
    frame["published_difference"] = gaps
    kinds = [gaps.isna(), (frame["difference"] == 0) | (gaps == 0), gaps > 0]
    frame["direction"] = np.select(kinds, ["", "tied", "as published"], "opposite")
    by = {"by": ["p", "difference"], "ascending": [True, False], "kind": "stable"}
    return frame.sort_values(**by, ignore_index=True)
