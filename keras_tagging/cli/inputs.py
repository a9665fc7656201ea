"""The input of commands: sentences, with the columns that a model needs."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path

from keras_tagging.cli.messages import note
from keras_tagging.cli.progress import Source
from keras_tagging.corpora.entities import with_named_entities
from keras_tagging.data import detect_format, read
from keras_tagging.data.conllu import read_blocks
from keras_tagging.data.raw_text import sentences_of_lines, text_lines
from keras_tagging.data.readers import source_name
from keras_tagging.data.sentence import NER

NAMES = {"pos": "UPOS, column 4", "xpos": "XPOS, column 5"}  # in CoNLL-U
# A row with fewer than ten columns is damaged, which the reader then reports; one with
# two or three may be a numbered sentence.
ROW = re.compile(rb"[0-9]+([-.][0-9]+)?(\t[^\t]*){3,}")
PIECE = 1 << 20  # bytes of a line to read at once


class Lines:
    """The lines of a stream, which can be read only once.

    Args:
        stream: a binary stream.
        name: name of the stream, for messages.
        most: the number of lines to read ahead if they are blank or begin with #.
    """

    def __init__(self, stream, name: str, most: int = 200):
        self.stream, self.name = stream, name
        self.head = []
        for line in islice(self._pieces(), most):
            self.head.append(line)
            if _rows(line):
                break

    def _pieces(self) -> Iterator[bytes]:
        return iter(partial(self.stream.readline, PIECE), b"")

    def __iter__(self):
        yield from self.head
        with self.stream:
            yield from self._pieces()

    def are_conllu(self) -> bool:
        """Whether the first line that is not a comment looks like a row of CoNLL-U."""
        text = b"".join(self.head)
        # as in `data.read`, carriage returns end lines if there is no line feed
        rows = _rows(*text.split(b"\n" if b"\n" in text else b"\r"))
        return bool(rows) and ROW.fullmatch(rows[0]) is not None


def _rows(*lines: bytes) -> list[bytes]:
    lines = (line.removeprefix(b"\xef\xbb\xbf").strip(b" \r\n") for line in lines)
    return [line for line in lines if line.strip() and not line.startswith(b"#")]


@dataclass(frozen=True)
class Input:
    """The input of `tag`, `parse` and `annotate`.

    Args:
        items: pairs of a sentence, and its `Block` of lines if these are to be written
            with other columns, else None.
        source: for the progress.
        encoding: in which to write.
        is_text: whether a sentence is a line of text, with blanks between its words.
    """

    items: Iterator[tuple]
    source: Source
    encoding: str = "utf-8"
    is_text: bool = False


def read_input(
    file: str,
    format: str | None,
    options: dict,
    command: str,
    errors: str = "raise",
    *,
    keep: bool = True,
) -> Input:
    """Sentences of any format.

    Args:
        file: a path, or "-" for standard input, which is text, or with `keep` CoNLL-U
            if it looks so.
        format: of the file; None to recognise it.
        options: those of the format; `encoding` alone if lines are kept.
        command: for messages.
        errors: as in `data.read`.
        keep: whether lines of CoNLL-U and CoNLL-X are kept for the output.

    Raises:
        ValueError: if there is no such file, or an option does not fit the format.
    """
    stream = file
    if format is None:
        stream, format = recognise(file, options, keep)
    source = Source(file)
    stream = source.stream if stream == file else stream
    if not (keep and format in ("conllu", "conllx")):
        sentences = read(stream, format, errors=errors, **options)
        items = ((sentence, None) for sentence in sentences)
        return Input(items, source, is_text=format == "text")
    if unknown := set(options) - {"encoding"}:
        raise ValueError(
            f"--option {min(unknown)}: for {format}, {command} takes encoding only"
        )
    if errors != "raise":
        raise ValueError(
            f"--errors {errors}: {format} is written as it was read, so no sentence "
            "can be left out"
        )
    items = ((block.sentence, block) for block in read_blocks(stream, **options))
    return Input(items, source, options.get("encoding", "utf-8"))


def read_text(file: str, kind: str, encoding: str | None) -> tuple[Iterator, Source]:
    """The lines of a text, its sentences, or `Block` objects, and the source.

    Args:
        file: a path, or "-" for standard input.
        kind: "text", "lines", "tokens" or "conllu".
        encoding: None for UTF-8.

    Raises:
        ValueError: if there is no such file.
    """
    source = Source(file)
    if kind == "conllu":
        return read_blocks(source.stream, encoding), source
    lines = text_lines(source.stream, encoding)
    return (sentences_of_lines(lines) if kind == "tokens" else lines), source


def recognise(file: str, options: dict, keep: bool = True):
    """The source for `data.read` and its format, None to let `data.read` recognise it.

    Args:
        file, options, keep: as in `read_input`.

    Raises:
        ValueError: if there is no such file, or for an option of another format.
    """
    if Path(file).is_file():  # a pipe can be read only once
        encoding = options.get("encoding")
        format = detect_format(file, encoding=encoding, options=options)
        if not says_format(file, format):
            note(f"{file} is read as {format}; use --format to change this\n")
        return file, format
    name = source_name(file)  # raises if the file does not exist
    source = file
    if keep and "encoding" not in options:  # else bytes cannot be split into lines
        source = Lines(sys.stdin.buffer if file == "-" else open(file, "rb"), name)
        if source.are_conllu():
            return source, "conllu"
    if file != "-":
        return source, None
    if others := set(options) - {"encoding"}:
        raise ValueError(
            f"--option {min(others)}: standard input is read as text, which has no "
            "such option: name its --format, such as conll"
        )
    return source, "text"


def says_format(file: str, format: str) -> bool:
    """Whether the name of a file ends as those of a format do."""
    ends = {".txt"} if format == "text" else {f".{format}"}
    return bool(ends & {*Path(file.lower()).suffixes[-2:]})


def with_columns(
    model, sentences: Iterable, of: Callable = lambda sentence: sentence
) -> Iterator:
    """Check that sentences have the columns that the model reads.

    Args:
        model: its `kind`, `input_columns` and `missing_column` are read.
        sentences: sentences, or items that have one.
        of: the function from an item to its sentence.

    Raises:
        ValueError: if the first hundred lack one, or always have `_` in it.
    """
    sentences = iter(sentences)
    head = list(islice(sentences, 100))
    filled = [sentence for sentence in map(of, head) if sentence.tokens]
    for name in model.input_columns:
        if filled and all({*s.columns.get(name, "_")} == {"_"} for s in filled):
            where = f" (in CoNLL-U {NAMES[name]})" if name in NAMES else ""
            raise ValueError(
                f"the {model.kind} reads the column {name!r}{where}, which the input "
                f"lacks: {model.missing_column.format(name=name)}"
            )
    yield from chain(head, sentences)


def gold_sentences(model, sentences: Iterable) -> list:
    """Annotated sentences with what the model reads and learns.

    A tagger that learns the column `ner` finds the tags of entities there.

    Raises:
        ValueError: see `with_columns`.
    """
    sentences = list(with_columns(model, sentences))
    if NER in getattr(model, "column_names", ()):
        return with_named_entities(sentences)
    return sentences
