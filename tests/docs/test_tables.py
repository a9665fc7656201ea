"""The tables of the documentation have the rows that they seem to have."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.rst", *ROOT.glob("docs/*.rst"), *ROOT.glob("docs/*/*.rst")]


def broken_rows(text: str) -> list[str]:
    """Rows of simple tables that have nothing but their first cell.

    In a simple table a line with text in its first column begins another row, so the
    second line of a long first cell is a row of its own, and an empty one.
    """
    broken, first, after_border = [], None, False
    for line in text.splitlines():
        border = line.startswith("=") and set(line) == {"=", " "}
        if border:
            first = line.index(" ")
        elif not line:
            first = None if after_border else first
        elif first and line[:first].strip(" -") and not line[first:].strip():
            broken.append(line)
        after_border = border
    return broken


def test_finds_a_broken_row():
    rule = "=======  ====="
    table = ["Columns  Right", rule, "four,    95.22", "a row", "one      94", rule]
    text = "\n".join(["Title", "=====", "", rule, *table, "", "A line of prose"])
    assert broken_rows(text) == ["a row"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_row_is_broken(page):
    assert not broken_rows(page.read_text(encoding="utf-8"))
