"""Models as one: text in, annotated sentences out."""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

from keras_tagging import kinds
from keras_tagging.data.named_columns import field_of
from keras_tagging.data.raw_text import pieces_of, sentences_of_lines, without_mark
from keras_tagging.data.sentence import Sentence, Sentences, as_sentence, check_several
from keras_tagging.encoding.batching import slices
from keras_tagging.kinds.predictor import no_probabilities
from keras_tagging.utils.checks import check_known

#: the parts that are trained together
PARTS = ("segmenter", "parser")
#: the parts that learn from derivations; the first is trained by default
CCG_PARSERS = (kinds.CCG_PARSER.name, kinds.CCG_SHIFT_REDUCE.name)
#: the name of a further tagger: part of the names of files
NAME = re.compile("[a-z][a-z0-9_]{0,39}")


def stages() -> list[str]:
    """The names of the parts that a pipeline may have, in their order."""
    staged = (kind for kind in kinds.registered().values() if kind.stage is not None)
    return [*dict.fromkeys(x.part_name for x in sorted(staged, key=lambda x: x.stage))]


def kinds_of_part(name: str) -> list[str]:
    """The kinds that a part of a pipeline may have; none if there is no such part."""
    if name in stages():
        return [x.name for x in kinds.registered().values() if x.part_name == name]
    further = NAME.fullmatch(name) and name not in kinds.registered()
    return [kinds.TAGGER.name] if further else []


class TextPipeline:
    """A pipeline without Keras: see `keras_tagging.Pipeline`, which adds its files.

    Args:
        segmenter, tagger, parser: as there.
        **more: models of other kinds that have a place in a pipeline, by the name of
            the kind, such as `ccg_parser`; and further taggers, each by a name of your
            own, which come last.
    """

    kind, command = "pipeline", "annotate"

    def __init__(
        self, segmenter: Any = None, tagger: Any = None, parser: Any = None, **more: Any
    ):
        self.segmenter, self.tagger, self.parser = segmenter, tagger, parser
        # no keyword of Python has the hyphen of "ccg-parser"
        kinds_named = {name.replace("-", "_"): name for name in stages()}
        models = {"segmenter": segmenter, "tagger": tagger, "parser": parser}
        models |= {kinds_named.get(name, name): x for name, x in more.items()}
        names = dict.fromkeys([*stages(), *models])
        #: its models by the name of their kind, or by their own, in their order
        self.parts: dict[str, Any] = {
            k: models[k] for k in names if models.get(k) is not None
        }
        if not self.parts:
            raise ValueError(
                "a pipeline has a segmenter, a tagger, a parser, or some of them"
            )
        for name, model in self.parts.items():
            possible = kinds_of_part(name)
            if getattr(model, "kind", None) not in possible:
                raise ValueError(
                    f"{name}= is a {type(model).__name__}, not a "
                    f"{' or '.join(possible) or kinds.TAGGER}: "
                    f"the parts of a pipeline are {', '.join(stages())}, and taggers "
                    "by names in small letters, such as entities="
                )
        self.metadata: dict[str, Any] = {}
        self._check_columns()

    def _check_columns(self):
        """Refuse a part that reads what none before gives, or gives what one has."""
        columns = Counter(self.columns)
        if twice := [name for name, times in columns.items() if times > 1]:
            raise ValueError(
                f"several models of the pipeline give the column {twice[0]!r}: train "
                "one of them with another name in tags=, or leave one out"
            )
        first = next(iter(self._annotators), None)
        for name, column in self._missing():
            if name != first:  # whose columns may be in the sentences
                names = ", ".join(sorted({*self.columns} - {*self.parts[name].gives}))
                raise ValueError(
                    f"the {name} reads the column {column!r}, but those of the others "
                    f"are {names}: add a tagger of it, or train the {name} without it, "
                    "or the tagger with it in tags="
                )

    def _missing(self) -> Iterator[tuple[str, str]]:
        """Each part and column that it reads, if none before fills it."""
        filled = set()
        for name, model in self._annotators.items():
            for column in model.input_columns:
                if field_of(column) not in filled:
                    yield name, column
            filled |= {*model.gives}

    def only(self, names: Iterable[str]) -> "TextPipeline":
        """A pipeline of some of its parts, which it shares.

        Args:
            names: those of the parts, as `parts` has them.

        Raises:
            ValueError: for a name that is no part, or none at all.
        """
        for name in (names := list(names)):
            check_known("part", name, self.parts)
        pipeline = type(self)(**{k: x for k, x in self.parts.items() if k in names})
        pipeline.metadata = self.metadata
        return pipeline

    def __repr__(self):
        parts = (
            f"{k.replace('-', '_')}={getattr(m, 'name', k)!r}"
            for k, m in self.parts.items()
        )
        return f"Pipeline({', '.join(parts)})"

    @property
    def _annotators(self) -> dict:
        """The parts that read sentences."""
        parts = self.parts.items()
        return {k: m for k, m in parts if kinds.of(m).reads == "tokens"}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of sentences that it fills; "tags" for tags without a column."""
        return tuple(chain(*(model.gives for model in self._annotators.values())))

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that sentences must have: no part before fills them."""
        return tuple(column for _, column in self._missing())

    @property
    def gives_spans(self) -> bool:
        """Whether a tagger has chunk tags."""
        return any(model.gives_spans for model in self._annotators.values())

    @property
    def gives_derivations(self) -> bool:
        """Whether a part finds derivations."""
        return self.derivation_parser is not None

    @property
    def derivation_parser(self) -> Any:
        """The part that finds derivations; None if there is none."""
        parts = self.parts.values()
        return next((x for x in parts if kinds.of(x).learns == "derivations"), None)

    @property
    def probability_columns(self) -> tuple[str, ...]:
        """Those of `columns` whose labels have probabilities."""
        models = self._annotators.values()
        return tuple(chain(*(m.gives for m in models if m.gives_probabilities)))

    def annotate(
        self, text: Sentences, lines: bool = False, *, probabilities: bool = False
    ) -> Iterator[Sentence]:
        """Annotate a text, or sentences.

        Memory does not grow with the text: at most some thousand sentences are read
        ahead.

        Args:
            text: a string; an iterable of strings, which are joined to one text, such
                as an open file; or an iterable of sentences or lists of words, which
                are not segmented. Several texts are for `annotate_documents`.
            lines: whether each line of the text is one sentence, which is not split.
            probabilities: whether the sentences have `Sentence.probabilities`, by the
                names of `probability_columns`: of each label the probability that its
                model gives it, with a CRF the marginal one. Trees of a transition
                parser have none: the scores of its moves are not those of arcs.

        Returns:
            Sentences one after the other, with the columns that there are models for:
            `pos`, `xpos`, `feats`, `lemma` and so on, `head` and `deprel`; those of a
            text with their `surface`, whose `word_offsets` are the words' places. Chunk
            tags are in `tags`, or in their column, and as `spans` and `entities`. A
            CCG parser gives the `derivation`, and its categories as `tags`.

        Raises:
            ValueError: here or during the iteration, if the text has a line that is too
                long, a list has strings whose words would be joined, the parser reads
                a column that the sentences lack, or no model gives probabilities.
        """
        for part in slices(self.sentences(text, lines), growing=True):
            yield from self.annotate_together(part, probabilities)

    def annotate_documents(
        self, documents: Iterable[str], *, probabilities: bool = False
    ) -> Iterator[list[Sentence]]:
        """Annotate several texts, one result a document.

        Each text is segmented alone, and the sentences of many are tagged and parsed
        together, which takes less time than to annotate one text after the other::

            for sentences in pipeline.annotate_documents(["The dog barks.", "A cat?"]):
                [sentence.tokens for sentence in sentences]

        Args:
            documents: strings, a text each. At most some thousand sentences are read
                ahead.
            probabilities: as in `annotate`.

        Returns:
            For each document, in their order, the list of its sentences; an empty list
            for one without a word. Offsets count from the beginning of each document.

        Raises:
            ValueError: here or during the iteration, for a string in place of
                documents, for a document that is none, or as in `annotate`.
        """
        if isinstance(documents, str | Mapping) or hasattr(documents, "columns"):
            raise ValueError(
                f"a {type(documents).__name__} is no list of texts: give [text], or a "
                "column of a table"
            )
        return self._annotated(documents, probabilities)

    def _annotated(self, documents: Iterable[str], probabilities: bool):
        counts = deque()  # the sentences of each document that has not been given

        def sentences():
            for document in self._segmented(map(_document, count(1), documents)):
                counts.append(len(document))
                yield from document

        part = []
        for sentence in self.annotate(sentences(), probabilities=probabilities):
            while len(part) == counts[0]:
                yield part
                counts.popleft()
                part = []
            part.append(sentence)
        for _ in counts:
            yield part
            part = []

    def _segmented(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        if hasattr(self.segmenter, "segment_each"):
            return self.segmenter.segment_each(texts)
        return (list(self.sentences(text)) for text in texts)

    def derive(self, sentences: Sentences, **options: Any) -> Any:
        """Find the derivations of sentences, as `derive` of its CCG parser does.

        The taggers that stand before the CCG parser tag the sentences first, as in
        `annotate`, which takes raw text; and a dependency parser gives them heads and
        relations, if the CCG parser reads these.

        Args:
            sentences: sentences, or lists of words.
            **options: of that method, such as `nbest`.

        Returns:
            As that method, which also says what is raised.

        Raises:
            AttributeError: if it has no CCG parser.
            ValueError: for a text, or as that method.
        """
        parser = self.derivation_parser
        if parser is None:
            raise AttributeError("this pipeline has no CCG parser: call annotate")
        reads = {field_of(name) for name in parser.input_columns}
        if getattr(parser, "reads_heads", False):
            reads.add("head")
        for model in self._annotators.values():
            if model is parser:
                break
            if model.kind == kinds.TAGGER.name or reads & {*model.gives}:
                sentences = model.annotate(sentences)
        return parser.derive(sentences, **options)

    def check_probabilities(self) -> None:
        """Raise a ValueError if no model gives probabilities of words."""
        if not self.probability_columns:
            raise ValueError(no_probabilities(f"{', '.join(self.parts)}: there are"))

    def annotate_together(
        self, sentences: list[Sentence], probabilities: bool = False
    ) -> list[Sentence]:
        """The sentences of one slice, annotated; they are not segmented.

        Args:
            sentences: with their words.
            probabilities: as in `annotate`.
        """
        if probabilities:
            self.check_probabilities()
        spans = []  # of each tagger, which gives those of its labels alone
        for model in self._annotators.values():
            asked = probabilities and model.gives_probabilities
            sentences = model.annotate(sentences, probabilities=asked)
            if model.gives_spans:
                spans.append([sentence.spans for sentence in sentences])
        if len(spans) < 2:
            return sentences
        return [
            replace(sentence, spans=sorted(chain(*rows), key=lambda span: span.words))
            for sentence, *rows in zip(sentences, *spans, strict=True)
        ]

    def sentences(self, text: Sentences, lines: bool = False) -> Iterator[Sentence]:
        """The sentences of a text, not annotated, one after the other.

        Args:
            text, lines: as in `annotate`.
        """
        if not isinstance(text, str):
            check_several(text)
        pieces = pieces_of(text)
        first = next(pieces, "")
        pieces = chain([first], pieces)
        if not isinstance(first, str):
            return map(as_sentence, pieces)
        if self.segmenter is None:
            return sentences_of_lines(pieces)
        return iter(self.segmenter.segment(pieces, lines))


def _document(number: int, text: str) -> str:
    if not isinstance(text, str):
        raise ValueError(
            f"document {number} is a {type(text).__name__}, not a string: documents "
            "are texts; fillna('') of pandas fills missing ones"
        )
    return without_mark(text)


def pipeline_of(model) -> TextPipeline:
    """A pipeline as it is; that of any other model alone."""
    if kinds.of(model).composed:
        return model
    return TextPipeline(**{kinds.of(model).part_name: model})
