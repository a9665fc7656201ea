"""Formats of two files, whose sentences are read as objects of JSON lines."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import pairwise, zip_longest
from pathlib import Path

from keras_tagging.data.formats.json_lines import json_line
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.records import (
    CorpusError,
    Line,
    Malformed,
    is_blank,
    message,
    split_blanks,
    unread,
)
from keras_tagging.utils import limits

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
            spans = [_span(number, line, start, e) for e in entities[first:done]]
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
        problem = None
        if not isinstance(line, str):
            problem = unread(number, line)
        elif line.startswith("T"):
            match = _ENTITY.fullmatch(line)
            places = match and list(map(_PLACE.fullmatch, match[3].split(";")))
            if not match or None in places:
                what = f"{line[:60]!r} is no entity"
                problem = Malformed(number, what, "write T1, a tab, label, start, end")
            elif len(entities) == limits.ANNOTATIONS:
                what = f"more than {limits.ANNOTATIONS:,} entities"
                problem = Malformed(number, what, "cut the document")
            else:
                places = [(int(place[1]), int(place[2])) for place in places]
                entities.append((places, match[2], match[1], match[4]))
        if problem is not None:
            raise CorpusError(message(name, problem))
    return sorted(entities, key=lambda entity: entity[0])


def _span(number: int, line: str, offset: int, entity: tuple) -> list:
    """Start and end in the line, and label."""
    places, label, identifier, written = entity
    identifier = identifier[:40]
    pieces = [line[max(s - offset, 0) : max(e - offset, 0)] for s, e in places]
    start, end = places[0][0] - offset, places[-1][1] - offset
    if not 0 <= start < end <= len(line):
        what = f"{identifier} does not begin and end in this line, which is a sentence"
        raise Malformed(number, what, "move its borders")
    gaps = [(a - offset, b - offset) for (_, a), (b, _) in pairwise(places)]
    if any(a > b or line[a:b].strip() for a, b in gaps):
        what = f"{identifier} is discontinuous, which tags cannot be"
        raise Malformed(number, what, "mark one stretch, or remove it")
    there = "".join("".join(pieces).split())
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
        ValueError: if it is not the path of a file, as of a stream.
        CorpusError: if one of the two is missing.
    """
    if not isinstance(path, str | Path) or str(path) == "-":
        raise ValueError(f"format {format!r} has two files: give the path of one")
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
