"""The result of an analysis: its tables by name, and a report of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from keras_tagging.experiments import documents
from keras_tagging.experiments.analysis import report
from keras_tagging.utils.frames import AnyStrings


@dataclass(frozen=True, eq=False)
class Section:
    """A table with its title, text and plot.

    Args:
        name: the name of the table.
        title, text: its heading and its description in the report.
        table: one row for each group of tokens. Floats are shares, except for losses
            and rates.
        plot: function of a matplotlib figure and the table, or None.
        examples: tokens in context; the columns shared with the table tell the row of
            each example.
        ranked: whether the first rows matter most, so that the report may leave out the
            others.
    """

    name: str
    title: str
    text: str
    table: pd.DataFrame
    plot: Callable | None = None
    examples: pd.DataFrame | None = None
    ranked: bool = False


@dataclass(eq=False, repr=False)
class Analysis:
    """The result of :func:`analyse`. A notebook displays it as HTML.

    Args:
        title: the title of the report.
        facts: a description of the model and the sentences, by name.
        sections: the `Section` objects; their tables are attributes, such as
            `analysis.confusions`.
        missing: the reason for each missing table, by its name.
        warnings: reasons to doubt some table.
    """

    title: str
    facts: dict[str, str]
    sections: list[Section] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by their names."""
        by_name = {section.name: section.table for section in self.sections}
        for section in self.sections:
            if section.examples is not None:
                by_name[f"{section.name}_examples"] = section.examples
        return by_name

    def __getattr__(self, name):
        # copying and unpickling look up methods before there are any fields
        if not name.startswith("_"):
            tables, missing = self.tables, self.missing
            if name in tables:
                return tables[name]
            if name in missing:
                raise AttributeError(f"no table {name!r}: {missing[name]}")
            known = f"the tables are {', '.join(tables)}"
            raise AttributeError(f"Analysis has no {name!r}: {known}")
        raise AttributeError(name)

    def __dir__(self):
        return [*super().__dir__(), *self.tables]

    def __repr__(self):
        return f"<Analysis {self.title!r}: {', '.join(self.tables)}>"

    @AnyStrings()
    def _repr_html_(self):
        return report.fragment(self)

    @AnyStrings()
    def to_html(
        self, path: str | Path, rows: int = 25, csv: str | Path | None = None
    ) -> Path:
        """Write one HTML file that needs no other file and no network.

        It has plots if matplotlib is installed.

        Args:
            path: the path of the file; it is replaced if it exists.
            rows: the number of rows to show of ranked tables, such as the confusions.
            csv: the folder of `to_csv`, which the page then names for the other rows.
        """
        documents.write(Path(path), report.page(self, rows, csv))
        return Path(path)

    @AnyStrings()
    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write every table as `NAME.csv`, with all rows and with shares as fractions.

        Text that begins with =, +, -, @, a tab or a line end gets a single quote before
        it, so that no spreadsheet takes it for a formula.
        """
        paths = []
        for name, table in self.tables.items():
            paths.append(Path(folder) / f"{name}.csv")
            documents.write_csv(paths[-1], table)
        return paths
