"""The tables of a report and the sentences beside them."""

from collections.abc import Mapping, Sequence

import pandas as pd

from keras_tagging.experiments.papers.table import Column, Table
from keras_tagging.experiments.reproduction import report_facts as facts
from keras_tagging.experiments.reproduction import report_statistics
from keras_tagging.experiments.reproduction.report_document import (
    NONE,
    Bullets,
    Grid,
    Line,
    Strong,
    Text,
)
from keras_tagging.experiments.reproduction.report_statistics import LEVEL, RESAMPLES
from keras_tagging.metrics.counts import BY_TOKENS
from keras_tagging.metrics.significance import is_limit

SHOWN = 30  # pairs that are printed; report.pairs.csv has all
ENOUGH = 5  # seeds from which on there is no warning
RANKED = 4  # rows from which on a ranking tells something
SIDE_BY_SIDE = 2  # more columns stand below one another


def differences(table: Table, info: Mapping, results: Sequence[Mapping]) -> Grid:
    rows = facts.differences(table, info, results)
    lines = [Line([name, paper or NONE, here]) for name, paper, here in rows]
    caption = "What was measured. Settings are listed where they differ in some row."
    return Grid(caption, [("", ""), ("", "Paper"), ("", "Here")], lines, left=3)


# The figures


def number(value, form: str = ".2f") -> str:
    """A figure in a cell, with a proper minus."""
    return NONE if pd.isna(value) else f"{value:{form}}".replace("-", "\N{MINUS SIGN}")


def _spread(mean, sd) -> str:
    if pd.isna(sd):
        return number(mean)
    return f"{number(mean)} \N{PLUS-MINUS SIGN} {number(sd)}"


def figures(table: Table, frame: pd.DataFrame, compared: bool) -> Grid:
    """Published and measured figures, with their differences if `compared`."""
    groups = frame.groupby("column")["mean"]
    best = frame["mean"].round(9) == groups.transform("max").round(9)
    frame = frame.assign(best=best & (groups.transform("count") > 1))
    side_by_side = len(table.columns) <= SIDE_BY_SIDE
    lines, group = [], ""
    for row in table.rows:
        if row.group != group:
            lines.append(row.group)
            group = row.group
        records = frame[frame["row"] == row.name].to_dict("records")
        form = _side_by_side if side_by_side else _stacked
        lines += form(row, records, compared)
    header = [("", "System")]
    if side_by_side:
        names = ["published", "measured", *["difference"] * compared]
        header += [(column.name, name) for column in table.columns for name in names]
    else:
        header += [("", ""), *(("", column.name) for column in table.columns)]
    sd = "\N{PLUS-MINUS SIGN} standard deviation" if side_by_side else "and sd"
    gap = ", and mean minus published figure" if compared else ""
    caption = (
        f"In per cent: mean {sd} of n seeds{gap}. In bold face the best measured mean. "
        "Systems without measured figures are those of others, or were not run."
    )
    return Grid(caption, [*header, ("", "n")], lines, left=1 if side_by_side else 2)


def _seeds(records) -> str:
    return str(n) if (n := max(record["n"] for record in records)) else NONE


def _measured(record) -> str:
    text = _spread(record["mean"], record["sd"])
    return Strong(text) if record["best"] else text


def _side_by_side(row, records, compared) -> list[Line]:
    cells = [row.name]
    for record in records:
        cells += [number(record["published"]), _measured(record)]
        if compared:
            cells.append(number(record["difference"], "+.2f"))
    return [Line([*cells, _seeds(records)], row.note, row.citation)]


def _stacked(row, records, compared) -> list[Line]:
    """A line for each kind of figure; columns are too many to stand side by side."""
    published = [number(record["published"]) for record in records]
    lines = [Line([row.name, "published", *published, ""], row.note, row.citation)]
    if any(record["n"] for record in records):
        means = [number(r["mean"]) for r in records]
        means = [
            Strong(text) if record["best"] else text
            for text, record in zip(means, records, strict=True)
        ]
        lines.append(Line(["", "mean", *means, _seeds(records)]))
        if any(record["n"] > 1 for record in records):
            spreads = [number(record["sd"]) for record in records]
            lines.append(Line(["", "sd", *spreads, ""]))
        if compared:
            gaps = [number(record["difference"], "+.2f") for record in records]
            lines.append(Line(["", "difference", *gaps, ""]))
    return lines


def tags_a_word(table: Table, frame: pd.DataFrame) -> list[Grid]:
    """What word and sent mean nothing without; for tables that have word."""
    words = frame[(frame["figure"] == "word") & (frame["n"] > 0)]
    if words.empty:
        return []
    columns = [column for column in table.columns if column.figure == "word"]
    lines = []
    for name, records in words.groupby("row", sort=False):
        means = records.set_index("column")["tags_a_word"]
        lines.append(Line([name, *(number(means.get(c.name)) for c in columns)]))
    header = [("", "System"), *(("tags a word", column.name) for column in columns)]
    caption = (
        "How many tags a word is assigned at each level, measured: mean over the seeds."
    )
    return [Grid(caption, header, lines)]


# Rankings


def ranking(table: Table, frame: pd.DataFrame) -> list:
    found = [report_statistics.agreement(frame, column) for column in table.columns]
    items = [ranking_words(column) for column in found if column.rows > 1]
    lacking = "fewer than two measured rows with a published figure: no ranking."
    if not items:
        return [Text(lacking.capitalize())]
    if names := [column.column for column in found if column.rows < 2]:
        items.append(f"{', '.join(names)}: {lacking}")
    ranked = frame[frame["rank"].notna()]
    lines = []
    for name, records in ranked.groupby("row", sort=False):
        ranks = {r["column"]: r for r in records.to_dict("records")}
        cells = [name]
        for column in table.columns:
            found = ranks.get(column.name, {})
            for kind in ("published_rank", "rank"):
                cells.append(number(found.get(kind, float("nan")), ".0f"))
        lines.append(Line(cells))
    header = [("", "System")]
    for column in table.columns:
        header += [(column.name, "published"), (column.name, "measured")]
    caption = "Ranks among the rows that were measured and have a published figure."
    return [Bullets(items), Grid(caption, header, lines)]


def ranking_words(found: report_statistics.Agreement) -> str:
    """Whether two rankings of at least two rows agree."""
    start = f"{found.column}: "
    if found.rho is not None:
        start += f"Spearman's rho = {number(found.rho)} over {found.rows} rows. "
    elif found.rows < 3:
        start += f"{found.rows} rows are too few for Spearman's rho. "
    else:
        start += f"no Spearman's rho, as all of the {found.rows} rows tie. "
    if found.same == found.pairs:
        few = f": {found.rows} rows tell little" if found.rows < RANKED else ""
        return f"{start}The ranking is the published one{few}."
    words = (
        f"The ranking is not the published one: {found.same} of {found.pairs} pairs of "
        f"rows stand in the published order, {found.opposite} in the opposite one"
    )
    if found.tied:
        words += f", {found.tied} tie in one of the two"
    if set(found.best) == set(found.best_published):
        return f"{start}{words}. The best row is the published one, {_and(found.best)}."
    return (
        f"{start}{words}. The best row is {_and(found.best)}, the published one "
        f"{_and(found.best_published)}."
    )


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)


# Significance


def significance(table: Table, pairs: Mapping[Column, pd.DataFrame | None]) -> list:
    if not any(found is not None and len(found) for found in pairs.values()):
        return [Text("Fewer than two rows with a seed in common: nothing to test.")]
    tested = [found for found in pairs.values() if found is not None]
    seeds = sorted({n for found in tested for n in found["seeds"]})
    warnings = []
    if seeds[0] < ENOUGH:
        one = seeds == [1]
        warnings.append(
            f"With {' or '.join(map(str, seeds))} {'seed' if one else 'seeds'} the "
            "test says only that these trained models differ on these sentences."
        )
    if any(column.figure in BY_TOKENS for column in pairs):
        warnings.append(
            "Accuracy is tested by tokens; sentences are the stricter choice: "
            'keras_tagging.compare(..., units="sentences").'
        )
    blocks = [Text(" ".join(warnings))] if warnings else []
    blocks.append(Text(_explained(table, list(pairs))))
    for column, found in pairs.items():
        if found is None:
            blocks.append(
                Text(f"{column.name}: not tested, as each seed has other sentences.")
            )
        elif len(found):
            blocks += [Text(significance_words(column.name, found)), _pairs(found)]
    return blocks


def _explained(table: Table, columns: Sequence[Column]) -> str:
    names = _and([column.name for column in columns])
    which = f"Of the {len(table.columns)} columns {names} is tested. "
    return (
        f"{which if len(columns) < len(table.columns) else ''}"
        f"By a paired permutation test (approximate randomisation, {RESAMPLES:,} "
        "resamples): the answers of two rows are exchanged at random, word by word for "
        "accuracy and sentence by sentence for F1 and attachment scores, those of all "
        "seeds that both have together; the statistic is the difference of the mean "
        "figures. p tells how far these sentences bear out a difference between these "
        "trained models, not how far other seeds would. Holm's correction is for all "
        "pairs of a column; in bold face what is below the level if the better row is "
        "ahead in all seeds that both have. Direction: whether the published figures "
        "have the same row ahead."
    )


def significance_words(name: str, found: pd.DataFrame) -> str:
    """How many pairs differ, and how often as published."""
    sure = found[found["holm"] < LEVEL]
    told = sure[sure["direction"] != ""]
    words = (
        f"{name}: {len(sure)} of {len(found)} pairs differ at the level of {LEVEL:g} "
        "after the correction, "
        f"{int((sure['ahead'] == sure['seeds']).sum())} with the same row ahead in all "
        "seeds"
    )
    if not len(told):
        return f"{words}."
    as_published = int((told["direction"] == "as published").sum())
    opposite = int((told["direction"] == "opposite").sum())
    return (
        f"{words}; of the {len(told)} among them with published figures, "
        f"{as_published} in the published direction and {opposite} in the opposite one."
    )


def _pairs(found: pd.DataFrame) -> Grid:
    lines = []
    for pair in found.head(SHOWN).to_dict("records"):
        sure = pair["holm"] < LEVEL and pair["ahead"] == pair["seeds"]
        floor = is_limit(pair["p"], RESAMPLES)
        cells = [pair["better"], pair["worse"], pair["direction"] or NONE]
        cells += [number(pair["difference"], "+.2f")]
        cells += [number(pair["published_difference"], "+.2f")]
        cells += [f"{pair['ahead']} of {pair['seeds']}", _p(pair["p"], floor)]
        holm = _p(pair["holm"], floor)
        cells.append(Strong(holm) if sure else holm)
        lines.append(Line(cells))
    header = ["Better", "Worse", "Direction", "difference", "published", "ahead", "p"]
    header = [("", name) for name in [*header, "Holm"]]
    caption = (
        f"{found['column'].iloc[0]}: pairs of rows by p, better minus worse; in how "
        "many of the seeds the better one is ahead."
    )
    if len(found) > SHOWN:
        rest = found.iloc[SHOWN:]
        least = rest["p"].min()
        floor = is_limit(least, RESAMPLES)
        caption += (
            f" The other {len(rest)} pairs, from p {'' if floor else '= '}"
            f"{_p(least, floor)} "
            "on, are in report.pairs.csv."
        )
    return Grid(caption, header, lines, left=3)


def _p(value: float, floor: bool) -> str:
    """A p-value; at the floor of the test, or corrected from there, it is a limit."""
    return f"\N{LESS-THAN OR EQUAL TO} {value:.4f}" if floor else f"{value:.4f}"


# The runs


def runs(table: Table, results: Sequence[Mapping]) -> Grid:
    lines = []
    for row in facts.measured_rows(table, results):
        own = pd.DataFrame([r for r in results if r["row"] == row.name])
        cells = [row.name, ", ".join(map(str, sorted(own["seed"])))]
        cells.append(f"{own['parameters'].mean():,.0f}")
        cells += [number(own["best_epoch"].mean(), ".1f")]
        cells += [number(own["epochs"].mean(), ".0f")]
        lines.append(Line([*cells, number(own["seconds"].mean() / 60, ".1f")]))
    header = ["System", "seeds", "parameters", "best epoch", "epochs", "minutes"]
    caption = "Means over the seeds; minutes are those of training."
    return Grid(caption, [("", name) for name in header], lines)
