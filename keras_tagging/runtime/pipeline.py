"""A segmenter, a tagger and a parser as one: text in, annotated sentences out."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from keras_tagging.data.label_columns import field_of, with_labels
from keras_tagging.data.raw_text import sentences_of_lines
from keras_tagging.data.sentence import Sentence, as_sentence
from keras_tagging.data.spans import spaced, spans_of
from keras_tagging.encoding.batching import slices
from keras_tagging.metrics import chunks, looks_like_chunks

PARTS = ("segmenter", "tagger", "parser")


class TextPipeline:
    """A pipeline without Keras: see `keras_tagging.Pipeline`, which adds its files.

    Args:
        segmenter, tagger, parser: as there.
    """

    kind, command = "pipeline", "annotate"

    def __init__(self, segmenter=None, tagger=None, parser=None):
        self.segmenter, self.tagger, self.parser = segmenter, tagger, parser
        if not self.parts:
            raise ValueError(
                "a pipeline has a segmenter, a tagger, a parser, or some of them"
            )
        for name, model in self.parts.items():
            if getattr(model, "kind", None) != name:
                raise ValueError(f"{name}= is a {type(model).__name__}, not a {name}")
        self.metadata = {}
        self._column = _tag_column(tagger)
        self._chunked = _chunked(tagger)
        if tagger is None or parser is None:
            return
        given = set(self.columns) - {"tags", "head", "deprel"}
        for name in parser.input_columns:
            if field_of(name) not in given:
                own = ", ".join(sorted(given)) or "none with a name"
                raise ValueError(
                    f"the parser reads the column {name!r}, but those of the tagger "
                    f"are {own}: train the tagger with tags=, or a parser that reads "
                    "one of these, or none (tags=None)"
                )

    def __repr__(self):
        parts = (f"{k}={getattr(m, 'name', k)!r}" for k, m in self.parts.items())
        return f"Pipeline({', '.join(parts)})"

    @property
    def parts(self) -> dict:
        """Its models by name: segmenter, tagger, parser, those that it has."""
        models = {name: getattr(self, name) for name in PARTS}
        return {name: model for name, model in models.items() if model is not None}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of sentences that it fills; "tags" for tags without a column."""
        names = []
        if self.tagger is not None:
            own = (name or self._column or "tags" for name in self.tagger.column_names)
            names += map(field_of, own)
        return (*names, *(("head", "deprel") if self.parser is not None else ()))

    @property
    def gives_spans(self) -> bool:
        """Whether its tagger has chunk tags."""
        return bool(self._chunked)

    def annotate(self, text) -> Iterator[Sentence]:
        """Annotate a text, or sentences.

        Memory does not grow with the text: at most some thousand sentences are read
        ahead.

        Args:
            text: a string; an iterable of strings, which are joined to one text, such
                as an open file; or an iterable of sentences or lists of words, which
                are not segmented.

        Returns:
            Sentences one after the other, with the columns that there are models for:
            `pos`, `xpos`, `feats`, `lemma` and so on, `head` and `deprel`; those of a
            text with their `surface`, whose `word_offsets` are the words' places. Chunk
            tags are in `tags`, or in their column, and as `spans`.

        Raises:
            ValueError: here or during the iteration, if the text has a line that is too
                long, or the parser reads a column that the sentences lack.
        """
        for part in slices(self.sentences(text), growing=True):
            yield from self.annotate_together(part)

    def annotate_together(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences of one slice, annotated; they are not segmented."""
        if self.tagger is not None:
            sentences = self._tagged(sentences)
        if self.parser is not None:
            sentences = self.parser.parse(sentences)
        return sentences

    def sentences(self, text) -> Iterator[Sentence]:
        """The sentences of a text, not annotated, one after the other.

        Args:
            text: as in `annotate`.
        """
        pieces = iter([text] if isinstance(text, str) else text)
        first = next(pieces, "")
        pieces = chain([first], pieces)
        if not isinstance(first, str):
            return map(as_sentence, pieces)
        if self.segmenter is None:
            return sentences_of_lines(pieces)
        return iter(self.segmenter.segment(pieces))

    def _tagged(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences with labels and spans."""
        chunked = self._chunked
        found = self.tagger.tag(sentences, probabilities=bool(chunked))
        tagged = []
        for sentence, labels in zip(sentences, found, strict=True):
            labels = labels if isinstance(labels, dict) else {None: labels}
            spans = []
            if chunked:
                spans = [x for k in chunked for x in _spans(sentence, labels[k])]
                labels = {k: [x for x, _ in pairs] for k, pairs in labels.items()}
            tagged.append(replace(self._labelled(sentence, labels), spans=spans))
        return tagged

    def _labelled(self, sentence: Sentence, labels: dict) -> Sentence:
        if None not in labels:
            return with_labels(sentence, labels)
        named = {"tags": labels[None]}
        if self._column is not None:
            named[self._column] = labels[None]
        return with_labels(sentence, named)


def _tag_column(tagger) -> str | None:
    """The column of sentences that the tags without a name are; None if not known."""
    if tagger is None or tagger.column_names[0] is not None:
        return None
    corpus = getattr(tagger, "metadata", {}).get("corpus") or {}
    name = corpus.get("tag_column")
    return field_of(name) if isinstance(name, str) else None


def _chunked(tagger) -> list[str | None]:
    """The columns of a tagger with chunk tags."""
    tags = {} if tagger is None else tagger.tags
    inventories = tags if isinstance(tags, dict) else {None: tags}
    items = inventories.items()
    return [name for name, x in items if name != "lemma" and looks_like_chunks(x)]


def _spans(sentence: Sentence, pairs: list[tuple[str, float]]):
    """The spans of chunk tags with their probabilities."""
    tags, probabilities = [tag for tag, _ in pairs], [p for _, p in pairs]
    surface = sentence.surface or spaced(sentence.tokens)
    return spans_of(chunks(tags), probabilities, surface)
