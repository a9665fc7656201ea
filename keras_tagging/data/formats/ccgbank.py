"""CCGbank's derivations, `.auto` (Hockenmaier & Steedman 2007), and C&C's `pipe`.

In `.auto` an `ID=` line, then the derivation on one line: `(<T category head count>
nodes )` is an inner node, `(<L category modified-pos pos word predicate>)` a leaf.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from keras_tagging.ccg.auto import Leaf, parse_line
from keras_tagging.ccg.categories import CategoryError, NotCCG, as_read
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.words import in_text
from keras_tagging.data.records import (
    Line,
    Malformed,
    check_count,
    check_nodes,
    is_blank,
    parse_each,
    sentence_of,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence

#: how CCG categories are written in normal form
Notation = Literal["ccgbank", "pmb"]


def category_at(line: int, text: str, notation: Notation | None) -> str:
    """The category that a reader returns, in normal form.

    With `notation=None` it is the text as it stands, but for the errors of the
    published treebank.

    Raises:
        Malformed: if the text is not a category.
    """
    try:
        return as_read(text, notation)
    except CategoryError as error:
        raise Malformed(line, error.what, error.remedy) from None


def derivations(
    lines: Iterable[Line], *, categories: Notation | None = None
) -> Iterator[Derivation | Malformed]:
    """The derivations of a file. Lines beginning with `#` are ignored.

    Args:
        lines: numbered lines.
        categories: "ccgbank" or "pmb" for categories in normal form in this notation
            (`ccg.categories.normalise`); one that cannot be parsed is malformed. None
            leaves them as they are, but for the errors of the published treebank.
    """
    return parse_each(
        _records(lines), lambda record: derivation_of(record, categories)[0]
    )


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
    categories: Notation | None = None,
    sections: Collection[int] | None = None,
    unescape: bool = False,
) -> Iterator[Sentence | Malformed]:
    """The words of CCGbank's derivations: an `ID=` line, then a line of nodes.

    The tag is the category, and the column `pos` is the first of the two tags; the
    sentence's `derivation` is made of its text when it is asked for. Further
    `{...}` and `[...]` fields, such as PropBank's, are skipped, as are lines beginning
    with `#`.

    Args:
        categories: as in `derivations`.
        sections: those of the Wall Street Journal that are read, as the `ID=` lines
            name them; by default all sentences, with or without such a line.
        unescape: turn `-LRB-` into a bracket, and drop the backslash before a slash or
            an asterisk, as in raw text (`ccg.words.in_text`). The leaves of the
            derivation stay as they are.
    """

    if not all(isinstance(number, int) for number in sections or ()):
        raise ValueError(f"sections={sections!r}: give their numbers, such as [23]")

    def parse(record: list[Line]) -> Sentence | None:
        if sections is not None:
            place = place_of(record[0][1])
            if place is None or place[0] not in sections:
                return None
        derivation, leaves = derivation_of(record, categories)
        tags, pos, _, words, *_ = zip(*leaves, strict=True)
        words = [*map(in_text, words)] if unescape else words
        return sentence_of(words, tags, {"pos": pos}, derivation=derivation)

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


def derivation_of(
    record: list[Line], categories: Notation | None = None
) -> tuple[Derivation, list[Leaf]]:
    """The derivation of an `ID=` line, if there is one, and a line, and its leaves.

    Raises:
        Malformed: if it is none.
    """
    number, line = record[-1]
    if line.startswith("ID="):
        what = "no derivation follows this ID line"
        raise Malformed(number, what, "add the derivation, or remove the line")
    check_count(line.count("(<L "))
    check_nodes(line.count("(<"))
    try:
        _, leaves = parse_line(line, categories)
    except NotCCG as error:
        raise Malformed(number, error.what, error.remedy) from None
    header = record[0][1] if len(record) == 2 else ""
    return Derivation.of_line(line, header, categories, len(leaves)), leaves


def pipe(
    lines: Iterable[Line], *, categories: Notation | None = None
) -> Iterator[Sentence | Malformed]:
    """`word|pos|category` items separated by blanks, one sentence a line.

    Items are split from the right, so a word may contain bars. An empty line is an
    empty sentence. The comment with which files of the C&C tools begin, and the blank
    line after it, are skipped. Column: `pos`.

    Args:
        categories: "ccgbank" or "pmb" for CCG categories in normal form in this
            notation; one that cannot be parsed is malformed.
    """

    def parse(record: list[Line]) -> Sentence:
        [(number, line)] = record
        items = split_blanks(line)
        check_count(len(items))
        items = [item.rsplit("|", 2) for item in items]
        for position, item in enumerate(items, 1):
            if len(item) != 3 or not all(item):
                what = f"item {position}, {'|'.join(item)[:60]!r}, is not word|pos|tag"
                raise Malformed(number, what, "give all three, without blanks inside")
        words, pos, tags = zip(*items, strict=True) if items else ((), (), ())
        tags = [category_at(number, tag, categories) for tag in tags]
        return sentence_of(words, tags, {"pos": pos})

    return parse_each(([line] for line in _without_preface(lines)), parse)


def _without_preface(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines after C&C's preface: comments, and the blank line behind them."""
    has_preface = False
    lines = iter(lines)
    for number, line in lines:
        is_comment = isinstance(line, str) and line.startswith("#")
        if not is_comment or split_blanks(line)[0].count("|") > 1:
            if not (has_preface and is_blank(line)):
                yield number, line
            break
        has_preface = True
    yield from lines
