"""Raw text: its lines from a file, and sentences of lines with blanks between words."""

import re
from collections.abc import Iterable, Iterator, Sized
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO

from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.records import CorpusError, message, unread
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.utils import limits

# as in files of tokens: any other white space is part of a word
WORD = re.compile("[^ \t\r\n]+")


def text_lines(path: str | Path | IO, encoding: str | None = None) -> Iterator[str]:
    """The lines of a text with their ends, in constant memory.

    Together they are the text, without a byte order mark, and with line feeds where
    carriage returns alone end lines.

    Args:
        path, encoding: as in `data.read`.

    Raises:
        CorpusError: if there is no such file, or, during the iteration, at a line that
            is not in this encoding or longer than `limits.SENTENCE_CHARACTERS`.
        ValueError: if the encoding is unknown.
    """
    name = source_name(path)
    return _text_lines(numbered_lines(path, name, encoding, raw=True), name)


def _text_lines(lines, name: str) -> Iterator[str]:
    with closing(lines):
        for number, line in lines:
            if not isinstance(line, str):
                raise CorpusError(message(name, unread(number, line))) from None
            if line.endswith("\r"):  # the end of a line in a file without line feeds
                line = line[:-1] + "\n"
            yield line.removeprefix("\ufeff") if number == 1 else line


def without_mark(text: str) -> str:
    """A text with a blank in the place of a byte order mark: places stay."""
    return re.sub("^\ufeff", " ", text)


def pieces_of(text: str | Iterable[str]) -> Iterator[str]:
    """The pieces of a text: the string, or those that are one when they are joined.

    A byte order mark becomes a blank: it is part of no word, and places stay.

    Raises:
        ValueError: during the iteration, if a list has two pieces without white space
            between them. Those of an open file or generator may be cut anywhere.
    """
    before, starts = "", True
    for piece in [text] if isinstance(text, str) else text:
        if starts and isinstance(piece, str) and piece:
            starts = False
            piece = without_mark(piece)
        if isinstance(text, Sized) and isinstance(piece, str):
            ends = before[-1:], piece[:1]
            if all(ends) and not any(map(str.isspace, ends)):
                joined = f"{before[-20:]!r} and {piece[:20]!r}"
                raise ValueError(f"{joined} would be joined: use annotate_documents")
            before = piece or before
        yield piece


def sentences_of_lines(chunks: Iterable[str]) -> Iterator[Sentence]:
    """Sentences of a text that has one in each line, with blanks between its words.

    Lines without a word are no sentences.

    Args:
        chunks: the text in pieces of any size.

    Returns:
        Sentences with their `surface`. A sentence comes when the next one is known.

    Raises:
        ValueError: if a line has more than `limits.SENTENCE_CHARACTERS` characters or
            `limits.SENTENCE_TOKENS` words; the message has its number.
    """
    held, start, space = None, 0, ""
    for number, line in enumerate(_lines(chunks), 1):
        words = list(islice(WORD.finditer(line), limits.SENTENCE_TOKENS + 1))
        letters, most = limits.SENTENCE_CHARACTERS, limits.SENTENCE_TOKENS
        if len(line) > letters or len(words) > most:
            what = f"more than {letters:,} characters or {most:,} words"
            raise ValueError(f"line {number} of the text has {what}; use a segmenter")
        if words:
            begin = words[0].start()
            if held is not None:
                # blank lines without end are not kept
                gap = space if len(space) <= limits.WHITE_CHARACTERS else None
                gap = None if gap is None else gap + line[:begin]
                yield replace(held, surface=replace(held.surface, after=gap))
            text = line[begin : words[-1].end()]
            spans = [(w.start() - begin, w.end() - begin) for w in words]
            surface = Surface(text, spans, [1] * len(spans), start + begin)
            held = Sentence(surface.tokens, surface=surface)
            space = line[words[-1].end() :]
        elif held is not None and len(space) <= limits.WHITE_CHARACTERS:
            space += line
        start += len(line)
    if held is not None:
        yield held


def _lines(chunks: Iterable[str]) -> Iterator[str]:
    """The lines with their ends, which are line feeds."""
    rest = ""
    for chunk in chunks:
        first, *others = chunk.split("\n")
        rest += first
        for other in others:
            yield rest + "\n"
            rest = other
        if len(rest) > limits.SENTENCE_CHARACTERS:
            break  # which is refused
    if rest:
        yield rest
