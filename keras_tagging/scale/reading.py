"""The documents and sentences of a file, each with its identifier."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, StrictInt, StrictStr, ValidationError

from keras_tagging.data.conllu import Block, read_blocks
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.data.records import message, sent_id_of, sentence_of, unread
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits

#: what the endings of names stand for; each but Parquet may be followed by .gz
KINDS = {".txt": "text", ".conllu": "conllu", ".parquet": "parquet"}
KINDS |= dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl")
#: characters of running text after which a unit ends, at a blank line; with many times
#: as many at the end of a line
SIZE, MOST = 200_000, 5_000_000
#: the columns of Parquet files that are read, those that there are
COLUMNS = ("id", "text", "tokens", "upos", "pos", "xpos", "feats", "lemma")
COLUMNS += ("word_class",)


@dataclass(frozen=True, slots=True)
class Unit:
    """A document, a part of one, or a sentence: `text` is given, or `sentence`.

    Args:
        id: the identifier of the document or sentence.
        text: running text.
        sentence: a sentence that is not segmented.
        block: the lines of a sentence of CoNLL-U.
        start: offset of the text or sentence in its document.
    """

    id: str
    text: str | None = None
    sentence: Sentence | None = None
    block: Block | None = None
    start: int = 0


def kind_of(path: Path) -> str | None:
    """The kind of a file by its name: text, jsonl, conllu or parquet."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        kind = KINDS.get(path.with_suffix("").suffix.lower())
        return None if kind == "parquet" else kind
    return KINDS.get(suffix)


def read_units(path: Path, kind: str, encoding: str | None = None) -> Iterator[Unit]:
    """The units of a file, one after the other, in constant memory.

    Args:
        path: the file, whose name is the identifier of what has none.
        kind: text, tokens (a sentence in each line), jsonl, conllu or parquet.
        encoding: of the file; by default UTF-8.

    Raises:
        ValueError: during the iteration, if something is malformed or beyond a limit;
            the message has the file and the line.
        OSError: if the file cannot be read.
    """
    if kind == "parquet":
        for number, row in enumerate(_parquet(path), 1):
            yield unit_of_row(row, f"{path.name}:{number}", f"{path}: row {number}")
    elif kind == "jsonl":
        yield from _objects(path, encoding)
    elif kind == "conllu":
        line = 1
        for block in read_blocks(path, encoding):
            name = sent_id_of(block.lines) or f"{path.name}:{line}"
            yield Unit(name, sentence=block.sentence, block=block)
            line += len(block.lines)
    elif kind == "tokens":
        for sentence in sentences_of_lines(text_lines(path, encoding)):
            start = sentence.surface.start
            yield Unit(path.name, sentence=sentence, start=start)
    else:
        start = 0
        for text in _parts(text_lines(path, encoding)):
            yield Unit(path.name, text, start=start)
            start += len(text)


def _parts(lines: Iterator[str]) -> Iterator[str]:
    """A text cut between paragraphs, that is behind blank lines."""
    part: list[str] = []
    length, was_blank = 0, False
    for line in lines:
        is_blank = not line.strip()
        if length >= (SIZE if was_blank and not is_blank else MOST):
            yield "".join(part)
            part, length = [], 0
        part.append(line)
        length += len(line)
        was_blank = is_blank
    if part:
        yield "".join(part)


def _objects(path: Path, encoding: str | None) -> Iterator[Unit]:
    name = source_name(path)
    for number, line in numbered_lines(path, name, encoding):
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
        yield unit_of_row(row, f"{path.name}:{number}", place)


def _parquet(path: Path) -> Iterator[dict]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            names = [name for name in file.schema_arrow.names if name in COLUMNS]
            for batch in file.iter_batches(100, columns=names):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path}: is no Parquet file, or damaged ({reason})") from None


class Row(BaseModel):
    """The fields of a row that are read; other lists of strings may be columns."""

    id: StrictStr | StrictInt | None = None
    text: Annotated[str, Field(max_length=limits.SENTENCE_CHARACTERS)] | None = None
    tokens: list[Annotated[str, Field(min_length=1)]] | None = None


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
        fields = Row.model_validate({k: row[k] for k in Row.model_fields if k in row})
        if fields.id is not None:
            identifier = str(fields.id)
        if len(identifier) > limits.IDENTIFIER_CHARACTERS:
            most = f"{limits.IDENTIFIER_CHARACTERS:,} characters"
            raise ValueError(f"its id has more than {most}: shorten it")
        if fields.tokens is None:
            if "text" not in row:
                raise ValueError("has neither text nor tokens: write one of them")
            return Unit(identifier, fields.text or "")
        columns = {
            field_of(name): values
            for name, values in row.items()
            if name not in ("tokens", "tags") and isinstance(values, list)
            if len(values) == len(fields.tokens)
            if all(isinstance(value, str) for value in values)
        }
        return Unit(identifier, sentence=sentence_of(fields.tokens, None, columns))
    except ValidationError as error:
        first, *_ = error.errors(include_url=False)
        name = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {name}: {first['msg']}") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
