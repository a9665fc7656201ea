"""The derivation of a sentence: read, written, drawn."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, NamedTuple
from unicodedata import category as kind_of
from unicodedata import east_asian_width

from keras_tagging.ccg.auto import (
    Leaf,
    Node,
    bottom_up,
    check_header,
    from_object,
    line_of,
    parse_line,
    table,
    unescaped,
)
from keras_tagging.ccg.dependencies import Dependency, dependencies
from keras_tagging.utils.limits import DRAWN_CHARACTERS, DRAWN_WORDS

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
    if len(rows) * (width := starts[-1] + widths[-1]) > DRAWN_CHARACTERS:
        what = f"{len(rows):,} lines of {width:,} letters"
        raise ValueError(f"{what} are too many to draw: draw a part of them")
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
    count = sum(isinstance(node, Leaf) for node, _ in table(root))
    if count > DRAWN_WORDS:
        raise ValueError(f"{count:,} words are too many to draw: draw a part of them")
    boxes: dict[int, Box] = {}
    widths = [0] * count
    for i, node, below, number in bottom_up(root):
        if isinstance(node, Leaf):
            word = unescaped(node.word)
            boxes[i] = Box(node.category, "", 0, number, number, word)
            widths[number] = max(_columns(word), _columns(node.category))
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
    return [*reversed(boxes.values())], starts, widths


def _extent(box: Box, starts: list[int], widths: list[int]) -> tuple[int, int]:
    return starts[box.first], starts[box.last] + widths[box.last] - starts[box.first]


def _columns(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    wide = sum(east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(kind_of(letter) == "Mn" for letter in text)


class Derivation:
    r"""How the categories of words become that of the sentence.

    A value: it never changes. A derivation of a file keeps its text, and makes its
    nodes when they are asked for: those of a treebank would take ten times the memory.

    Args:
        root: its topmost node.
        header: the `ID=` line, without its end; "" for none.

    Raises:
        NotCCG: if the header is anything else.

    Example:
        >>> she = Leaf("NP", "PRP", "PRP", "She", "NP")
        >>> sleeps = Leaf(r"S[dcl]\NP", "VBZ", "VBZ", "sleeps", r"S[dcl]\NP")
        >>> derivation = Derivation(Node("S[dcl]", 1, (she, sleeps)))
        >>> print(derivation.draw())
        She   sleeps
        NP   S[dcl]\NP
        -------------<
            S[dcl]
        >>> derivation.dependencies()[0]
        Dependency(argument=1, head=2, category='S[dcl]\\NP', slot=1)
    """

    __slots__ = ("_leaves", "_line", "_notation", "_root", "_words", "header")

    def __init__(self, root: Node | Leaf, header: str = ""):
        check_header(header)
        self.header, self._root, self._line = header, root, None
        self._leaves = [node for node, _ in table(root) if isinstance(node, Leaf)]
        self._notation, self._words = None, len(self._leaves)

    @classmethod
    def from_auto(cls, text: str, categories: str | None = None) -> "Derivation":
        """Parse one derivation of a file, with or without its `ID=` line.

        Args:
            text: the lines.
            categories: "ccgbank" or "pmb" for categories in normal form.

        Raises:
            NotCCG: if it is none; the message says where, and the remedy.
        """
        *header, line = text.removesuffix("\n").split("\n")
        check_header("\n".join(header))
        _, leaves = parse_line(line, categories)
        return cls.of_line(line, "".join(header), categories, len(leaves))

    @classmethod
    def of_line(
        cls, line: str, header: str, categories: str | None, words: int
    ) -> "Derivation":
        """The derivation of a line in which `parse_line` has found so many words."""
        made = cls.__new__(cls)
        made.header, made._line, made._notation = header, line, categories
        made._words = words
        made._root = made._leaves = None
        return made

    @property
    def name(self) -> str:
        """The text after `ID=`, such as "wsj_0001.1"; "" without such a line."""
        return self.header[3:].split(" ")[0]

    @property
    def root(self) -> Node | Leaf:
        """Its topmost node."""
        return self._parsed()[0]

    @property
    def leaves(self) -> list[Leaf]:
        """Its leaves in the order of the sentence."""
        return self._parsed()[1]

    def _parsed(self) -> tuple[Node | Leaf, list[Leaf]]:
        """The topmost node and the leaves, from the line when they are first needed."""
        if self._root is None:
            self._root, self._leaves = parse_line(self._line, self._notation)
        return self._root, self._leaves

    @property
    def category(self) -> str:
        """The category of the whole."""
        return self.root.category

    def nodes(self) -> Iterator[Node]:
        """The inner nodes, each before its children."""
        return (node for node, _ in table(self.root) if isinstance(node, Node))

    def heads(self, by_category: bool = False) -> list[int]:
        """The number of each word's head, counted from 1; 0 for the root.

        The head child of a node passes its own head word up. The head words of the
        other children depend on that word.

        Args:
            by_category: the head child is the one that the categories say: the functor,
                but of a modifier its argument. By default it is as the file marks it.
        """
        head_of, words = [0] * len(self.leaves), {}
        for i, node, below, number in bottom_up(self.root):
            if isinstance(node, Leaf):
                words[i] = number + 1
                continue
            words[i] = words[below[node.head_by_category if by_category else node.head]]
            for child in below:
                if words[child] != words[i]:
                    head_of[words[child] - 1] = words[i]
        return head_of

    def dependencies(self) -> list[Dependency]:
        """The words that fill the arguments of each word: see `ccg.dependencies`."""
        return dependencies(self.root)

    def auto(self) -> str:
        """Its lines in an `.auto` file: those that were read, byte for byte.

        Raises:
            NotCCG: if a field of a derivation that was made is empty or has blanks.
        """
        as_it_stands = self._line is not None and self._notation is None
        line = self._line if as_it_stands else line_of(self.root)
        return f"{self.header}\n{line}\n" if self.header else f"{line}\n"

    def to_dict(self) -> dict[str, Any]:
        """An object for JSON: `header` and `nodes`.

        Each node stands before its children. An inner node has `category`, `rule`,
        `head` and `children`, their places in the list; a leaf has the fields of
        `Leaf`.
        """
        nodes = []
        for node, below in table(self.root):
            fields = node._asdict()
            if isinstance(node, Node):
                fields |= {"rule": node.rule, "children": below}
            nodes.append({k: v for k, v in fields.items() if v != ""})
        return {"header": self.header, "nodes": nodes}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Derivation":
        """The derivation of an object of `to_dict`.

        Raises:
            NotCCG: if the object is none.
        """
        return cls(*from_object(fields))

    def draw(self) -> str:
        """The usual drawing as text: words, categories, lines with combinators.

        Raises:
            ValueError: if it has more words than `limits.DRAWN_WORDS`, or the drawing
                more characters than `limits.DRAWN_CHARACTERS`.
        """
        return as_text(self.root)

    def html(self, style: bool = True) -> str:
        """The drawing as a table of HTML, whose text can be copied.

        Args:
            style: whether a `<style>` element stands before the table. Without it the
                page needs that of `ccg.derivation.STYLE`.
        """
        table = as_table(self.root)
        return f"<style>{STYLE}</style>{table}" if style else table

    def svg(self) -> str:
        """The drawing as a picture."""
        return as_svg(self.root)

    def _repr_html_(self) -> str | None:
        return self.html() if len(self) <= DRAWN_WORDS else None

    def __repr__(self) -> str:
        words = " ".join(leaf.word for leaf in self.leaves[:6])
        return f"<Derivation {self.category} of {words[:60]!r}>"

    def __len__(self) -> int:
        return self._words

    # by their text, since nodes may be nested deeper than Python can follow
    def __eq__(self, other) -> bool:
        return isinstance(other, Derivation) and self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def __reduce__(self):
        if self._line is not None:
            arguments = (self._line, self.header, self._notation, self._words)
            return Derivation.of_line, arguments
        return Derivation.from_auto, (self._text(),)

    def _text(self) -> str:
        return f"{self.header}\n{line_of(self.root)}".removeprefix("\n")
