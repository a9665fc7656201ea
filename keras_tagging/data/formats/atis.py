"""The formats of ATIS: lines of words and labels, and CNTK's text format (CTF)."""

import re
from collections.abc import Iterable, Iterator, Sequence

from keras_tagging.data.normalisation import shown
from keras_tagging.data.records import (
    Line,
    Malformed,
    Record,
    check_count,
    is_blank,
    parse_each,
    sentence_of,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.limits import INTEGER_DIGITS


def atis(lines: Iterable[Line]) -> Iterator[Sentence | Malformed]:
    """`BOS words EOS`, a tab and a label for each of them; one sentence a line.

    An empty line is an empty sentence. BOS and EOS are dropped with their labels, and
    so is an intent in the place of EOS's label.
    """

    def parse(record: list[Line]) -> Sentence:
        [(number, line)] = record
        if is_blank(line):
            return Sentence([], [])
        words, tab, labels = line.partition("\t")
        words, labels = split_blanks(words), split_blanks(labels)
        check_count(max(len(words), len(labels)))
        if not tab or words[:1] != ["BOS"] or words[1:][-1:] != ["EOS"]:
            what = "no words between BOS and EOS before a tab"
            raise Malformed(number, what, "write BOS words EOS, a tab, the labels")
        if len(words) != len(labels):
            what = f"{len(words)} words but {len(labels)} labels, BOS and EOS included"
            raise Malformed(number, what, "give one label a word")
        return sentence_of(words[1:-1], labels[1:-1])

    return parse_each(([line] for line in lines), parse)


_ROW = re.compile(r"[ \t]*([0-9]+)[ \t]*(\|.*)")
# A bar that is part of the text is written `#|`. The possessive plus keeps the pattern
# from remembering every character, at two hundred bytes each.
_PART = re.compile(r"\|(#|[^ \t|#]+)((?:#\||[^|])*+)")
# The examples' names of word and label: SLUHandsOn (and CNTK 202), Text/ATIS.
_WORDS, _LABELS = ("S0", "CW"), ("S2", "L")
_READ = {*_WORDS, *_LABELS}
_INDEX = re.compile(f"([0-9]{{1,{INTEGER_DIGITS}}}):1(?:[.]0*)?")
_SHAPE = "write ID |S0 178:1 |# WORD |S2 128:1 |# LABEL, one token a line"


def ctf(
    lines: Iterable[Line],
    *,
    words: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> Iterator[Sentence | Malformed]:
    """One token a line, such as `19 |S0 770:1 |# show |S2 128:1 |# O`.

    The fields are the number of the sentence, the index of the word (S0 or CW) and the
    index of its label (S2 or L), each index with its text as a comment. BOS and EOS are
    dropped, with their labels and the intent; other fields (S1, PW, NW) are ignored.

    Args:
        words, labels: the texts by their index from 0, for files without comments.
    """

    def parse(record: list[Line]) -> Sentence:
        rows = [_fields(number, line) for number, line in record]
        tokens, tags = [], []
        for (number, _), fields in zip(record, rows, strict=True):
            tokens.append(_text(number, fields, _WORDS, words, "words"))
            tags.append(_text(number, fields, _LABELS, labels, "labels"))
        if tokens[:1] == ["BOS"] and tokens[1:][-1:] == ["EOS"]:
            tokens, tags = tokens[1:-1], tags[1:-1]
        return sentence_of(tokens, tags)

    return parse_each(_sentences(lines), parse)


def _sentences(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines grouped by sentence number; a malformed one joins the lines before it."""
    record, current = Record(), None
    for line in lines:
        row = isinstance(line[1], str) and _ROW.fullmatch(line[1])
        number = row[1] if row else None if is_blank(line[1]) else current
        if record and number != current:
            yield record
            record = Record()
        current = number
        if not is_blank(line[1]):
            record.add(*line)
    if record:
        yield record


def _fields(number: int, line: str) -> dict[str, tuple[str, str | None]]:
    """The value of each field that is read, and the comment that follows it."""
    row = _ROW.fullmatch(line)
    if not row:
        raise Malformed(number, "no sentence number before the first bar", _SHAPE)
    fields, last = {}, None
    for name, value in map(re.Match.groups, _PART.finditer(row[2])):
        if name != "#":
            last = name if name in _READ else None
        if last is not None:
            value = value.strip(" \t").replace("#|", "|")
            fields[last] = (fields[last][0], value) if name == "#" else (value, None)
        if name == "#":
            last = None
    return fields


def _text(number, fields, names, texts, kind) -> str:
    field = next((fields[name] for name in names if name in fields), None)
    if field is None:
        raise Malformed(number, f"no field {' or '.join(names)}", _SHAPE)
    value, comment = field
    if comment:
        return comment
    index = _INDEX.fullmatch(value)
    if not index or int(index[1]) >= len(texts or ()):
        what = f"{shown(value)} has no comment with its text, nor one in {kind}="
        raise Malformed(number, what, f"add |# TEXT, or the list of {kind} that it has")
    return texts[int(index[1])]
