"""The formats with heads of words: CoNLL-U and CoNLL-X."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from keras_tagging.ccg.words import escaped
from keras_tagging.data.formats.ccgbank import derivation_of
from keras_tagging.data.normalisation import shown, to_nfc
from keras_tagging.data.records import (
    Line,
    Malformed,
    blocks,
    parse_each,
    sent_id_of,
    sentence_of,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surfaces import SurfaceReader
from keras_tagging.utils.limits import INTEGER_DIGITS

COLUMNS = 10
_NO_WORD = re.compile(f"#|[0-9]{{1,{INTEGER_DIGITS}}}[-.][0-9]{{1,{INTEGER_DIGITS}}}\t")
_HEAD = re.compile(f"[0-9]{{1,{INTEGER_DIGITS}}}")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL = range(8)

#: the columns of sentences
FIELDS = {
    "pos": UPOS,
    "xpos": XPOS,
    "feats": FEATS,
    "head": HEAD,
    "deprel": DEPREL,
    "lemma": LEMMA,
}

#: the tags are the categories of the derivations in these comments
AUTO = "auto"
_AUTO = re.compile(f"# {AUTO} *= *(?=\\()")

# A word: the number of its line, and its cells.
Row = tuple[int, list[str]]


def conllu(
    lines: Iterable[Line],
    *,
    tag: str | None = "upos",
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
    fields = {"lemma": LEMMA, "upos": UPOS, "xpos": XPOS, AUTO: None}
    if surface:
        return _with_surfaces(lines, fields, tag, trees)
    return _sentences(lines, "CoNLL-U", fields, tag, trees)


def conllx(
    lines: Iterable[Line], *, tag: str | None = "cpostag", trees: bool = False
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
    fields = {"lemma": LEMMA, "cpostag": UPOS, "postag": XPOS}
    return _sentences(lines, "CoNLL-X", fields, tag, trees)


def tag_column(format: str, tag: str | None = None) -> str | None:
    """The column of sentences that the tags read from a file are; None for others.

    Args:
        format: the format of the file.
        tag: its option `tag`; None for the default.
    """
    if format == "conllu":
        return None if tag == AUTO else tag or "upos"
    names = {None: "upos", "cpostag": "upos", "postag": "xpos"}
    return names.get(tag, tag) if format == "conllx" else None


def _sentences(lines, name, fields, tag, trees):
    return parse_each(blocks(lines), _parser(name, fields, tag, trees))


def _parser(name, fields, tag, trees):
    """The function from the lines of a sentence to the sentence, or None."""
    fields = {**fields, "feats": FEATS, "deprel": DEPREL}
    if tag is not None and tag not in fields:
        raise Malformed(1, f"no field {tag!r}", f"tag= is one of {', '.join(fields)}")

    def parse(block: list[Line]) -> Sentence | None:
        rows = word_rows(block, name)
        if not rows:
            return None
        _check_heads(rows, trees)
        if trees:
            _check_tree(rows)
        sent_id = sent_id_of(line for _, line in block)
        found = sentence_of_rows(rows, fields[tag] if tag else None, sent_id)
        return _derived(found, block) if tag == AUTO else found

    return parse


def _key(word: str) -> str:
    """The same for a word of a row and of a derivation."""
    return escaped(to_nfc(word))


def _derived(sentence: Sentence, block: list[Line]) -> Sentence:
    """The sentence with the derivation of its comment."""
    own = [(n, line) for n, line in block if _AUTO.match(line)]
    if len(own) != 1:
        what = f"the sentence has {len(own) or 'no'} comments `# {AUTO} = (<...`"
        raise Malformed(block[0][0], what, "give it one, or read other tags, tag=upos")
    [(number, line)] = own
    found, leaves = derivation_of([(number, _AUTO.sub("", line))])
    tags, _, _, words, *_ = zip(*leaves, strict=True)
    if [*map(_key, words)] != [*map(_key, sentence.tokens)]:
        what = f"the derivation has other words than the rows: {' '.join(words)[:60]!r}"
        raise Malformed(number, what, "write that of these words, or leave it out")
    return replace(sentence, tags=list(tags), derivation=found)


def _with_surfaces(lines, fields, tag, trees):
    """The sentences with their surfaces, each when the next one is known."""
    parse, reader = _parser("CoNLL-U", fields, tag, trees), SurfaceReader()

    def parse_next(block: list[Line]) -> Sentence | None:
        sentence = parse(block)
        return None if sentence is None else reader.add(sentence, block)

    yield from parse_each(blocks(lines), parse_next)
    yield from reader.end()


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


def _check_heads(rows: list[Row], trees: bool) -> None:
    if {cells[HEAD] for _, cells in rows} <= set(map(str, range(len(rows) + 1))):
        return
    for number, cells in rows:
        head = cells[HEAD]
        is_number = _HEAD.fullmatch(head)
        if head != "_" and not (is_number and int(head) <= len(rows)):
            what = f"the head is {head[:40]!r} in a sentence of {len(rows)} words"
            remedy = f"give a word's number{' or 0' if trees else ', 0 or `_`'}"
            raise Malformed(number, what, remedy)


def _check_tree(rows: list[Row]) -> None:
    from keras_tagging.data.trees import find_cycle  # parsing imports data

    for word, (number, cells) in enumerate(rows, 1):
        if cells[HEAD] == "_":
            what = f"word {_named(word, rows)} has no head"
            raise Malformed(number, what, "give its head's number, or 0 for the root")
        if int(cells[HEAD]) == word:
            what = f"word {_named(word, rows)} is its own head"
            raise Malformed(number, what, "give another word's number, or 0")
        if cells[DEPREL] == "_":
            what = f"word {_named(word, rows)} has no relation to its head"
            raise Malformed(number, what, "name it in column 8")
    heads = [int(cells[HEAD]) for _, cells in rows]
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if not roots:
        what = "no word has the head 0, so the sentence has no root"
        raise Malformed(rows[0][0], what, "give the head 0 to its root")
    if len(roots) > 1:
        shown = (f"{_named(word, rows)} in line {rows[word - 1][0]}" for word in roots)
        what = f"{len(roots)} words have the head 0: {', '.join(islice(shown, 8))}"
        remedy = "keep one root, or leave such sentences out with errors='skip'"
        raise Malformed(rows[roots[1] - 1][0], what, remedy)
    if cycle := find_cycle(heads):
        shown = [_named(word, rows) for word in cycle[:8]]
        shown += [f"... ({len(cycle)} words)"] * (len(cycle) > 8)
        what = f"the heads form a cycle: {' -> '.join([*shown, shown[0]])}"
        remedy = "give one of these words a head outside the cycle"
        raise Malformed(rows[cycle[0] - 1][0], what, remedy)


def _named(word: int, rows: list[Row]) -> str:
    return f"{word} {rows[word - 1][1][FORM][:40]!r}"
