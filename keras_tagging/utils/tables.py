"""Tables as text."""

import textwrap
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
