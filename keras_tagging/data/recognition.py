"""Recognition of a file's format from its first lines."""

import re
from collections import Counter
from collections.abc import Iterable

from keras_tagging.data.column_checks import other_separator
from keras_tagging.data.headers import is_header
from keras_tagging.data.records import (
    CorpusError,
    Line,
    is_blank,
    is_document_mark,
    split_blanks,
)
from keras_tagging.data.tables import SEPARATORS

# Wrongly decoded text has none of these, but nearly every line of binary data has one.
_CONTROL = re.compile(b"[\0-\x08\x0e-\x19\x1c-\x1f]")
# As Hugging Face's datasets and pandas write them.
TABLES = (".arrow", ".parquet")
TABLE_REMEDY = (
    "read it with datasets or pandas; data.from_dataset or data.from_dataframe makes "
    "sentences of that, and data.write a corpus"
)
# `( (S`, `(ROOT`, or a root without a bracket around it, `(S (NP-SBJ`
_TREE = re.compile(
    r"[ \t]*\([ \t]*\([A-Z]|\((ROOT|TOP|S1)\b"
    r"|\([A-Z]+[ \t]+\([A-Z]+([-=][A-Z0-9]+)*[ \t]"
)
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
        what = "this is binary data, not a corpus"
        remedy = "unpack it if it is an archive, or pass encoding= if it is UTF-16"
        if name.lower().endswith(TABLES):
            remedy = TABLE_REMEDY
        raise CorpusError(f"{name}: {what}; {remedy}")
    if not rows:
        return default or "text"
    first = rows[0]
    if re.match(r"[ \t]*(<\?xml|<!)", first):
        what = "this is XML, which is not a corpus format here"
        raise CorpusError(f"{name}: {what}; convert it, or pass format= if it is text")
    if first.startswith(("ID=", "(<T ", "(<L ")):
        return "auto"
    if _TREE.match(first):
        return "mrg"
    phrase = re.match(r"={5,}[ \t]*$|\[ [^ ]([^ ]*)[^ ] ", first)
    if phrase and (phrase[1] is None or "/" in phrase[1]):
        return "pos"
    if re.match(r'[ \t]*\{[ \t]*("|\}|$)', first):
        return "jsonl"
    if _is_table(first, name):
        return "csv"
    if _is_treebank(rows, name):
        return "conllu"  # or CoNLL-X, which is CoNLL-U with words only
    if re.match(r"BOS( .*)? EOS[ ]*\t", first):
        return "atis"
    if re.match(r"[ \t]*[0-9]+[ \t]*\|\w+ [0-9]+:", first):
        return "ctf"
    if "\t" in first:
        return "conll"
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
    if not isinstance(line, UnicodeDecodeError):
        return False
    return _CONTROL.search(line.object) is not None


def _recognise_blanks(
    lines: list[str], rows: list[str], name: str, default: str | None
) -> str:
    """Tell columns between blanks, bare tokens and text apart.

    Blocks of rows of equal width are columns. A file that could be text or columns is
    an error, unless there is a default.
    """
    if len(rows) == 1:
        return default or "text"
    width, count = Counter(len(split_blanks(row)) for row in rows).most_common(1)[0]
    if count < 0.9 * len(rows):
        return default or "text"
    has_blocks = any(
        before and line and not after
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
    )
    if has_blocks:
        is_bare = width == 1 and not other_separator(rows)
        return "tokens" if is_bare else "conll"
    if default:
        return default
    columns = "'tokens'" if width == 1 else "'conll'"
    some = "all" if count == len(rows) else "nearly all"
    what = f"{some} lines have the same number of words, as sentences or tokens may"
    remedy = f"pass format='text' for sentences, format={columns} for tokens"
    raise CorpusError(f"{name}: {what}; {remedy}")
