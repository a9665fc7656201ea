"""The usual drawing of a derivation: words, categories, and a line for each step.

The line is as long as the words of the step, and the mark of the combinator is at its
end. One layout, in columns of letters, serves text and pictures.
"""

from html import escape
from typing import NamedTuple
from unicodedata import category as kind_of
from unicodedata import east_asian_width

from keras_tagging.ccg.auto import Leaf, Node, table
from keras_tagging.ccg.words import unescaped
from keras_tagging.utils.limits import DRAWN_WORDS

_GAP = 2  # columns between words
_COLUMN, _ROW = 8, 19  # pixels
#: what a page needs for the tables
STYLE = """\
.ccg { overflow-x: auto; }
.ccg table { border-collapse: separate; border-spacing: .6em .1em; }
.ccg td { font-size: .85em; padding: 0 .2em; text-align: center; white-space: nowrap; }
.ccg tr:first-child td { font-size: 1em; font-style: italic; }
.ccg td.step { border-top: 1px solid currentColor; vertical-align: top; }
.ccg small { float: right; opacity: .7; margin-left: .4em; }
"""


class Box(NamedTuple):
    """A node in its place.

    Args:
        label: its category.
        mark: of its combinator; "" for a leaf.
        level: 0 for a leaf, or one more than the highest of its children.
        first, last: its words, from 0; `last` is the last one.
        word: of a leaf.
    """

    label: str
    mark: str
    level: int
    first: int
    last: int
    word: str


def as_text(root: Node | Leaf) -> str:
    """The drawing in letters; its lines have no blanks at their ends."""
    boxes, starts, widths = _layout(root)
    rows = [""] * (2 * max(box.level for box in boxes) + 2)
    for box in sorted(boxes, key=lambda box: box.first):
        start, width = _extent(box, starts, widths)
        line = "-" * (width - len(box.mark)) + box.mark
        pair = (box.word, box.label) if box.word else (line, box.label)
        for row, text in enumerate(pair, 2 * box.level):
            free = width - _columns(text)
            padding = start + free // 2 - _columns(rows[row])
            rows[row] += " " * padding + text
    return "\n".join(rows)


def as_svg(root: Node | Leaf) -> str:
    """The drawing as a picture; lines and letters have the colour of the page."""
    boxes, starts, widths = _layout(root)
    width = (starts[-1] + widths[-1] + 2 * _GAP) * _COLUMN
    height = (2 * max(box.level for box in boxes) + 3) * _ROW
    words = escape(" ".join(box.word for box in boxes if box.word))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ccg" role="img" '
        f'aria-label="{words}" width="{width}" height="{height}" fill="currentColor" '
        'font-family="ui-monospace, monospace" font-size="13" text-anchor="middle">\n'
    ]
    for box in boxes:
        start, extent = (n * _COLUMN for n in _extent(box, starts, widths))
        left, right = start + _GAP * _COLUMN, start + extent + _GAP * _COLUMN
        middle, top = (left + right) // 2, (2 * box.level + 1) * _ROW
        below = _text(middle, top + _ROW, box.label)
        if box.word:
            above = _text(middle, top, box.word, ' font-style="italic"')
        else:
            y = top + 2
            small = ' font-size="10" text-anchor="start"'
            above = f'<path stroke="currentColor" d="M{left},{y} H{right}"/>'
            above += _text(right + 1, y + 3, box.mark, small)
        parts.append(f"{above}{below}\n")
    return "".join([*parts, "</svg>\n"])


def as_table(root: Node | Leaf) -> str:
    """The drawing as a table of HTML."""
    boxes, *_ = _layout(root)
    rows: list[list[Box]] = [[] for _ in range(max(box.level for box in boxes) + 1)]
    for box in sorted(boxes, key=lambda box: box.first):
        rows[box.level].append(box)
    words = "".join(f"<td>{escape(box.word)}</td>" for box in rows[0])
    lines = [f"<tr>{words}</tr>\n"]
    for row in rows:
        cells, after = [], 0
        for box in row:
            cells += [_cell("", box.first - after, "")] if box.first > after else []
            mark = f"<small>{escape(box.mark)}</small>" if box.mark else ""
            label, kind = f"{mark}{escape(box.label)}", "" if box.word else "step"
            cells.append(_cell(label, box.last + 1 - box.first, kind))
            after = box.last + 1
        lines.append(f"<tr>{''.join(cells)}</tr>\n")
    return f'<div class="ccg" tabindex="0"><table>\n{"".join(lines)}</table></div>\n'


def _cell(content: str, span: int, kind: str) -> str:
    spans = f' colspan="{span}"' if span > 1 else ""
    return f"<td{spans}{f' class={kind}' if kind else ''}>{content}</td>"


def _text(x: int, y: int, content: str, attributes: str = "") -> str:
    return f'<text x="{x}" y="{y}"{attributes}>{escape(content)}</text>'


def _layout(root: Node | Leaf) -> tuple[list[Box], list[int], list[int]]:
    """The boxes, and where each word begins, and how wide it is, in columns."""
    nodes = table(root)
    count = sum(isinstance(node, Leaf) for node, _ in nodes)
    if count > DRAWN_WORDS:
        raise ValueError(f"{count:,} words are too many to draw: draw a part of them")
    boxes: list[Box | None] = [None] * len(nodes)
    widths = [0] * count
    for i in reversed(range(len(nodes))):
        node, below = nodes[i]
        if isinstance(node, Leaf):
            count -= 1
            word = unescaped(node.word)
            boxes[i] = Box(node.category, "", 0, count, count, word)
            widths[count] = max(_columns(word), _columns(node.category))
            continue
        first, last = boxes[below[0]], boxes[below[-1]]
        level = 1 + max(boxes[child].level for child in below)
        box = Box(node.category, node.rule, level, first.first, last.last, "")
        width = sum(widths[box.first : box.last + 1]) + _GAP * (box.last - box.first)
        # the line is longer than its mark
        widths[box.last] += max(
            0, _columns(box.label) - width, len(box.mark) + 1 - width
        )
        boxes[i] = box
    starts = [0]
    for width in widths[:-1]:
        starts.append(starts[-1] + width + _GAP)
    return boxes, starts, widths


def _extent(box: Box, starts: list[int], widths: list[int]) -> tuple[int, int]:
    return starts[box.first], starts[box.last] + widths[box.last] - starts[box.first]


def _columns(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(kind_of(letter) == "Mn" for letter in text)
