r"""The nodes of derivations, and the lines that CCGbank's `.auto` files have for them.

`(<T category head count> nodes )` is an inner node, `(<L category modified-pos pos word
predicate>)` a leaf (Hockenmaier & Steedman 2007). Nothing here recurses: a
derivation may be as deep as it is long.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from keras_tagging.ccg.categories import ERRATA, NotCCG, as_read, category_of
from keras_tagging.ccg.combinators import (
    begins_conjunct,
    is_open,
    mark_of,
    plain,
    step_of,
)
from keras_tagging.utils.limits import INTEGER_DIGITS, SENTENCE_TOKENS, TREE_NODES

#: as the Penn Treebank and CCGbank write brackets
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-"}
BRACKETS |= {"{": "-LCB-", "}": "-RCB-"}
_NAMES = {name: bracket for bracket, name in BRACKETS.items()}
_NAMED = re.compile("|".join(_NAMES))
#: some readers end a line at any of these
_SPACE = re.compile(r"\s")
_TABLE = str.maketrans(BRACKETS)


def escaped(word: str) -> str:
    """A word as a field of a file; `unescaped` gives it back.

    Brackets have names, and a no-break space stands for a blank or any other white
    space; an empty word is `_`.

    Example:
        >>> escaped("f(x)"), unescaped("f-LRB-x-RRB-")
        ('f-LRB-x-RRB-', 'f(x)')
    """
    return _SPACE.sub("\u00a0", word).translate(_TABLE) or "_"


def unescaped(word: str) -> str:
    """The word as a text has it; a name of a bracket is that bracket."""
    if "-" in word:
        word = _NAMED.sub(lambda match: _NAMES[match[0]], word)
    return word.replace("\u00a0", " ")


def in_text(word: str) -> str:
    r"""The word of a treebank as a text has it: `unescaped`, without backslashes.

    The Penn Treebank and CCGbank have these before slashes and asterisks.

    Example:
        >>> in_text("-LRB-"), in_text(r"1\/2")
        ('(', '1/2')
    """
    return without_backslashes(unescaped(word))


def without_backslashes(word: str) -> str:
    """The word without those of the Penn Treebank, before a slash or an asterisk."""
    return word.replace("\\/", "/").replace("\\*", "*") if "\\" in word else word


#: the category of a root whose children are fragments: no derivation of the whole
FRAGMENTS = "FRAG"


class Leaf(NamedTuple):
    r"""A word of a derivation.

    Args:
        category: its lexical category, the supertag.
        pos: its part of speech, as CCGbank corrected it.
        original_pos: its part of speech in the Penn Treebank.
        word: the word; in CCGbank with brackets as `-LRB-` and slashes as `\/`. Parsers
            here write `escaped`, and drawings show `unescaped`.
        predicate: the category with the indices of predicate-argument structure.
        extras: what else stands there, such as PropBank's `{join.01:rel}`.
    """

    category: str
    pos: str
    original_pos: str
    word: str
    predicate: str
    extras: str = ""


class Node(NamedTuple):
    """An inner node of a derivation.

    Args:
        category: the category of its children together.
        head: the index of the head among the children, as the file marks it.
        children: one or two nodes or leaves; any number of fragments.
        extras: as those of a leaf.
    """

    category: str
    head: int
    children: "tuple[Node | Leaf, ...]"
    extras: str = ""

    @property
    def rule(self) -> str:
        """The mark of its combinator, as `combinators` lists them; "" for none.

        That of fragments is "fragment". Of two alike that become one more of them, "&"
        is a coordination, if one begins or ends with a conjunction; others, such as an
        apposition, have no combinator.
        """
        if self.category == FRAGMENTS:
            return "fragment"
        parts = self._parts()
        mark = mark_of(category_of(self.category), parts)
        if mark == "&" and not is_open(parts[1]) and plain(parts[0]) == plain(parts[1]):
            left, right = self.children
            joins = begins_conjunct(parts[0]) or _ends(right, 0) or _ends(left, -1)
            return mark if joins else ""
        return mark

    @property
    def head_by_category(self) -> int:
        """The index of the head among the children, as their categories say.

        Where they do not, because no combinator makes the node, it is as the file
        marks it.
        """
        whole, parts = category_of(self.category), self._parts()
        step = None
        if len(parts) == 2 and None not in (whole, *parts):
            step = step_of(*parts, whole)
        return step.head if step else self.head

    def _parts(self) -> tuple:
        return tuple(category_of(child.category) for child in self.children)


def _ends(node: Node | Leaf, side: int) -> bool:
    """Whether the first part of a node, 0, or the last one, -1, is a conjunction."""
    if isinstance(node, Leaf) or len(node.children) < 2:
        return False
    category = category_of(node.children[side].category)
    return category is not None and begins_conjunct(category)


def table(root: Node | Leaf) -> list[tuple[Node | Leaf, list[int]]]:
    """All nodes, each before its children, with the places of these in the list."""
    nodes: list[tuple[Node | Leaf, list[int]]] = []
    waiting = [(root, [])]
    while waiting:
        node, siblings = waiting.pop()
        siblings.append(len(nodes))
        places: list[int] = []
        nodes.append((node, places))
        if isinstance(node, Node):
            waiting += [(child, places) for child in reversed(node.children)]
    return nodes


def bottom_up(root: Node | Leaf) -> Iterator[tuple[int, Node | Leaf, list[int], int]]:
    """All nodes, children before their parents.

    Yields:
        The place of a node in `table`, the node, the places of its children, and of a
        leaf the number of its word, from 0.
    """
    nodes = table(root)
    word = sum(isinstance(node, Leaf) for node, _ in nodes)
    for i in reversed(range(len(nodes))):
        word -= isinstance(nodes[i][0], Leaf)
        yield i, *nodes[i], word


_BLANKS = "[ \t]+"
_FIELD = "([^ \t]+)"
_COUNT = f"([0-9]{{1,{INTEGER_DIGITS}}})"
# PropBank's {join.01:ARG0} and [ARG0,ARG1]. A possessive plus remembers no other way.
_EXTRAS = r"((?:[ \t]++[{\[][^ \t>]*+)*+)[ \t]*+"
_SPLITS = re.compile("[ \t\r\n]")
_TOKEN = re.compile(
    rf"\(<L{_BLANKS}{_BLANKS.join([_FIELD] * 4)}{_BLANKS}([^ \t>]+){_EXTRAS}>\)"
    rf"|\(<T{_BLANKS}{_FIELD}{_BLANKS}{_COUNT}{_BLANKS}{_COUNT}{_EXTRAS}>"
    r"|(\))"
    r"|(\(<L.*?>\)|[^ \t]+)"  # anything malformed
)


def parse_line(
    line: str, notation: str | None = None
) -> tuple[Node | Leaf, list[Leaf]]:
    """The root of a derivation, and its leaves in the order of the sentence.

    Args:
        line: the line of a file.
        notation: "ccgbank" or "pmb" for categories in normal form; with None they stay
            as they are, but for the errors of the published treebank.

    Raises:
        NotCCG: if it is none, or a category cannot be parsed.
    """
    if line.count("(<L ") > SENTENCE_TOKENS or line.count("(<") > TREE_NODES:
        what = f"a derivation has more than {SENTENCE_TOKENS:,} words or too many nodes"
        raise NotCCG(what, "split it where its sentences end")
    leaves: list[Leaf] = []
    outer: list[tuple] = []  # the headers of open nodes, and the siblings before them
    siblings: list[Node | Leaf] = []
    mended, new = ERRATA.get, tuple.__new__  # half the time of a NamedTuple's own
    # Stop at the first malformed token: the search for one goes through the whole line.
    for token in _TOKEN.finditer(line):
        tag, pos, original, word, predicate, extras, *rest = token.groups()
        if tag:
            tag = mended(tag, tag) if notation is None else as_read(tag, notation)
            leaf = new(Leaf, (tag, pos, original, word, predicate, extras))
            leaves.append(leaf)
            siblings.append(leaf)
            continue
        category, head, count, more, close, bad = rest
        if category:
            if notation is None:
                category = mended(category, category)
            else:
                category = as_read(category, notation)
            outer.append((category, int(head), int(count), more, siblings))
            siblings = []
        elif close and outer:
            category, head, count, more, before = outer.pop()
            if len(siblings) != count or head >= count:
                raise _miscounted(category, head, count, len(siblings))
            before.append(new(Node, (category, head, tuple(siblings), more)))
            siblings = before
        else:
            raise _unbalanced(bad or close)
    if outer or len(siblings) != 1:
        raise _unbalanced()
    return siblings[0], leaves


def line_of(root: Node | Leaf) -> str:
    """The line of a derivation, with one blank between its parts.

    Raises:
        NotCCG: if a field is empty or has a blank or the end of a line, or a node has
            no children.
    """
    parts: list[str] = []
    waiting: list[Node | Leaf | str] = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        fields = [node.category]
        if isinstance(node, Node):
            count = len(node.children)
            if not 0 <= node.head < count:
                raise _miscounted(node.category, node.head, count, count)
            fields += [str(node.head), str(count)]
            waiting += [")", *reversed(node.children)]
        else:
            fields = [*node[:-1]]
        for field in fields:
            if not field or _SPLITS.search(field) or ">" in fields[-1]:
                what = f"{field[:60]!r} cannot be a field of a derivation"
                raise NotCCG(what, "replace what is empty, its blanks and brackets")
        kind, end = ("T", ">") if isinstance(node, Node) else ("L", ">)")
        parts.append(f"(<{kind} {' '.join(fields)}{node.extras}{end}")
    return " ".join(parts)


def from_object(listing: object) -> tuple[Node | Leaf, str]:
    """The root and the header of an object that `Derivation.to_dict` makes.

    Raises:
        NotCCG: if the object is none.
    """
    try:
        listed, header = listing["nodes"], listing.get("header", "")
        if not isinstance(listed, list) or len(listed) > TREE_NODES:
            raise ValueError("too many nodes, or none")
        made: dict[int, Node | Leaf] = {}
        for i in reversed(range(len(listed))):
            fields = {k: v for k, v in listed[i].items() if k != "rule"}
            below = fields.pop("children", None)
            if below is None:
                made[i] = Leaf(**fields)
            else:  # each child of one parent, behind it
                children = tuple(made.pop(child) for child in below)
                made[i] = Node(children=children, **fields)
        [root] = made.values()
        check_header(header)
        root, _ = parse_line(line_of(root))  # each value is of its type
    except NotCCG:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"this is no object of a derivation ({str(error)[:80]})"
        raise NotCCG(what, "give one that Derivation.to_dict made") from None
    return root, header


def check_header(header: str) -> None:
    """Refuse what cannot be the line before a derivation.

    Raises:
        NotCCG: if it is neither empty nor one line that begins with `ID=`.
    """
    if header != "" and (not header.startswith("ID=") or "\n" in header):
        what = f"{header[:60]!r} cannot be the header of a derivation"
        raise NotCCG(what, "give one line that begins with ID=, or none")


def _unbalanced(stray: str = "") -> NotCCG:
    near = f" at {stray[:60]!r}" if stray else ""
    what = f"this is not a derivation, or its brackets do not balance{near}"
    leaf = "(<L category pos pos word category>)"
    return NotCCG(what, f"mend it: one line of nodes, each leaf {leaf}")


def _miscounted(category: str, head: int, count: int, actual: int) -> NotCCG:
    said = f"{count}, the head being number {head} from 0"
    what = f"a node {category[:40]!r} has {actual} children but says {said}"
    return NotCCG(what, "write (<T category head count> children )")
