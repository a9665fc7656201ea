"""The formats with one token a line, CoNLL columns and bare tokens; and plain text."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from keras_tagging.data.formats.brackets import Notation, category_at
from keras_tagging.data.records import (
    BLANK,
    MARK,
    Line,
    Malformed,
    blocks,
    is_blank,
    is_document_mark,
    parse_each,
    sent_id_of,
    sentence_of,
    split_blanks,
)
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits

NO_ROW = ("#", MARK)  # beginnings of comments and document marks


def conll(
    lines: Iterable[Line],
    *,
    separator: str | None = None,
    token_column: int = 0,
    tag_column: int | None = -1,
    sentence_column: int | None = None,
    columns: dict[str, int] | None = None,
    comments: bool = True,
    categories: Notation | None = None,
) -> Iterator[Sentence | Malformed]:
    """One token a line, blank lines between sentences.

    Several blank lines in a row count as one: this format has no empty sentence.

    A line beginning with `#` is a comment or a row whose token is `#`. Before the first
    row of a sentence it is a comment if its number of columns is not that of the rows,
    or if the file has a separator and a blank follows the `#`. Between rows it is a
    comment only if the file has a separator, a blank follows the `#`, and the line is a
    single column.

    A sentence may begin with document marks, the lines of CoNLL-2003 whose first column
    is `-DOCSTART-`; they are not rows.

    Args:
        separator: the string between columns, beside which blanks do not count, nor
            does one at the end of each row; by default a tab if most of the first rows
            have one, else any run of blanks and tabs.
        token_column: index of the word; negative indices count from the right. Of three
            columns whose first has the positions of words, it is 1.
        tag_column: index of the tag. None, or the token's column: no tags.
        sentence_column: index of a column with another value in each sentence, for
            files without blank lines.
        columns: indices of further columns, by the name they get.
        comments: False if no line is a comment or a document mark.
        categories: "ccgbank" or "pmb" if the tags are CCG categories: they are brought
            into normal form in this notation; one that cannot be parsed is malformed.
    """
    rows, lines = _first_rows(lines, comments)
    is_given = separator is not None
    if separator is None and 2 * sum("\t" in row for row in rows) > len(rows):
        separator = "\t"
    most = width = limits.COLUMNS

    def cells_of(line: str) -> list[str]:
        cells = line.split(separator, most)
        if " " in line:
            cells = [cell.strip(BLANK) for cell in cells]
        while len(cells) > width and not cells[-1]:
            cells.pop()
        return cells

    split = cells_of if separator else split_blanks
    # The usual width of the first rows, so that one bad row does not decide it.
    [(width, _)] = Counter(len(split(row)) for row in rows).most_common(1) or [(0, 0)]
    columns = columns or {}
    if not all(type(index) is int for index in columns.values()):
        raise ValueError(f"columns={columns!r}: give indices, such as {{'pos': 1}}")
    indices = {"token_column": token_column, "tag_column": tag_column, **columns}
    if sentence_column is not None:
        indices["sentence_column"] = sentence_column
    cells = [cells for cells in map(split, rows) if len(cells) == width]
    while width > 1 and not any(row[width - 1] for row in cells):
        width -= 1  # separators at the ends of rows
    if width:
        _check_indices(indices, width)
        if width == 3 and are_positions([row[token_column] for row in cells]):
            token_column = indices["token_column"] = (token_column + 1) % width
        token_column %= width
        if width > 2 and are_positions([row[token_column] for row in cells]):
            what = f"column {token_column + 1} has the positions of words"
            raise Malformed(1, what, "pass token_column=, from 0, or format='conllu'")
        if tag_column is not None and tag_column % width == token_column:
            tag_column = None
    if width == 1 and not is_given and (other := other_separator(rows)):
        what = f"the rows have a single column, with {other!r} in each"
        raise Malformed(1, what, f"pass separator={other!r}, or format='tokens'")

    def is_mark(line: str) -> bool:
        return line.startswith(MARK) and MARK in (split(line)[0], split_blanks(line)[0])

    def is_comment(line: str, inside: bool) -> bool:
        if not line.startswith(NO_ROW) or not comments:
            return False
        if not line.startswith("#"):
            return is_mark(line) and not inside
        cells = split(line)
        if not separator:
            return not inside and len(cells) != width
        single = len(cells) == 1 < width
        titled = re.match(r"#+ ", line if single else cells[0])
        return bool(titled and single) if inside else bool(titled or single)

    def parse(block: list[Line]) -> Sentence | None:
        start = 0
        while start < len(block) and is_comment(block[start][1], inside=False):
            start += 1
        sent_id = None
        if start:
            sent_id = sent_id_of(line for _, line in block[:start])
            block = block[start:]
        # Nearly always all other lines are rows: only an odd block is checked line by
        # line.
        rows = [split(line) for _, line in block]
        is_odd = set(map(len, rows)) != {width} or any("" in row for row in rows)
        if is_odd or width > most or any(line.startswith(NO_ROW) for _, line in block):
            block = rows_of(block)
            rows = [split(line) for _, line in block]
        if not rows:
            return None
        by_column = list(zip(*rows, strict=True))
        tags = None if tag_column is None else by_column[tag_column]
        if tags and categories:
            numbers = (number for number, _ in block)
            numbered = zip(numbers, tags, strict=True)
            tags = [category_at(number, tag, categories) for number, tag in numbered]
        named = {name: by_column[index] for name, index in columns.items()}
        return sentence_of(by_column[token_column], tags, named, sent_id)

    def rows_of(block: list[Line]) -> list[Line]:
        """The lines that are rows, each of which has been checked."""
        rows = []
        for number, line in block:
            if is_comment(line, inside=bool(rows)):
                continue
            cells = split(line)
            if comments and is_mark(line):
                what = f"the document mark {MARK} is inside a sentence"
                raise Malformed(number, what, "put a blank line before it")
            if len(cells) != width or width > most:
                count = str(len(cells)) if len(cells) <= most else f"over {most:,}"
                what = f"{count} columns where the file has {min(width, most)}"
                raise Malformed(number, what, "mend the row, or pass separator=")
            for name, index in indices.items():
                if index is not None and not cells[index]:
                    what = f"column {index % width + 1} ({name}) is empty"
                    raise Malformed(number, what, "fill it in, or remove the row")
            rows.append((number, line))
        return rows

    if sentence_column is not None:
        lines = _separated(lines, split, width, sentence_column)
    yield from parse_each(blocks(lines), parse)


def _check_indices(indices: dict[str, int | None], width: int) -> None:
    for name, index in indices.items():
        if index is not None and not -width <= index < width:
            what = f"{name}={index}, but the rows have {width} columns"
            raise Malformed(1, what, f"give an index from 0 to {width - 1}")
    column = indices.get("sentence_column")
    if column is not None and column % width == indices["token_column"] % width:
        what = f"sentence_column={column} is the column of the words"
        raise Malformed(1, what, "pass token_column= with theirs, from 0")


def _separated(lines, split, width: int, column: int) -> Iterator[Line]:
    """The lines, with a blank one where the column changes."""
    before = None
    for number, line in lines:
        cells = split(line) if isinstance(line, str) else []
        if len(cells) == width:
            if before not in (None, cells[column]):
                yield number, ""
            before = cells[column]
        yield number, line


def as_rows(rows: Sequence[tuple[str, ...]], is_first: bool = False) -> str:
    """A sentence as tab-separated rows that `conll` can read, without the blank line.

    Args:
        rows: the columns of each token.
        is_first: whether the sentence begins a file.

    Raises:
        ValueError: if `conll` could not read a row back.
    """
    lines = []
    for position, row in enumerate(rows):
        line = "\t".join(row)
        is_taken_for = (
            is_blank(line)
            or line.endswith("\r")
            or (position == 0 and re.match("#+ ", line))  # a comment
            or is_document_mark(row[0])
            or (len(row) == 1 and split_blanks(line) != [line])
            or any(cell != cell.strip(BLANK) for cell in row)
            or (position == 0 and is_first and line.startswith("\ufeff"))
        )
        if not all(row) or "\n" in line or line.count("\t") >= len(row) or is_taken_for:
            raise ValueError(f"{row} cannot be a CoNLL row: write 'jsonl' instead")
        lines.append(line + "\n")
    return "".join(lines)


def _first_rows(lines, comments: bool, count: int = 50):
    """The first lines that are certainly rows, and an iterator over all lines."""
    head, rows, size = [], [], 0
    lines = iter(lines)
    for number, line in lines:
        head.append((number, line))
        if isinstance(line, str) and not is_blank(line):
            size += len(line)
            if not (comments and line.startswith(NO_ROW)):
                rows.append(line)
        if len(rows) == count:
            break
        if len(head) > limits.SENTENCE_TOKENS or size > limits.SENTENCE_CHARACTERS:
            if rows or not all(map(_is_nothing, head)):
                break
            head, size = [], 0
    if not rows:  # every line begins with #: then # is a token wherever it can be
        lines_left = (line for line in head if not _is_nothing(line))
        rows = [line for _, line in lines_left if isinstance(line, str)]
    return rows, chain(head, lines)


def _is_nothing(numbered: Line) -> bool:
    """Whether the line alone shows that it is blank, a comment or a document mark."""
    line = numbered[1]
    is_text = isinstance(line, str)
    return is_text and (
        is_blank(line) or line.startswith("# ") or is_document_mark(line)
    )


def tokens(
    lines: Iterable[Line], *, separator: str = "\t", token_column: int = 0
) -> Iterator[Sentence | Malformed]:
    """Untagged text with one token a line, blank lines between sentences.

    Args:
        separator: the string between columns, if there are several.
        token_column: index of the word.
    """
    return conll(lines, separator=separator, token_column=token_column, tag_column=None)


# between columns of other programs, where the rows have neither tabs nor blanks
_SEPARATORS = ",;|"


def other_separator(rows: Sequence[str]) -> str | None:
    """The character that stands inside of each row, as in `Laura,B-PER`.

    Args:
        rows: without tabs and blanks.
    """
    if len(rows) < 2:
        return None
    inner = [row[1:-1] for row in rows]
    return next((s for s in _SEPARATORS if all(s in row for row in inner)), None)


def are_positions(values: Sequence[str]) -> bool:
    """Whether these are the positions of words, 1, 2, 3, and 1 again."""
    expected = {"1"}
    for value in values:
        if value not in expected:
            return False
        expected = {"1", str(int(value) + 1)}
    return "2" in values


def text(lines: Iterable[Line]) -> Iterator[Sentence | Malformed]:
    """Untagged sentences, one a line, with blanks between the tokens.

    An empty line is an empty sentence.
    """

    def parse(record: list[Line]) -> Sentence:
        return sentence_of(split_blanks(record[0][1]))

    return parse_each(([line] for line in lines), parse)
