"""The tables of the five papers as data: published figures, settings of each row.

    >>> from keras_tagging import papers
    >>> table = papers.table("wu2016", 2)
    >>> row = table.rows[8]
    >>> row.name, row.published
    ('to the outputs, with gate, b_f = 0', (94.51, 94.67))
    >>> row.architecture, row.settings["gate"]
    ('skip-bilstm', 'joint')

Each paper has `TABLES`, by number. The settings of a row define it in both recipes of
`keras_tagging.build`; `recipe="paper"` adds the paper's sizes, features and training.
Nothing here imports Keras. How we read the papers:

* Kadari et al. (2018), :cite:`kadari2018`: the word vectors are a feature beside the
  learnt embeddings (section 2.2), so the keyword of `build` is `vectors`, not
  `embeddings`. Table 4 is transposed: a row a system.
* Wu et al. (2016), :cite:`wu2016`: words start from GloVe vectors (section 6.1.2). In
  Table 1 characters are the only features of a word's form, in both recipes.
* Wu et al. (2017), :cite:`wu2017`: words start from GloVe vectors (section 5.1). Tables
  2 to 4 do not say how many layers they have; here 9, Table 1's. Table 4 has the inputs
  of section 4.1 and no others, in both recipes.
* Dinarelli & Tellier (2016), :cite:`dinarelli2016`: the tables have a column for each
  direction; here each network and direction has its row. The best epoch is the one with
  the best accuracy on the development set (section 3.2), for F1 too.
* Elkaref & Bohnet (2017), :cite:`elkaref2017`: recurrent parsers "use the final trained
  embeddings of their respective FFN baseline", so only baselines start from GloVe
  vectors. The gates of a row are those that start from the hidden layer of the FFN
  baseline.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal
from unicodedata import normalize

from keras_tagging.utils.checks import check_known

__all__ = ["PAPERS", "Column", "Paper", "Row", "Settings", "Table", "table"]


@dataclass(frozen=True)
class Column:
    """One figure that a table prints for each of its rows.

    Attributes:
        name: its heading, unique in the table.
        figure: accuracy, f1, uas, las; for multi-tagging word or sent. In per cent.
        split: the sentences on which it was measured.
        beta: the level of word and sent.
    """

    name: str
    figure: Literal["accuracy", "f1", "uas", "las", "word", "sent"]
    split: Literal["dev", "test"]
    beta: float | None = None


@dataclass(frozen=True)
class Row:
    """One system.

    Attributes:
        name: as printed, made unique in the table.
        published: its figures, one for each column; None where the paper has none.
        architecture: a name for `keras_tagging.build`; None for systems of other
            authors, which are printed for comparison only.
        settings: the keywords of `build` that define this row.
        vectors: whether the words start from pretrained vectors.
        bootstrap: the row whose parser, of the same seed, this one starts from.
        gates: the bootstrapped gates: "all", or a tuple of their names.
        group: the heading above the row, "" for none.
        citation: key in docs/references.bib, for systems of other authors.
        note: an error in the paper, or how we read it.
    """

    name: str
    published: tuple[float | None, ...]
    architecture: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    vectors: bool = False
    bootstrap: str | None = None
    gates: str | tuple[str, ...] = "all"
    group: str = ""
    citation: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Table:
    """One table of a paper that compares systems.

    Attributes:
        paper: name of its module, such as "wu2016".
        number: the number of the table.
        caption: the paper's caption, shortened.
        corpus: the corpus on which it was measured.
        columns, rows: as printed.
        varies: keywords of `build` in which the rows differ; they cannot be scaled.
        monitor: the figure that selects the best epoch; None: the model's default.
        held_out: share of the training and development sentences that each seed draws
            for development; None: the corpus has its own development set.
        punctuation: the words of a parser's sentences that do not count, as in
            `Parser.scores`.
        note: a remark for readers of the table.
    """

    paper: str
    number: int
    caption: str
    corpus: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    varies: tuple[str, ...] = ()
    monitor: str | None = None
    held_out: float | None = None
    punctuation: Literal["keep", "ptb", "unicode"] = "keep"
    note: str | None = None


@dataclass(frozen=True)
class Settings:
    """A table of hyper-parameters, such as Table 1 of Kadari et al. (2018).

    Attributes:
        paper, number, caption: as in `Table`.
        architecture: the architecture with these settings in its paper recipe.
        rows: name, value as printed, keyword of `build`, its value there.
        note: a remark for readers of the table.
    """

    paper: str
    number: int
    caption: str
    architecture: str
    rows: tuple[tuple[str, str, str, Any], ...]
    note: str | None = None


def read_tables(paper: str) -> dict[int, Table | Settings]:
    """The tables of a paper, by their numbers.

    `PAPER.json` beside this module has them as printed, a row a system; what it leaves
    out is as in `Table`, `Row` and `Column`, or in `Settings`.
    """
    file = files(__package__).joinpath(f"{paper}.json")
    tables = {}
    for entry in map(_frozen, json.loads(file.read_text("utf-8"))):
        kind, rows = Settings, map(_frozen, entry["rows"])
        if "columns" in entry:
            kind, rows = Table, (Row(**row) for row in rows)
            entry["columns"] = tuple(Column(**column) for column in entry["columns"])
        tables[entry["number"]] = kind(**entry | {"paper": paper, "rows": tuple(rows)})
    return tables


def _frozen(value):
    """The value with tuples for the lists of JSON."""
    if isinstance(value, dict):
        return {key: _frozen(part) for key, part in value.items()}
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Paper:
    """A paper: its authors and year, and its tables by number."""

    authors: str
    TABLES: dict[int, Table | Settings]


#: the papers by name
PAPERS = {
    name: Paper(authors, read_tables(name))
    for name, authors in {
        "kadari2018": "Kadari et al. (2018)",
        "wu2016": "Wu et al. (2016)",
        "wu2017": "Wu et al. (2017)",
        "dinarelli2016": "Dinarelli & Tellier (2016)",
        "elkaref2017": "Elkaref & Bohnet (2017)",
    }.items()
}


def table(paper: str, number: int) -> Table | Any:  # or `Settings`
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
        numbers = ", ".join(map(str, tables))
        raise ValueError(f"{paper} has no Table {number!r} here. Known: {numbers}")
    return tables[number]


def slugs(table: Table) -> dict[str, str]:
    """Names for files, for each of our rows: lower-case ASCII, digits and hyphens."""
    slugs = {}
    for name in (row.name for row in table.rows if row.architecture):
        text = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        slugs[name] = re.sub("[^a-z0-9]+", "-", text).strip("-")[:60].strip("-")
    return slugs


def choose_rows(table: Table, names: Sequence[str] | None) -> list[Row]:
    """Pick rows of the table by their names, in the order of the table.

    Args:
        names: full names, slugs, or beginnings that fit a single row, in any case. None
            picks all our systems.

    Raises:
        ValueError: if a name fits none of our systems, or several.
    """
    if not names:
        return [row for row in table.rows if row.architecture]
    chosen = {_row_named(table, name) for name in names}
    return [row for row in table.rows if row.name in chosen]


def _row_named(table: Table, name: str) -> str:
    wanted, rows = name.casefold(), slugs(table)
    names = {row: (row.casefold(), slug) for row, slug in rows.items()}
    fitting = [row for row in rows if wanted in names[row]]
    if not fitting:
        fitting = [row for row in rows if any(n.startswith(wanted) for n in names[row])]
    if len(fitting) != 1:
        raise ValueError(
            f"--rows {name!r} fits {len(fitting)} of the rows of Table {table.number} "
            f"of {table.paper} that are trained, not one: {'; '.join(fitting or rows)}"
        )
    return fitting[0]
