"""Sentences, and corpora of them."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from keras_tagging.ccg.derivation import Derivation
from keras_tagging.data.surface import (
    Entity,
    Span,
    Surface,
    Token,
    chunks,
    spaced,
    spans_of,
    tag_span,
)

if TYPE_CHECKING:  # which are there if they are used
    import pandas as pd
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

#: tags that mark entities
IOB2 = re.compile("O|[BI]-.+", re.DOTALL)
#: the column of named entities: NER in MISC of CoNLL-U
NER = "ner"
SPLITS = ("train", "dev", "test")
#: other names of columns
ALIASES = {"upos": "pos"}
#: imported when it is needed; it imports this module
_LIBRARIES = "keras_tagging.data.libraries"


class Columns(dict[str, list[str]]):
    """Columns by name; "upos", CoNLL-U's name of `pos`, is another name of it."""

    def __missing__(self, name: str) -> list[str]:
        if name in self:
            return self[ALIASES[name]]
        raise KeyError(name)

    def __contains__(self, name) -> bool:
        return super().__contains__(name) or super().__contains__(ALIASES.get(name))

    def get(self, name, default=None):
        return self[name] if name in self else default


@dataclass(frozen=True, slots=True)
class Sentence:
    """One tokenised sentence, with a tag and further fields for every token.

    Iterating over it gives its words with their labels::

        for token in sentence:
            token.text, token.lemma, token.upos, token.head, token.entity

    Args:
        tokens: the words, as in the corpus.
        tags: one tag a token, or None if the sentence is not annotated.
        columns: further per-token fields by name: `pos`, `word_class`, `head`
            (index of the head counted from 1, "0" for the root), `deprel`.
        surface: the text that the tokens come from, if it is known. The tokens of a
            sentence are words: a multiword token of the text has several of them.
        spans: stretches of the text with labels, which `Pipeline.annotate` finds.
        sent_id: what the comment `# sent_id` of its file calls it.
        derivation: how its CCG categories, the tags, become that of the whole.
        probabilities: those of the labels, one a token, by the name of the column, or
            "tags": what `Pipeline.annotate` is asked for with ``probabilities=True``.

    Raises:
        ValueError: if a field does not have one value a token, a value is not a
            string, or the text has another number of words.
    """

    tokens: list[str]
    tags: list[str] | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    surface: Surface | None = None
    spans: list[Span] = field(default_factory=list)
    sent_id: str | None = field(default=None, compare=False)
    derivation: Derivation | None = field(default=None, compare=False)
    probabilities: dict[str, list[float]] = field(default_factory=dict, compare=False)

    def __post_init__(self):
        if isinstance(self.tokens, str):
            raise ValueError(f"tokens={self.tokens[:40]!r}: give a list of words")
        fields = {"tokens": self.tokens, "tags": self.tags, **self.columns}
        for name, values in fields.items():
            if values is None:
                continue
            try:
                "".join(values)  # the fastest way to check that all are strings
            except TypeError as error:
                raise ValueError(f"a sentence's {name} are strings: {error}") from None
            if len(values) != len(self.tokens):
                what = f"{len(self.tokens)} tokens but {len(values)} {name}"
                raise ValueError(f"{what} in the sentence beginning {beginning(self)}")
        if not isinstance(self.columns, Columns):
            object.__setattr__(self, "columns", Columns(self.columns))
        if self.surface and (count := sum(self.surface.words)) != len(self.tokens):
            raise ValueError(f"{len(self.tokens)} tokens, but the text has {count}")

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Token]:
        of_entity = {x: e.label for e in self.entities for x in range(e.start, e.end)}
        names, none = ("lemma", "pos", "xpos", "head", "deprel"), [None] * len(self)
        columns = [self.columns.get(name, none) for name in names]
        places = self.surface.word_offsets if self.surface else none
        rows = zip(self.tokens, *columns, places, strict=True)
        for number, (text, lemma, upos, xpos, head, deprel, place) in enumerate(rows):
            is_number = head is not None and head.isdecimal() and len(head) < 10
            head, entity = int(head) if is_number else None, of_entity.get(number)
            yield Token(text, lemma, upos, xpos, head, deprel, entity, place)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """As it is written; its words with single blanks, if that is not known."""
        return self.surface.text if self.surface else " ".join(self.tokens)

    @property
    def entities(self) -> list[Entity]:
        """Its `spans` by their words, in their order.

        Without spans those of its column `ner`, or else of its tags, if these mark some
        in IOB2, as in a corpus: their probability is 1.
        """
        return [
            Entity(*x.words, (x.start, x.end), x.label, x.probability, x.text)
            for x in spans_in(self)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object that `annotate --output jsonl` writes, for JSON."""
        return resolve_name("keras_tagging.data.annotation:as_object")(self)

    def to_dataframe(self) -> "pd.DataFrame":
        """A row for each word: see `data.libraries.to_dataframe`, also for several."""
        return resolve_name(f"{_LIBRARIES}:to_dataframe")([self])

    def to_spacy(self, vocab: "Vocab") -> "Doc":
        """A spaCy `Doc`: see `data.libraries.to_spacy`, also for several sentences."""
        return resolve_name(f"{_LIBRARIES}:to_spacy")([self], vocab)

    def _repr_html_(self) -> str:
        return resolve_name("keras_tagging.data.html:for_notebook")(self)


#: what models read: sentences, or lists of words
Sentences = Iterable[Sentence | Sequence[str]]
#: a list of these, for which models give a list, and else a generator
Listed = Sequence[Sentence | Sequence[str]]
#: labels of lists of words, for `fit`; several columns of them by name; None without
Labels = Sequence[Sequence[str]] | Mapping[str, Sequence[Sequence[str | int]]] | None


@dataclass
class Corpus:
    """Training, development and test sentences.

    Args:
        train, dev, test: lists of sentences; a split that does not exist is empty.
        name: the user's name for it: "demo", or a path.
        format: the format it was read from, as `data.read` names it; if the files have
            several, the format of the training data.
        skipped: for each file, the number of sentences that `errors="skip"` left out.
        files: for each split, the files it was read from.
        tag_column: the column of CoNLL-U that the tags are, if they are one of these.
        language: a code of ISO 639, where the corpus or the names of its files tell it.
    """

    train: list[Sentence]
    dev: list[Sentence] = field(default_factory=list)
    test: list[Sentence] = field(default_factory=list)
    name: str = ""
    format: str = ""
    skipped: dict[str, int] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    tag_column: str | None = None
    language: str = ""

    def __repr__(self) -> str:
        sizes = "".join(f", {name}={len(part)}" for name, part in self.splits())
        return f"Corpus({self.name!r}, {self.format!r}{sizes})"

    def splits(self) -> Iterator[tuple[str, list[Sentence]]]:
        """The non-empty splits, as (name, sentences)."""
        for name in SPLITS:
            if sentences := getattr(self, name):
                yield name, sentences

    def fingerprint(self, read: Iterable[str | None] = ()) -> str:
        """SHA-256 over the tokens, tags and columns of every split.

        Args:
            read: columns that are read or learnt. `feats` counts only if it is among
                them, so that runs from before it was a column go on; so does "surface",
                the text, by which two corpora may differ alone.
        """
        digest = hashlib.sha256()
        left_out = {"feats"} - set(read)
        for name, sentences in self.splits():
            digest.update(f"\x00{name}\x00".encode())
            for sentence in sentences:
                fields = [sentence.tokens, sentence.tags or []]
                for key in sorted(sentence.columns.keys() - left_out):
                    fields += [[key], sentence.columns[key]]
                if "surface" in read and (surface := sentence.surface):
                    spans = (f"{begin} {end}" for begin, end in surface.spans)
                    after = [] if surface.after is None else [surface.after]
                    fields += [["surface"], [surface.text], [*spans], after]
                    fields.append([str(count) for count in surface.words])
                text = "\x02".join("\x01".join(values) for values in fields)
                digest.update(text.encode("utf-8", "surrogatepass") + b"\x03")
        return digest.hexdigest()


def as_sentence(sentence: Sentence | Iterable[str]) -> Sentence:
    """Turn words, or words and tags, into a sentence; a `Sentence` stays as it is.

    Words are a list, or a row of a tensor of strings; words and tags are a pair of
    them, as of a generator.

    Raises:
        ValueError: for a string, a mapping, or a list of anything but strings.
    """
    if isinstance(sentence, Sentence):
        return sentence
    check_several(sentence)
    pair = isinstance(sentence, tuple) and len(sentence) == 2
    if pair and not isinstance(sentence[0], str):
        return Sentence(*map(strings_of, sentence))
    return Sentence(strings_of(sentence))


def strings_of(row) -> list[str]:
    """A list; of a tensor's row, or of an array of bytes, without its padding."""
    if not hasattr(row, "dtype"):
        return list(row)
    row = row.numpy() if hasattr(row, "numpy") else row
    return [x.decode() if isinstance(x, bytes) else x for x in row if x != b""]


def check_several(items: Iterable[Any]) -> None:
    """Raise a ValueError for a string, a mapping or a corpus: it is no sentence."""
    if isinstance(items, str | Mapping | Corpus):
        what = f"{items!r:.60} is a {type(items).__name__}"
        remedy = "a sentence is a list of words: give [text.split()], or"
        raise ValueError(f"{what}; {remedy} corpus.train; annotate takes texts")


def as_sentences(sentences: Sentences) -> list[Sentence]:
    """Turn sentences, or lists of words, into a list of sentences.

    Raises:
        ValueError: for a string or a mapping, or one in place of a sentence.
    """
    check_several(sentences)
    return [as_sentence(sentence) for sentence in sentences]


def beginning(sentence: Sentence) -> str:
    """The first words of a sentence, for a message."""
    return repr(" ".join(sentence.tokens[:4])[:40])


def has_tree(sentence: Sentence) -> bool:
    """Whether all words have heads that are numbers of words, or 0."""
    heads = sentence.columns.get("head", [])
    return bool(heads) and all(
        head.isdecimal() and int(head) <= len(heads) for head in heads
    )


def entities(sentence: Sentence) -> list[str] | None:
    """The tags in IOB2 of spans, or else those that mark some; None without either.

    These are the column `ner`, or the tags.
    """
    if sentence.spans:
        tags = ["O"] * len(sentence)
        for span in sentence.spans:
            tag_span(tags, *span.words, span.label)
        return tags
    for tags in (sentence.columns.get(NER), sentence.tags):
        if {*(tags or ())} - {"O"} and all(map(IOB2.fullmatch, tags)):
            return tags
    return None


def spans_in(sentence: Sentence) -> list[Span]:
    """The spans of a sentence, or those of its `entities`, whose probability is 1."""
    if sentence.spans or (tags := entities(sentence)) is None:
        return sentence.spans
    surface = sentence.surface or spaced(sentence.tokens)
    return spans_of(chunks(tags), [1.0] * len(tags), surface, sentence.tokens)


#: characters that end a paragraph, and so every document
BLANK_LINE = "\n\n"


def check_surfaces(sentences: Iterable[Sentence]) -> None:
    """Refuse sentences whose text is not known.

    Raises:
        ValueError: for the first one; the message has its number and the remedy.
    """
    for number, sentence in enumerate(sentences, 1):
        if sentence.surface is None and sentence.tokens:
            what = f"sentence {number}, which begins {beginning(sentence)}, has no text"
            raise ValueError(f"{what}: read CoNLL-U with surface=True")


def document_of(sentences: Iterable[Sentence]) -> tuple[str, list[Surface]]:
    """The text that sentences stand in, and their places in it.

    The first sentence stands at offset 0, whatever its `start`, and every other one
    behind the one before. If it is not known what stands between two sentences, it is a
    blank, or a blank line if the second one begins another document, which its `start`
    tells.

    Args:
        sentences: in their order; those without a token are left out.

    Returns:
        The text, and a surface for each sentence with tokens.

    Raises:
        ValueError: if a sentence has tokens and no surface.
    """
    sentences = list(sentences)
    check_surfaces(sentences)
    surfaces = [sentence.surface for sentence in sentences if sentence.tokens]
    parts, placed, position = [], [], 0
    for surface, following in zip_longest(surfaces, surfaces[1:]):
        after = surface.after
        if following is None:
            after = after or ""
        elif following.start <= surface.start:
            after = (after or "").rstrip() + BLANK_LINE
        elif after is None:
            after = " "
        parts += surface.text, after
        placed.append(replace(surface, start=position, after=after))
        position += len(surface.text) + len(after)
    return "".join(parts), placed


def text_of(sentences: Iterable[Sentence]) -> str:
    """The text that sentences stand in: that of `document_of`.

    Example:
        >>> from keras_tagging import Sentence
        >>> from keras_tagging.data.surface import Surface
        >>> first = Surface("It isn't.", [(0, 2), (3, 8), (8, 9)], [1, 2, 1])
        >>> second = Surface("Oh!", [(0, 2), (2, 3)], [1, 1], start=10)
        >>> first = Sentence(["It", "is", "n't", "."], surface=first)
        >>> text_of([first, Sentence(["Oh", "!"], surface=second)])
        "It isn't. Oh!"
    """
    return document_of(sentences)[0]
