"""Papers and their tables as text."""

from collections.abc import Mapping
from types import ModuleType

from keras_tagging.experiments.papers.table import Settings
from keras_tagging.utils.tables import aligned


def papers(known: Mapping[str, ModuleType]) -> str:
    """The papers that have tables here."""
    rows = [["paper", "tables", ""]]
    for name, module in known.items():
        numbers = ", ".join(map(str, module.TABLES))
        title = module.__doc__.splitlines()[0].partition(" of ")[2]
        rows.append([name, numbers, title.partition(", :cite:")[0]])
    return aligned(rows)


def tables(paper: ModuleType) -> str:
    """The tables of a paper."""
    rows = [["table", "rows", "figures", "measured on", "caption"]]
    for number, table in paper.TABLES.items():
        ours = figures = corpus = ""
        if not isinstance(table, Settings):
            ours = str(sum(row.architecture is not None for row in table.rows))
            measured = [f"{column.split} {column.figure}" for column in table.columns]
            figures, corpus = ", ".join(dict.fromkeys(measured)), table.corpus
        rows.append([str(number), ours, figures, corpus, table.caption])
    return aligned(rows)
