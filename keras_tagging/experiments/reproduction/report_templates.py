"""Fills the templates of a report, and escapes text for Markdown or LaTeX."""

import re
import unicodedata
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

NONE = "\N{EN DASH}"  # a cell without a figure
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


class Grid(NamedTuple):
    """A table of a report.

    Attributes:
        header: a pair for each column: a heading that neighbours share, "" for none,
            and the column's own.
        lines: `Line`, or a heading over the following lines as a string.
        left: number of columns aligned left; the others are aligned right.
    """

    header: list[tuple[str, str]]
    lines: list[Line | str]
    left: int = 1

    @property
    def notes(self) -> list[str]:
        """The different notes of all lines."""
        lines = (line for line in self.lines if isinstance(line, Line))
        return list(dict.fromkeys(line.note for line in lines if line.note))

    @property
    def groups(self) -> list[tuple[str, int, int]]:
        """Shared headings with the numbers, from 1, of their first and last columns."""
        numbered = groupby(enumerate(self.header, 1), key=lambda pair: pair[1][0])
        groups = [(name, [i for i, _ in columns]) for name, columns in numbered]
        return [(name, columns[0], columns[-1]) for name, columns in groups]


def render(template: str, content: str, **variables) -> str:
    """Returns a document: `MARKDOWN` or `LATEX`, filled with a template of content."""
    filled = _environment(template).get_template(template)
    text = filled.render(variables, content=content)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


@cache
def _environment(template: str) -> Environment:
    escape, bold = {
        MARKDOWN: (escape_markdown, "**{}**"),
        LATEX: (escape_latex, r"\textbf{{{}}}"),
    }[template]

    def escaped(value) -> Markup:
        """Escapes every value that a template prints, except the output of macros."""
        if isinstance(value, Markup):
            return value
        text = escape(one_line(str(value)))
        return Markup(bold.format(text) if isinstance(value, Bold) else text)

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,  # makes the output of macros `Markup`
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters = {"one_line": one_line, "number": number, "column_format": column_format}
    environment.filters |= {"escaped": escaped, **filters}
    return environment


def one_line(text: str) -> str:
    return type(text)(re.sub(r"\s*\n\s*", " ", text.strip()))


def number(value, form: str = ".2f") -> str:
    """A figure in a cell, with a proper minus."""
    return NONE if pd.isna(value) else f"{value:{form}}".replace("-", "\N{MINUS SIGN}")


def escape_markdown(text: str) -> str:
    """Text that Markdown prints as it is, in a table too."""
    text = re.sub(r"[\\`*\[\]<>|~$]", r"\\\g<0>", text)
    # h_t stays: between letters it is no emphasis
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is; letters that its fonts lack are named."""
    text = unicodedata.normalize("NFC", text).translate(str.maketrans(_LATEX))
    text = re.sub("[^\x00-\x7f\xc0-\u017e]", _unicode_name, text)
    return re.sub("-(?=-)", "-{}", text)  # two hyphens would make a dash


def _unicode_name(match: re.Match) -> str:
    return f"[{unicodedata.name(match[0], f'U+{ord(match[0]):04X}').lower()}]"


def column_format(grid: Grid) -> Markup:
    """LaTeX columns as wide as they need; if they need too much, those of text wrap."""
    rows = [line.cells for line in grid.lines if isinstance(line, Line)]
    rows.append([max(name.split(" "), key=len) for _, name in grid.header])
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    text, figures = widths[: grid.left], widths[grid.left :]
    available = _LINE - sum(figures)
    columns = ["l"] * len(text)
    if sum(text) > available:  # short columns keep their width
        fits = (m for m in range(_LINE, 0, -1) if sum(min(w, m) for w in text) <= available)
        limit = next(fits, _LINE)
        # 0.94: the rest is the space between the columns
        shares = (0.94 * min(width, limit) / _LINE for width in text)
        wrapped = r">{{\raggedright\arraybackslash}}p{{{:.3f}\linewidth}}"
        columns = [wrapped.format(share) for share in shares]
    return Markup("".join([*columns, *["r"] * len(figures)]))
