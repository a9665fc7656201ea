"""Sentences as JSON lines: our own, and objects of annotation tools."""

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from keras_tagging.data.named_columns import field_of
from keras_tagging.data.normalisation import shown
from keras_tagging.data.records import (
    Line,
    Malformed,
    is_blank,
    parse_each,
    sentence_of,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import tag_span

_SURROGATE = re.compile("[\ud800-\udfff]")


def jsonl(
    lines: Iterable[Line], *, token_field: str = "tokens", tag_field: str = "tags"
) -> Iterator[Sentence | Malformed]:
    """One JSON object a line, such as `{"tokens": [...], "tags": [...]}`.

    Further lists of strings or integers become columns and need one value a token;
    other values are ignored. An empty line is an empty sentence. Objects of `annotate
    --output jsonl`, and those of Prodigy and doccano, which mark spans of characters,
    are read too: see `data.formats.json_lines.flat_fields`.

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
        except (ValueError, RecursionError) as error:  # Python's own limits, too
            remedy = f"write one object a line, {shape}"
            what = f"not JSON: {error}".partition(";")[0]
            raise Malformed(number, what, remedy) from None
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


#: where Prodigy, doccano and spaCy have the spans of a text
SPANS = ("spans", "label", "labels", "entities")
STARTS, ENDS = ("start", "start_offset"), ("end", "end_offset")


def flat_fields(number: int, record: Mapping) -> dict | None:
    """The lists of an object, with an item a token; others as they are.

    * `annotate --output jsonl` has tokens with their words: these and their columns;
      the tags are `tag`.
    * Prodigy has tokens with offsets, and spans with offsets and labels: tags in IOB2.
      What was answered with "reject" or "ignore" is left out.
    * doccano has a text and `label`, a list of `[start, end, label]`. The text is cut
      at white space and punctuation, and where a span begins or ends.

    Args:
        number: of the line, for messages.
        record: the object.

    Returns:
        A dict with "tokens", and "tags" if they are known; None if it is left out.

    Raises:
        Malformed: if a span is not one of the text, cuts a token, or overlaps another.
    """
    tokens, text = record.get("tokens"), record.get("text")
    if record.get("answer") in ("reject", "ignore"):
        return None
    if isinstance(tokens, list) and tokens and all(isinstance(t, dict) for t in tokens):
        if "words" in tokens[0]:
            return _words(number, tokens)
        names = ("text", "start", "end")
        words, *places = ([token.get(name) for token in tokens] for name in names)
        places = list(zip(*places, strict=True))
        if not (all(isinstance(x, str) for x in words) and _in_order(places)):
            what = "tokens without text, start and end, or not in their order"
            raise Malformed(number, what, "give them, or tokens as strings")
        spans = _spans(number, record, text if isinstance(text, str) else "")
    elif tokens is None and isinstance(text, str):
        spans = _spans(number, record, text)
        cuts = {place for start, end, _ in spans or () for place in (start, end)}
        places = list(_cut(text, cuts))
        words = [text[start:end] for start, end in places]
    else:
        return dict(record)
    tags = {} if spans is None else {"tags": _iob2(number, places, spans)}
    return {"tokens": words, **tags}


def _words(number: int, tokens: list[dict]) -> dict:
    try:
        words = [word for token in tokens for word in token["words"]]
        names = dict.fromkeys(name for word in words for name in word)
        forms = [word["text"] for word in words]
    except (KeyError, TypeError, AttributeError):
        what, remedy = "a token without words that have a text", "annotate it again"
        raise Malformed(number, what, remedy) from None
    columns = {
        field_of(name): [_text(word.get(name, "_")) for word in words]
        for name in names
        if name not in ("id", "text", "tokens", "probabilities")
    }
    tags = {"tags": columns.pop("tag")} if "tag" in columns else {}
    return {"tokens": forms, **columns, **tags}


def _text(value):
    return str(value) if type(value) is int else value  # a head


def _spans(
    number: int, record: Mapping, text: str
) -> list[tuple[int, int, str]] | None:
    """The spans in their order; None if the object has no list of them."""
    items = next((record[n] for n in SPANS if isinstance(record.get(n), list)), None)
    if items is None:
        return None
    spans = []
    for item in items:
        if isinstance(item, Mapping):
            ends = (
                next((item[x] for x in n if x in item), None) for n in (STARTS, ENDS)
            )
            item = (*ends, item.get("label"))
        right = isinstance(item, list | tuple) and [*map(type, item)] == [int, int, str]
        if not right or not 0 <= item[0] < item[1] <= len(text):
            what = f"{str(item)[:60]} is no span of the text"
            raise Malformed(number, what, "give start, end and label of each")
        spans.append(tuple(item))
    spans.sort()
    for (_, end, label), (start, _, other) in pairwise(spans):
        if start < end:
            what = f"the spans {label!r} and {other!r} overlap at character {start}"
            raise Malformed(number, what, "a tag is one label a token: leave one out")
    return spans


def _cut(text: str, cuts: set[int]) -> Iterator[tuple[int, int]]:
    """The places of runs of letters and digits, and of other signs one by one."""
    begin, before = 0, "space"
    for i, character in enumerate([*text, " "]):
        if character.isspace():
            kind = "space"
        else:
            sign = unicodedata.category(character)[0] in "PS"
            kind = "sign" if sign else "word"
        if kind != before or kind == "sign" or i in cuts:
            if before != "space":
                yield begin, i
            begin, before = i, kind


def _in_order(places: Sequence[tuple]) -> bool:
    """Whether these are stretches of a text, one after the other."""
    flat = [place for pair in places for place in pair]
    return all(type(place) is int for place in flat) and flat == sorted(flat)


def _iob2(number: int, places: Sequence[tuple[int, int]], spans) -> list[str]:
    tags = ["O"] * len(places)
    starts, ends = [start for start, _ in places], [end for _, end in places]
    for start, end, label in spans:
        inside = range(bisect_right(ends, start), bisect_left(starts, end))
        if not inside or starts[inside[0]] < start or ends[inside[-1]] > end:
            what = f"the span {label!r} from {start} to {end} cuts a token"
            raise Malformed(number, what, "move its borders to those of tokens")
        tag_span(tags, inside.start, inside.stop, label)
    return tags


def json_line(fields: Mapping) -> str:
    """An object on a line."""
    return json.dumps(fields, ensure_ascii=False) + "\n"
