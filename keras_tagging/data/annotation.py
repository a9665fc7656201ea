"""Annotated sentences as text: CoNLL-U with offsets, JSON, words with tags, spans.

`as_text`, `as_conll` and `as_jsonl` take the answers of a tagger. One with one column
without a name gives its tags under None; others give a list for each column. An entry
is a tag, a pair of a tag and its probability, or a list of such pairs, the best first:
see `Tagger.tag`.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from keras_tagging.ccg.auto import line_of
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.data.conllu import (
    TAGS,
    conllu_field,
    conllu_rows,
    entity_attributes,
    escaped,
    with_misc,
)
from keras_tagging.data.formats.json_lines import json_line
from keras_tagging.data.formats.treebanks import FIELDS
from keras_tagging.data.named_columns import output_names
from keras_tagging.data.sentence import NER, Sentence, Sentences, as_sentences, entities
from keras_tagging.data.surface import Surface, chunks, spaced, spans_of

#: of the columns that JSON and tables call otherwise
NAMES = {"pos": "upos", "tags": "tag"}
PLACE = ("sentence", "id", "text", "start", "end")


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
    return f"{name}_probability"


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


UNKNOWN = "_"
NO_SPACE = "SpaceAfter=No"
OWN_TAGS = "predicted_tag"  # of a parser with a tagger of its own
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_SPACE = re.compile(r"\s+")


class ConlluWriter:
    """Sentences of one text as CoNLL-U.

    The comments are `sent_id`, which counts from 1, and `text`, and `newdoc` and
    `newpar` where a document or a paragraph is known to begin. Multiword tokens have
    lines of their own. MISC has `SpaceAfter=No` or `SpacesAfter`, and the offsets of
    each token in the document as `TokenRange=START:END`. Tags without a column of
    CoNLL-U stand in the MISC of words, and a CCG derivation in the comment `auto`.

    Args:
        document: the identifier of the document, which `newdoc` has. Each `sent_id` is
            then the identifier and the offset of the sentence, `DOCUMENT:OFFSET`, or
            the identifier alone for a sentence whose text is not known.
        continued: whether the first sentence is in the middle of the document, at the
            beginning of a paragraph.
    """

    def __init__(self, document: str | None = None, continued: bool = False):
        self.count = 0
        self._document = None if document is None else _one_line(document)
        self._continued = continued
        self._before = None  # the surface of the sentence before

    def write(self, sentence: Sentence) -> str:
        """The next sentence, with the blank line after it; "" for one without words.

        Raises:
            ValueError: if a value cannot be a field.
        """
        if not sentence.tokens:
            return ""
        self.count += 1
        unknown = [UNKNOWN] * len(sentence)
        columns = dict(sentence.columns)
        columns.setdefault("xpos", columns.get(OWN_TAGS, unknown))
        if "lemma" in columns:  # as the form, from which it is made
            columns["lemma"] = _one_line_each(columns["lemma"])
        tokens = _one_line_each(sentence.tokens)
        rows = conllu_rows(tokens, columns)
        comments = [f"# sent_id = {self._identifier(sentence)}"]
        misc = _tags_of(sentence)
        if (surface := sentence.surface) is not None:
            comments = [*self._begins(), *comments]
            comments.append(f"# text = {_one_line(surface.text)}")
            lines = _with_tokens(rows, surface, misc)
        else:
            lines = map(with_misc, rows, misc)
        self._before = surface
        comments += (f"# {name} = {x}" for name, x in comments_of(sentence).items())
        return "".join([*(f"{comment}\n" for comment in comments), *lines, "\n"])

    def _identifier(self, sentence: Sentence) -> int | str:
        if self._document is None:
            return self.count
        if sentence.surface is None:
            return self._document
        return f"{self._document}:{sentence.surface.start}"

    def _begins(self) -> list[str]:
        if self.count == 1:
            named = "" if self._document is None else f" id = {self._document}"
            return [*([] if self._continued else [f"# newdoc{named}"]), "# newpar"]
        after = self._before.after if self._before else None
        return ["# newpar"] if after and _BLANK_LINE.search(after) else []


def _with_tokens(rows: list[str], surface: Surface, misc: list[list[str]]) -> list[str]:
    """The rows of words with what is known of their tokens, and rows of tokens."""
    lines, word, begin = [], 0, surface.start
    places = zip(surface.words, surface.spans, surface.spaces_after, strict=True)
    for count, (start, end), after in places:
        about = [f"TokenRange={begin + start}:{begin + end}"]
        if after not in (" ", None):
            about.insert(0, f"SpacesAfter={escaped(after)}" if after else NO_SPACE)
        if count > 1:
            form = _one_line(surface.text[start:end])
            empty = "\t_" * 7
            row = f"{word + 1}-{word + count}\t{form}{empty}"
            lines.append(with_misc(row, about))
            about = []
        for i in range(word, word + count):
            lines.append(with_misc(rows[i], misc[i] + about))
        word += count
    return lines


def _tags_of(sentence: Sentence) -> list[list[str]]:
    """For each word its tags that CoNLL-U has no column for, as attributes."""
    named = {}
    if sentence.tags not in (None, sentence.columns.get("pos")):  # not in UPOS
        named["Tag"] = sentence.tags
    for name, values in sentence.columns.items():
        if name not in FIELDS and name not in (OWN_TAGS, NER):
            named[name[:1].upper() + name[1:]] = values
    tags = sentence.columns.get(NER)
    rows = [*map(entity_attributes, tags)] if tags else [[] for _ in sentence.tokens]
    for name, values in named.items():
        for row, value in zip(rows, values, strict=True):
            row.append(f"{name}={escaped(value)}")
    return rows


def comments_of(sentence: Sentence) -> dict[str, str]:
    """The comments of CoNLL-U that models add: the line of a derivation as `auto`."""
    derivation = sentence.derivation
    return {} if derivation is None else {"auto": line_of(derivation.root)}


def as_auto(derivation: Derivation, number: int, place: int = 1) -> str:
    """A derivation as the two lines of an `.auto` file.

    Args:
        derivation: that a parser has found.
        number: of the sentence, from 1.
        place: among those of the sentence, the best first.
    """
    header = f"ID={number} PARSER=KERAS_TAGGING NUMPARSE={place}"
    return f"{header}\n{line_of(derivation.root)}\n"


def as_drawing(sentence: Sentence) -> str:
    """The derivation of a sentence drawn as text, and a blank line; "" without words.

    One that is too large to draw is written as `.auto` files have it.
    """
    if (derivation := sentence.derivation) is None:
        return ""
    try:
        text = derivation.draw()
    except ValueError:
        text = derivation.auto()
    return f"{text}\n\n"


class AutoWriter:
    """Sentences of one text as an `.auto` file, numbered from 1."""

    def __init__(self):
        self._count = 0

    def write(self, sentence: Sentence) -> str:
        """The lines of the next sentence; "" for one without words."""
        if not sentence.tokens:
            return ""
        self._count += 1
        return as_auto(sentence.derivation, self._count)


def conllu_columns(names: Iterable[str]) -> Callable[[Sentence], dict[str, list[str]]]:
    """The function from an annotated sentence to the columns that the models fill.

    Args:
        names: of the columns, as `Pipeline.columns` has them.

    Raises:
        ValueError: if CoNLL-U has no such column.
    """
    names = list(names)
    for name in names:
        if name != TAGS:  # which are in MISC
            conllu_field(name)

    def filled(sentence: Sentence) -> dict[str, list[str]]:
        columns = {TAGS: sentence.tags or [], **sentence.columns}
        values = {name: columns.get(name, []) for name in names}
        return {k: [value or "_" for value in row] for k, row in values.items()}

    return filled


def _one_line_each(texts: list[str]) -> list[str]:
    return texts if "".join(texts).isprintable() else [*map(_one_line, texts)]


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text) if not text.isprintable() else text


def as_object(sentence: Sentence) -> dict:
    """A sentence for JSON.

    `text`, `start` and `end`; `tokens`, each with its `text`, `start`, `end` and
    `words`; each of these with its `id`, `text` and columns: `upos`, `xpos`, `feats`,
    `lemma`, `head` (a number), `deprel` and any others, and `probabilities` of these
    by their names if the sentence has them; and `spans`, each with its `text`, `label`,
    `start`, `end`, `probability`, and `words`, the first and the one behind the last,
    from 0. A sentence whose text is not known has neither text nor offsets. One with a
    CCG derivation has it as `derivation`: see `Derivation.to_dict`.
    """
    surface = sentence.surface or spaced(sentence.tokens)
    words, tokens = _words(sentence), []
    for text, (start, end), count in zip(
        surface.tokens, surface.offsets, surface.words, strict=True
    ):
        its_words = [next(words) for _ in range(count)]
        place = {} if sentence.surface is None else {"start": start, "end": end}
        tokens.append({"text": text, **place, "words": its_words})
    fields = {"tokens": tokens}
    if sentence.surface is not None:
        end = surface.start + len(surface.text)
        fields = {"text": surface.text, "start": surface.start, "end": end, **fields}
    spans = map(asdict, sentence.spans)
    fields["spans"] = [span | {"words": [*span["words"]]} for span in spans]
    if sentence.derivation is not None:
        fields["derivation"] = sentence.derivation.to_dict()
    return fields


def _words(sentence: Sentence) -> Iterator[dict]:
    named, probable = shown_columns(sentence), {}
    if sentence.probabilities:
        probable = shown_probabilities(sentence)
    for i, word in enumerate(sentence.tokens):
        fields = {name: values[i] for name, values in named.items()}
        if fields.get("head", "").isdecimal():
            fields["head"] = int(fields["head"])
        if probable:
            fields["probabilities"] = {k: values[i] for k, values in probable.items()}
        yield {"id": i + 1, "text": word, **fields}


def as_json(sentence: Sentence, **first: object) -> str:
    """`as_object` on a line, behind other entries; "" for a sentence without words."""
    return json_line({**first, **as_object(sentence)}) if sentence.tokens else ""


def as_tagged_text(sentence: Sentence) -> str:
    """The words with their tags on a line: `word|tag word|tag`.

    The tag is the first of tags, UPOS, XPOS and the other columns that there is.

    Raises:
        ValueError: as `data.annotation.as_line`.
    """
    named = {"tags": sentence.tags} if sentence.tags is not None else {}
    named |= {k: sentence.columns[k] for k in ("pos", "xpos") if k in sentence.columns}
    tags = next(iter((named | sentence.columns).values()), None)
    return as_line(sentence.tokens, *([] if tags is None else [tags]))


def as_spans(sentence: Sentence) -> str:
    """A row for each span: start, end, label, probability and text, with tabs."""
    return "".join(
        f"{span.start}\t{span.end}\t{span.label}\t{span.probability:.4f}\t"
        f"{_one_line(span.text)}\n"
        for span in sentence.spans
    )


#: what separates items and lines for readers
_SEPARATOR = re.compile("[ \t\r\n]")


def as_line(*columns: Sequence[str]) -> str:
    """The words and their tags on a line: `word|tag word|tag`.

    Args:
        columns: the words, then their tags and any others.

    Raises:
        ValueError: if a word is empty or has a blank, which this format cannot hold.
    """
    for word in columns[0]:
        if not word or _SEPARATOR.search(word):
            what = f"the word {word[:40]!r} has a blank" if word else "a word is empty"
            raise ValueError(f"{what}: use --output jsonl")
    return " ".join(map("|".join, zip(*columns, strict=True))) + "\n"


def as_text(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """The words with the tags of the only column, as `as_line`."""
    return as_line(tokens, *tags.values())


def as_conll(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """A row for each token: the tags of each column, with probabilities if given.

    Raises:
        ValueError: if a token is empty, or has a tab or a line feed.
    """
    text = "".join(tokens)
    if not all(tokens) or "\t" in text or "\n" in text:
        raise ValueError(f"{tokens[:20]!r} does not fit: use --output jsonl")
    rows = zip(tokens, *map(_cells, tags.values()), strict=True)
    return "".join("\t".join(row) + "\n" for row in rows) + "\n"


def _cells(entries: list) -> list[str]:
    if not entries or isinstance(entries[0], str):
        return entries
    ranked = ([e] if isinstance(e, tuple) else e for e in entries)
    return ["\t".join(f"{t}\t{p:.4g}" for t, p in entry) for entry in ranked]


def as_jsonl(tokens: list[str], tags: Mapping[str | None, list]) -> str:
    """An object that `data.read` reads: the tokens, and the tags of each column.

    With probabilities by the names that they have in exported models.
    """
    fields = {"tokens": tokens}
    for column, entries in tags.items():
        names = output_names(column)
        name, probabilities = names["tags"], names["probabilities"]
        fields[name] = entries
        if entries and isinstance(entries[0], tuple):
            fields[name], fields[probabilities] = zip(*entries, strict=True)
        elif entries and isinstance(entries[0], list):
            fields[name] = [[t for t, _ in entry] for entry in entries]
            fields[probabilities] = [[p for _, p in entry] for entry in entries]
    return json_line(fields)


#: by the --output of `tag`
WRITERS = {"conll": as_conll, "text": as_text, "jsonl": as_jsonl}

_LINE = re.compile(r"[^\r\n]+")
_END = re.compile(r"[\r\n]")


class BratWriter:
    """The entities of the sentences of one text, numbered from T1.

    An entity that goes on in another line has a fragment in each, as brat demands.
    """

    def __init__(self):
        self._count = 0

    def write(self, sentence: Sentence) -> str:
        """The rows of the next sentence.

        Raises:
            ValueError: for a label with white space, which brat cannot have.
        """
        rows = []
        for span in sentence.spans:
            if span.label.split() != [span.label]:
                raise ValueError(f"brat: the label {span.label[:40]!r} has white space")
            self._count += 1
            parts = [m.span() for m in _LINE.finditer(span.text)]
            places = ";".join(f"{span.start + a} {span.start + b}" for a, b in parts)
            text = " ".join(span.text[a:b] for a, b in parts).replace("\t", " ")
            rows.append(f"T{self._count}\t{span.label} {places}\t{text}\n")
        return "".join(rows)


def to_brat(sentences: Sentences) -> tuple[str, str]:
    r"""A text with a sentence a line, and its entities: brat's `.txt` and `.ann`.

    Args:
        sentences: whose entities are their spans, or tags in IOB2. Where the text is
            not known, there is a blank between words.

    Raises:
        ValueError: for a label with white space.

    Example:
        >>> from keras_tagging import Sentence
        >>> from keras_tagging.data import to_brat
        >>> to_brat([Sentence(["New", "York", "!"], ["B-LOC", "I-LOC", "O"])])
        ('New York !\n', 'T1\tLOC 0 8\tNew York\n')
    """
    lines, rows, offset, writer = [], [], 0, BratWriter()
    for sentence in as_sentences(sentences):
        surface = sentence.surface or spaced(sentence.tokens)
        line = _END.sub(" ", surface.text)
        surface = replace(surface, text=line, start=offset)
        marked = chunks(entities(sentence) or [])
        spans = spans_of(marked, [1.0] * len(sentence), surface, sentence.tokens)
        rows.append(writer.write(replace(sentence, surface=surface, spans=spans)))
        lines.append(f"{line}\n")
        offset += len(line) + 1
    return "".join(lines), "".join(rows)
