"""The CCG parser: sentences in, derivations out."""

from dataclasses import asdict, fields

import keras
import numpy as np

from keras_tagging.ccg.grammar import Grammar
from keras_tagging.ccg.parsing import Search
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.kinds.deriving import (
    FIGURES,
    OF_WORDS,
    Deriving,
    gold_heads,
    gold_tags,
    with_derivations,
)
from keras_tagging.metrics.derivations import derivation_counts
from keras_tagging.models.labels import refuse_unknown
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.training import TagLoss


@keras.saving.register_keras_serializable("keras_tagging")
class CCGParser(Deriving, SentenceModel):
    """A CCG parser that takes sentences.

    :func:`keras_tagging.build` makes CCG parsers. The `network` gives logits of each
    word's categories and heads, and :class:`keras_tagging.ccg.parsing.CCGDecoder` finds
    the derivation that has the best ones, with the rules of the training sentences.
    These need derivations, as `.auto` files have them.

    Its figures are those of `metrics.derivation_scores`, and before there is a
    derivation the shares of words with the right category (`accuracy`), head
    (`head_accuracy`) and both (`joint_accuracy`, which selects the best epoch).

    Args:
        architecture, settings: see `SentenceModel`.
        grammar: an object of `Grammar.to_dict`; for `from_config`.
        **kwargs: arguments of `SentenceModel`.
    """

    inventories = ("tags",)
    figures, figures_in_training = FIGURES, OF_WORDS
    default_monitor = "val_joint_accuracy"

    def __init__(self, architecture, settings, grammar=None, **kwargs):
        self.grammar = grammar and Grammar.from_dict(grammar)
        super().__init__(architecture, settings, **kwargs)

    def objectives(self):
        return {**super().objectives(), "weighted_metrics": None}

    # Vocabularies and network

    @property
    def tags(self) -> list[str]:
        """The categories of words, in the order of the network's outputs."""
        self._require_network()
        return self.vocabularies["tags"]

    @property
    def search(self) -> Search:
        """How derivations are searched for, by its settings."""
        return Search(**{x.name: self.settings[x.name] for x in fields(Search)})

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

    def count_labels(self, sentences):
        return {"tags": count_vocabulary(t for s in sentences for t in gold_tags(s))}

    def _restore(self, vocabularies):
        if self.grammar is None:  # in a file
            raise ValueError("has no grammar, which a CCG parser needs")
        super()._restore(vocabularies)

    def get_config(self):
        grammar = self.grammar and self.grammar.to_dict()
        return {**super().get_config(), "grammar": grammar}

    # Training

    def annotated(self, sentences):
        return with_derivations(sentences)

    def check_development(self, sentences):
        tags = dict.fromkeys(tag for s in sentences if len(s) for tag in gold_tags(s))
        refuse_unknown("categories", tags, self.tags, "development")

    def targets(self, sentences):
        """The numbers of category and head of all tokens, `(tokens, 2)`."""
        ids = {tag: i for i, tag in enumerate(self.tags)}
        sentences = [s for s in sentences if len(s)]
        tags = [ids.get(tag, -1) for s in sentences for tag in gold_tags(s)]
        heads = [head for s in sentences for head in gold_heads(s)]
        return np.array([tags, heads], "int32").T.reshape(-1, 2)

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The mean cross-entropy of categories, plus that of heads.

        Heads are not smoothed: their logits have the padding of the batch, too.
        """
        # copies: on PyTorch, Keras multiplies them in place by the mask of the logits
        of_tags = compiled(None, y[..., 0], y_pred["tags"], 1.0 * sample_weight)
        of_heads = TagLoss()(y[..., 1], y_pred["heads"], 1.0 * sample_weight)
        return of_tags + of_heads

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The loss alone: figures are those of the development sentences."""
        return self.get_metrics_result()

    def evaluator(self, sentences, calls=None):
        """See `SentenceModel`; without calls, as in training, only those of words."""
        sentences = self.annotated(sentences)
        if calls is None:
            return lambda: self.measured(sentences, search=False)
        return lambda: self.measured(sentences, calls)

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

    def output_arrays(self, outputs, names):
        tags = np.asarray(outputs["tags"])
        arrays = {"tag_scores": tags, "head_scores": np.asarray(outputs["heads"])}
        if "tags" in names:
            arrays["tags"] = np.array(self.tags, object)[tags.argmax(-1)]
        return [arrays[name] for name in names]

    # Serving

    served_layers, export_format = (), "onnx"

    def described(self, top_k=5):
        about = {"grammar": self.grammar.to_dict(), "search": asdict(self.search)}
        return super().described(top_k) | about
