"""The tables of figures, ranks, tests and runs in a report."""

from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from keras_tagging.experiments.documents import NONE, number
from keras_tagging.experiments.papers.table import Table
from keras_tagging.experiments.reproduction.report_facts import measured_rows
from keras_tagging.experiments.reproduction.report_statistics import LEVEL, RESAMPLES
from keras_tagging.experiments.reproduction.report_templates import Bold, Grid, Line
from keras_tagging.metrics.significance import is_limit

PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
SHOWN = 30  # pairs that are printed; report.pairs.csv has all
SIDE_BY_SIDE = 2  # columns; figures of more stand below one another


def are_side_by_side(table: Table) -> bool:
    """Whether published and measured figures are in columns, otherwise in lines."""
    return len(table.columns) <= SIDE_BY_SIDE


def figures(table: Table, frame: pd.DataFrame, compared: bool) -> Grid:
    """Published and measured figures, with their differences if `compared`."""
    means = frame["mean"].round(9).groupby(frame["column"])
    best = frame["mean"].round(9) == means.transform("max")
    frame = frame.assign(best=best & (means.transform("count") > 1))
    side_by_side = are_side_by_side(table)
    lines, group = [], ""
    for row in table.rows:
        if row.group != group:
            lines.append(row.group)
            group = row.group
        records = frame[frame["row"] == row.name].to_dict("records")
        n = max(record["n"] for record in records)
        published = [number(record["published"]) for record in records]
        means = [_measured(record, side_by_side) for record in records]
        gaps = [number(record["difference"], "+.2f") for record in records]
        if side_by_side:
            kinds = [published, means, gaps] if compared else [published, means]
            cells = chain(*zip(*kinds, strict=True))
            line = [row.name, *cells, str(n or NONE)]
            lines.append(Line(line, row.note, row.citation))
            continue
        line = [row.name, "published", *published, ""]
        lines.append(Line(line, row.note, row.citation))
        if n:
            lines.append(Line(["", "mean", *means, str(n)]))
        if n > 1:
            deviations = [number(record["sd"]) for record in records]
            lines.append(Line(["", "sd", *deviations, ""]))
        if n and compared:
            lines.append(Line(["", "difference", *gaps, ""]))
    if side_by_side:
        names = ["published", "measured", *["difference"] * compared]
        header = [(column.name, name) for column in table.columns for name in names]
    else:
        header = ["", *(column.name for column in table.columns)]
    return Grid(["System", *header, "n"], lines, left=1 if side_by_side else 2)


def _measured(record: Mapping, with_deviation: bool) -> str:
    text = number(record["mean"])
    if with_deviation and not pd.isna(record["sd"]):
        text += f" {PLUS_MINUS} {number(record['sd'])}"
    return Bold(text) if record["best"] else text


def tags_a_word(table: Table, frame: pd.DataFrame) -> Grid | None:
    """The number of tags that a word is assigned, without which `word` says little."""
    words = frame[(frame["figure"] == "word") & (frame["n"] > 0)]
    columns = [column.name for column in table.columns if column.figure == "word"]
    lines = []
    for name, part in words.groupby("row", sort=False):
        means = part.set_index("column")["tags_a_word"].reindex(columns)
        lines.append(Line([name, *map(number, means)]))
    header = ["System", *(("tags a word", name) for name in columns)]
    return Grid(header, lines) if lines else None


def ranking(table: Table, frame: pd.DataFrame) -> Grid:
    """The published and the measured ranks of the rows in each column."""
    columns = [column.name for column in table.columns]
    lines = []
    for name, part in frame[frame["rank"].notna()].groupby("row", sort=False):
        ranks = part.set_index("column")[["published_rank", "rank"]].reindex(columns)
        lines.append(Line([name, *(number(r, ".0f") for r in ranks.to_numpy().flat)]))
    header = [(name, kind) for name in columns for kind in ("published", "measured")]
    return Grid(["System", *header], lines)


def pairs(name: str, tested: pd.DataFrame | None) -> dict:
    """The pairs of rows in one column: how many differ, and which."""
    if tested is None:  # not tested
        return {"name": name, "pairs": None}
    sure = tested[tested["holm"] < LEVEL]
    directions = sure["direction"].value_counts()
    lines = []
    for pair in tested.head(SHOWN).to_dict("records"):
        corrected = _p(pair["holm"], pair["p"])
        if pair["holm"] < LEVEL and pair["ahead"] == pair["seeds"]:
            corrected = Bold(corrected)
        cells = [pair["better"], pair["worse"], pair["direction"] or NONE]
        cells += [number(pair["difference"], "+.2f")]
        cells += [number(pair["published_difference"], "+.2f")]
        cells += [f"{pair['ahead']} of {pair['seeds']}", _p(pair["p"], pair["p"])]
        lines.append(Line([*cells, corrected]))
    header = ["Better", "Worse", "Direction", "difference", "published", "ahead", "p"]
    least = tested["p"][SHOWN:].min()
    return {
        "name": name,
        "pairs": len(tested),
        "differ": len(sure),
        "always_ahead": (sure["ahead"] == sure["seeds"]).sum(),
        "compared": len(sure) - directions.get("", 0),
        "as_published": directions.get("as published", 0),
        "opposite": directions.get("opposite", 0),
        "grid": Grid([*header, "Holm"], lines, left=3),
        "next_p": ("" if is_limit(least, RESAMPLES) else "= ") + _p(least, least),
    }


def _p(value: float, uncorrected: float) -> str:
    """A p-value, or an upper limit where the test cannot give a smaller one."""
    limit = "\N{LESS-THAN OR EQUAL TO} " if is_limit(uncorrected, RESAMPLES) else ""
    return f"{limit}{value:.4f}"


def runs(table: Table, results: Sequence[Mapping]) -> Grid:
    """The seeds and the training of each row."""
    lines = []
    for row in measured_rows(table, results):
        own = pd.DataFrame([result for result in results if result["row"] == row.name])
        mean = own[["parameters", "best_epoch", "epochs", "seconds"]].mean()
        seeds = ", ".join(map(str, sorted(own["seed"])))
        cells = [f"{mean['parameters']:,.0f}", number(mean["best_epoch"], ".1f")]
        cells += [number(mean["epochs"], ".0f"), number(mean["seconds"] / 60, ".1f")]
        lines.append(Line([row.name, seeds, *cells]))
    header = ["System", "seeds", "parameters", "best epoch", "epochs", "minutes"]
    return Grid(header, lines)
