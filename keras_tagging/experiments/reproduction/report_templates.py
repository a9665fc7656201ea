"""The templates of a report, and the escaping of text for Markdown and LaTeX."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from keras_tagging.experiments.documents import environment, number

MARKDOWN, LATEX = "report.md.j2", "report.tex.j2"
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    **{c: "\\" + c for c in "&%$#_{}"},
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "\N{PLUS-MINUS SIGN}": r"\ensuremath{\pm}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\le}",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\ge}",
    "\N{RIGHTWARDS ARROW}": r"\ensuremath{\rightarrow}",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{NO-BREAK SPACE}": "~",
}
_LINE = 98  # characters of \small in a line of 17 cm


class Bold(str):
    """A cell in bold face."""


class Line(NamedTuple):
    """A line of a grid; the note and the citation are printed with the first cell."""

    cells: list[str]
    note: str | None = None
    citation: str | None = None


class Grid:
    """A table of a report.

    Attributes:
        header: for each column the heading that it shares with its neighbours, or "",
            and its own.
        lines: `Line`, or a heading over the following lines as a string.
        left: number of columns aligned left; the others are aligned right.
        notes: the different notes of the lines.
        groups: the shared headings, and the numbers of their first and last columns.
    """

    def __init__(self, header: Sequence, lines: list[Line | str], left: int = 1):
        self.header = [("", name) if isinstance(name, str) else name for name in header]
        self.lines, self.left = lines, left
        rows = [line for line in lines if isinstance(line, Line)]
        self.notes = list(dict.fromkeys(line.note for line in rows if line.note))
        numbered = enumerate((shared for shared, _ in self.header), 1)
        self.groups = []
        for shared, columns in groupby(numbered, key=lambda pair: pair[1]):
            numbers = [number for number, _ in columns]
            self.groups.append((shared, numbers[0], numbers[-1]))


def render(template: str, content: str, **variables) -> str:
    """Return a document: `MARKDOWN` or `LATEX`, filled with a template of content."""
    filled = _environment(template).get_template(template)
    text = filled.render(variables, content=content)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def _environment(template: str):
    escape, bold = escape_markdown, "**{}**"
    if template == LATEX:
        escape, bold = escape_latex, r"\textbf{{{}}}"

    def escaped(value) -> Markup:
        """Escape every value that a template prints, except the output of macros."""
        if isinstance(value, Markup):
            return value
        text = escape(one_line(str(value)))
        return Markup(bold.format(text) if isinstance(value, Bold) else text)

    filters = {f.__name__: f for f in (one_line, number, column_format, escaped)}
    return environment(Path(__file__).parent / "templates", filters, finalize=escaped)


def one_line(text: str) -> str:
    return type(text)(re.sub(r"\s*\n\s*", " ", text.strip()))


def escape_markdown(text: str) -> str:
    """Text that Markdown prints as it is, in a table too."""
    text = re.sub(r"[\\`*\[\]<>|~$]", r"\\\g<0>", text)
    # h_t stays: between letters it is not emphasis
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is; letters that its fonts lack are named."""
    text = unicodedata.normalize("NFC", text).translate(str.maketrans(_LATEX))
    text = re.sub("[^\x00-\x7f\xc0-\u017e]", _unicode_name, text)
    return re.sub("-(?=-)", "-{}", text)  # two hyphens would make a dash


def _unicode_name(match: re.Match) -> str:
    return f"[{unicodedata.name(match[0], f'U+{ord(match[0]):04X}').lower()}]"


def column_format(grid: Grid) -> Markup:
    """The LaTeX column specification; columns of text wrap if the table is too wide."""
    rows = [line.cells for line in grid.lines if isinstance(line, Line)]
    rows.append([max(name.split(" "), key=len) for _, name in grid.header])
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    text, figures = widths[: grid.left], widths[grid.left :]
    available = _LINE - sum(figures)
    columns = ["l"] * len(text)
    if 0 < available < sum(text):
        # short columns keep their width, long ones share what is left
        limits = range(_LINE + 1)
        widest = max(m for m in limits if np.minimum(text, m).sum() <= available)
        # 0.94: without the space between the columns
        shares = 0.94 * np.minimum(text, widest) / _LINE
        wrapped = r">{{\raggedright\arraybackslash}}p{{{:.3f}\linewidth}}"
        columns = map(wrapped.format, shares)
    return Markup("".join(columns) + "r" * len(figures))
