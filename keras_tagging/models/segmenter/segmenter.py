"""The segmenter: raw text in, tokens and sentences out."""

from collections.abc import Iterable, Iterator

import keras
import numpy as np

from keras_tagging.data.sentence import (
    Sentence,
    as_sentences,
    check_surfaces,
    document_of,
)
from keras_tagging.encoding.vocabulary import grouped
from keras_tagging.kinds.figures import segment_figures
from keras_tagging.metrics.raw_text import SegmentationScores, segmentation_scores
from keras_tagging.models.calls import QUIET
from keras_tagging.models.report import Report, figures_alone
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.runtime.segmenter import LISTS, WORDS
from keras_tagging.segmenting.characters import (
    CharacterFeatures,
    encoded_apart,
    needs_lexicon,
)
from keras_tagging.segmenting.multiword import MultiwordSplitter, analyses_of, usual_of
from keras_tagging.segmenting.segmentation import (
    LABELS,
    Segmentation,
    WindowBatches,
    targets_of,
)
from keras_tagging.segmenting.symbols import BREAK, symbols_of
from keras_tagging.vectors import read_word_classes

FIGURES = ("loss", "token_f1", "word_f1", "sentence_f1", "f1")
#: the vocabulary of tokens that have several words whatever the network says
USUAL = "usual_multiword"
#: sentences of training with several lines, from which on the ends of lines are read
WRAPPED = 100


@keras.saving.register_keras_serializable("keras_tagging")
class Segmenter(SentenceModel):
    """A model that finds the tokens, words and sentences of raw text.

    :func:`keras_tagging.build` makes segmenters. The network reads the characters of a
    window of the text and tells of each whether a token ends behind it, whether the
    token has several words, and whether its sentence ends there, too: the five labels
    of `segmenting.segmentation`. It learns from sentences with a `surface`, such as
    those that CoNLL-U gives with `surface=True`.

    Args:
        architecture, settings: see `SentenceModel`.
        spaces: whether tokens of training have white space inside; for `from_config`.
        vocabularies: those of the characters and of multiword tokens; for
            `from_config`.
        **kwargs: arguments of `SentenceModel`.
    """

    kind = "segmenter"
    inventories = ("tags", "multiword", USUAL)
    column_names = ("surface",)
    figures = FIGURES
    default_monitor = "val_f1"

    def __init__(
        self, architecture, settings, spaces=False, vocabularies=None, **kwargs
    ):
        self.spaces = spaces
        self.splitter = MultiwordSplitter(())
        self.passes = 1  # over the text in an epoch of training
        if isinstance(vocabularies, dict):  # earlier files lack it
            vocabularies = {USUAL: [], **{x: [] for x in WORDS}, **vocabularies}
        super().__init__(architecture, settings, vocabularies=vocabularies, **kwargs)

    @property
    def size(self) -> str:
        """The numbers of characters, multiword tokens and parameters, in words.

        After `adapt` also what follows from the corpus: a lexicon, and the passes over
        a small text.
        """
        sizes = {name: len(words) for name, words in self._vocabularies}
        parts = [f"{sizes['character']:,} characters"]
        if sizes["lexicon"]:
            parts.append(f"a lexicon of {sizes['lexicon']:,} words")
        parts.append(f"{sizes['multiword']:,} multiword tokens")
        parts.append(f"{self.count_params():,} parameters")
        if self.passes > 1:
            parts.append(f"{self.passes} passes over the text in an epoch")
        return ", ".join(parts)

    # Vocabularies and network

    def _new_features(self):
        return CharacterFeatures()

    def adapt(self, sentences: Iterable[Sentence], word_classes=None) -> None:
        """Count characters and multiword tokens, and build the network.

        Args:
            sentences: training sentences with surfaces.
            word_classes: a file of classes of words, such as Brown clusters, or a dict
                from words to classes, as `keras_tagging.vectors.read_word_classes`
                takes them. Each letter has the class of its word in small letters as
                one more feature.

        Raises:
            ValueError: if the model has vocabularies already, there are no tokens, or
                the classes cannot be read.
            OSError: if there is no such file of classes.
        """
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        text, surfaces = document_of(sentences)
        if not surfaces:
            raise ValueError("no training sentence has a token: nothing to learn from")
        self.spaces = any(
            any(map(str.isspace, token)) for s in surfaces for token in s.tokens
        )
        wanted = self.settings.task.lexicon
        wanted = needs_lexicon(surfaces) if wanted is None else wanted
        words = (token for surface in surfaces for token in surface.tokens)
        symbols = symbols_of(text)
        # else a treebank whose lines are sentences would teach that all lines are
        lines = sum(bool(BREAK.search(x.text)) for x in surfaces) >= WRAPPED
        classes = {} if word_classes is None else read_word_classes(word_classes, False)
        self.features.adapt(symbols, words if wanted else (), lines, grouped(classes))
        vocabularies = {"tags": list(LABELS), "multiword": analyses_of(sentences)}
        vocabularies[USUAL] = usual_of(sentences)
        self._build({**self.features.vocabularies, **vocabularies})
        nothing = np.zeros((len(symbols), 1), "int32")
        batches = self._windows(nothing, nothing[:, 0], self.settings.fitting)
        self.passes = batches.passes

    def _restore(self, vocabularies):
        if tuple(vocabularies["tags"]) != LABELS:
            raise ValueError(f"the labels of a segmenter are {', '.join(LABELS)}")
        usual = vocabularies[USUAL]
        self.splitter = MultiwordSplitter(vocabularies["multiword"], usual)
        super()._restore(vocabularies)

    def _new_network(self):
        network = self.settings.network
        return network.build(self.features, LABELS, seed=self.seed)

    def get_config(self):
        return {**super().get_config(), "spaces": self.spaces}

    # Training

    def annotated(self, sentences):
        sentences = as_sentences(sentences)
        check_surfaces(sentences)
        return sentences

    def batches(self, sentences, fitting):
        text, surfaces = document_of(sentences)
        # the text is a ring, in which its end is that of a paragraph
        symbols = symbols_of(text.rstrip() + "\n\n")
        ids = encoded_apart(self.features, symbols, surfaces)
        return self._windows(ids, targets_of(symbols, surfaces), fitting)

    def _windows(self, ids, targets, fitting):
        return WindowBatches(
            ids,
            targets,
            window=self.settings.task.window,
            min_batches=self.settings.task.min_batches,
            **self.batching(fitting),
        )

    # Segmentation

    def segment(
        self, text: str | Iterable[str], lines: bool = False
    ) -> Iterator[Sentence]:
        """Find the sentences of a text, one after the other, in constant memory.

        Args:
            text: a text, or strings that are one when they are joined, such as the
                lines of a file. It may be of any length: the network reads some 60,000
                characters ahead. However it is cut, the sentences are the same.
            lines: whether each line with a word is one sentence, which is not split.

        Yields:
            Sentences whose tokens are the words of the text, each with its `surface`.
            Every character but white space is part of one token. The text stays as it
            is: nothing is normalised.

        Raises:
            ValueError: without vocabularies, or, during the iteration, for anything but
                strings.
        """
        self._require_network()
        return self.segmentation.segment(text, lines)

    def segment_each(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """The sentences of each text as `segment` finds them, but in less time.

        Args:
            texts: strings. Those that are short are read together.
        """
        self._require_network()
        return self.segmentation.segment_each(texts)

    @property
    def segmentation(self) -> Segmentation:
        """The way from text to sentences, by its network."""
        return Segmentation(
            self.features,
            self.splitter,
            self.spaces,
            self.settings.task.context,
            lambda ids: np.asarray(self.predict_on_batch(ids)),
            multiple=self.length_multiple,
        )

    def predictions(self, sentences, calls=QUIET) -> list[Sentence]:
        """The sentences that the text of these sentences has by the network."""
        return list(self.segment(document_of(sentences)[0]))

    def annotate(self, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
        """The sentences of the text of these sentences, one after the other."""
        yield from self.segment(document_of(sentences)[0])

    # Evaluation

    def evaluator(self, sentences, calls=QUIET):
        """See `SentenceCalls.evaluator`."""
        return lambda: segment_figures(self.segmentation, sentences)

    def scores(self, sentences: Iterable[Sentence]) -> SegmentationScores:
        """The scores of `evaluate`, with precision and recall."""
        sentences = self.annotated(sentences)
        return segmentation_scores(sentences, self.predictions(sentences))

    def report(self, sentences: Iterable[Sentence]) -> Report:
        """The figures, and a table of precision and recall."""
        import pandas as pd

        scores = self.scores(sentences)
        units = ("tokens", "words", "multiwords", "sentences")
        counts = [(unit, getattr(scores, unit)) for unit in units]
        rows = [(u, x.gold, x.found, x.precision, x.recall, x.f1) for u, x in counts]
        names = ["unit", "gold", "predicted", "precision", "recall", "f1"]
        report = figures_alone(self, sentences)
        report.tables["segmentation"] = pd.DataFrame(rows, columns=names)
        return report

    # Serving

    served_layers, export_format = (), "onnx"

    def described(self, top_k=5):
        names = (*LISTS, *(name for name in WORDS if self.vocabularies[name]))
        lists = {name: list(self.vocabularies[name]) for name in names}
        context = self.settings.task.context
        return lists | {"spaces": self.spaces, "context": context}
