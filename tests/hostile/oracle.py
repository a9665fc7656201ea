"""The rules that hold for every input, whatever it is."""

import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from hostile.harness import Wrong

from keras_tagging.data import Sentence, read, write
from keras_tagging.data.records import MalformedSentence

NAME = "input"  # of every file and stream
LONGEST_MESSAGE = 1500
LONGEST_CHECKED = 2000  # characters: beyond, a token is not normalised here


class Stream(io.BytesIO):
    """Bytes that have a name."""

    name = NAME


def refused(error: Exception, lines: int | None = None, name: str = NAME) -> str:
    """Checks that an error is one that the package documents: a ValueError of ours, as
    CorpusError is, or an OSError, in one line that names the file.

    Args:
        error: that the package has raised.
        lines: how many the input has, if the message must name one of them.
        name: of the file, "" if the error is about no file.
    """
    text, kind = str(error), type(error).__name__
    is_ours = type(error) is ValueError or "keras_tagging" in type(error).__module__
    if not (is_ours and isinstance(error, ValueError) or isinstance(error, OSError)):
        raise error
    reason = error
    while reason := reason.__context__:
        if isinstance(reason, MemoryError):
            raise Wrong("asked for more than 2 GB and hid it", text[:300]) from error
    if name not in text or not text:
        raise error  # of another place, or it names no file
    if len(text.splitlines()) != 1:
        raise Wrong("a message of several lines", repr(text[:300])) from error
    if len(text) > LONGEST_MESSAGE:
        raise Wrong("a message too long to read", text[:300]) from error
    if isinstance(error, MalformedSentence) and lines is not None:
        place = re.match(re.escape(name) + r":([0-9]+): .+; .+", text)
        if not place or not 1 <= int(place[1]) <= lines + 1:
            raise Wrong("a message without line or remedy", text[:300]) from error
    return kind


@dataclass(frozen=True)
class Expected:
    """What a file holds, counted in another way than the reader counts.

    Args:
        least, most: sentences, those left out included.
        tokens: of each sentence, if it is not left out.
        fewest, mostly: tokens of all sentences, if none is left out.
    """

    least: int = 0
    most: float = float("inf")
    tokens: list[list[str]] | None = None
    fewest: int = 0
    mostly: float = float("inf")


def check_reading(
    start: Callable[..., Iterator[Sentence]],
    lines: int | None = None,
    expected: Expected | None = None,
    can_be_empty: bool = False,
) -> tuple[str, list[Sentence]]:
    """Reads an input as the first malformed sentence ends it, and twice with such
    sentences left out.

    Args:
        start: gives the sentences; it takes `errors` and `skipped`, as `read` does.
        lines: of the input, if a message must name one.
        expected: what must be found.
        can_be_empty: whether a token can.

    Returns:
        "read", "left out" or the name of the error, and the sentences.
    """
    strict, _, error = _attempt(start, "raise")
    found, skipped, fatal = _attempt(start, "skip")
    again = _attempt(start, "skip")
    if (found, skipped, str(fatal)) != (*again[:2], str(again[2])):
        raise Wrong("reading twice gives something else")
    for each in (error, fatal):
        if each is not None:
            kind = refused(each, lines)
    if isinstance(fatal, MalformedSentence):
        raise Wrong("errors='skip' raises for a malformed sentence", fatal)
    if error is None and (skipped or fatal):
        raise Wrong("only errors='skip' finds something malformed", fatal or skipped[0])
    if isinstance(error, MalformedSentence):
        if not skipped or skipped[0] != str(error):
            raise Wrong("errors='skip' does not collect the message", error)
    elif str(error) != str(fatal):
        raise Wrong("errors='skip' hides an error of the whole file", error)
    if strict != found[: len(strict)] or (error is None and strict != found):
        raise Wrong("errors='skip' gives other sentences")
    for message in skipped:
        refused(MalformedSentence(message), lines)
    for sentence in found:
        _check_sentence(sentence, can_be_empty)
    if fatal is None and expected is not None:
        _check_nothing_lost(found, skipped, expected)
    if fatal is not None:
        return kind, found
    return ("left out" if skipped else "read"), found


def _attempt(start, errors):
    found, skipped = [], []
    try:
        found.extend(start(errors=errors, skipped=skipped))
    except Exception as error:
        return found, skipped, error
    return found, skipped, None


def _check_sentence(sentence: Sentence, can_be_empty: bool) -> None:
    columns = [sentence.tokens, *sentence.columns.values()]
    columns += [] if sentence.tags is None else [sentence.tags]
    for values in columns:
        if len(values) != len(sentence.tokens):
            raise Wrong("not one value a token", sentence)
        if not all(isinstance(value, str) for value in values):
            raise Wrong("a value that is no string", values[:20])
    if not can_be_empty and not all(sentence.tokens):
        raise Wrong("an empty token", sentence.tokens[:20])


def _check_nothing_lost(found, skipped, expected: Expected) -> None:
    count = len(found) + len(skipped)
    if not expected.least <= count <= expected.most:
        told = f"{len(found)} and {len(skipped)} left out of {expected.least} or more"
        raise Wrong("not as many sentences as the file has", told)
    if skipped:
        return
    tokens = sum(map(len, found))
    if not expected.fewest <= tokens <= expected.mostly:
        told = f"{tokens} of {expected.fewest} to {expected.mostly}"
        raise Wrong("not as many tokens as the file has", told)
    if expected.tokens is None:
        return
    for sentence, tokens in zip(found, expected.tokens, strict=True):
        if list(map(_compared, sentence.tokens)) != list(map(_compared, tokens)):
            told = f"{sentence.tokens[:9]} of {tokens[:9]}"
            raise Wrong("not the tokens that the file has", told)


def _compared(token: str) -> str:
    # normalising takes time that grows with the square of the combining marks
    long = len(token) > LONGEST_CHECKED
    return token[:9] if long else unicodedata.normalize("NFC", token)


def check_written(sentences: Sequence[Sentence], conllu: bool = False) -> None:
    """What was read can be written, and is the same when it is read back."""
    text = _written(sentences, "jsonl")
    if list(read(Stream(text), "jsonl")) != list(sentences):
        raise Wrong("jsonl does not give back what was read")
    if conllu:
        text = _accepted(sentences, "conllu")
        if text is not None and list(read(Stream(text), "conllu")) != list(sentences):
            raise Wrong("conllu does not give back what was read")
    filled = [sentence for sentence in sentences if sentence.tokens]
    if len({(s.tags is None, *s.columns) for s in filled}) != 1:
        return  # the columns differ
    if (text := _accepted(filled, "conll")) is None:
        return
    first = filled[0]
    columns = {name: index for index, name in enumerate(first.columns, 1)}
    tag_column = None if first.tags is None else len(columns) + 1
    options = {"separator": "\t", "columns": columns, "tag_column": tag_column}
    format = "conll" if columns or first.tags is not None else "tokens"
    back = read(Stream(text), format, **(options if format == "conll" else {}))
    if list(back) != filled:
        raise Wrong("conll does not give back what was read")


def _accepted(sentences, format: str) -> bytes | None:
    """What is written; None if the format cannot hold it, and the error says so."""
    try:
        return _written(sentences, format)
    except ValueError as error:
        if "cannot be a CoNLL row: write 'jsonl' instead" not in str(error):
            raise
        return None


def _written(sentences, format: str) -> bytes:
    stream = io.StringIO()
    write(sentences, stream, format)
    return stream.getvalue().encode("utf-8")
