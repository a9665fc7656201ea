"""Check that every document and sentence of a shard came out once."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.records import sent_id_of
from keras_tagging.scale.shards import Shard
from keras_tagging.scale.units import units_of
from keras_tagging.scale.worker import Work


class _Unequal(Exception):
    """The file of a shard is not what it should be."""


@dataclass(frozen=True)
class _Found:
    """A sentence of an output: its identifier, its words, and where its tokens are.

    Args:
        id: of the document or sentence; None if it has none.
        words: their number.
        tokens: begin, end and text of each; None if it is not known.
    """

    id: str | None
    words: int
    tokens: list[tuple[int, int, str]] | None = None


def check(work: Work, shard: Shard) -> tuple[int, int]:
    """Compare a shard with its input.

    Sentences of the input come out with their identifiers, in their order, each with as
    many words. Of running text, every character but white space is in one token.

    Returns:
        The numbers of sentences and of words.

    Raises:
        ValueError: if something is missing, doubled or damaged; the message names the
            file.
        OSError: if a file cannot be read.
    """
    path = work.path(shard)
    found = (_blocks if work.output == "conllu" else _objects)(path)
    counts = [0, 0]
    try:
        _compare(shard, _counted(found, counts), is_conllu=work.output == "conllu")
    except (_Unequal, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(
            f"{path}: is not what the shard that begins at {shard.place} should be "
            f"({reason}): remove this file and repeat the command"
        ) from None
    return counts[0], counts[1]


def _counted(found: Iterator[_Found], counts: list[int]) -> Iterator[_Found]:
    for one in found:
        counts[0] += 1
        counts[1] += one.words
        yield one


def _compare(shard: Shard, found: Iterator[_Found], is_conllu: bool) -> None:
    for unit in units_of(shard):
        if unit.text is not None:
            wanted = sum(map(_visible, unit.text))
            _compare_text(unit.id, wanted, unit.start, found)
        elif unit.sentence.tokens:
            one = next(found, None)
            # CoNLL-U that was filled has the identifier that it had, or none
            filled = unit.block is not None and is_conllu
            own = sent_id_of(unit.block.lines) if filled else unit.id
            if one is None:
                raise _Unequal(f"{unit.id} is missing")
            if one.id != (None if own is None else " ".join(own.split())):
                raise _Unequal(f"{one.id} stands where {unit.id} should")
            if one.words != len(unit.sentence):
                raise _Unequal(f"{unit.id} has {one.words} words")
    if (one := next(found, None)) is not None:
        raise _Unequal(f"{one.id} is too many")


def _compare_text(
    document: str, left: int, place: int, found: Iterator[_Found]
) -> None:
    while left > 0:
        one = next(found, None)
        if one is None:
            raise _Unequal(f"{document}: {left} characters at the end are missing")
        if one.tokens is None:
            raise _Unequal(f"{one.id} has no offsets")
        own = " ".join(document.split())
        if one.id not in (own, f"{own}:{one.tokens[0][0]}"):
            raise _Unequal(f"{one.id} stands where {document} should")
        for begin, end, text in one.tokens:
            if begin < place or end - begin < len(text):  # blanks may be fewer
                raise _Unequal(f"{one.id} has a token from {begin} to {end}")
            place = end
            left -= _visible(text)
    if left:
        raise _Unequal(f"{document}: has {-left} characters too many")


def _visible(text: str) -> int:
    """The number of characters but white space."""
    return sum(map(len, text.split()))


def _objects(path: Path) -> Iterator[_Found]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            fields = json.loads(line)
            tokens = fields["tokens"]
            words = sum(len(token["words"]) for token in tokens)
            places = None
            if "start" in fields:
                places = [(t["start"], t["end"], t["text"]) for t in tokens]
            yield _Found(" ".join(fields["id"].split()), words, places)


def _blocks(path: Path) -> Iterator[_Found]:
    for block in read_blocks(path):
        if not block.words:
            continue
        places = []
        for line in block.lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 10 and "TokenRange=" in cells[9]:
                begin, end = cells[9].rpartition("TokenRange=")[2].split(":")
                places.append((int(begin), int(end), cells[1]))
        own = sent_id_of(block.lines)
        own = own if own is None else " ".join(own.split())
        yield _Found(own, len(block.words), places or None)
