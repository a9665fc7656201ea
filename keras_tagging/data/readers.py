"""Reading and writing corpus files: by format, which their first lines tell."""

import inspect
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import IO, Any

from keras_tagging.data.conllu import as_conllu
from keras_tagging.data.formats.atis import atis, ctf
from keras_tagging.data.formats.brackets import auto, mrg, pipe, pos
from keras_tagging.data.formats.columns import (
    as_rows,
    conll,
    other_separator,
    text,
    tokens,
)
from keras_tagging.data.formats.json_lines import (
    PAIRED,
    json_line,
    jsonl,
    pair_of,
    paired_lines,
)
from keras_tagging.data.formats.tables import SEPARATORS, csv, is_header
from keras_tagging.data.formats.treebanks import conllu, conllx
from keras_tagging.data.lines import (
    ends_in_returns,
    first_lines,
    numbered_lines,
    source_name,
)
from keras_tagging.data.records import (
    BLANK,
    CorpusError,
    Line,
    Malformed,
    MalformedSentence,
    is_blank,
    is_document_mark,
    left_out,
    likely_encoding,
    message,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence, beginning
from keras_tagging.utils.atomic import written_to
from keras_tagging.utils.checks import check_choice, check_known, checked

_READERS = (conll, conllu, conllx, pipe, auto, mrg, pos, atis, ctf, jsonl, csv, text)
FORMATS: dict[str, Callable[..., Iterator[Sentence | Malformed]]] = {
    reader.__name__: reader for reader in (*_READERS, tokens)
}

# Wrongly decoded text has none of these, but nearly every line of binary data has one.
_CONTROL = re.compile(b"[\0-\x08\x0e-\x19\x1c-\x1f]")
# As Hugging Face's datasets and pandas write them.
TABLES = (".arrow", ".parquet")
#: the ends of the names of files with a row for each word
OF_ROWS = (".conll", ".conll2003", ".iob", ".iob2", ".bio", ".bmes", ".bioes")
TABLE_REMEDY = "read it with datasets or pandas, and pass that to data.from_dataset"
# what the first row of a file begins with
_BEGINNINGS = {
    "auto": re.compile(r"ID=|\(<[TL] "),
    # `( (S`, `(ROOT`, or a root without a bracket around it, `(S (NP-SBJ`
    "mrg": re.compile(
        r"[ \t]*\([ \t]*\([A-Z]|\((ROOT|TOP|S1)\b"
        r"|\([A-Z]+[ \t]+\([A-Z]+([-=][A-Z0-9]+)*[ \t]"
    ),
    "jsonl": re.compile(
        r'[ \t]*(\{[ \t]*("|\}|$)|\[[ \t]*(\][ \t]*$|[{\[][ \t]*["\]}]))'
        r'|[ \t]*\["(\\.|[^"\\])*+",[ \t]*\{[ \t]*["}]'
    ),
    "pos": re.compile(r"={5,}[ \t]*$|\[ [^ ](?=[^ /]*/[^ ])[^ ]* "),
}
# and, of files without a header that are no treebank, what it is like
_ROWS = {
    "atis": re.compile(r"BOS( .*)? EOS[ ]*\t"),
    "ctf": re.compile(r"[ \t]*[0-9]+[ \t]*\|\w+ [0-9]+:"),
    "conll": re.compile(r"[^\t]*\t"),
}
_TREEBANK_ROW = re.compile(r"[0-9]+([-.][0-9]+)?(\t[^\t]*){9}")
_NUMBERED_ROW = re.compile(r"[0-9]+([-.][0-9]+)?[ \t]")


def recognise(head: Iterable[Line], name: str, default: str | None = None) -> str:
    """Recognise the format of a file.

    Args:
        head: its first lines.
        name: name of the file, for messages.
        default: the format if the lines fit several.

    Raises:
        CorpusError: if they fit none, or several and there is no default.
    """
    head = [line for _, line in head]
    lines = [line for line in head if isinstance(line, str)]
    lines = ["" if is_blank(line) else line for line in lines]
    filled = [line for line in lines if line and not is_document_mark(line)]
    # A `#` line may be a comment, and is one in most formats: judge by the others.
    rows = [line for line in filled if not line.startswith("#")] or filled
    if "\0" in "".join(rows[:1]) or any(map(_is_binary, head)):
        first = getattr(head[0], "object", None) or str(head[0]).encode()
        remedy = "unpack it if it is an archive"
        if (likely := likely_encoding(first)) != "cp1252":
            remedy += f", or pass encoding={likely!r} if it is text"
        remedy = TABLE_REMEDY if name.lower().endswith(TABLES) else remedy
        raise CorpusError(f"{name}: this is binary data, not a corpus; {remedy}")
    if not rows:
        return default or "text"
    first = rows[0] if rows[0].strip(BLANK) != "[" else " ".join(rows[:3])
    if re.match(r"[ \t]*(<\?xml|<!)", first):
        raise CorpusError(f"{name}: this is XML; convert it, or pass format='text'")
    for format, start in _BEGINNINGS.items():
        if start.match(first):
            return format
    if _is_table(first, name):
        return "csv"
    if _is_treebank(rows, name):
        return "conllu"  # or CoNLL-X, which is CoNLL-U with words only
    for format, row in _ROWS.items():
        if row.match(first):
            return format
    if all(item.count("|") >= 2 for item in split_blanks(first)):
        return "pipe"
    return _recognise_blanks(lines, rows, name, default)


def _is_treebank(rows: list[str], name: str) -> bool:
    """Whether these are rows of CoNLL-U, even damaged ones."""
    if name.lower().removesuffix(".gz").endswith(".conllu"):
        return any(map(_NUMBERED_ROW.match, rows))
    count = sum(_TREEBANK_ROW.fullmatch(row) is not None for row in rows)
    return _TREEBANK_ROW.fullmatch(rows[0]) is not None or 2 * count > len(rows)


def _is_table(first: str, name: str) -> bool:
    """Whether this is the header of a table."""
    if name.lower().removesuffix(".gz").endswith(".csv"):
        return True
    return any(is_header(first.replace('"', "").split(s)) for s in SEPARATORS)


def _is_binary(line: str | Exception) -> bool:
    is_bytes = isinstance(line, UnicodeDecodeError)
    return is_bytes and _CONTROL.search(line.object) is not None


def _recognise_blanks(
    lines: list[str], rows: list[str], name: str, default: str | None
) -> str:
    """Tell columns between blanks, bare tokens and text apart.

    Blocks of rows of equal width are columns, and so is what its name says. A file that
    could be text or columns is an error, unless there is a default.
    """
    width, count = Counter(len(split_blanks(row)) for row in rows).most_common(1)[0]
    if name.lower().removesuffix(".gz").endswith(OF_ROWS):
        has_blocks, is_bare = True, width == 1 and count == len(rows)
    elif len(rows) == 1 or count < 0.9 * len(rows):
        return default or "text"
    else:
        before_blank = zip(lines, lines[1:], lines[2:], strict=False)
        has_blocks = any(a and b and not c for a, b, c in before_blank)
        is_bare = width == 1
    if has_blocks:
        return "tokens" if is_bare and not other_separator(rows) else "conll"
    if default:
        return default
    columns = "'tokens'" if width == 1 else "'conll'"
    remedy = f"pass format='text' for sentences, format={columns} for tokens"
    raise CorpusError(f"{name}: lines have the same number of words; {remedy}")


WRITTEN = ("conll", "conllu", "jsonl")
#: options of "csv" that the formats it could be taken for lack
_OF_TABLES = {"sentence", "token", "tags", "quotes"}


def read(
    path: str | Path | IO[Any],
    format: str | None = None,
    *,
    errors: str = "raise",
    encoding: str | None = None,
    skipped: list[str] | None = None,
    **options: Any,
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


def check_options(format: str, options: Mapping[str, object]) -> None:
    """Raise a ValueError if the format or an option is unknown, or a type is wrong."""
    readers = FORMATS | PAIRED
    check_known("format", format, readers)
    parameters = inspect.signature(readers[format]).parameters.values()
    keywords = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
    for name, value in options.items():
        check_known(f"option of format {format!r}", name, [*keywords, "encoding"])
        # of collections the readers check the items
        checked(name, value, keywords[name].annotation, keywords[name].default)


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
        format = recognise(head, name, "csv")
        return "csv" if format in ("conll", "text", "tokens") else format
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
    check_choice("format", format, WRITTEN)
    if isinstance(target, str | Path):
        with (
            written_to(Path(target)) as partial,
            open(partial, "w", encoding="utf-8", newline="\n") as stream,
        ):
            return write(sentences, stream, format)
    first, is_start = None, True  # the columns of the first sentence
    for sentence in sentences:
        columns = dict(sentence.columns)
        clash = columns.keys() & {"tokens", "tags"}
        if clash and format != "conllu":
            raise ValueError(f"a column cannot be called {min(clash)!r}: rename it")
        if format == "conllu":
            tags = {} if sentence.tags is None else {"pos": sentence.tags}
            text = as_conllu(Sentence(sentence.tokens, None, tags | columns))
        else:
            tags = {} if sentence.tags is None else {"tags": sentence.tags}
            if format == "jsonl":
                text = json_line({"tokens": sentence.tokens, **tags, **columns})
            else:
                columns |= tags
                text = _as_conll(sentence, columns, first) + "\n"
                if first is None and sentence.tokens:
                    first = list(columns)
        text.encode("utf-8")  # no file can hold half of a surrogate pair
        if is_start and ends_in_returns(text):
            what = f"{beginning(sentence)} has carriage returns"
            raise ValueError(f"{what}, as the first line: write 'jsonl' instead")
        is_start = False
        target.write(text)


def _as_conll(sentence: Sentence, columns: dict, names: list[str] | None) -> str:
    """The rows of a sentence.

    Args:
        sentence: which may have no token.
        columns: those behind the token; the tags come last.
        names: of the columns of the first sentence; None for the first one.
    """
    if not sentence.tokens:
        return ""
    if names is not None and sorted(columns) != sorted(names):
        has, first = (", ".join(x) or "none" for x in (columns, names))
        what = f"{beginning(sentence)} has the columns {has}, the first {first}"
        raise ValueError(f"{what}: write 'jsonl' instead")
    rows = zip(sentence.tokens, *map(columns.get, names or columns), strict=True)
    return as_rows([*rows], names is None)
