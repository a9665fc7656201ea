"""Published figures beside measured ones: a page as Markdown and LaTeX, CSV, a plot."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments import documents
from keras_tagging.experiments.documents import INSTALL
from keras_tagging.experiments.papers.table import Settings, Table
from keras_tagging.experiments.reproduction import report_facts as facts
from keras_tagging.experiments.reproduction import report_plot
from keras_tagging.experiments.reproduction import report_statistics as statistics
from keras_tagging.experiments.reproduction import report_tables as tables
from keras_tagging.experiments.reproduction.report_templates import (
    LATEX,
    MARKDOWN,
    Grid,
    Line,
    render,
)
from keras_tagging.metrics.counts import BY_TOKENS


def markdown(table: Table, info: Mapping, results: Sequence[Mapping]) -> str:
    """Return the report of a reproduction as Markdown, without its plot.

    Args:
        table: the table that was reproduced.
        info, results: as returned by `reproduction.read_results`.
    """
    frame, pairs = _statistics(table, results)
    variables = _variables(table, info, results, frame, pairs)
    return render(MARKDOWN, "report.j2", **variables)


def write_report(
    table: Table, info: Mapping, results: Sequence[Mapping], folder: str | Path
) -> list[Path]:
    """Write the report of a reproduction. Each file is replaced as a whole.

    Args:
        table, info, results: as for `markdown`.
        folder: the folder of the reproduction, which also lists the jobs that failed.
            The files are report.md and report.tex; report.csv, with a line for each row
            and column; report.pairs.csv, with a line for each pair of rows and column;
            report-plot.png and report-plot.pdf, if matplotlib is installed.

    Returns:
        The files, report.md first.
    """
    folder = Path(folder)
    frame, pairs = _statistics(table, results)
    plots = report_plot.draw(table, frame, folder)
    variables = _variables(table, info, results, frame, pairs, folder)
    variables["plot"] = report_plot.STEM if plots else ""
    contents = {
        "report.md": render(MARKDOWN, "report.j2", **variables),
        "report.tex": render(LATEX, "report.j2", **variables),
        "report.csv": frame,
    }
    tested = [part for part in pairs.values() if part is not None]
    if tested:
        contents["report.pairs.csv"] = pd.concat(tested)
    for name, content in contents.items():
        write = documents.write if isinstance(content, str) else documents.write_csv
        write(folder / name, content)
    return [*(folder / name for name in contents), *plots]


def settings_markdown(table: Settings) -> str:
    """Return published settings beside those of `build(..., recipe="paper")`."""
    ours = resolve_settings(table.architecture, "paper", {})
    lines = []
    for name, published, keyword, value in table.rows:
        here = facts.in_words(ours[keyword])
        same = "yes" if ours[keyword] == value else f"no: {facts.in_words(value)}"
        lines.append(Line([name, published, keyword, here, same]))
    header = ["Setting", "Published", "Keyword", "Paper recipe", "As we read the paper"]
    grid = Grid(header, lines, left=len(header))
    variables = {"title": facts.title(table), "table": table, "settings": grid}
    return render(MARKDOWN, "settings.j2", **variables)


def _statistics(table, results):
    """The figures, and for each tested column the pairs of rows."""
    columns = statistics.tested_columns(table)
    pairs = {column: statistics.pairs(table, results, column) for column in columns}
    return statistics.figures(table, results), pairs


def _variables(table, info, results, frame, pairs, folder=None) -> dict:
    """The variables of report.j2."""
    compared = facts.same_corpus(table, info)
    runs = [{**info, **result} for result in results] or [info]
    agreements = [statistics.agreement(frame, column) for column in table.columns]
    ranked = [agreement for agreement in agreements if agreement.rows > 1]
    others = ", ".join(a.column for a in agreements if a.rows < 2)
    tested = [part for part in pairs.values() if part is not None]
    return {
        "title": facts.title(table),
        "table": table,
        "info": info,
        "same_corpus": compared,
        "corpus_name": facts.corpus_name(info),
        "scale": facts.scale(table, info, results),
        "differences": facts.differences(table, info, results),
        "missing": facts.missing(table, results, folder),
        "figures": tables.figures(table, frame, compared),
        "side_by_side": tables.are_side_by_side(table),
        "tags_a_word": tables.tags_a_word(table, frame),
        "plot": None,
        "no_plot": f"No plot: it needs matplotlib, {INSTALL}.",
        "agreements": ranked + [others] * bool(ranked and others),
        "ranking": tables.ranking(table, frame),
        "seeds": sorted({n for part in tested for n in part["seeds"]}),
        "by_tokens": any(column.figure in BY_TOKENS for column in pairs),
        "tested": [tables.pairs(column.name, part) for column, part in pairs.items()],
        "resamples": statistics.RESAMPLES,
        "level": statistics.LEVEL,
        "runs": tables.runs(table, results),
        "machines": list(dict.fromkeys(run["machine"] for run in runs)),
        "versions": list(dict.fromkeys(facts.in_words(r["versions"]) for r in runs)),
        "command": facts.command(table, info, results, folder),
    }
