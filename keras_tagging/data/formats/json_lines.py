"""Sentences as JSON: our own, objects of annotation tools, and pairs of files."""

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path

from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.normalisation import shown
from keras_tagging.data.records import (
    BLANK,
    CorpusError,
    Line,
    Malformed,
    Record,
    check_count,
    is_blank,
    message,
    parse_each,
    sentence_of,
    split_blanks,
    unread,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import tag_span
from keras_tagging.utils import limits

_SURROGATE = re.compile("[\ud800-\udfff]")


def jsonl(
    lines: Iterable[Line], *, token_field: str = "tokens", tag_field: str = "tags"
) -> Iterator[Sentence | Malformed]:
    """One JSON object a line, such as `{"tokens": [...], "tags": [...]}`.

    Further lists of strings or integers become columns and need one value a token;
    other values are ignored. An empty line is an empty sentence. A file that begins
    with a bracket is one array of such objects, on lines as they come. Objects of
    `annotate --output jsonl`, and those of Prodigy, doccano, Label Studio and spaCy 2,
    which mark spans of characters, are read too: see
    `data.formats.json_lines.flat_fields`.

    Args:
        token_field, tag_field: the names of the two lists; tags may be absent.
    """

    def is_flat(values) -> bool:
        return isinstance(values, list) and all(type(v) in (str, int) for v in values)

    def parse(record: list[Line]) -> Sentence | None:
        number, line = record[0][0], "\n".join(line for _, line in record)
        if is_blank(line):
            return Sentence([], [])
        shape = f'{{"{token_field}": [...], "{tag_field}": [...]}}'
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:  # Python's own limits, too
            what = f"not JSON: {getattr(error, 'msg', error)}".partition(";")[0]
            if row := getattr(error, "lineno", 0):
                number = record[row - 1][0]
                what += f" at {line[error.pos :][:20]!r}"
            raise Malformed(number, what, f"write one object a line, {shape}") from None
        if isinstance(fields, dict | list) and token_field == "tokens":
            fields = flat_fields(number, fields)
            if fields is None:
                return None
        words = fields.get(token_field) if isinstance(fields, dict) else None
        tags = fields.get(tag_field) if isinstance(fields, dict) else None
        if not is_flat(words) or tags is not None and not is_flat(tags):
            what = f"no list of strings {token_field!r}, or {tag_field!r} is none"
            raise Malformed(number, what, f"write {shape}, or pass token_field=")
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

    def records() -> Iterator[list[Line]]:
        rest, is_start = iter(lines), True
        for numbered in rest:
            if is_start and _ARRAY.match(str(numbered[1])):
                yield from _items(chain([numbered], rest))
            else:
                yield [numbered]
            is_start = is_start and is_blank(numbered[1])

    return parse_each(records(), parse)


#: the beginning of an array of objects, or of pairs
_ARRAY = re.compile(r"[ \t]*\[[ \t]*([]\[{]|$)")
_MARKS = re.compile(r'"(?:\\.|[^"\\])*+"|[][{},\n]')


def _items(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The items of a JSON array as text, each with the numbers of its lines.

    Raises:
        Malformed: if there is anything outside of the array.
    """
    record, depth, number = Record(), 0, 1
    remedy = "write [{...}, {...}], or one object a line"
    for number, line in lines:
        if isinstance(line, Malformed):
            raise line
        # in any encoding that is cut at line feeds, the marks are those of ASCII
        text = line if isinstance(line, str) else line.object.decode("latin-1")
        start = 0
        for mark in _MARKS.finditer(f"{text}\n"):
            sign, ends = mark[0], depth == 1 and mark[0] in ",]"
            if ends or not depth or sign == "\n":
                piece, start = text[start : mark.start()].strip(BLANK), mark.end()
                if not depth and (piece or sign not in "[\n"):
                    raise Malformed(number, "text outside of the array", remedy)
                if piece:
                    record.add(number, piece if text is line else line)
                if ends and (record or sign == ","):
                    yield record or [(number, sign)]
                    record = Record()
            depth += (sign in "[{") - (sign in "]}")
    if depth:
        what = "the array, or this item of it, does not end"
        yield [(number, Malformed((record or [[number]])[0][0], what, remedy))]


#: where Prodigy, doccano, Label Studio and spaCy have the spans of a text
SPANS = ("spans", "label", "labels", "entities", "annotations", "ents")
STARTS, ENDS = ("start", "start_offset"), ("end", "end_offset")


def flat_fields(number: int, record: Mapping) -> dict | None:
    """The lists of an object, with an item a token; others as they are.

    * `annotate --output jsonl` has tokens with their words: these and their columns;
      the tags are `tag`.
    * Prodigy has tokens with offsets, and spans with offsets and labels: tags in IOB2.
      What was answered with "reject" or "ignore" is left out.
    * doccano has a text and `label`, a list of `[start, end, label]`, or objects in
      `annotations`. The text is cut at white space and punctuation, and where a span
      begins or ends.
    * spaCy 2 has pairs of a text and an object with `entities`, as doccano's `label`.
    * Label Studio has the text in `data`, and spans in the `annotations` of people, of
      which there may be one. What was skipped is left out.

    Args:
        number: of the line, for messages.
        record: the object, or the pair.

    Returns:
        A dict with "tokens", and "tags" if they are known; None if it is left out.

    Raises:
        Malformed: if a span is not one of the text, cuts a token, or overlaps another.
        LimitError: if a text has more tokens than a sentence may have.
    """
    if [*map(type, record)] == [str, dict]:
        record = {**record[1], "text": record[0]}
    if not isinstance(record, Mapping):
        raise Malformed(number, f"{str(record)[:40]!r} is no object", "give one")
    if "paragraphs" in record and record.get("tokens") is None:
        what = "this is the training JSON of spaCy 2"
        remedy = "python -m spacy convert makes a .spacy: pass it to data.from_spacy"
        raise Malformed(number, what, remedy)
    if isinstance(record.get("data"), Mapping) and "annotations" in record:
        record = _of_label_studio(number, record)
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
        places = list(islice(_cut(text, cuts), limits.SENTENCE_TOKENS + 1))
        check_count(len(places))
        words = [text[start:end] for start, end in places]
    else:
        return dict(record)
    tags = {} if spans is None else {"tags": _iob2(number, places, spans)}
    return {"tokens": words, **tags}


def _of_label_studio(number: int, record: Mapping) -> Mapping:
    """A task as an object with a text and spans."""
    texts = [value for value in record["data"].values() if isinstance(value, str)]
    text = record["data"].get("text", texts[0] if len(texts) == 1 else None)
    made = record.get("annotations")
    try:
        [given] = [x["result"] for x in made if not x.get("was_cancelled")] or [None]
        spans = given and [x["value"] for x in given if x["type"].endswith("labels")]
    except (KeyError, TypeError, AttributeError, ValueError):
        what = "the annotations of a task are several, or have no list of results"
        raise Malformed(number, what, "export JSON, and one of each task") from None
    is_skipped = made and given is None
    return {"answer": "ignore"} if is_skipped else {"text": text, "spans": spans}


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
        there = None
        if isinstance(item, Mapping):
            ends = (
                next((item[x] for x in n if x in item), None) for n in (STARTS, ENDS)
            )
            labels, there = item.get("labels"), item.get("text")
            single = isinstance(labels, list) and len(labels) == 1
            item = (*ends, labels[0] if single else item.get("label"))
        right = isinstance(item, list | tuple) and [*map(type, item)] == [int, int, str]
        if not right or not 0 <= item[0] < item[1] <= len(text):
            what = f"{str(item)[:60]} is no span of the text"
            raise Malformed(number, what, "give start, end and label of each")
        found = text[item[0] : item[1]]
        if isinstance(there, str) and there.split() != found.split():
            what = f"the span is {there[:40]!r}, but {found[:40]!r} is there"
            raise Malformed(number, what, "give the text that was annotated")
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
    for i, character in enumerate(chain(text, " ")):
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


_ENTITY = re.compile(r"(T\S*)\t(\S+) ([0-9 ;]+)(?:\t(.*))?")
_PLACE = re.compile(rf"([0-9]{{1,{limits.INTEGER_DIGITS}}}) ([0-9]{{1,9}})")
ANN, TXT = ".ann", ".txt"


def seq(words: Iterable[Line], tags: Iterable[Line], name: str) -> Iterator[Line]:
    """Lines of words, and lines of their tags in another file: `seq.in`, `seq.out`.

    An empty line is an empty sentence.

    Args:
        name: of the file of tags, for messages.
    """
    for number, (words_line, tags_line) in enumerate(zip_longest(words, tags), 1):
        if words_line is None or tags_line is None:
            which, has = ("has a", "has not") if tags_line else ("has no", "has")
            what = f"{name} {which} line {number}, which this file {has}"
            yield number, Malformed(number, what, "give the two of one corpus")
            return
        if not isinstance(words_line[1], str):
            yield words_line
        elif not isinstance(tags_line[1], str):
            problem = unread(number, tags_line[1])
            yield number, Malformed(number, f"{name}: {problem.what}", problem.remedy)
        else:
            tokens, labels = split_blanks(words_line[1]), split_blanks(tags_line[1])
            if len(tokens) != len(labels):
                what = f"{len(tokens)} words, but {len(labels)} tags in {name}"
                yield number, Malformed(number, what, "give one tag a word")
            else:
                yield number, json_line({"tokens": tokens, "tags": labels})


def brat(text: Iterable[Line], annotation: Iterable[Line], name: str) -> Iterator[Line]:
    """A text, and in another file the entities in brat's standoff format.

    A line is a sentence, and a blank one none. Only lines of entities are read, `T1`, a
    tab, label, start and end between blanks, a tab, and the text.

    Args:
        text: its lines with their ends, which offsets count.
        name: of the file of entities, for messages.

    Raises:
        CorpusError: for a line of an entity that cannot be read.
        Malformed: for a line of the text that cannot be decoded: all offsets behind it
            are unknown.
    """
    entities = _entities(annotation, name)
    offset, number, done = 0, 1, 0
    for number, line in text:
        if not isinstance(line, str):
            raise unread(number, line)
        if number == 1:  # a byte order mark is no part of the text
            line = line.removeprefix("\ufeff")
        start, offset = offset, offset + len(line)
        first = done
        while done < len(entities) and entities[done][0][0][0] < offset:
            done += 1
        line = line.removesuffix("\n").removesuffix("\r")
        try:
            # more are of too many tokens, or overlap, and are refused all the same
            here = entities[first : min(done, first + limits.SENTENCE_TOKENS + 1)]
            spans = [_span(number, line, start, entity) for entity in here]
        except Malformed as problem:
            yield number, problem
            continue
        if spans or not is_blank(line):
            yield number, json_line({"text": line, "label": spans})
    if done < len(entities):
        places, _, identifier, _ = entities[done]
        what = f"{identifier} in {name} begins at character {places[0][0]}, behind the "
        yield number, Malformed(number, f"{what}end", "give the text that it is of")


def _entities(lines: Iterable[Line], name: str) -> list[tuple]:
    """Places, label, identifier and text of each entity, in the order of the text."""
    entities = []
    for number, line in lines:
        if not isinstance(line, str):
            raise CorpusError(message(name, unread(number, line)))
        if not line.startswith("T"):
            continue
        match = _ENTITY.fullmatch(line)
        pieces = match and match[3].split(";", limits.SENTENCE_TOKENS)
        places = pieces and list(map(_PLACE.fullmatch, pieces))
        if not match or None in places or len(entities) == limits.ANNOTATIONS:
            what = f"{line[:60]!r} is no entity, or one of over {limits.ANNOTATIONS:,}"
            remedy = "write T1, a tab, label, start, end"
            raise CorpusError(f"{name}:{number}: {what}; {remedy}")
        places = [(int(place[1]), int(place[2])) for place in places]
        entities.append((places, match[2], match[1], match[4]))
    return sorted(entities, key=lambda entity: entity[0])


def _span(number: int, line: str, offset: int, entity: tuple) -> list:
    """Start and end in the line, and label."""
    places, label, identifier, written = entity
    identifier = identifier[:40]
    places = [(begin - offset, end - offset) for begin, end in places]
    start, end = places[0][0], places[-1][1]
    # a line is a sentence; places in order have no character twice
    is_inside = 0 <= start < end <= len(line) and _in_order(places)
    gaps = (line[a:b] for (_, a), (b, _) in pairwise(places))
    if not is_inside or any(map(str.strip, gaps)):
        what = f"{identifier} is not one stretch of this line, as tags are"
        raise Malformed(number, what, "move its borders, or remove it")
    there = "".join(line[start:end].split())
    if written is not None and "".join(written.split()) != there:
        what = f"{identifier} is {written[:40]!r}, but {there[:40]!r} is there"
        raise Malformed(number, what, "give the text that was annotated")
    return [start, end, label]


#: the formats of two files
PAIRED: dict[str, Callable] = {"seq": seq, "brat": brat}


def pair_of(path) -> str | None:
    """The format of two files, if this is the path of one: `seq.in`, or `X.ann`."""
    if not isinstance(path, str | Path):
        return None
    path = Path(path)
    if path.name.lower() == "seq.in" and path.with_name("seq.out").is_file():
        return "seq"
    return "brat" if path.suffix.lower() == ANN else None


def paired_lines(
    format: str, path, encoding: str | None
) -> tuple[str, Generator[Line, None, None]]:
    """The name for messages of the first file of a pair, and the lines of both as JSON.

    Args:
        format: a name in `PAIRED`.
        path: `seq.in`, or brat's `X.txt` or `X.ann`.

    Raises:
        TypeError: if it is no path, but a stream.
        CorpusError: if one of the two is missing.
    """
    path = Path(path)
    if format == "brat":
        path, other = path.with_suffix(TXT), path.with_suffix(ANN)
    else:
        other = path.with_name("seq.out")
    name, others = source_name(path), source_name(other)
    first = numbered_lines(path, name, encoding, raw=format == "brat")
    second = numbered_lines(other, others, encoding)
    return name, _closed(PAIRED[format], first, second, other.name, others)


def _closed(join, first, second, name: str, path: str):
    with closing(first), closing(second):
        yield from join(first, second, path if join is brat else name)
