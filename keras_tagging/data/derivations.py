r"""CCGbank's derivations, as its `.auto` files hold them (Hockenmaier & Steedman 2007).

An `ID=` line, then the derivation on one line: `(<T category head count> nodes )` is an
inner node, `(<L category modified-pos pos word predicate>)` a leaf.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from keras_tagging.data.categories import category_at
from keras_tagging.data.records import (
    Line,
    Malformed,
    check_count,
    check_nodes,
    is_blank,
    parse_each,
    sentence_of,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.limits import INTEGER_DIGITS


class Leaf(NamedTuple):
    r"""A word of a derivation.

    Args:
        category: its lexical category, the supertag.
        pos: its part of speech, as CCGbank corrected it.
        original_pos: its part of speech in the Penn Treebank.
        word: the word, with brackets as `-LRB-` and slashes as `\/`.
        predicate: the category with the indices of predicate-argument structure.
    """

    category: str
    pos: str
    original_pos: str
    word: str
    predicate: str


class Node(NamedTuple):
    """An inner node of a derivation.

    Args:
        category: the category of its children together.
        head: the index of the head among the children.
        children: one or two nodes or leaves.
    """

    category: str
    head: int
    children: "tuple[Node | Leaf, ...]"


class Derivation(NamedTuple):
    """The derivation of a sentence.

    Args:
        name: the text after `ID=`, such as "wsj_0001.1"; "" without such a line.
        root: its topmost node.
        leaves: its leaves in the order of the sentence.
    """

    name: str
    root: Node | Leaf
    leaves: list[Leaf]

    def nodes(self) -> Iterator[Node]:
        """The inner nodes, each before its children."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Node):
                yield node
                waiting += reversed(node.children)

    def heads(self) -> list[int]:
        """The number of each word's head, counted from 1; 0 for the root.

        The head child of a node passes its own head word up. The head words of the
        other children depend on that word.
        """
        head_of = [0] * len(self.leaves)
        words: list[int] = []  # the head words of nodes that are done
        waiting: list[Node | Leaf | tuple[Node]] = [self.root]
        position = 0
        while waiting:
            node = waiting.pop()
            if isinstance(node, Leaf):
                position += 1
                words.append(position)
            elif isinstance(node, Node):
                waiting.append((node,))  # once more, after its children
                waiting += reversed(node.children)
            else:
                count, head = len(node[0].children), node[0].head
                below = words[-count:]
                del words[-count:]
                for word in below:
                    if word != below[head]:
                        head_of[word - 1] = below[head]
                words.append(below[head])
        return head_of


_BLANKS = "[ \t]+"
_FIELD = "([^ \t]+)"
_COUNT = f"([0-9]{{1,{INTEGER_DIGITS}}})"
# PropBank's {join.01:ARG0} and [ARG0,ARG1]. A possessive plus remembers no other way.
_EXTRAS = r"(?:[ \t]++[{\[][^ \t>]*+)*+[ \t]*+"
_TOKEN = re.compile(
    rf"\(<L{_BLANKS}{_BLANKS.join([_FIELD] * 4)}{_BLANKS}([^ \t>]+){_EXTRAS}>\)"
    rf"|\(<T{_BLANKS}{_FIELD}{_BLANKS}{_COUNT}{_BLANKS}{_COUNT}{_EXTRAS}>"
    r"|(\))"
    r"|(\(<L.*?>\)|[^ \t]+)"  # anything malformed
)


def derivations(
    lines: Iterable[Line], *, categories: str | None = None
) -> Iterator[Derivation | Malformed]:
    """The derivations of a file. Lines beginning with `#` are ignored.

    Args:
        lines: numbered lines.
        categories: "ccgbank" or "pmb" for categories in normal form in this notation
            (`categories.normalise`); one that cannot be parsed is malformed. None
            leaves them as they are, but for the errors of the published treebank.
    """

    return parse_each(_records(lines), lambda record: _derivation(record, categories))


# wsj_0203.14: section, document, sentence
_ID = re.compile(r"ID=wsj_([0-9]{2})([0-9]{2})\.([0-9]{1,6})(?![^ \t])", re.I)


def place_of(line: str) -> tuple[int, int, int] | None:
    """The section, document and sentence of the Wall Street Journal in an `ID=` line.

    Example:
        >>> place_of("ID=wsj_0203.14 PARSER=GOLD NUMPARSE=1")
        (2, 3, 14)
        >>> place_of("ID=brown_cf01.1")
    """
    match = _ID.match(line)
    return tuple(map(int, match.groups())) if match else None


def auto(
    lines: Iterable[Line],
    *,
    categories: str | None = None,
    sections: Collection[int] | None = None,
) -> Iterator[Sentence | Malformed]:
    """The words of CCGbank's derivations: an `ID=` line, then a line of nodes.

    The tag is the category, and the column `pos` is the first of the two tags. Further
    `{...}` and `[...]` fields, such as PropBank's, are skipped, as are lines beginning
    with `#`.

    Args:
        categories: as in `derivations`.
        sections: those of the Wall Street Journal that are read, as the `ID=` lines
            name them; by default all sentences, with or without such a line.
    """

    def parse(record: list[Line]) -> Sentence | None:
        if sections is not None:
            place = place_of(record[0][1])
            if place is None or place[0] not in sections:
                return None
        leaves = _derivation(record, categories).leaves
        tags, pos, _, words, _ = zip(*leaves, strict=True)
        return sentence_of(words, tags, {"pos": pos})

    return parse_each(_records(lines), parse)


def _records(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """An `ID=` line, if there is one, and the line of the derivation."""
    header = []
    for number, line in lines:
        if is_blank(line) or (isinstance(line, str) and line.startswith("#")):
            continue
        is_header = isinstance(line, str) and line.startswith("ID=")
        if header and is_header:
            yield header
        if not is_header:
            yield [*header, (number, line)]
        header = [(number, line)] if is_header else []
    if header:
        yield header


def _derivation(record: list[Line], categories: str | None) -> Derivation:
    number, line = record[-1]
    if line.startswith("ID="):
        what = "no derivation follows this ID line"
        raise Malformed(number, what, "add the derivation, or remove the line")
    root, leaves = _tree(number, line, categories)
    name = record[0][1][3:].split(" ")[0] if len(record) == 2 else ""
    return Derivation(name, root, leaves)


def _tree(number: int, line: str, notation: str | None):
    """The root and the leaves of the derivation on the line."""
    leaves: list[Leaf] = []
    outer: list[tuple] = []  # the headers of open nodes, and the siblings before them
    siblings: list[Node | Leaf] = []
    check_count(line.count("(<L "))
    check_nodes(line.count("(<"))
    # Stop at the first malformed token: the search for one goes through the whole line.
    for token in _TOKEN.finditer(line):
        tag, pos, original, word, predicate, *rest = token.groups()
        category, head, count, close, bad = rest
        if tag:
            tag = category_at(number, tag, notation)
            leaf = Leaf(tag, pos, original, word, predicate)
            leaves.append(leaf)
            siblings.append(leaf)
        elif category:
            category = category_at(number, category, notation)
            outer.append((category, int(head), int(count), siblings))
            siblings = []
        elif close and outer:
            category, head, count, before = outer.pop()
            if len(siblings) != count or head >= count:
                raise _miscounted(number, category, head, count, len(siblings))
            before.append(Node(category, head, tuple(siblings)))
            siblings = before
        elif bad and bad.startswith("(<L") and bad.endswith(">)"):
            shown = bad.removeprefix("(<L").removesuffix(">)").strip(" \t")[:60]
            what = f"leaf {len(leaves) + 1}, {shown!r}, is malformed"
            remedy = "write five fields, (<L category pos pos word category>)"
            raise Malformed(number, what, remedy)
        else:
            raise _unbalanced(number, bad or close)
    if outer or len(siblings) != 1:
        raise _unbalanced(number)
    return siblings[0], leaves


def _unbalanced(number: int, stray: str = "") -> Malformed:
    near = f" at {stray[:40]!r}" if stray else ""
    what = f"this is not a derivation, or its brackets do not balance{near}"
    return Malformed(number, what, "mend it: a derivation is one line of nodes")


def _miscounted(number: int, category: str, head: int, count: int, actual: int):
    said = f"{count}, the head being number {head} from 0"
    what = f"a node {category[:40]!r} has {actual} children but says {said}"
    return Malformed(number, what, "write (<T category head count> children )")
