"""Bracketed trees and words with tags, of the Penn Treebank and of CCGbank.

The Penn Treebank has trees, `.mrg`, and tagged text, `.pos`. CCGbank (Hockenmaier &
Steedman 2007) has derivations, `.auto`: an `ID=` line, then the derivation on one line,
in which `(<T category head count> nodes )` is an inner node, and `(<L category
modified-pos pos word predicate>)` a leaf. The C&C tools write `word|pos|tag`, `pipe`.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from keras_tagging.ccg.auto import (
    BRACKETS,
    Leaf,
    in_text,
    parse_line,
    without_backslashes,
)
from keras_tagging.ccg.categories import CategoryError, NotCCG, as_read
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.data.records import (
    Line,
    Malformed,
    Record,
    check_count,
    check_nodes,
    each_part,
    is_blank,
    parse_each,
    sentence_of,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence

TRACE = "-NONE-"
ESCAPES = {name: bracket for bracket, name in BRACKETS.items()}


def unescaped(word: str) -> str:
    r"""The word as a text has it.

    Example:
        >>> [unescaped(word) for word in ("-LRB-", r"1\/2", r"\*", "cat")]
        ['(', '1/2', '*', 'cat']
    """
    return ESCAPES[word] if word in ESCAPES else without_backslashes(word)


def mrg(
    lines: Iterable[Line], *, unescape: bool = True, all_tags: bool = False
) -> Iterator[Sentence | Malformed]:
    """The words of the Penn Treebank's bracketed trees, tagged with parts of speech.

    Traces are left out.

    Args:
        unescape: turn `-LRB-` into a bracket, and drop the backslash before a slash or
            an asterisk.
        all_tags: keep all tags of a word, as in `VBG|NN`, instead of the first alone.
    """

    def parse(record: list[Line]) -> Sentence:
        kept = [(word, tag) for word, tag in _leaves(record) if tag != TRACE]
        return _sentence(kept, unescape, all_tags)

    return parse_each(_records(lines), parse)


# The beginning of a tree, not of a later line of one: "( (S", "((S", "(ROOT", "(TOP".
_BEGINNING = re.compile(r"\([ \t]*\(|\((ROOT|TOP|S1)\b")
_TOKEN = re.compile(r"[()]|[^() \t]+")


def _records(lines: Iterable[Line]) -> Iterator[list[Line]]:
    record, depth = Record(), 0
    for number, line in lines:
        if not record and is_blank(line):
            continue
        is_text = isinstance(line, str)
        if record and is_text and _BEGINNING.match(line):
            yield record  # its brackets do not balance
            record, depth = Record(), 0
        record.add(number, line)
        if is_text:
            depth += line.count("(") - line.count(")")
        if depth <= 0:
            yield record
            record, depth = Record(), 0
    if record:
        yield record


def _leaves(record: list[Line]) -> list[tuple[str, str]]:
    """The words of a tree in their order, each with its tag, traces included."""
    check_nodes(sum(line.count("(") for _, line in record))
    # each open bracket: its label, the number of its children, its word
    outer: list[list] = [[None, 0, ""]]
    leaves = []
    for number, line in record:
        for token in _TOKEN.findall(line):
            label, children, word = outer[-1]
            is_outside = len(outer) == 1
            if token == "(" and not word:
                outer.append([None, 0, ""])
            elif token == ")" and not is_outside and (children or word):
                outer.pop()
                outer[-1][1] += 1
                if word:
                    leaves.append((word, label))
            elif token in "()" or is_outside or children or word:
                what = f"no tree goes on with {token[:40]!r} here"
                raise Malformed(number, what, "write (TAG word), and balance brackets")
            else:
                outer[-1][0 if label is None else 2] = token
    if len(outer) > 1 or outer[0][1] > 1:
        what = "the tree that begins here is not closed, or shares its line"
        raise Malformed(record[0][0], what, "balance them, each tree on its own line")
    return leaves


def pos(
    lines: Iterable[Line], *, unescape: bool = True, all_tags: bool = False
) -> Iterator[Sentence | Malformed]:
    r"""The Penn Treebank's tagged text: `word/TAG` items separated by blanks.

    A slash inside a word is written `\/`, noun phrases are enclosed in `[` and `]`, and
    lines that begin with `*x*` describe the file.

    A line of `=` ends a sentence. It is the only mark, because blank lines occur inside
    sentences too. So a sentence also ends after the tag `.`, and any closing quotes and
    brackets, unless the next word begins with a lower-case letter. In the public sample
    of 3914 sentences, this rule finds 96% of the sentences that `.mrg` has.

    Args:
        unescape, all_tags: as in `mrg`.
    """

    def records() -> Iterator[list[Line]]:
        """Sentences as numbered items, so that a message can name the line."""
        record = Record()
        ended = is_open = False
        for number, line in lines:
            is_text = isinstance(line, str)
            if is_text and line.startswith("*x*"):
                continue
            is_rule = is_text and re.fullmatch(r"={5,}[ \t]*", line)
            items = each_part(line) if is_text else [line]
            for item in () if is_rule else items:
                if not isinstance(item, str):
                    record.add(number, item)
                    continue
                tag = item[item.rfind("/") + 1 :]
                closes = tag in CLOSING or item == "]"
                goes_on = closes or is_open or tag == "." or item[0].islower()
                if ended and not goes_on:
                    yield record
                    record = Record()
                is_open = item == "[" or (is_open and item != "]")
                ended = tag == "." or (ended and closes)
                record.add(number, item)
            if is_rule and record:
                yield record
                record, ended, is_open = Record(), False, False
        if record:
            yield record

    def parse(record: list[Line]) -> Sentence:
        words, is_open = [], False
        for number, item in [*record, (record[-1][0], "")]:
            if item in ("[", "]", ""):
                if is_open == (item != "]"):
                    what = f"{item or 'the end'} does not match the bracket before it"
                    raise Malformed(number, what, "write noun phrases as [ a/DT b/NN ]")
                is_open = item == "["
                continue
            word, _, tag = item.rpartition("/")
            if not word or not tag or word.endswith("\\"):
                what = f"{item[:60]!r} is not word/TAG"
                raise Malformed(number, what, r"give both; write a slash as \/")
            words.append((word, tag))
        return _sentence(words, unescape, all_tags)

    return parse_each(records(), parse)


CLOSING = ("''", ")", "-RRB-")  # tags that may follow the end of a sentence


def _sentence(words: list[tuple[str, str]], unescape: bool, all_tags: bool) -> Sentence:
    if not all_tags:
        words = [(w, t.split("|", 1)[0] or t) if "|" in t else (w, t) for w, t in words]
    tokens = [unescaped(word) if unescape else word for word, _ in words]
    return sentence_of(tokens, [tag for _, tag in words])


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
        categories: "ccgbank" or "pmb" for categories in normal form in this notation
            (`ccg.categories.normalise`); one that cannot be parsed is malformed. None
            leaves them as they are, but for the errors of the published treebank.
        sections: those of the Wall Street Journal that are read, as the `ID=` lines
            name them; by default all sentences, with or without such a line.
        unescape: turn `-LRB-` into a bracket, and drop the backslash before a slash or
            an asterisk, as in raw text (`ccg.auto.in_text`). The leaves of the
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

    return parse_each(_derivations(lines), parse)


def _derivations(lines: Iterable[Line]) -> Iterator[list[Line]]:
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
