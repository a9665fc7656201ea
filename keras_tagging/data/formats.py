"""The table of corpus formats, and those with one sentence a line."""

import json
import re
from collections.abc import Callable, Iterable, Iterator

from keras_tagging.data.brackets import mrg, pos
from keras_tagging.data.categories import category_at
from keras_tagging.data.columns import conll, tokens
from keras_tagging.data.ctf import ctf
from keras_tagging.data.derivations import auto
from keras_tagging.data.json_objects import flat_fields
from keras_tagging.data.normalisation import shown
from keras_tagging.data.records import (
    Line,
    Malformed,
    check_count,
    is_blank,
    parse_each,
    sentence_of,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.tables import csv
from keras_tagging.data.treebanks import conllu, conllx

_SURROGATE = re.compile("[\ud800-\udfff]")


def pipe(
    lines: Iterable[Line], *, categories: str | None = None
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
        if not tab:
            what = "no tab between the words and the labels"
            raise Malformed(number, what, "write BOS words EOS, a tab, the labels")
        words, labels = split_blanks(words), split_blanks(labels)
        check_count(max(len(words), len(labels)))
        if words[:1] != ["BOS"] or words[1:][-1:] != ["EOS"]:
            what = "the words are not between BOS and EOS"
            raise Malformed(number, what, "write BOS words EOS, a tab, the labels")
        if len(words) != len(labels):
            what = f"{len(words)} words but {len(labels)} labels, BOS and EOS included"
            raise Malformed(number, what, "give one label a word")
        return sentence_of(words[1:-1], labels[1:-1])

    return parse_each(([line] for line in lines), parse)


def jsonl(
    lines: Iterable[Line], *, token_field: str = "tokens", tag_field: str = "tags"
) -> Iterator[Sentence | Malformed]:
    """One JSON object a line, such as `{"tokens": [...], "tags": [...]}`.

    Further lists of strings or integers become columns and need one value a token;
    other values are ignored. An empty line is an empty sentence. Objects of `annotate
    --output jsonl`, and those of Prodigy and doccano, which mark spans of characters,
    are read too: see `data.json_objects.flat_fields`.

    Args:
        token_field, tag_field: the names of the two lists; tags may be absent.
    """

    def is_flat(values) -> bool:
        return isinstance(values, list) and all(type(v) in (str, int) for v in values)

    def parse(record: list[Line]) -> Sentence | None:
        [(number, line)] = record
        if is_blank(line):
            return Sentence([], [])
        shape = f'{{"{token_field}": [...], "{tag_field}": [...]}}'
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            remedy = f"write one object a line, {shape}"
            raise Malformed(number, f"not JSON: {error}", remedy) from None
        except (ValueError, RecursionError):  # Python's own limits
            what = "a number with thousands of digits, or brackets nested too deeply"
            raise Malformed(number, what, f"write {shape}") from None
        if isinstance(fields, dict) and token_field == "tokens":
            fields = flat_fields(number, fields)
            if fields is None:
                return None
        words = fields.get(token_field) if isinstance(fields, dict) else None
        if not is_flat(words):
            what = f"no list of strings {token_field!r}"
            raise Malformed(number, what, f"write {shape}, or pass token_field=")
        if fields.get(tag_field) is not None and not is_flat(fields[tag_field]):
            what = f"{tag_field!r} is not a list of strings"
            raise Malformed(number, what, f"write {shape}, or pass tag_field=")
        lists = {name: list(map(str, v)) for name, v in fields.items() if is_flat(v)}
        for name, values in lists.items():
            # JSON can spell half of a surrogate pair, which no encoding can write.
            if _SURROGATE.search(name) or any(map(_SURROGATE.search, values)):
                what = f"{shown(name)} contains half of a surrogate pair"
                raise Malformed(number, what, "write the character itself, in UTF-8")
            if len(values) != len(words):
                what = f"{len(words)} {token_field} but {len(values)} {name[:40]}"
                raise Malformed(number, what, "give one value a token in every list")
        words = lists.pop(token_field)
        return sentence_of(words, lists.pop(tag_field, None), lists)

    return parse_each(([line] for line in lines), parse)


def text(lines: Iterable[Line]) -> Iterator[Sentence | Malformed]:
    """Untagged sentences, one a line, with blanks between the tokens.

    An empty line is an empty sentence.
    """

    def parse(record: list[Line]) -> Sentence:
        return sentence_of(split_blanks(record[0][1]))

    return parse_each(([line] for line in lines), parse)


FORMATS: dict[str, Callable[..., Iterator[Sentence | Malformed]]] = {
    "conll": conll,
    "conllu": conllu,
    "conllx": conllx,
    "pipe": pipe,
    "auto": auto,
    "mrg": mrg,
    "pos": pos,
    "atis": atis,
    "ctf": ctf,
    "jsonl": jsonl,
    "csv": csv,
    "text": text,
    "tokens": tokens,
}
