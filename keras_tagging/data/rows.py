"""Annotated sentences as a table with a row for each word: CSV."""

import csv
import io
from collections.abc import Iterable

from keras_tagging.data.sentence import Sentence

#: of the columns that JSON and tables call otherwise
NAMES = {"pos": "upos", "tags": "tag"}
PLACE = ("sentence", "id", "text", "start", "end")
#: what the names of columns of probabilities end in
PROBABILITY = "_probability"


def shown_columns(sentence: Sentence) -> dict[str, list[str]]:
    """The columns by the names that JSON and tables have; the tags last, if no UPOS."""
    columns = sentence.columns.items()
    named = {"upos" if name == "pos" else name: row for name, row in columns}
    if sentence.tags is not None and sentence.tags != sentence.columns.get("pos"):
        named["tag"] = sentence.tags
    return named


def shown_probabilities(sentence: Sentence) -> dict[str, list[float]]:
    """The probabilities of `shown_columns` that are known, by the same names.

    They have six digits behind the point: the rest is noise of single precision.
    """
    given = {NAMES.get(k, k): row for k, row in sentence.probabilities.items()}
    named = [name for name in shown_columns(sentence) if name in given]
    return {name: [round(p, 6) for p in given[name]] for name in named}


def of_probabilities(name: str) -> str:
    """The name of the column of a table that has those of another."""
    return f"{name}{PROBABILITY}"


class CsvWriter:
    """Sentences of one text as CSV: RFC 4180 with line feeds.

    The columns are the number of the sentence and that of the word in it, both from 1;
    the word; where it begins and ends in the text, empty if the text is not known; and
    those of the models.

    Args:
        columns: the names of those, as `Pipeline.columns` has them.
        probable: of those whose probabilities stand behind all columns, such as
            `Pipeline.probability_columns`.
    """

    def __init__(self, columns: Iterable[str], probable: Iterable[str] = ()):
        self._columns, self._probable = list(columns), list(probable)
        self._count = 0
        self._buffer = io.StringIO()
        self._rows = csv.writer(self._buffer, lineterminator="\n")

    @property
    def header(self) -> str:
        """The line with the names."""
        names, probable = (
            [NAMES.get(name, name) for name in own]
            for own in (self._columns, self._probable)
        )
        self._rows.writerow([*PLACE, *names, *map(of_probabilities, probable)])
        return self._taken()

    def write(self, sentence: Sentence) -> str:
        """The rows of the next sentence; "" for one without words."""
        if not sentence.tokens:
            return ""
        self._count += 1
        given = {"tags": sentence.tags} | sentence.columns
        unknown = [""] * len(sentence)
        offsets = [("", "")] * len(sentence)
        if sentence.surface is not None:
            offsets = sentence.surface.word_offsets
        fields = [given.get(name) or unknown for name in self._columns]
        for name in self._probable:
            values = sentence.probabilities.get(name)
            fields.append([round(p, 6) for p in values] if values else unknown)
        rows = zip(sentence.tokens, offsets, *fields, strict=True)
        for number, (word, place, *values) in enumerate(rows, 1):
            self._rows.writerow([self._count, number, word, *place, *values])
        return self._taken()

    def _taken(self) -> str:
        text = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return text
