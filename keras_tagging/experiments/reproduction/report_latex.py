"""A report as LaTeX, with the tables of booktabs."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from keras_tagging.experiments.reproduction.report_document import (
    Bullets,
    Code,
    Grid,
    Heading,
    Line,
    Picture,
    Strong,
    Text,
)

# docmute leaves out what stands before \begin{document}, so \cite is itself again
_PREAMBLE = r"""% A document of its own. Another one can have it by \input, if it has
% \usepackage{array,booktabs,longtable,graphicx,docmute}; the keys of \cite are those of
% docs/references.bib of keras-tagging.
\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage{textcomp,array,booktabs,longtable,graphicx}
\usepackage[margin=2cm]{geometry}
\renewcommand{\cite}[1]{[#1]}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}
"""
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    **{c: "\\" + c for c in "&%$#_{}"},
}
_BREAK = r"\\"
_RAGGED = r">{\raggedright\arraybackslash}"
_LINE = 98  # letters of \\small in a line of 17 cm
_SYMBOLS = {
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


def to_latex(blocks: Sequence) -> str:
    """The document, for pdfLaTeX."""
    parts = [_FORMS[type(block)](block) for block in blocks]
    return _PREAMBLE + "\n".join([*parts, r"\end{document}"]) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it is; a letter that its fonts lack is named."""
    found = "".join(map(_character, unicodedata.normalize("NFC", text)))
    return re.sub("-(?=-)", "-{}", found)  # or two hyphens are one dash


def _character(c: str) -> str:
    if c in _ESCAPES or c in _SYMBOLS:
        return _ESCAPES.get(c) or _SYMBOLS[c]
    if c.isascii() or "\N{LATIN SMALL LETTER A WITH GRAVE}" <= c <= "\u017e":
        return c
    return f"[{unicodedata.name(c, f'U+{ord(c):04X}').lower()}]"


def _inline(text: str) -> str:
    return rf"\textbf{{{escape(text)}}}" if isinstance(text, Strong) else escape(text)


def _heading(block: Heading) -> str:
    name = "section" if block.level == 1 else "subsection"
    return f"\\{name}*{{{escape(block.text)}}}\n"


def _code(block: Code) -> str:
    lines = " \\textbackslash\\\\\n\\hspace*{2em}".join(map(escape, block.parts))
    return f"{{\\small\\ttfamily\\raggedright {lines}\\par}}\n"


def _picture(block: Picture) -> str:
    return (
        "\\begin{center}\n"
        f"\\includegraphics[width=\\linewidth,height=0.85\\textheight,keepaspectratio]"
        f"{{{block.stem}.pdf}}\n\n\\small {escape(block.caption)}\n\\end{{center}}\n"
    )


def _grid(grid: Grid) -> str:
    """A longtable, which may run over several pages."""
    width = len(grid.header)
    size, gap = (r"\small", 5) if width < 9 else (r"\footnotesize", 2.5)
    lines = [
        rf"{{{size}\setlength{{\tabcolsep}}{{{gap}pt}}",
        rf"\textit{{{escape(grid.caption)}}}\par\nopagebreak",
        rf"\begin{{longtable}}{{@{{}}{_columns(grid)}@{{}}}}",
        rf"\toprule {_header(grid)} \midrule\endhead",
        r"\bottomrule\endlastfoot",
    ]
    for line in grid.lines:
        if isinstance(line, Line):
            lines.append(_line(line, grid))
        else:
            text = rf"\emph{{{escape(line)}}}"
            lines.append(rf"\multicolumn{{{width}}}{{@{{}}l}}{{{text}}}\\*")
    lines.append(r"\end{longtable}}")
    for i, note in enumerate(grid.notes, 1):
        mark = rf"\textsuperscript{{{i}}}"
        lines.append(rf"{{\footnotesize {mark} {escape(note)}\par}}")
    return "\n".join(lines) + "\n"


def _columns(grid: Grid) -> str:
    """Columns as wide as they need; if these are too many, those of text wrap."""
    rows = [line.cells for line in grid.lines if isinstance(line, Line)]
    rows.append([max(name.split(" "), key=len) for _, name in grid.header])
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    text, figures = widths[: grid.left], widths[grid.left :]
    left = _LINE - sum(figures)
    if sum(text) <= left:
        columns = ["l"] * len(text)
    else:  # a short one keeps its width
        limits = range(_LINE, 0, -1)
        longest = next(m for m in limits if sum(min(w, m) for w in text) <= left)
        # less what stands between the columns
        shares = (0.94 * min(width, longest) / _LINE for width in text)
        columns = [rf"{_RAGGED}p{{{share:.3f}\linewidth}}" for share in shares]
    return "".join([*columns, *["r"] * len(figures)])


def _header(grid: Grid) -> str:
    """One line, or two where columns share a heading."""
    groups = [
        (name, len(list(some))) for name, some in groupby(h[0] for h in grid.header)
    ]
    lines = []
    if any(name for name, _ in groups):
        cells, rules, start = [], [], 1
        for name, size in groups:
            cells.append(rf"\multicolumn{{{size}}}{{c}}{{{escape(name)}}}")
            if name:
                rules.append(rf"\cmidrule(lr){{{start}-{start + size - 1}}}")
            start += size
        lines.append(" & ".join(cells) + r"\\" + "".join(rules))
    names = [escape(name) for _, name in grid.header]
    if len(names) > 8:
        names = [rf"\shortstack[r]{{{name.replace(' ', _BREAK)}}}" for name in names]
    lines.append(" & ".join(names) + r"\\")
    return " ".join(lines)


def _line(line: Line, grid: Grid) -> str:
    cells = [_inline(cell) for cell in line.cells]
    if line.citation:
        cells[0] += rf"~\cite{{{line.citation}}}"
    if line.note:
        cells[0] += rf"\textsuperscript{{{grid.notes.index(line.note) + 1}}}"
    if cells[0].startswith("["):  # or the line before would take it as an option
        cells[0] = "{}" + cells[0]
    return " & ".join(cells) + r"\\"


def _bullets(block: Bullets) -> str:
    items = "\n".join(rf"\item{{}} {_inline(item)}" for item in block.items)
    return f"\\begin{{itemize}}\n{items}\n\\end{{itemize}}\n"


_FORMS = {
    Heading: _heading,
    Text: lambda block: _inline(block.text) + "\n",
    Bullets: _bullets,
    Code: _code,
    Picture: _picture,
    Grid: _grid,
}
