"""Models as one: text in, annotated sentences out."""

from collections.abc import Iterator
from itertools import chain

from keras_tagging import kinds
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.raw_text import sentences_of_lines
from keras_tagging.data.sentence import Sentence, as_sentence
from keras_tagging.encoding.batching import slices

#: the parts that are trained together
PARTS = ("segmenter", "tagger", "parser")


def stages() -> list[str]:
    """The kinds that may be parts of a pipeline, in their order."""
    found = (kind for kind in kinds.known().values() if kind.stage is not None)
    return [kind.name for kind in sorted(found, key=lambda kind: kind.stage)]


class TextPipeline:
    """A pipeline without Keras: see `keras_tagging.Pipeline`, which adds its files.

    Args:
        segmenter, tagger, parser: as there.
        **others: models of other kinds that have a place in a pipeline, by the name of
            the kind.
    """

    kind, command = "pipeline", "annotate"

    def __init__(self, segmenter=None, tagger=None, parser=None, **others):
        self.segmenter, self.tagger, self.parser = segmenter, tagger, parser
        given = {"segmenter": segmenter, "tagger": tagger, "parser": parser, **others}
        if unknown := set(others) - set(stages()):
            raise ValueError(
                f"{min(unknown)}= is no part of a pipeline: {', '.join(stages())} are"
            )
        #: its models by the name of their kind, in their order
        self.parts = {k: given[k] for k in stages() if given.get(k) is not None}
        if not self.parts:
            raise ValueError(
                "a pipeline has a segmenter, a tagger, a parser, or some of them"
            )
        for name, model in self.parts.items():
            if getattr(model, "kind", None) != name:
                raise ValueError(f"{name}= is a {type(model).__name__}, not a {name}")
        self.metadata = {}
        self._check_columns()

    def _check_columns(self):
        """Refuse a parser whose tags the tagger before it does not give."""
        before = []
        for name, model in self._annotators.items():
            for column in model.input_columns if before else ():
                given = {column for own in before for column in self.parts[own].gives}
                given -= {"tags", "head", "deprel"}
                if field_of(column) in given:
                    continue
                own = ", ".join(sorted(given)) or "none with a name"
                raise ValueError(
                    f"the {name} reads the column {column!r}, but those of the "
                    f"{' and the '.join(before)} are {own}: train the tagger with "
                    f"tags=, or a {name} that reads one of these, or none (tags=None)"
                )
            before.append(name)

    def __repr__(self):
        parts = (f"{k}={getattr(m, 'name', k)!r}" for k, m in self.parts.items())
        return f"Pipeline({', '.join(parts)})"

    @property
    def _annotators(self) -> dict:
        """The parts that read sentences."""
        parts = self.parts.items()
        return {k: m for k, m in parts if kinds.find(k).reads == "tokens"}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of sentences that it fills; "tags" for tags without a column."""
        return tuple(chain(*(model.gives for model in self._annotators.values())))

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that sentences must have: no part before fills them."""
        needed, given = [], set()
        for model in self._annotators.values():
            needed += (x for x in model.input_columns if field_of(x) not in given)
            given |= {*model.gives}
        return tuple(needed)

    @property
    def gives_spans(self) -> bool:
        """Whether its tagger has chunk tags."""
        return any(model.gives_spans for model in self._annotators.values())

    def annotate(self, text, lines: bool = False) -> Iterator[Sentence]:
        """Annotate a text, or sentences.

        Memory does not grow with the text: at most some thousand sentences are read
        ahead.

        Args:
            text: a string; an iterable of strings, which are joined to one text, such
                as an open file; or an iterable of sentences or lists of words, which
                are not segmented.
            lines: whether each line of the text is one sentence, which is not split.

        Returns:
            Sentences one after the other, with the columns that there are models for:
            `pos`, `xpos`, `feats`, `lemma` and so on, `head` and `deprel`; those of a
            text with their `surface`, whose `word_offsets` are the words' places. Chunk
            tags are in `tags`, or in their column, and as `spans`.

        Raises:
            ValueError: here or during the iteration, if the text has a line that is too
                long, or the parser reads a column that the sentences lack.
        """
        for part in slices(self.sentences(text, lines), growing=True):
            yield from self.annotate_together(part)

    def annotate_together(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences of one slice, annotated; they are not segmented."""
        for model in self._annotators.values():
            sentences = model.annotate(sentences)
        return sentences

    def sentences(self, text, lines: bool = False) -> Iterator[Sentence]:
        """The sentences of a text, not annotated, one after the other.

        Args:
            text, lines: as in `annotate`.
        """
        pieces = iter([text] if isinstance(text, str) else text)
        first = next(pieces, "")
        pieces = chain([first], pieces)
        if not isinstance(first, str):
            return map(as_sentence, pieces)
        if self.segmenter is None:
            return sentences_of_lines(pieces)
        return iter(self.segmenter.segment(pieces, lines))


def pipeline_of(model) -> TextPipeline:
    """A pipeline as it is; that of any other model alone."""
    if kinds.of(model).composed:
        return model
    return TextPipeline(**{model.kind: model})
