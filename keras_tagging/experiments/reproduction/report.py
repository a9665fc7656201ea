"""Published figures beside measured ones: a page as Markdown and LaTeX, CSV, a plot."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from keras_tagging.architectures import resolve_settings
from keras_tagging.experiments.papers.table import Settings, Table
from keras_tagging.experiments.reproduction import report_facts as facts
from keras_tagging.experiments.reproduction import report_plot, report_statistics
from keras_tagging.experiments.reproduction import report_tables as tables
from keras_tagging.experiments.reproduction.report_document import (
    Bullets,
    Code,
    Grid,
    Heading,
    Line,
    Picture,
    Strong,
    Text,
    to_markdown,
)
from keras_tagging.experiments.reproduction.report_latex import to_latex
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.spreadsheets import without_formulas

NO_PLOT = "No plot: it needs matplotlib, pip install 'keras-tagging[plots]'."


def markdown(table: Table, info: Mapping, results: Sequence[Mapping]) -> str:
    """The report of a reproduction, without its plot.

    Args:
        table: that was reproduced.
        info, results: what `reproduction.read_results` gives.
    """
    frame, pairs = _statistics(table, results)
    return to_markdown(_document(table, info, results, frame, pairs))


def write_report(
    table: Table, info: Mapping, results: Sequence[Mapping], folder: str | Path
) -> list[Path]:
    """Writes the report of a reproduction, each file at once.

    Args:
        table, info, results: as for `markdown`.
        folder: of the reproduction. It gets report.md and report.tex; report.csv, a
            line for each row and column; report.pairs.csv, a line for each pair of rows
            and column; report-plot.png and report-plot.pdf, if matplotlib is there.
            What failed is read from it.

    Returns:
        The files, report.md first.
    """
    folder = Path(folder)
    frame, pairs = _statistics(table, results)
    plots = report_plot.draw(table, frame, folder)
    plot = Picture(report_plot.STEM, report_plot.CAPTION) if plots else Text(NO_PLOT)
    blocks = _document(table, info, results, frame, pairs, plot, folder)
    contents = {
        "report.md": to_markdown(blocks),
        "report.tex": to_latex(blocks),
        "report.csv": _csv(frame),
    }
    tested = [found for found in pairs.values() if found is not None]
    if tested:
        contents["report.pairs.csv"] = _csv(pd.concat(tested))
    for name, content in contents.items():
        with replacing(folder / name) as partial:
            partial.write_text(content, encoding="utf-8")
    return [*(folder / name for name in contents), *plots]


def _csv(table: pd.DataFrame) -> str:
    return without_formulas(table).to_csv(index=False, lineterminator="\n")


def settings_markdown(table: Settings) -> str:
    """A published table of settings beside those of `build(..., recipe="paper")`."""
    ours = resolve_settings(table.architecture, "paper", {})
    lines = []
    for name, published, keyword, value in table.rows:
        here = facts.plain(ours[keyword])
        same = "yes" if ours[keyword] == value else f"no: {facts.plain(value)}"
        lines.append(Line([name, published, keyword, here, same]))
    header = ["Setting", "Published", "Keyword", "Paper recipe", "As we read the paper"]
    caption = f"The paper recipe of {table.architecture}."
    grid = Grid(caption, [("", name) for name in header], lines, left=len(header))
    blocks = [Heading(_title(table), 1), grid]
    return to_markdown([*blocks, Text(table.note)] if table.note else blocks)


def _title(table: Table | Settings) -> str:
    return f"{facts.paper_of(table)}, Table {table.number}: {table.caption}"


def _statistics(table, results):
    """The figures, and of each tested column the pairs of rows."""
    columns = report_statistics.columns_tested(table)
    pairs = {c: report_statistics.pairs(table, results, c) for c in columns}
    return report_statistics.figures(table, results), pairs


def _document(table, info, results, frame, pairs, plot=None, folder=None) -> list:
    compared = facts.same_corpus(table, info)
    failures = facts.failures_in(folder) if folder else []
    blocks = [
        Heading(_title(table), 1),
        Text(Strong(facts.statement(table, info, results))),
        tables.differences(table, info, results),
    ]
    if lacking := facts.missing(table, results, failures):
        blocks += [Text(Strong("Not complete:")), Bullets(lacking)]
    blocks += [Heading("Figures"), tables.figures(table, frame, compared)]
    blocks += tables.tags_a_word(table, frame)
    if table.note:
        blocks.append(Text(table.note))
    blocks += [plot] if plot else []
    blocks += [Heading("Ranking"), *tables.ranking(table, frame)]
    blocks += [Heading("Which rows differ"), *tables.significance(table, pairs)]
    blocks += [Heading("The runs"), tables.runs(table, results)]
    machine = " ".join(facts.surroundings(info, results))
    corpus = f"Fingerprint of the corpus: {info['fingerprint']}."
    command = facts.command(table, info, results, folder)
    return [*blocks, Text(machine), Text(corpus), Code(command)]
