"""The formats with heads of words: CoNLL-U and CoNLL-X."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from keras_tagging.ccg.auto import escaped
from keras_tagging.data.formats.brackets import derivation_of
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.normalisation import shown, to_nfc
from keras_tagging.data.records import (
    Line,
    Malformed,
    blocks,
    parse_each,
    sent_id_of,
    sentence_of,
)
from keras_tagging.data.sentence import BLANK_LINE, Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.utils.limits import INTEGER_DIGITS

COLUMNS, MISC = 10, 9
_NO_WORD = re.compile(f"#|[0-9]{{1,{INTEGER_DIGITS}}}[-.][0-9]{{1,{INTEGER_DIGITS}}}\t")
_HEAD = re.compile(f"[0-9]{{1,{INTEGER_DIGITS}}}")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)

#: the columns of sentences
FIELDS = {"pos": UPOS, "xpos": XPOS, "feats": FEATS, "head": HEAD}
FIELDS |= {"deprel": DEPREL, "lemma": LEMMA}

#: CoNLL-X's names of these
_NAMES = {"cpostag": "upos", "postag": "xpos"}

#: the tags are the categories of the derivations in these comments
AUTO = "auto"
_AUTO = re.compile(f"# {AUTO} *= *(?=\\()")

# A word: the number of its line, and its cells.
Row = tuple[int, list[str]]


def conllu(
    lines: Iterable[Line],
    *,
    tag: Literal["upos", "xpos", "deprel", "feats", "lemma", "auto"] | None = "upos",
    trees: bool = False,
    surface: bool = False,
) -> Iterator[Sentence | Malformed]:
    """CoNLL-U with gold tokenisation.

    The tokens are the syntactic words, without multiword-token lines (`3-4`) and empty
    nodes (`3.1`). Columns: `pos` (UPOS), `xpos`, `feats`, `head`, `deprel`, `lemma`.

    Args:
        tag: the field with the tags: "upos", "xpos", "deprel", "feats" or "lemma"; None
            for no tags. A sentence in which the field is always `_` has no tags. "auto"
            gives each sentence the CCG derivation of its comment `# auto =`, as
            `annotate` writes it, whose categories are the tags.
        trees: whether every sentence must be a tree with one root and named relations.
        surface: whether sentences have their `surface`: the text of the comment
            `# text`, or else by SpaceAfter and SpacesAfter, with multiword tokens. All
            sentences of a file are one text; before `# newpar` and `# newdoc` is a
            blank line.
    """
    parse = _parser("CoNLL-U", tag, trees)
    if not surface:
        return parse_each(blocks(lines), parse)

    def parse_tokens(block: list[Line]) -> tuple | None:
        sentence = parse(block)
        return sentence and (sentence, [line for _, line in block], tokens_of(block))

    return with_surfaces(parse_each(blocks(lines), parse_tokens))


def conllx(
    lines: Iterable[Line],
    *,
    tag: Literal["cpostag", "postag", "deprel", "feats", "lemma"] | None = "cpostag",
    trees: bool = False,
) -> Iterator[Sentence | Malformed]:
    """CoNLL-X, the format of Buchholz & Marsi (2006).

    It is CoNLL-U without comments, multiword tokens and empty nodes. Its last two
    columns, PHEAD and PDEPREL, are ignored. Columns: `pos` (CPOSTAG), `xpos` (POSTAG),
    `feats`, `head`, `deprel`, `lemma`.

    Args:
        tag: the field with the tags: "cpostag", "postag", "deprel", "feats" or "lemma";
            None for no tags. A sentence in which the field is always `_` has no tags.
        trees: whether every sentence must be a tree with one root and named relations.
    """
    return parse_each(blocks(lines), _parser("CoNLL-X", tag, trees))


def tag_column(format: str, tag: str | None = None) -> str | None:
    """The column of sentences that the tags read from a file are; None for others.

    Args:
        format: the format of the file.
        tag: its option `tag`; None for the default.
    """
    if format == "conllu":
        return None if tag == AUTO else tag or "upos"
    return _NAMES.get(tag or "cpostag", tag) if format == "conllx" else None


def _parser(format: str, tag: str | None, trees: bool):
    """The function from the lines of a sentence to the sentence, or None."""
    field = FIELDS.get(field_of(_NAMES.get(tag, tag)))

    def parse(block: list[Line]) -> Sentence | None:
        rows = word_rows(block, format)
        if not rows:
            return None
        _check_heads(rows)
        if trees:
            _check_tree(rows)
        sent_id = sent_id_of(line for _, line in block)
        sentence = sentence_of_rows(rows, field, sent_id)
        return _derived(sentence, block) if tag == AUTO else sentence

    return parse


def _key(word: str) -> str:
    """The same for a word of a row and of a derivation."""
    return escaped(to_nfc(word))


def _derived(sentence: Sentence, block: list[Line]) -> Sentence:
    """The sentence with the derivation of its comment."""
    comments = [(number, line) for number, line in block if _AUTO.match(line)]
    if len(comments) != 1:
        count = len(comments) or "no"
        what = f"the sentence has {count} comments `# {AUTO} = (<...`"
        raise Malformed(block[0][0], what, "give it one, or read other tags, tag=upos")
    [(number, line)] = comments
    derivation, leaves = derivation_of([(number, _AUTO.sub("", line))])
    tags, _, _, words, *_ = zip(*leaves, strict=True)
    if [*map(_key, words)] != [*map(_key, sentence.tokens)]:
        what = f"the derivation has other words than the rows: {' '.join(words)[:60]!r}"
        raise Malformed(number, what, "write that of these words, or leave it out")
    return replace(sentence, tags=list(tags), derivation=derivation)


def is_no_word(line: str) -> bool:
    """Whether the line is a comment, a multiword token or an empty node."""
    return _NO_WORD.match(line) is not None


def word_rows(
    block: Iterable[Line], name: str = "CoNLL-U", *, needs_trees: bool = True
) -> list[Row]:
    """The words of a sentence.

    Args:
        block: the lines of the sentence.
        name: the format, "CoNLL-U" or "CoNLL-X"; the latter has words only.
        needs_trees: False if HEAD and DEPREL may be empty.

    Raises:
        Malformed: if a row does not have ten fields, or has the wrong number.
    """
    rows: list[Row] = []
    for number, line in block:
        cells = line.split("\t", COLUMNS)
        is_next = cells[ID] == str(len(rows) + 1)
        if is_next and len(cells) == COLUMNS and "" not in cells:
            rows.append((number, cells))
            continue
        if not line.startswith("#") and len(cells) != COLUMNS:
            count = line.count("\t") + 1
            what = f"{count} tab-separated columns where {name} has {COLUMNS}"
            raise Malformed(number, what, "put `_` where a field is empty")
        if is_no_word(line):
            if name == "CoNLL-X":
                what = f"{name} has no comments, multiword tokens or empty nodes"
                raise Malformed(number, what, "leave them out, or pass format='conllu'")
            continue
        if not is_next:
            what = f"the word's number is {shown(cells[ID])}, not {len(rows) + 1}"
            raise Malformed(number, what, "number the words 1, 2, 3, ...")
        for column, cell in enumerate(cells):
            if not cell and (needs_trees or column not in (HEAD, DEPREL)):
                what = f"column {column + 1} is empty"
                raise Malformed(number, what, "put `_` where a field is empty")
        rows.append((number, cells))
    return rows


def sentence_of_rows(
    rows: list[Row], tag: int | None = UPOS, sent_id: str | None = None
) -> Sentence:
    """Make a sentence of one or more rows, with the tags of the column `tag`."""
    columns = list(zip(*(cells for _, cells in rows), strict=True))
    tags = None if tag is None else columns[tag]
    if tags and tag != FEATS and set(tags) == {"_"}:
        tags = None
    named = {name: columns[index] for name, index in FIELDS.items()}
    return sentence_of(columns[FORM], tags, named, sent_id)


def _check_heads(rows: list[Row]) -> None:
    if {cells[HEAD] for _, cells in rows} <= set(map(str, range(len(rows) + 1))):
        return
    for number, cells in rows:
        head = cells[HEAD]
        is_number = _HEAD.fullmatch(head)
        if head != "_" and not (is_number and int(head) <= len(rows)):
            what = f"the head is {head[:40]!r} in a sentence of {len(rows)} words"
            raise Malformed(number, what, "give a word's number, or 0")


def _check_tree(rows: list[Row]) -> None:
    from keras_tagging.data.trees import NotATree, check_tree  # which imports NumPy

    for number, cells in rows:
        if "_" in (cells[HEAD], cells[DEPREL]):
            what = f"word {cells[ID]} {cells[FORM][:40]!r} has no head or no relation"
            raise Malformed(number, what, "give both; the root has the head 0")
    try:
        check_tree([cells[HEAD] for _, cells in rows])
    except NotATree as error:
        line = rows[error.word - 1][0]
        raise Malformed(line, str(error), "mend it, or pass errors='skip'") from None


# Surfaces

_TEXT = re.compile(r"#\s*text\s*=\s?(.*)", re.DOTALL)
_NEW = re.compile(r"#\s*new(?:par|doc)\b")
_RANGE = re.compile(f"([0-9]{{1,{INTEGER_DIGITS}}})-([0-9]{{1,{INTEGER_DIGITS}}})")
_ESCAPED = re.compile(r"\\(u[0-9a-f]{4}|.)", re.DOTALL)
# at which too `str.splitlines` ends a line, and so do many readers
_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# blanks of Unicode, which UD's validator does not want in MISC
_SPACES = "\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
AS_BLANKS = str.maketrans(dict.fromkeys(_SEPARATORS, " "))
# https://universaldependencies.org/misc.html: the values of SpacesAfter
ESCAPES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
ESCAPES |= {f"u{ord(letter):04x}": letter for letter in f"{_SEPARATORS}{_SPACES}"}

# A token of the text: its form, the number of its words, and its attributes in MISC.
Token = tuple[str, int, dict[str, str]]


def with_surfaces(
    items: Iterable[Malformed | tuple[Sentence, list[str], list[Token]]],
) -> Iterator[Sentence | Malformed]:
    """The sentences of a file, which is one text, with their surfaces.

    A sentence is held back until the next one, which says what stands before it.

    Args:
        items: sentences, each with its lines and their `tokens_of`.
    """
    held = None
    for item in items:
        if isinstance(item, Malformed):
            yield item
            continue
        sentence, lines, tokens = item
        surface = surface_of_text(lines, tokens) or surface_of_spaces(tokens)
        before = decoded(tokens[0][2].get("SpacesBefore", ""))
        start = len(before)
        if held is not None:
            after = held.surface.after
            if any(map(_NEW.match, lines)) and not (after and after.strip(" ")):
                after = BLANK_LINE
            after = (" " if after is None else after) + before
            yield replace(held, surface=replace(held.surface, after=after))
            start = held.surface.start + len(held.surface.text) + len(after)
        surface = replace(surface, start=start, after=space_after(tokens[-1][2], None))
        held = replace(sentence, surface=surface)
    if held is not None:  # it may not be known what follows it
        yield held


def tokens_of(block: Iterable[Line]) -> list[Token]:
    """The tokens of a sentence: multiword tokens, and all words outside of these.

    Args:
        block: the lines of a sentence of CoNLL-U, whose words are sound.

    Raises:
        Malformed: if a multiword token has no form, or not words that follow.
    """
    tokens: list[Token] = []
    word = last = begun = 0
    for number, line in block:
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if span := _RANGE.fullmatch(cells[0]):
            first, end = map(int, span.groups())
            if first != word + 1 or end < first or word < last or not cells[FORM]:
                what = f"the multiword token {shown(cells[0])} follows word {word}"
                raise Malformed(number, what, "give it a form, before its first word")
            last, begun = end, number
            tokens.append((cells[FORM], end - first + 1, attributes(cells[MISC])))
        elif cells[0].isdecimal():
            word += 1
            if word > last:
                tokens.append((cells[FORM], 1, attributes(cells[MISC])))
    if word < last:
        what = f"the multiword token that ends with word {last} has words up to {word}"
        raise Malformed(begun, what, "give it all its words")
    return tokens


def attributes(misc: str) -> dict[str, str]:
    """The attributes in the column MISC."""
    pairs = (pair.partition("=") for pair in misc.split("|"))
    return {name: value for name, equals, value in pairs if equals}


def decoded(value: str) -> str:
    """The white space that a value of SpacesAfter or SpacesBefore stands for."""
    text = _ESCAPED.sub(lambda escape: ESCAPES.get(escape[1], escape[0]), value)
    return text if text.isspace() else ""


def space_after(misc: dict[str, str], default: str | None = " ") -> str | None:
    """The text behind a token, by its attributes.

    Args:
        misc: the attributes.
        default: what stands there if they do not say.
    """
    if spaces := decoded(misc.get("SpacesAfter", "")):
        return spaces
    is_none = misc.get("SpaceAfter") == "No" or misc.get("SpacesAfter") == ""
    return "" if is_none else default


def surface_of_text(lines: Iterable[str], tokens: Sequence[Token]) -> Surface | None:
    """The surface by the comment `# text`; None if there is none that has the tokens.

    Between the tokens the comment may have white space, and nothing else.
    """
    comment = next(filter(None, map(_TEXT.match, lines)), None)
    if comment is None:
        return None
    text, end, spans = comment[1].strip(), 0, []
    for form, _, _ in tokens:
        begin = end
        while text[begin : begin + 1].isspace():
            begin += 1
        if not text.startswith(form, begin):
            return None
        end = begin + len(form)
        spans.append((begin, end))
    if end < len(text):
        return None
    return Surface(text, spans, [words for _, words, _ in tokens])


def surface_of_spaces(tokens: Sequence[Token]) -> Surface:
    """The surface by SpaceAfter, SpacesAfter and SpacesBefore."""
    parts, spans, end = [], [], 0
    for number, (form, _, misc) in enumerate(tokens):
        if number:
            space = space_after(tokens[number - 1][2])
            space += decoded(misc.get("SpacesBefore", ""))
            parts.append(space)
            end += len(space)
        spans.append((end, end + len(form)))
        parts.append(form)
        end += len(form)
    return Surface("".join(parts), spans, [words for _, words, _ in tokens])
