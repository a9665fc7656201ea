"""What a published table is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Column:
    """One figure that a table prints for each of its rows.

    Attributes:
        name: its heading, unique in the table.
        figure: accuracy, f1, uas, las; word or sent of multi-tagging. In per cent.
        split: the sentences that it was measured on.
        beta: the level, of word and sent only.
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
        published: its figures, one a column; None where the paper has none.
        architecture: a name for `keras_tagging.build`; None for the system of others,
            which only stands beside ours.
        settings: keywords for `build`, as far as they make this row.
        vectors: whether the words start from pretrained vectors.
        bootstrap: the row whose parser of the same seed this one starts from.
        gates: those that are bootstrapped: "all", or a tuple of their names.
        group: the heading above it, "" for none.
        citation: key in docs/references.bib of another's system, if there is one.
        note: a slip of the paper, or how we read it.
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
        number: of the table.
        caption: the paper's, shortened.
        corpus: what it was measured on.
        columns, rows: as printed.
        varies: keywords of `build` that its rows differ in: these are not scaled.
        monitor: what tells the best epoch; None: the model's own figure.
        held_out: share of the training sentences, those of development included, that
            each seed holds out anew for development; None: the corpus has its own.
        punctuation: which words of a parser's sentences do not count, as in
            `Parser.scores`.
        note: what to know when reading the table.
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
        architecture: the one whose paper recipe they are.
        rows: name, value as printed, keyword of `build`, its value there.
        note: what to know when reading the table.
    """

    paper: str
    number: int
    caption: str
    architecture: str
    rows: tuple[tuple[str, str, str, Any], ...]
    note: str | None = None
