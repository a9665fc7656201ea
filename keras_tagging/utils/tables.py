"""Tables as text."""

import textwrap
from contextlib import contextmanager
from itertools import zip_longest


def aligned(rows: list[list[str]]) -> str:
    """The rows with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (map(str.ljust, row, widths) for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def wrapped(rows: list[list[str]], most: int) -> str:
    """The same with cells that go on in further lines.

    Args:
        rows: the cells.
        most: characters of a line of a cell; a longer word stays whole.
    """
    options = {"break_long_words": False, "break_on_hyphens": False}
    lines = []
    for row in rows:
        cells = (textwrap.wrap(cell, most, **options) for cell in row)
        lines += map(list, zip_longest(*cells, fillvalue=""))
    return aligned(lines)


@contextmanager
def any_strings():
    """Decorator: tables are made without Arrow, whose strings are UTF-8.

    Words and labels may hold half of a surrogate pair, which JSON can. Where pyarrow is
    installed, pandas 3 would take Arrow for them, and fail.
    """
    import pandas as pd

    with pd.option_context("mode.string_storage", "python"):
        yield
