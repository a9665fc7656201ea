"""The tables as the papers' texts print them, read without the package's data."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

TEXTS = {
    "kadari2018": "kadari-2018-bigru.md",
    "wu2016": "wu-2016-skip-connections.md",
    "wu2017": "wu-2017-shortcut-block.md",
    "dinarelli2016": "dinarelli-2016-irnn.md",
    "elkaref2017": "elkaref-2017-lstm-parser.md",
}
# headings of the columns that name a system
LABELS = {"Model", "Case", "Variant", "#Layers", "Network Type", "Embeddings Type", "β"}
FIGURE = re.compile(r"(\d+(?:\.\d+)?)%?")
NONE = ("-", "–", "N/A")


@dataclass
class Line:
    """A line with figures: the words beside it, and the figure below each heading."""

    label: str
    words: set[str]
    figures: dict[str, float | None]


def folder() -> Path:
    """Of the papers' texts, beside that of the corpora; it may not be there."""
    return Path(os.environ.get("KERAS_TAGGING_DATA", "none/data")).parent / "papers"


def text_of(paper: str) -> str:
    return (folder() / TEXTS[paper]).read_text(encoding="utf-8")


def words(text: str) -> set[str]:
    """`$b_f = 5$, Eq. (15)` has b, f, 5, eq and 15; I+E-RNN and C&C are one each."""
    return set(re.findall(r"[^\W_]+(?:[+&-][^\W_]+)*", text.lower()))


def block(text: str, number: int) -> tuple[str, list[list[str]]]:
    """The caption of a table, and its cells: what stands above it, or else below."""
    lines = text.split("\n")
    # not "Table 1 shows ..."
    caption = re.compile(rf"Table {number}(: | [A-Z0-9])")
    at = [i for i, line in enumerate(lines) if caption.match(line)]
    assert len(at) == 1, f"Table {number} has {len(at)} captions"
    for step in (-1, 1):
        i, found = at[0] + step, []
        while not lines[i].strip():
            i += step
        while "\t" in lines[i] or lines[i].startswith("|"):
            found.append(cells(lines[i]))
            i += step
        if found:
            return lines[at[0]], found[::step]
    raise AssertionError(f"Table {number} has no lines")


def cells(line: str) -> list[str]:
    parts = line.strip("|").split("|") if line.startswith("|") else line.split("\t")
    return [re.sub(r"</?[bi]>|^\*|\*$", "", part.strip()) for part in parts]


def headings(rows: list[list[str]]) -> list[str]:
    """Of each column, from one or two lines; a heading reaches to the next one."""
    upper, *lower = rows
    filled, last = [], ""
    for cell in upper:
        last = cell or last
        filled.append(last)
    for row in lower:
        filled = [f"{a} {b}".strip() for a, b in zip(filled, row, strict=True)]
    return filled


def lines_of(text: str, number: int) -> tuple[str, list[Line]]:
    """The caption and the lines with figures, in their order."""
    caption, rows = block(text, number)
    rows = [row for row in rows if not all(set(cell) <= {"-"} for cell in row)]
    heads = [row for row in rows[:2] if not any(map(FIGURE.fullmatch, row[-2:]))]
    heads = [row for row in heads if any(row[1:])]  # the others name a group
    names = headings(heads)
    labels = sum(name in LABELS for name in names)
    body, group, found = rows[len(heads) :], "", []
    for i, row in enumerate(body):
        if not any(row[1:]):
            group = row[0]
            continue
        near = [row[0]]
        if not row[0]:  # one label for several lines, printed beside one of them
            above = [other[0] for other in body[:i] if other[0]]
            below = [other[0] for other in body[i:] if other[0]]
            near = above[-1:] + below[:1]
        label = " ".join(row[:labels])
        figures = dict(zip(names[labels:], map(figure, row[labels:]), strict=True))
        found.append(Line(label, words(" ".join([group, label, *near])), figures))
    return caption, found


def figure(cell: str) -> float | None:
    match = FIGURE.fullmatch(cell)
    assert match or cell in NONE, f"{cell!r} is no figure"
    return float(match[1]) if match else None


def printed_rows(table) -> list[tuple[str, set[str], tuple]]:
    """Label, words beside it, and figures of what is a row in the data."""
    _, lines = lines_of(text_of(table.paper), table.number)
    if table.paper == "dinarelli2016":  # a row a direction
        return [
            (line.label, line.words | words(name), (figure,))
            for line in lines
            for name, figure in line.figures.items()
            if figure is not None
        ]
    if (table.paper, table.number) == ("kadari2018", 4):  # a row a system
        systems = [name.removesuffix(" WORD") for name in lines[0].figures][::2]
        return [
            (
                system,
                words(system),
                tuple(
                    line.figures[f"{system} {kind}"]
                    for line in lines
                    for kind in ("WORD", "SENT")
                ),
            )
            for system in systems
        ]
    return [(line.label, line.words, tuple(line.figures.values())) for line in lines]
