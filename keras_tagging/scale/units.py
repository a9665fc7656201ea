"""The documents and sentences of a shard, each with its identifier."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from keras_tagging.data.conllu import Block, read_blocks
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.raw_text import text_lines
from keras_tagging.data.records import message, sent_id_of, sentence_of, unread
from keras_tagging.data.sentence import Sentence
from keras_tagging.scale.parquet import rows_of
from keras_tagging.scale.shards import Shard
from keras_tagging.utils import limits


@dataclass(frozen=True, slots=True)
class Unit:
    """A document or a sentence of the input: `text` is given, or `sentence`.

    Args:
        id: its identifier.
        text: pieces of running text, which can be read once.
        sentence: a sentence that is not segmented.
        block: the lines of a sentence of CoNLL-U.
        start: offset of the text in its document; 0 is its beginning.
    """

    id: str
    text: Iterable[str] | None = None
    sentence: Sentence | None = None
    block: Block | None = None
    start: int = 0


def units_of(shard: Shard) -> Iterator[Unit]:
    """The units of a shard, one after the other.

    Raises:
        ValueError: during the iteration, if something is malformed or beyond a limit;
            the message has the file and the line.
        OSError: if the input cannot be read.
    """
    if shard.kind == "parquet":
        for number, row in rows_of(Path(shard.path), shard.begin, shard.end):
            number += 1
            own = f"{shard.document}:{number}"
            yield unit_of_row(row, own, f"{shard.path}: row {number}")
        return
    with _opened(shard) as source:
        if shard.kind == "conllu":
            yield from _blocks(source, shard)
        elif shard.kind == "jsonl":
            yield from _objects(source, shard)
        else:
            text = text_lines(source, shard.encoding, shard.line)
            yield Unit(shard.document, text, start=shard.character)


def unit_of_row(row: Mapping, identifier: str, place: str) -> Unit:
    """The unit of a row: its `tokens`, a list of strings, or else its `text`.

    Lists of strings with a value a token become columns of the sentence.

    Args:
        row: the values by name.
        identifier: of a row without an `id`.
        place: of the row, for messages.

    Raises:
        ValueError: if it has neither, or a value is beyond a limit.
    """
    try:
        identifier = _identifier(row.get("id", identifier), identifier)
        if row.get("tokens") is not None:
            unit = Unit(identifier, sentence=_sentence(row["tokens"], row))
            content = "".join(unit.sentence.tokens)
        else:
            content = _text(row)
            unit = Unit(identifier, [content])
        f"{identifier}{content}".encode()
    except UnicodeEncodeError:
        what = "has half of a surrogate pair: write the character itself"
        raise ValueError(f"{place}: {what}") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return unit


def _identifier(value, default: str) -> str:
    if value is None:
        return default
    if type(value) not in (str, int):
        raise ValueError("its id is no string or integer: write one")
    if len(value := str(value)) > limits.IDENTIFIER_CHARACTERS:
        most = f"{limits.IDENTIFIER_CHARACTERS:,} characters"
        raise ValueError(f"its id has more than {most}: shorten it")
    return value


def _text(row: Mapping) -> str:
    if "text" not in row:
        raise ValueError("has neither text nor tokens: write one of them")
    text = row["text"]
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ValueError("its text is no string: write one")
    if len(text) > limits.SENTENCE_CHARACTERS:
        most = f"{limits.SENTENCE_CHARACTERS:,} characters"
        raise ValueError(f"its text has more than {most}: cut it")
    return text


def _sentence(words, row: Mapping) -> Sentence:
    if not _strings(words):
        raise ValueError("its tokens are no list of strings: write one")
    if not all(words):
        raise ValueError("has an empty token: leave it out")
    if len(words) > limits.SENTENCE_TOKENS:
        most = f"{limits.SENTENCE_TOKENS:,} tokens"
        raise ValueError(f"has more than {most}: split it where its sentences end")
    columns = {
        field_of(name): values
        for name, values in row.items()
        if name not in ("tokens", "tags") and _strings(values)
        if len(values) == len(words)
    }
    return sentence_of(words, None, columns)


def _strings(values) -> bool:
    return isinstance(values, list) and all(isinstance(v, str) for v in values)


def _blocks(source, shard: Shard) -> Iterator[Unit]:
    line = shard.line
    for block in read_blocks(source, shard.encoding, shard.line):
        yield Unit(
            sent_id_of(block.lines) or f"{shard.document}:{line}",
            sentence=block.sentence,
            block=block,
        )
        line += len(block.lines)


def _objects(source, shard: Shard) -> Iterator[Unit]:
    name = source_name(source)
    for number, line in numbered_lines(source, name, shard.encoding, shard.line):
        if not isinstance(line, str):
            raise ValueError(message(name, unread(number, line)))
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:100]
            raise ValueError(
                f"{place}: not JSON ({reason}); write one object a line"
            ) from None
        if not isinstance(row, dict):
            raise ValueError(f'{place}: no object; write {{"text": "..."}} in a line')
        yield unit_of_row(row, f"{shard.document}:{number}", place)


class _Part(io.RawIOBase):
    """Some bytes of a file."""

    def __init__(self, file, size: int):
        self.name, self._file, self._left = file.name, file, size

    def readable(self):
        return True

    def readinto(self, buffer):
        count = self._file.readinto(memoryview(buffer)[: self._left])
        self._left -= count
        return count


@contextmanager
def _opened(shard: Shard):
    """The input of a shard, as `data.read` takes it."""
    if shard.end is None:
        yield shard.path
        return
    with open(shard.path, "rb", buffering=0) as file:
        file.seek(shard.begin)
        yield io.BufferedReader(_Part(file, shard.end - shard.begin))
