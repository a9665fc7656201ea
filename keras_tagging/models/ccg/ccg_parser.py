"""The CCG parser with a chart: sentences in, derivations out."""

from dataclasses import asdict, fields, replace

import keras
import numpy as np

from keras_tagging.ccg.grammar import Grammar
from keras_tagging.ccg.parsing import Search
from keras_tagging.kinds.deriving import (
    HEADS,
    OF_WORDS,
    Deriving,
    DerivingByChart,
    gold_heads,
    with_derivations,
)
from keras_tagging.metrics.derivations import derivation_counts
from keras_tagging.models.parser.biaffine_parser import BiaffineModel
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger.decoding import Softmax


class LearningDerivations(Deriving, SentenceModel):
    """The base of CCG parsers with Keras: a grammar, and sentences with derivations.

    Args:
        architecture, settings: see `SentenceModel`.
        grammar: an object of `Grammar.to_dict`; for `from_config`.
        **kwargs: arguments of `SentenceModel`.
    """

    def __init__(self, architecture, settings, grammar=None, **kwargs):
        self.grammar = grammar and Grammar.from_dict(grammar)
        super().__init__(architecture, settings, **kwargs)

    def adapt(self, sentences):
        """Count words, categories and rules, and build the network.

        Args:
            sentences: training sentences with derivations.

        Raises:
            ValueError: if the model has vocabularies already, or a sentence has no
                derivation, or one of fragments.
        """
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        derivations = (s.derivation for s in sentences if len(s))
        self.grammar = Grammar.from_derivations(self._with_rules(derivations))
        super().adapt(sentences)

    def _with_rules(self, derivations):
        """The derivations that the grammar is learnt from: all."""
        return derivations

    def _restore(self, vocabularies):
        if self.grammar is None:  # in a file
            raise ValueError("has no grammar, which a CCG parser needs")
        super()._restore(vocabularies)

    def get_config(self):
        grammar = self.grammar and self.grammar.to_dict()
        return {**super().get_config(), "grammar": grammar}

    def annotated(self, sentences):
        return with_derivations(sentences)

    report = SentenceModel.report
    predictions = SentenceModel.predictions
    check_student = SentenceModel.check_student

    def counts(self, sentences, figures):
        """The counts behind figures: see `metrics.derivations.derivation_counts`.

        A sentence without words has no row.

        Raises:
            ValueError: if a sentence has no derivation.
        """
        sentences = [s for s in self.annotated(sentences) if len(s)]
        gold = [sentence.derivation for sentence in sentences]
        derived = [sentence.derivation for sentence in self.annotate(sentences)]
        counts = derivation_counts(gold, derived)
        return [counts[name] for name, _ in figures]

    # Serving

    served_layers, export_format = (), "onnx"

    def described(self, top_k: int = 5) -> dict[str, object]:
        about = {"grammar": self.grammar.to_dict(), "search": asdict(self.search)}
        return super().described(top_k) | about


@keras.saving.register_keras_serializable("keras_tagging")
class CCGParser(LearningDerivations, DerivingByChart, BiaffineModel):
    """A CCG parser that takes sentences.

    :func:`keras_tagging.build` makes CCG parsers. The `network` is that of a biaffine
    parser whose column `tags` has the categories, and whose heads are those of the
    categories. :class:`keras_tagging.ccg.parsing.CCGDecoder` finds the derivation that
    has the best ones, with the rules of the training sentences. These need derivations,
    as `.auto` files have them.

    Its figures are those of `metrics.derivation_scores`, and before there is a
    derivation the shares of words with the right category (`accuracy`), head
    (`head_accuracy`) and both (`joint_accuracy`, which selects the best epoch).

    Args:
        architecture, settings: see `SentenceModel`.
        grammar: an object of `Grammar.to_dict`; for `from_config`.
        **kwargs: arguments of `Tagger`.
    """

    figures_in_training = OF_WORDS
    default_monitor = "val_joint_accuracy"

    @property
    def search(self) -> Search:
        """How derivations are searched for, by its settings."""
        return Search(**{x.name: self.settings[x.name] for x in fields(Search)})

    def annotated(self, sentences):
        """The sentences with the categories and heads of their derivations."""
        sentences = super().annotated(sentences)
        heads = ([*map(str, gold_heads(s))] if len(s) else [] for s in sentences)
        pairs = zip(sentences, heads, strict=True)
        learnt = [replace(s, columns=s.columns | {"head": x}) for s, x in pairs]
        return BiaffineModel.annotated(self, learnt)

    def evaluator(self, sentences, calls=None):
        """See `SentenceCalls`; without calls, as in training, only those of words."""
        if calls is None:
            return lambda: self.measured(sentences, search=False)
        return lambda: self.measured(sentences, calls)

    def output_arrays(self, outputs, names):
        tags = [name for name in names if name not in HEADS]
        arrays = dict(zip(tags, super().output_arrays(outputs, tags), strict=True))
        if {*HEADS} & {*names}:
            arrays |= dict.fromkeys(HEADS, Softmax(np.asarray(outputs["heads"])))
        return [arrays[name] for name in names]
