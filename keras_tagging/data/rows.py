"""Annotated sentences as a table with a row for each word: its header, and CSV."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.suggestions import check_known

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
    by_name = {NAMES.get(k, k): row for k, row in sentence.probabilities.items()}
    named = [name for name in shown_columns(sentence) if name in by_name]
    return {name: [round(p, 6) for p in by_name[name]] for name in named}


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

    @property
    def header(self) -> str:
        """The line with the names."""
        names, probable = (
            [NAMES.get(name, name) for name in columns]
            for columns in (self._columns, self._probable)
        )
        return _as_csv([[*PLACE, *names, *map(of_probabilities, probable)]])

    def write(self, sentence: Sentence) -> str:
        """The rows of the next sentence; "" for one without words."""
        if not sentence.tokens:
            return ""
        self._count += 1
        columns = {"tags": sentence.tags} | sentence.columns
        unknown = [""] * len(sentence)
        offsets = [("", "")] * len(sentence)
        if sentence.surface is not None:
            offsets = sentence.surface.word_offsets
        fields = [columns.get(name) or unknown for name in self._columns]
        for name in self._probable:
            values = sentence.probabilities.get(name)
            fields.append([round(p, 6) for p in values] if values else unknown)
        rows = zip(sentence.tokens, offsets, *fields, strict=True)
        return _as_csv(
            [self._count, number, word, *place, *values]
            for number, (word, place, *values) in enumerate(rows, 1)
        )


def _as_csv(rows: Iterable[list]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


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
        used |= {f"{n}{PROBABILITY}" for n in names}
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
