"""Tables with a header and a row for each token: CSV and TSV."""

import csv as rows_of
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from keras_tagging.data.named_columns import field_of
from keras_tagging.data.records import (
    BLANK,
    Line,
    Malformed,
    Record,
    is_blank,
    parse_each,
    sentence_of,
    unread,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits
from keras_tagging.utils.checks import check_known

SEPARATORS = ",\t;"
NO_HEADER = "without a header it is format='conll', separator=','"


def csv(
    lines: Iterable[Line],
    *,
    separator: str | None = None,
    sentence: str | None = None,
    token: str | None = None,
    tags: str | None = None,
    columns: Sequence[str] | None = None,
    quotes: bool = True,
) -> Iterator[Sentence | Malformed]:
    """A row for each token, below a header: what `annotate --output csv` writes.

    A sentence ends where the value in its column changes, and an empty cell there has
    the value above; in a table without such a column, at a blank line. The rows of a
    sentence follow one another; the header, given again, begins another table, as in
    files that were joined. Cells as in RFC 4180, but without line ends, and
    without blanks around them. A row for a sentence is an error.

    Args:
        separator: between cells; by default the most frequent of comma, tab and
            semicolon in the header.
        sentence, token, tags, columns: names of columns, as in `from_dataframe`.
        quotes: False if a quotation mark is a character like others.
    """
    lines = iter(lines)
    number, first = next((line for line in lines if not is_blank(line[1])), (1, ""))
    if not isinstance(first, str):
        raise unread(number, first)
    if not first:
        return
    separator = separator or max(SEPARATORS, key=first.count)
    split = _splitter(separator, quotes)
    names = split(number, first)
    if twice := {name for name in names if name and names.count(name) > 1}:
        what = f"two columns are called {min(twice)[:40]!r}"
        raise Malformed(number, what, "rename one")
    try:
        columns = columns.split(",") if isinstance(columns, str) else columns
        header = header_of(names, sentence, token, tags, columns)
    except ValueError as error:
        raise Malformed(number, str(error), NO_HEADER) from None

    def parse(record: _Rows) -> Sentence:
        cells = record.cells
        rows = [cells.get(number) or split(number, line) for number, line in record]
        for (number, _), row in zip(record, rows, strict=True):
            if len(row) != len(names):
                what = f"{len(row)} cells, but the header has {len(names)}"
                raise Malformed(number, what, "put cells with a separator in quotes")
        # a column without any value is not there, but that of words
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        columns = {k: v for k, v in columns.items() if any(v) or k == header.token}
        words, alone = columns[header.token], header.sentence in (None, header.token)
        several = [word for word in words if " " in word]
        # in a sentence of one row, "New York" is a word, if its tag is one
        is_row = len(words) > 1 or " " in columns.get(header.tags, words)[0]
        if alone and is_row and 2 * len(several) > len(words):
            what = f"{several[0][:40]!r} in {header.token[:40]!r} is no word"
            remedy = "give each word a row, or dicts with lists to data.from_dataset"
            raise Malformed(record[0][0], what, remedy)
        for name in filter(columns.get, (header.token, header.tags)):
            if "" in columns[name]:
                what = f"an empty cell in the column {name[:40]!r}"
                raise Malformed(record[columns[name].index("")][0], what, "fill it")
        others = {field_of(k): columns[k] for k in header.others if k in columns}
        return sentence_of(columns[header.token], columns.get(header.tags), others)

    both = (header.document, header.sentence) if header.sentence else ()
    identifying = [names.index(name) for name in filter(None, both)]
    records = _records(lines, first, split, identifying, len(names))
    yield from parse_each(records, parse)


def _splitter(separator: str, quotes: bool) -> Callable[[int, str], list[str]]:
    """The function from the number of a line, and the line, to its cells."""

    def split(number: int, line: str) -> list[str]:
        if not quotes or '"' not in line:
            cells = line.split(separator, limits.COLUMNS)
        else:
            try:
                options = {"strict": True, "skipinitialspace": True}
                [cells] = rows_of.reader([line], delimiter=separator, **options)
            except rows_of.Error:
                what = "a cell in quotes does not end, or goes on behind them"
                raise Malformed(number, what, "pass quotes=False") from None
        if " " in line:
            cells = [cell.strip(BLANK) for cell in cells]
        if len(cells) > limits.COLUMNS:
            what = f"more than {limits.COLUMNS:,} cells"
            raise Malformed(number, what, "remove some")
        return cells

    return split


class _Rows(Record):
    """The lines of a sentence.

    Attributes:
        cells: by the number of a line, of those that have been split.
    """

    def __init__(self):
        super().__init__()
        self.cells = {}

    def refuse(self):
        super().refuse()
        self.cells.clear()


def _records(
    lines, header: str, split, identifying: list[int], width: int
) -> Iterator[_Rows]:
    """The rows of each sentence."""
    record, key, seen = _Rows(), None, set()
    for number, line in lines:
        if is_blank(line) or line == header:
            if record and (line == header or not identifying):
                yield record
                record = _Rows()
            if line == header:
                key, seen = None, set()
            continue
        cells = _cells(number, line, split, width) if identifying else None
        # empty cells have what is above
        above = key or ("",) * len(identifying)
        its_key = above
        if cells and (cells[identifying[-1]] or key is None):
            its_key = tuple(
                cells[i] or x for i, x in zip(identifying, above, strict=True)
            )
        if identifying and cells and its_key != key:
            if record:
                yield record
            record, key = _Rows(), its_key
            if key in seen:
                what = f"the rows of the sentence {key[-1][:40]!r} do not follow others"
                line = Malformed(number, f"{what} of it", "sort the rows by sentence")
            seen.add(key)
        record.add(number, line)
        if cells is not None:
            record.cells[number] = cells
    if record:
        yield record


def _cells(number, line, split, width) -> list[str] | None:
    """The cells of a row; None if it cannot be read, which `parse` tells."""
    try:
        cells = split(number, line) if isinstance(line, str) else []
    except Malformed:
        return None
    return cells if len(cells) == width else None


# names of columns, in small letters, the first that there is
SENTENCE = ("sentence", "sentence_id", "sent_id", "sentence #", "sentence_idx")
TOKEN = ("text", "token", "word", "form", "tokens", "words")
TAGS = ("tag", "tags", "label", "labels", "ner_tag", "ner_tags", "ner")
PLACES = ("id", "start", "end")
DOCUMENT = "document"
#: of a table that `annotate` or `to_dataframe` has written: its tags are `tag` alone
OWN = {"sentence", "id", "text"}


@dataclass(frozen=True)
class Header:
    """The names of the columns of words, sentences, documents, tags, and all others."""

    token: str
    sentence: str | None
    document: str | None
    tags: str | None
    others: list[str]


def header_of(
    names: Sequence[str],
    sentence: str | None = None,
    token: str | None = None,
    tags: str | None = None,
    columns: Iterable[str] | None = None,
    needs_sentence: bool = False,
) -> Header:
    """Say which column is what.

    Args:
        names: of all columns.
        sentence, token, tags, columns: as they were given; by default the usual ones,
            and as `columns` all others but places and probabilities of labels.
        needs_sentence: whether one must tell the sentences apart.

    Raises:
        ValueError: if there is no such column.
    """
    usual = TAGS[:1] if set(names) >= OWN else TAGS
    token = _named("token", token, TOKEN, names)
    sentence = _named("sentence", sentence, SENTENCE, names, needs_sentence)
    tags = _named("tags", tags, usual, names, needed=False)
    document = DOCUMENT if DOCUMENT in names and sentence != DOCUMENT else None
    if columns is None:
        used = {sentence, token, tags, document, ""}
        used |= {n for n in names if n.lower() in PLACES}
        used |= {f"{n}_probability" for n in names}
        columns = [n for n in names if n not in used]
    others = [_named("columns", name, (), names) for name in columns]
    return Header(token, sentence, document, tags, others)


def _named(keyword, name, usual, names, needed=True) -> str | None:
    """The name of a column, as it was given, or the first of the usual ones."""
    listed = ", ".join(repr(name[:40]) for name in names[:20]) or "none"
    if name is not None:
        check_known("column", name, names)
        return name
    small = {one.lower(): one for one in reversed(names)}
    first = next((small[one] for one in usual if one in small), None)
    if first is None and needed:
        raise ValueError(f"name the column of each {keyword}, {keyword}=: {listed}")
    return first


def is_header(cells: Sequence[str]) -> bool:
    """Whether these are names of a column of words and of one of tags or sentences."""
    small = {cell.strip().lower() for cell in cells}
    return not small.isdisjoint(TOKEN) and not small.isdisjoint((*SENTENCE, *TAGS))
