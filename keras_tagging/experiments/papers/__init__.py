"""The tables of the five papers as data: published figures, settings of each row.

    >>> from keras_tagging import papers
    >>> table = papers.table("wu2016", 2)
    >>> row = table.rows[8]
    >>> row.name, row.published
    ('to the outputs, with gate, b_f = 0', (94.51, 94.67))
    >>> row.architecture, row.settings["gate"]
    ('skip-bilstm', 'joint')

Each paper has a module with `TABLES`, by number. The settings of a row define it in
both recipes of `keras_tagging.build`; `recipe="paper"` adds the paper's sizes, features
and training. Nothing here imports Keras.
"""

from types import ModuleType

from keras_tagging.experiments.papers import (
    dinarelli2016,
    elkaref2017,
    kadari2018,
    wu2016,
    wu2017,
)
from keras_tagging.experiments.papers.table import Column, Row, Settings, Table
from keras_tagging.utils.suggestions import check_known

#: name -> module with `TABLES`
PAPERS: dict[str, ModuleType] = {
    "kadari2018": kadari2018,
    "wu2016": wu2016,
    "wu2017": wu2017,
    "dinarelli2016": dinarelli2016,
    "elkaref2017": elkaref2017,
}

__all__ = ["PAPERS", "Column", "Row", "Settings", "Table", "table"]


def table(paper: str, number: int) -> Table | Settings:
    """Return a table of a paper.

    Args:
        paper: a name in `PAPERS`.
        number: as printed.

    Raises:
        ValueError: for an unknown paper or table; the message lists the known ones.
    """
    check_known("paper", paper, PAPERS)
    tables = PAPERS[paper].TABLES
    if number not in tables:
        known = ", ".join(map(str, tables))
        raise ValueError(f"{paper} has no Table {number!r} here. Known: {known}")
    return tables[number]
