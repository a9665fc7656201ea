"""The common parts of the reports of `analyse` and `reproduce`."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.spreadsheets import without_formulas

NONE = "\N{EN DASH}"  # a cell without a figure
INSTALL = "pip install 'keras-tagging[plots]'"


def environment(
    folder: Path, filters: Mapping[str, Callable] | None = None, **options
) -> Environment:
    """The templates of a folder, which escape every value that they print.

    Args:
        folder: the folder.
        filters: functions for the templates, by their names.
        **options: of `jinja2.Environment`.
    """
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        **options,
    )
    made.filters.update(filters or {})
    return made


def number(value, form: str = ".2f") -> str:
    """A figure in a cell, with a proper minus."""
    return NONE if pd.isna(value) else f"{value:{form}}".replace("-", "\N{MINUS SIGN}")


def plots_available() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def write(path: Path, text: str) -> None:
    """Write a file as a whole."""
    with replacing(path) as partial:
        # a lone surrogate, which may come from JSON, has no UTF-8 form
        partial.write_text(text, encoding="utf-8", errors="replace")


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table so that no spreadsheet takes a text of it for a formula."""
    text = without_formulas(table).to_csv(index=False, lineterminator="\n")
    write(path, text)
