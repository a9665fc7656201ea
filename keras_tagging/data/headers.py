"""Names in the header of a table with a row for each token: which column is what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keras_tagging.data.rows import PROBABILITY
from keras_tagging.utils.suggestions import nearest

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
        if name not in names:
            near = nearest(name, names)
            hint = f"; did you mean {near!r}?" if near else "."
            raise ValueError(f"no column {name!r}{hint} There are {listed}")
        return name
    small = {own.lower(): own for own in reversed(names)}
    found = next((small[own] for own in usual if own in small), None)
    if found is None and needed:
        raise ValueError(f"name the column of each {keyword}, {keyword}=: {listed}")
    return found


def is_header(cells: Sequence[str]) -> bool:
    """Whether these are names of a column of words and of one of tags or sentences."""
    small = {cell.strip().lower() for cell in cells}
    return not small.isdisjoint(TOKEN) and not small.isdisjoint((*SENTENCE, *TAGS))
