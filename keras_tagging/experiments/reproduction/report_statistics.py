"""The statistics of a report: means, ranks, and which rows differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from keras_tagging.experiments.comparison import p_value
from keras_tagging.experiments.papers.table import Column, Table
from keras_tagging.metrics import holm
from keras_tagging.metrics.counts import figure_of

RESAMPLES = 9999
LEVEL = 0.05  # of significance
ALL_TESTED = 2  # a table of more columns is tested in one


def figures(table: Table, results: Sequence[Mapping]) -> pd.DataFrame:
    """A row for each row and column of the table.

    Columns: `group`, `row`, `citation`; `column`, `figure`, `beta`, `split`;
    `published`; `mean` and `sd` over the seeds, the latter with n - 1; `n`;
    `difference`, mean - published; `published_rank` and `rank`, from 1, among the rows
    that have both figures, where equal ones share the best of their ranks;
    `tags_a_word`, of word how many tags a word is assigned, in the mean over the seeds
    whose evidence has it. nan where there is no such figure, and no `sd` of one seed.

    Raises:
        ValueError: if a result is of a row that the table has not.
    """
    known = {row.name for row in table.rows}
    for result in results:
        if result["row"] not in known:
            raise ValueError(
                f"a result of {result['row']!r}, which is no row of Table "
                f"{table.number} of {table.paper}"
            )
    records = []
    for row in table.rows:
        own = [result for result in results if result["row"] == row.name]
        for column, published in zip(table.columns, row.published, strict=True):
            values = [result["figures"][column.name] for result in own]
            values = np.array([value for value in values if value is not None], float)
            n = len(values)
            record = {"group": row.group, "row": row.name, "citation": row.citation}
            record |= {"column": column.name, "figure": column.figure}
            record |= {"beta": column.beta, "split": column.split}
            record["published"] = np.nan if published is None else published
            record["mean"] = values.mean() if n else np.nan
            record["sd"] = values.std(ddof=1) if n > 1 else np.nan
            record["tags_a_word"] = _tags_a_word(own, column)
            records.append(record | {"n": n})
    frame = pd.DataFrame(records)
    frame["difference"] = frame["mean"] - frame["published"]
    both = frame[frame["difference"].notna()].round({"mean": 9})
    for name, of in (("published_rank", "published"), ("rank", "mean")):
        frame[name] = both.groupby("column")[of].rank(method="min", ascending=False)
    return frame


def _tags_a_word(results: Sequence[Mapping], column: Column) -> float:
    if column.figure != "word":
        return np.nan
    counts = [result["evidence"][column.name] for result in results]
    # results of earlier versions have two counts
    means = [np.mean(assigned) for _, _, *more in counts for assigned in more]
    return float(np.mean(means)) if means else np.nan


@dataclass(frozen=True)
class Agreement:
    """How far the order of the measured rows is the published one, in one column.

    Args:
        column: its name.
        rows: how many have both figures.
        rho: Spearman's, of the ranks; None for fewer than 3 rows, or if all rows have
            the same figure.
        same, opposite, tied: pairs of rows by their order; the same if they tie in
            both, tied if in one of the two.
        best_published, best: the names of the best rows, several if they tie.
    """

    column: str
    rows: int
    rho: float | None
    same: int
    opposite: int
    tied: int
    best_published: tuple[str, ...]
    best: tuple[str, ...]

    @property
    def pairs(self) -> int:
        return self.same + self.opposite + self.tied


def agreement(frame: pd.DataFrame, column: Column) -> Agreement:
    """Compares the two rankings of a column.

    Args:
        frame: of `figures`.
    """
    frame = frame[(frame["column"] == column.name) & frame["rank"].notna()]
    ours, theirs = frame["rank"].to_numpy(), frame["published_rank"].to_numpy()
    pairs = combinations(range(len(frame)), 2)
    signs = [np.sign((ours[i] - ours[j], theirs[i] - theirs[j])) for i, j in pairs]
    rho = None
    if len(frame) >= 3 and len(set(ours)) > 1 and len(set(theirs)) > 1:
        rho = float(spearmanr(ours, theirs).statistic)
    return Agreement(
        column=column.name,
        rows=len(frame),
        rho=rho,
        same=sum(a == b for a, b in signs),
        opposite=sum(a == -b != 0 for a, b in signs),
        tied=sum((a == 0) != (b == 0) for a, b in signs),
        best_published=tuple(frame["row"][theirs == 1]),
        best=tuple(frame["row"][ours == 1]),
    )


def columns_tested(table: Table) -> tuple[Column, ...]:
    """The columns in which rows are compared: all, if there are no more than two.

    Else the first that is of test sentences, or the first of all. More tests of the
    same models would say little more, and all need correcting for.
    """
    if len(table.columns) <= ALL_TESTED:
        return table.columns
    test = [column for column in table.columns if column.split == "test"]
    return ((test or table.columns)[0],)


def pairs(
    table: Table,
    results: Sequence[Mapping],
    column: Column,
    *,
    resamples: int = RESAMPLES,
) -> pd.DataFrame | None:
    """Which measured rows differ in a column: all pairs, the least p first.

    A pair is tested on the seeds that both have: see `metrics.paired_permutation`.

    Returns:
        A row a pair, with the columns `column`; `better` and `worse`, names of rows;
        `difference` of their means over these seeds, which is not negative; `seeds`;
        `ahead`, in how many of these the better row is; `p`; `holm`, corrected for all
        pairs of the column; `published_difference`, nan if a figure is lacking; and
        `direction`: "as published", "opposite", "tied" if
        either difference is 0, or "". None if the seeds have different sentences, as
        those that each seed holds out for development.
    """
    counts = {}
    for result in results:
        if result["figures"][column.name] is not None:
            # of word the third count, which some results lack, is not tested
            used = 3 if column.figure == "f1" else 2
            evidence = np.array(result["evidence"][column.name][:used]).T
            counts.setdefault(result["row"], {})[result["seed"]] = evidence
    held_out = table.held_out is not None and column.split == "dev"
    if held_out and len({seed for seeds in counts.values() for seed in seeds}) > 1:
        return None
    place = table.columns.index(column)
    published = {row.name: row.published[place] for row in table.rows}
    measured = [row.name for row in table.rows if row.name in counts]
    function = figure_of(column.figure)
    records = []
    for names in combinations(measured, 2):
        seeds = sorted(set(counts[names[0]]) & set(counts[names[1]]))
        if not seeds:
            continue
        both = [np.stack([counts[name][seed] for seed in seeds]) for name in names]
        by_seed = [function(part.sum(1)) for part in both]
        means = [figures.mean() for figures in by_seed]
        # the last digits of a mean depend on the order of the seeds
        gap = round(float(means[0] - means[1]), 9)
        better, worse = names if gap >= 0 else names[::-1]
        gaps = (by_seed[0] - by_seed[1]).round(9) * (1 if gap >= 0 else -1)
        record = {"column": column.name, "better": better, "worse": worse}
        record |= {"difference": abs(gap), "seeds": len(seeds)}
        record["ahead"] = int((gaps > 0).sum())
        record["p"] = p_value(*both, column.figure, resamples=resamples)
        theirs = np.nan
        if None not in (published[better], published[worse]):
            theirs = round(published[better] - published[worse], 9)
        record["published_difference"] = theirs
        record["direction"] = _direction(abs(gap), theirs)
        records.append(record)
    names = ["column", "better", "worse", "difference", "seeds", "ahead", "p", "holm"]
    names += ["published_difference", "direction"]
    frame = pd.DataFrame(records, columns=names)
    frame["holm"] = holm(frame["p"])
    by = {"by": ["p", "difference"], "ascending": [True, False], "kind": "stable"}
    return frame.sort_values(**by, ignore_index=True)


def _direction(ours: float, theirs: float) -> str:
    if np.isnan(theirs):
        return ""
    if ours == 0 or theirs == 0:
        return "tied"
    return "as published" if theirs > 0 else "opposite"
