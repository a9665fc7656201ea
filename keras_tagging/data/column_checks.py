"""Signs that a file of columns is read in a way that was not meant."""

import re
from collections.abc import Sequence
from itertools import groupby

# between columns of other programs, where the rows have neither tabs nor blanks
_SEPARATORS = ",;|"
_DIGIT = re.compile("[0-9]")
#: rows of a sentence, for each of its identifiers: fewer may be anything
_REPEATED = 3


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


def identifying_column(rows: Sequence[Sequence[str]]) -> int | None:
    """The first column that seems to number the sentences of a block.

    Its values have digits, each stands in rows that follow each other, and there are
    three or more of them, each in three rows on average.

    Args:
        rows: the cells of each row, all of the same number.
    """
    for index, column in enumerate(zip(*rows, strict=True)):
        runs = [value for value, _ in groupby(column)]
        if (
            3 <= len(runs) <= len(column) // _REPEATED
            and len(set(runs)) == len(runs)
            and all(map(_DIGIT.search, runs))
        ):
            return index
    return None
