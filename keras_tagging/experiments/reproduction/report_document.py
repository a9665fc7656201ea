"""What a report is made of, and its form as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

NONE = "\N{EN DASH}"  # a cell without a figure


class Strong(str):
    """A cell or text in bold face."""


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph; a `Strong` text is in bold face."""

    text: str


@dataclass(frozen=True)
class Bullets:
    items: Sequence[str]


@dataclass(frozen=True)
class Code:
    """One line to be copied, in pieces between which it may be broken."""

    parts: Sequence[str]


@dataclass(frozen=True)
class Picture:
    """A plot: `stem.png`, and `stem.pdf` for LaTeX."""

    stem: str
    caption: str


@dataclass(frozen=True)
class Line:
    """A line of a grid.

    Attributes:
        cells: one a column; a `Strong` one is in bold face.
        note: a remark on the first cell, printed below the grid; equal remarks share
            their number.
        citation: key of the bibliography, behind the first cell.
    """

    cells: Sequence[str]
    note: str | None = None
    citation: str | None = None


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        caption: below which it stands.
        header: for each column its heading: a pair, the first of which neighbours
            share, or "" for none.
        lines: `Line`, or a heading over the following ones as a string.
        left: how many columns are aligned left; the others right.
    """

    caption: str
    header: Sequence[tuple[str, str]]
    lines: Sequence[Line | str]
    left: int = 1
    notes: list[str] = field(init=False)

    def __post_init__(self):
        found = (line.note for line in self.lines if isinstance(line, Line))
        notes = list(dict.fromkeys(note for note in found if note))
        object.__setattr__(self, "notes", notes)


def to_markdown(blocks: Sequence) -> str:
    """The document in GitHub's Markdown; notes are numbered through all grids."""
    parts, count = [], 0
    for block in blocks:
        if isinstance(block, Grid):
            parts.append(_grid(block, count))
            count += len(block.notes)
        else:
            parts.append(_FORMS[type(block)](block))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text that Markdown prints as it is, in a cell too."""
    text = re.sub(r"[\\`*\[\]<>|~$]", r"\\\g<0>", text)
    # h_t stays: between letters it is no emphasis
    return re.sub(r"(?<!\w)_|_(?!\w)", r"\\_", text)


def _inline(text: str) -> str:
    return f"**{escape(text)}**" if isinstance(text, Strong) else escape(text)


def _grid(grid: Grid, before: int) -> str:
    header = [escape(" ".join(filter(None, pair))) for pair in grid.header]
    width = len(header)
    rows = [header, ["---"] * grid.left + ["---:"] * (width - grid.left)]
    for line in grid.lines:
        if isinstance(line, str):
            rows.append([_inline(Strong(line)), *[""] * (width - 1)])
            continue
        cells = [_inline(cell) for cell in line.cells]
        if line.citation:
            cells[0] += f" {escape(f'[{line.citation}]')}"
        if line.note:
            cells[0] += f"[^{before + grid.notes.index(line.note) + 1}]"
        rows.append(cells)
    text = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    notes = [f"[^{before + i}]: {escape(note)}" for i, note in enumerate(grid.notes, 1)]
    return "\n\n".join([f"*{escape(grid.caption)}*", text, *notes])


_FORMS = {
    Heading: lambda block: f"{'#' * block.level} {escape(block.text)}",
    Text: lambda block: _inline(block.text),
    Bullets: lambda block: "\n".join(f"- {_inline(item)}" for item in block.items),
    Code: lambda block: "```\n" + " \\\n    ".join(block.parts) + "\n```",
    Picture: lambda block: f"![{escape(block.caption)}]({block.stem}.png)",
}
