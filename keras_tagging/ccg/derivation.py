"""The derivation of a sentence: read, written, drawn."""

from collections.abc import Iterator, Mapping

from keras_tagging.ccg import drawing
from keras_tagging.ccg.auto import (
    Leaf,
    Node,
    check_header,
    from_object,
    line_of,
    parse_line,
    table,
)
from keras_tagging.ccg.categories import NotCCG
from keras_tagging.ccg.dependencies import Dependency, dependencies
from keras_tagging.utils.limits import DRAWN_WORDS


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
        if len(header) > 1 or not all(h.startswith("ID=") for h in header):
            raise NotCCG("this is not one derivation", "give an ID= line and its line")
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
        head_of, nodes = [0] * len(self.leaves), table(self.root)
        words = [0] * len(nodes)
        position = len(head_of)
        for i in reversed(range(len(nodes))):
            node, below = nodes[i]
            if isinstance(node, Leaf):
                words[i] = position
                position -= 1
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

    def to_dict(self) -> dict:
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
    def from_dict(cls, fields: Mapping) -> "Derivation":
        """The derivation of an object of `to_dict`.

        Raises:
            NotCCG: if the object is none.
        """
        return cls(*from_object(fields))

    def draw(self) -> str:
        """The usual drawing as text: words, categories, lines with combinators.

        Raises:
            ValueError: if it has more words than `limits.DRAWN_WORDS`.
        """
        return drawing.as_text(self.root)

    def html(self, style: bool = True) -> str:
        """The drawing as a table of HTML, whose text can be copied.

        Args:
            style: whether a `<style>` element stands before the table. Without it the
                page needs that of `ccg.drawing.STYLE`.
        """
        table = drawing.as_table(self.root)
        return f"<style>{drawing.STYLE}</style>{table}" if style else table

    def svg(self) -> str:
        """The drawing as a picture."""
        return drawing.as_svg(self.root)

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
