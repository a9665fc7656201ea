"""Reading and writing corpus files."""

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO

from keras_tagging.data.columns import as_rows
from keras_tagging.data.formats import FORMATS
from keras_tagging.data.lines import (
    ends_in_returns,
    first_lines,
    numbered_lines,
    source_name,
)
from keras_tagging.data.paired import PAIRED, pair_of, paired_lines
from keras_tagging.data.recognition import recognise
from keras_tagging.data.records import (
    CorpusError,
    Malformed,
    MalformedSentence,
    left_out,
    message,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.tagged import json_line
from keras_tagging.utils.atomic import written_to
from keras_tagging.utils.checks import check_choice
from keras_tagging.utils.suggestions import check_known

WRITTEN = ("conll", "conllu", "jsonl")
#: options of "csv" that the formats it could be taken for lack
_OF_TABLES = {"sentence", "token", "tags", "quotes"}


def read(
    path: str | Path | IO,
    format: str | None = None,
    *,
    errors: str = "raise",
    encoding: str | None = None,
    skipped: list[str] | None = None,
    **options,
) -> Iterator[Sentence]:
    """Read the sentences of a file one after the other, in constant memory.

    A line ends with a line feed; a carriage return before it is dropped. If the file
    has no line feed, or three carriage returns before the first one, a line ends with
    a carriage return, and only the last line may end with a line feed. A byte order
    mark is dropped. Tokens are normalised to NFC. Lines, tokens and sentences beyond
    the limits of `utils.limits` are malformed.

    Args:
        path: a file, gzip-compressed if its name ends in `.gz`; an open stream; or "-"
            for standard input. Of two files the first: `seq.in`, beside which is
            `seq.out`, or brat's `X.txt` or `X.ann`.
        format: a name in `FORMATS`, or "seq" or "brat"; by default recognised from the
            content, from those names, or as "csv" from options such as `token`.
        errors: "raise", or "skip" to leave malformed sentences out.
        encoding: by default UTF-8, or the encoding of an open text stream.
        skipped: with `errors="skip"`, a list that collects one message for every
            sentence left out; without it, a warning gives their number at the end.
        options: the keyword arguments of `FORMATS[format]`.

    Raises:
        CorpusError: if there is no such file, the format is not recognised, or,
            during the iteration, at the first malformed sentence.
        ValueError: if the format, an option or the encoding is unknown.
    """
    check_choice("errors", errors, ("raise", "skip"))
    format = format or pair_of(path)
    if format in PAIRED:
        check_options(format, options)
        name, lines = paired_lines(format, path, encoding)
        return _sentences([], lines, name, "jsonl", errors, skipped, "", {})
    name = source_name(path)
    lines = numbered_lines(path, name, encoding)
    head, hint = [], ""
    if format is None:
        head = first_lines(lines)
        format = _recognised(head, name, None, options)
        hint = recognised(format)
    check_options(format, options)
    return _sentences(head, lines, name, format, errors, skipped, hint, options)


def _numbers(value) -> bool:
    kinds = list | tuple | set | frozenset | range
    return isinstance(value, kinds) and all(type(x) is int for x in value)


def _places(value) -> bool:
    """Whether a mapping names indices alone; the reader refuses what is none."""
    names = value.values() if isinstance(value, Mapping) else ()
    return all(type(place) is int for place in names)


#: options whose type is neither bool nor int: what tells a value, and what to give
_TYPES = {
    "separator": (lambda value: isinstance(value, str), "a string"),
    "sections": (_numbers, "a list of their numbers, such as [23]"),
    ("conll", "columns"): (_places, "indices of columns by name, such as {'pos': 1}"),
}


def check_options(format: str, options: Mapping[str, object]) -> None:
    """Raise a ValueError if the format or an option is unknown, or a type is wrong."""
    readers = FORMATS | PAIRED
    check_known("format", format, readers)
    parameters = inspect.signature(readers[format]).parameters.values()
    known = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    for option, value in options.items():
        if option not in known:
            raise ValueError(
                f"format {format!r} has no option {option!r}; "
                f"it has {', '.join([*known, 'encoding'])}"
            )
        if isinstance(known[option], bool) and not isinstance(value, bool):
            raise ValueError(f"{option}={value!r}: give True or False")
        if option.endswith("_column") and not isinstance(value, int | None):
            raise ValueError(
                f"{option}={value!r}: give the index of a column, counted from 0, or "
                "from the end if negative"
            )
        expected = _TYPES.get((format, option)) or _TYPES.get(option)
        if expected and value is not None and not expected[0](value):
            raise ValueError(f"{option}={value!r}: give {expected[1]}")


def recognised(format: str) -> str:
    """The hint for errors in a file whose format was recognised."""
    return f" (recognised as {format!r}: pass format= if it is not)"


def _sentences(head, lines, name, format, errors, skipped, hint, options):
    count, first = 0, ""
    try:
        with closing(lines):  # otherwise an exception would keep the file open
            for result in FORMATS[format](chain(head, lines), **options):
                if isinstance(result, Sentence):
                    yield result
                elif errors == "raise":
                    raise MalformedSentence(message(name, result, hint))
                elif skipped is None:
                    first = first or message(name, result, hint)
                    count += 1
                else:
                    skipped.append(message(name, result, hint))
    except Malformed as problem:
        raise CorpusError(message(name, problem, hint)) from None
    if count:
        warnings.warn(f"{left_out(count)}; the first: {first}", stacklevel=2)


def detect_format(
    path: str | Path,
    *,
    encoding: str | None = None,
    default: str | None = None,
    options: Iterable[str] = (),
) -> str:
    """The format of a file, recognised from its first lines.

    Args:
        path: the file.
        encoding: by default UTF-8.
        default: the format of a file whose lines fit several. Without it, such a file
            is "text" if a line looks like a sentence, and an error otherwise.
        options: the names of those that `read` is given: what "csv" alone has tells a
            table from other rows.

    Raises:
        CorpusError: if the lines fit no format, or several.
        ValueError: if the encoding is unknown.
    """
    name = source_name(path)
    if pair := pair_of(path):
        return pair
    with closing(numbered_lines(path, name, encoding)) as lines:
        return _recognised(first_lines(lines), name, default, options)


def _recognised(head, name: str, default: str | None, options: Iterable[str]) -> str:
    """`recognise`, where options may tell that the first row is a header."""
    if not _OF_TABLES.isdisjoint(options):
        found = recognise(head, name, "csv")
        return "csv" if found in ("conll", "text", "tokens") else found
    return recognise(head, name, default)


def write(
    sentences: Iterable[Sentence], target: str | Path | IO[str], format: str = "conll"
) -> None:
    """Write sentences in a format that `read` reads: "conll", "conllu" or "jsonl".

    CoNLL rows are the token, the columns and the tag, separated by tabs; the columns of
    all sentences are in the order that those of the first one have. CoNLL-U has
    the columns `lemma`, `pos`, `xpos`, `feats`, `head` and `deprel`, in MISC the
    entities of `ner`, which `read` does not read, and no others; it has the tags only
    if there is no `pos`. Neither can hold an empty sentence, which becomes an extra
    blank line. A file appears when it is whole: an error leaves the old one.

    Raises:
        ValueError: for another format, or a value that a column cannot hold, such as
            three carriage returns in the first line, which would end lines; for CoNLL
            also if sentences do not have the same columns.
    """
    if format not in WRITTEN:
        known = ", ".join(map(repr, WRITTEN))
        raise ValueError(f"cannot write format {format!r}: known are {known}")
    if isinstance(target, str | Path):
        with (
            written_to(Path(target)) as partial,
            open(partial, "w", encoding="utf-8", newline="\n") as stream,
        ):
            return write(sentences, stream, format)
    names, is_start = None, True
    for sentence in sentences:
        tags = {} if sentence.tags is None else {"tags": sentence.tags}
        clash = sentence.columns.keys() & {"tokens", "tags"}
        if clash and format != "conllu":
            raise ValueError(f"a column cannot be called {min(clash)!r}: rename it")
        if format == "jsonl":
            fields = {"tokens": sentence.tokens, **tags, **sentence.columns}
            text = json_line(fields)
        elif format == "conllu":
            text = _as_conllu(sentence)
        else:
            text = _as_conll(sentence, names) + "\n"
            if names is None and sentence.tokens:
                names = _names_of(sentence)
        check_writable(text)
        if is_start and ends_in_returns(text):
            words = " ".join(sentence.tokens[:4])[:40]
            raise ValueError(
                f"{words!r} has carriage returns, and as the first line it "
                "cannot be a CoNLL row: write 'jsonl' instead"
            )
        is_start = False
        target.write(text)


def check_writable(text: str) -> None:
    """Raise a ValueError if no file could hold the text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        start = max(0, error.start - 20)
        raise ValueError(
            f"{text[start : error.end + 20]!r} has half of a surrogate pair at "
            f"character {error.start - start + 1}, which no file can hold: replace it"
        ) from None


def _names_of(sentence: Sentence) -> list[str]:
    """The names of the columns behind the token; the tags come last."""
    return [*sentence.columns, *([] if sentence.tags is None else ["tags"])]


def _as_conll(sentence: Sentence, names: list[str] | None) -> str:
    """The rows of a sentence.

    Args:
        sentence: which may have no token.
        names: those of the columns of the first sentence; None for the first one.
    """
    own = _names_of(sentence)
    if names is not None and sentence.tokens and sorted(own) != sorted(names):
        words = " ".join(sentence.tokens[:4])[:40]
        columns, others = (", ".join(x) or "none" for x in (own, names))
        raise ValueError(
            f"{words!r} has the columns {columns}, and the first sentence has {others}:"
            " give all of them the same, or write 'jsonl' instead"
        )
    fields = {**sentence.columns, "tags": sentence.tags}
    columns = [fields[name] for name in names or own] if sentence.tokens else []
    return as_rows([*zip(sentence.tokens, *columns, strict=True)], names is None)


def _as_conllu(sentence: Sentence) -> str:
    from keras_tagging.data.conllu import as_conllu  # which imports this module

    unknown = ["_"] * len(sentence)
    columns = {"head": unknown, "deprel": unknown, "pos": sentence.tags or unknown}
    columns |= sentence.columns
    whole = Sentence(sentence.tokens, None, columns)
    return as_conllu(whole, columns["head"], columns["deprel"])
