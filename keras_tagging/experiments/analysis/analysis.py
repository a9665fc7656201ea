"""The result of an analysis: its tables by name, and a report of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from keras_tagging import kinds
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.frames import AnyStrings
from keras_tagging.utils.spreadsheets import without_formulas


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
        from keras_tagging.experiments.analysis.report import fragment

        return fragment(self)

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
        from keras_tagging.experiments.analysis.report import page

        path = Path(path)
        text = page(self, rows, csv)
        with replacing(path) as partial:
            # a lone surrogate, which may come from JSON, has no UTF-8 form
            partial.write_text(text, encoding="utf-8", errors="replace")
        return path

    @AnyStrings()
    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write every table as `NAME.csv`, with all rows and with shares as fractions.

        Text that begins with =, +, -, @, a tab or a line end gets a single quote before
        it, so that no spreadsheet takes it for a formula.
        """
        paths = []
        for name, table in self.tables.items():
            paths.append(Path(folder) / f"{name}.csv")
            with replacing(paths[-1]) as partial:
                text = without_formulas(table)
                text.to_csv(partial, index=False, errors="replace")
        return paths


@AnyStrings()
def analyse(
    model,
    sentences: Iterable[Sentence],
    train: Iterable[Sentence] | None = None,
    *,
    log=None,
    title: str = "Error analysis",
    punctuation: str = "keep",
    subtypes: bool = False,
) -> Analysis:
    """Analyse the errors of a tagger or parser.

    The model reads the sentences once. For each token, only the predicted tag and its
    probability are kept, or the predicted arc.

    Args:
        model: a `Tagger` or `Parser` with vocabularies.
        sentences: sentences with gold tags, or trees.
        train: the sentences that the model was trained on, for the tables by frequency
            in training; without them, these tables are left out.
        log: the figures of all epochs: the file of `fit(log=...)`, the history that
            `fit` returned, or a table.
        title: the title of the report.
        punctuation, subtypes: for parsers, see `metrics.attachment_scores`.

    Returns:
        An `Analysis`.

    Raises:
        ValueError: if there is no token, or the annotation is missing.

    Example:
        >>> from keras_tagging import build, load_corpus
        >>> from keras_tagging.experiments.analysis import analyse
        >>> corpus = load_corpus("demo")
        >>> model = build("bigru", units=4, num_layers=1, seed=1)
        >>> model.adapt(corpus.train)
        >>> analysis = analyse(model, corpus.test[:20], corpus.train)
        >>> list(analysis.by_label_frequency["training"])
        ['unseen', '1-9', '10+ (all)', '10-99', '100-999', '1000+']
    """
    train = None if train is None else list(train)
    counting = {"punctuation": punctuation, "subtypes": subtypes}
    counting = {k: v for k, v in counting.items() if k in model.report_options}
    kind = kinds.of(model)
    if kind.analysis is None:
        raise ValueError(
            f"there is no analysis of a {kind}: see its report, or evaluate"
        )
    find = kind.at("analysis")
    analysis = find(model, sentences, train or None, title, **counting)
    _add_curves(analysis, log, model.default_monitor)
    return analysis


def _add_curves(analysis: Analysis, log, monitor: str) -> None:
    from keras_tagging.experiments.analysis.plots import curves

    if log is None or (isinstance(log, str | Path) and not Path(log).is_file()):
        analysis.missing["learning_curves"] = "there is no log of the training"
        return
    if isinstance(log, str | Path):
        try:
            table = pd.read_csv(log)
            if len(table.select_dtypes("number").columns) < len(table.columns):
                raise ValueError("not all of it is numbers")
        except ValueError as error:
            what = " ".join(str(error).split())
            analysis.missing["learning_curves"] = f"{log} is damaged: {what}"
            warning = f"{log} is damaged, so there are no learning curves"
            analysis.warnings.append(warning)
            return
    else:
        table = pd.DataFrame(getattr(log, "history", log))
    if "epoch" not in table:
        table.insert(0, "epoch", range(1, len(table) + 1))
    text = "The figures of all epochs"
    if monitor in table and table[monitor].notna().any():
        best = table.loc[table[monitor].idxmax(), "epoch"]
        text += f"; {monitor} is highest in epoch {best:g}, marked in the plots"
    analysis.sections.append(
        Section(
            "learning_curves",
            "Learning curves",
            f"{text}. Figures that begin with val_ were measured on the development "
            "sentences; the others in training, with dropout.",
            table,
            lambda figure, table: curves(figure, table, monitor),
        )
    )
