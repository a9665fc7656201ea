"""Reading and writing corpus files."""

import codecs
import gzip
import inspect
import io
import json
import sys
import warnings
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import IO

from keras_tagging.data.atomic import naming
from keras_tagging.data.columns import as_rows
from keras_tagging.data.formats import FORMATS
from keras_tagging.data.recognition import recognise
from keras_tagging.data.records import CorpusError, Line, Malformed, MalformedSentence
from keras_tagging.data.sentence import Sentence

WRITTEN = ("conll", "conllu", "jsonl")
HEAD = 200  # lines by which a format is recognised


def read(
    path: str | Path | IO,
    format: str | None = None,
    *,
    errors: str = "raise",
    encoding: str | None = None,
    skipped: list[str] | None = None,
    **options,
) -> Iterator[Sentence]:
    """Sentences of a file, one after the other, in constant memory.

    A line ends with a line feed, before which a carriage return is dropped, and with
    nothing else. A byte order mark is dropped. Tokens are normalised to NFC.

    Args:
        path: a file, gzip-compressed if its name ends in `.gz`, an open stream, or
            "-" for standard input.
        format: a name in `FORMATS`; by default recognised from the content.
        errors: "raise", or "skip" to leave malformed sentences out.
        encoding: by default UTF-8, or what an open text stream says.
        skipped: with `errors="skip"`, a list that collects one message for every
            sentence left out; without it, a warning gives their number at the end.
        options: the keyword arguments of `FORMATS[format]`.

    Raises:
        CorpusError: if there is no such file, the format is not recognised, or,
            during the iteration, at the first malformed sentence.
        ValueError: if the format or an option is unknown.
    """
    if errors not in ("raise", "skip"):
        raise ValueError(f"errors={errors!r}: it is 'raise' or 'skip'")
    name = source_name(path)
    lines = _numbered_lines(path, name, encoding)
    head, hint = [], ""
    if format is None:
        head = list(islice(lines, HEAD))
        format = recognise(head, name)
        hint = recognised(format)
    check_options(format, options)
    return _sentences(head, lines, name, format, errors, skipped, hint, options)


def check_options(format: str, options: Mapping[str, object]) -> None:
    """Raise ValueError if the format is unknown, or an option or its type is."""
    if format not in FORMATS:
        known = ", ".join(map(repr, FORMATS))
        raise ValueError(f"unknown format {format!r}: it is one of {known}")
    parameters = inspect.signature(FORMATS[format]).parameters.values()
    known = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    for option, value in options.items():
        if option not in known:
            raise ValueError(
                f"format {format!r} has no option {option!r}; "
                f"it has {', '.join([*known, 'encoding'])}"
            )
        if isinstance(known[option], bool) and not isinstance(value, bool):
            raise ValueError(f"{option}={value!r}: it is True or False")
        if option.endswith("_column") and not isinstance(value, int | None):
            raise ValueError(
                f"{option}={value!r}: a column is a number, counted from 0, or from "
                "the end if it is negative"
            )


def recognised(format: str) -> str:
    """What to add to the message of an error in a file of recognised format."""
    return f" (recognised as {format!r}: pass format= if it is not)"


def _sentences(head, lines, name, format, errors, skipped, hint, options):
    messages = [] if skipped is None else skipped
    try:
        with closing(lines):  # else an exception would keep the file open
            for result in FORMATS[format](chain(head, lines), **options):
                if isinstance(result, Sentence):
                    yield result
                elif errors == "raise":
                    raise MalformedSentence(message(name, result, hint))
                else:
                    messages.append(message(name, result, hint))
    except Malformed as problem:
        raise CorpusError(message(name, problem, hint)) from None
    if messages and skipped is None:
        warnings.warn(
            f"{len(messages)} malformed sentences left out; the first: {messages[0]}",
            stacklevel=2,
        )


def message(name: str, problem: Malformed, hint: str = "") -> str:
    return f"{name}:{problem.line}: {problem.what}; {problem.remedy}{hint}"


def source_name(path: str | Path | IO) -> str:
    if not isinstance(path, str | Path):
        return str(getattr(path, "name", "<stream>"))
    if str(path) == "-":
        return "<stdin>"
    if not Path(path).exists():
        raise CorpusError(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise CorpusError(f"{path}: is a directory; use load_corpus, or name a file")
    return str(path)


@contextmanager
def _opened(path: str | Path | IO, encoding: str | None):
    """The file or stream, as lines of bytes if possible, and its encoding."""
    try:
        codecs.lookup(encoding or "utf-8")
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding={encoding!r} is not known: try utf-8, latin-1 or cp1252"
        ) from None
    if str(path) == "-":
        path = getattr(sys.stdin, "buffer", sys.stdin)
    if isinstance(path, str | Path):
        opener = gzip.open if str(path).endswith(".gz") else open
        context = opener(path, "rb")
    else:
        # A text stream ends lines in its own way: go below it where that is possible.
        encoding = encoding or getattr(path, "encoding", None)
        context = nullcontext(getattr(path, "buffer", path))
    encoding = encoding or "utf-8"
    with context as stream:
        if "\n".encode(encoding) == b"\n":
            yield stream, encoding
        else:  # UTF-16 and the like, whose line feed is more than a byte
            wrapper = io.TextIOWrapper(stream, encoding, newline="\n")
            try:
                yield wrapper, encoding
            finally:
                wrapper.detach()


def raw_lines(path, name: str, encoding: str | None) -> Generator[Line, None, None]:
    """The numbered lines as they stand in the file, with their ends and a byte order
    mark."""
    number = 0
    with _opened(path, encoding) as (stream, encoding):
        try:
            for number, line in enumerate(stream, 1):
                if isinstance(line, bytes):
                    try:
                        line = line.decode(encoding)
                    except UnicodeDecodeError as error:
                        yield number, error
                        continue
                yield number, line
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
            what = f"{name}:{number + 1}: cannot be read: {error}"
            raise CorpusError(f"{what}; check that the file is complete") from None


def content(line: Line) -> Line:
    """The line without its end and without a byte order mark."""
    number, text = line
    if isinstance(text, str):
        if number == 1:
            text = text.removeprefix("\ufeff")
        text = text.removesuffix("\n").removesuffix("\r")
    return number, text


def _numbered_lines(
    path, name: str, encoding: str | None
) -> Generator[Line, None, None]:
    with closing(raw_lines(path, name, encoding)) as lines:
        yield from map(content, islice(lines, 1))
        for number, line in lines:  # as `content` does, without its call
            if isinstance(line, str):
                yield number, line.removesuffix("\n").removesuffix("\r")
            else:
                yield number, line


def detect_format(
    path: str | Path, *, encoding: str | None = None, default: str | None = None
) -> str:
    """The format of a file, recognised from its first lines.

    Args:
        path: the file.
        encoding: by default UTF-8.
        default: the format of a file whose lines fit several; by default that of
            sentences, "text", where a line looks like one, and else an error.

    Raises:
        CorpusError: if the lines fit no format, or two.
    """
    name = source_name(path)
    head = islice(_numbered_lines(path, name, encoding), HEAD)
    return recognise(head, name, default)


def write(
    sentences: Iterable[Sentence], target: str | Path | IO[str], format: str = "conll"
) -> None:
    """Write sentences as `read` reads them: "conll" (token, columns, tag, between
    tabs), "conllu" or "jsonl". The first two have no empty sentence: one leaves an
    extra blank line. CoNLL-U has the columns `lemma`, `pos`, `xpos`, `head` and
    `deprel`, no others, and the tags only where `pos` is not there.

    Raises:
        ValueError: if the format is another one, or a value cannot stand in a column.
    """
    if format not in WRITTEN:
        known = ", ".join(map(repr, WRITTEN))
        raise ValueError(f"cannot write format {format!r}: it is one of {known}")
    if isinstance(target, str | Path):
        with (
            naming(target),
            open(target, "w", encoding="utf-8", newline="\n") as stream,
        ):
            return write(sentences, stream, format)
    is_first = True
    for sentence in sentences:
        tags = {} if sentence.tags is None else {"tags": sentence.tags}
        if format == "jsonl":
            if clash := sentence.columns.keys() & {"tokens", "tags"}:
                raise ValueError(f"a column cannot be called {min(clash)!r}: rename it")
            fields = {"tokens": sentence.tokens, **tags, **sentence.columns}
            target.write(json.dumps(fields, ensure_ascii=False) + "\n")
            continue
        if format == "conllu":
            target.write(_as_conllu(sentence))
            continue
        columns = [sentence.tokens, *sentence.columns.values(), *tags.values()]
        target.write(as_rows(list(zip(*columns, strict=True)), is_first) + "\n")
        is_first &= not sentence.tokens


def _as_conllu(sentence: Sentence) -> str:
    from keras_tagging.data.conllu import as_conllu  # which imports this module

    unknown = ["_"] * len(sentence)
    columns = {"head": unknown, "deprel": unknown, "pos": sentence.tags or unknown}
    columns |= sentence.columns
    whole = Sentence(sentence.tokens, None, columns)
    return as_conllu(whole, columns["head"], columns["deprel"])
