"""The tagger: sentences in, tags out."""

from collections.abc import Callable, Iterable

import keras

from keras_tagging import training
from keras_tagging.architectures.output import reads_labels, run_network
from keras_tagging.data.named_columns import annotated
from keras_tagging.data.sentence import Sentence
from keras_tagging.encoding.label_columns import ColumnRules, targets_of, vocabulary_of
from keras_tagging.kinds.tagging import Tagging
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.models import building
from keras_tagging.models.calls import QUIET
from keras_tagging.models.counts import tag_counts
from keras_tagging.models.distillation import tagged_text
from keras_tagging.models.files.serving import tag_answer
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger import decoding, learnt_columns
from keras_tagging.models.tagger import figures as tag_figures
from keras_tagging.models.tagger.loss import check_pupil, tagger_loss, tagger_metrics
from keras_tagging.models.tagger.one_column import multi_tagging_of, one_column
from keras_tagging.models.tagger.pretraining import (
    has_tables,
    pretrain_tables,
    refuse_trained,
)
from keras_tagging.models.tagger.report import tag_report
from keras_tagging.models.tagger.retarget import freeze, retargeted

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network
# The Viterbi search needs (batch, tags, tags) floats: 64 MB
PATH_FLOATS = 2**24


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(Tagging, SentenceModel):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    :func:`keras_tagging.build` makes taggers. `architectures.output` describes the
    outputs of the `network`, which reads ids.

    Args:
        architecture, settings: see `SentenceModel`.
        chunk_scheme: "iob2", "iob1" or "iobes", if its tags must be consistent in it;
            for `from_config`.
        frozen: names of layers that are not trained; for `from_config`.
        rules: the configuration of its `ColumnRules`; for `from_config`.
        **kwargs: arguments of `SentenceModel`.
    """

    report_options = ("multi_tagging", "betas", "per_tag")

    def __init__(
        self,
        architecture,
        settings,
        chunk_scheme=None,
        frozen=(),
        rules=None,
        **kwargs,
    ):
        self.label_columns = ()
        self._schemes = (chunk_scheme,)  # a dict would be wrapped by Keras
        self.frozen = tuple(frozen)
        self._pretraining_due = False
        super().__init__(architecture, settings, **kwargs)
        self.rules = ColumnRules.restored(rules, self.label_columns)

    # Vocabularies and network

    @property
    def column_names(self) -> tuple[str | None, ...]:
        """The columns of the sentences that it learns; (None,) for their tags."""
        return self.settings.task.columns

    @property
    def inventories(self):
        return tuple(map(vocabulary_of, self.column_names))

    @property
    def chunk_scheme(self):
        """The chunk scheme that decoding keeps to, or one by column; None if free."""
        return learnt_columns.schemes_of(self.label_columns)

    def column(self, name: str | None):
        """One of several columns, as a tagger that has no other: see `OneColumn`."""
        self._require_network()
        return one_column(self, name)

    @property
    def beam_width(self) -> int:
        """Hypotheses kept by a network that reads its labels. You may set it."""
        return self.settings.get("beam_width", 1)

    @beam_width.setter
    def beam_width(self, width):
        self.settings.network.refuse_unused({"beam_width": width})
        self.settings = self.settings.replaced(beam_width=width)
        for layer in self.network.layers if self.network else ():
            if isinstance(layer, LabelEmbeddingRNN):
                layer.beam_width = width
        self.predict_function = None  # it was compiled with the old width

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Count the vocabularies of words and tags, and build the network.

        Args:
            sentences: training sentences with tags.

        Raises:
            ValueError: if the model has vocabularies already, there are no tags, or all
                tokens have the same one.
        """
        building.refuse_second_adapt(self)
        sentences = self.annotated(sentences)
        columns = learnt_columns.columns_to_learn(sentences, self.settings)
        self._schemes = (learnt_columns.schemes_of(columns),)
        vocabularies = building.count_features(self, sentences)
        labels = {column.vocabulary: column.labels for column in columns}
        building.build_network(self, {**vocabularies, **labels})
        self._pretraining_due = self.settings.task.pretrain is not None
        if self.settings.task.consistent:
            self.rules = ColumnRules.learnt(sentences, self.label_columns)

    def learn_rules(self, sentences, lexicon=()) -> None:
        """Learn anew what answers keep to; no weight changes.

        The first `fit` does so without a lexicon. Models of earlier versions have no
        rules, and get some here.

        Args:
            sentences: the training sentences.
            lexicon: words that these may lack, as triples of a form, a label of it in
                any column and its lemma: `("stolen", "VBN", "steal")`. Where form and
                lemma are the same, it is a lemma that is known: `("provoke", "VERB",
                "provoke")`. Of parts of speech for which it has three quarters of the
                lemmas of the sentences, any other word keeps its form.
                `data.lemmas.rules.read_lexicon` reads a file of them.

        Raises:
            ValueError: if the sentences are not annotated, or the model has no
                vocabularies yet.
        """
        self._require_network()
        sentences = self.annotated(sentences)
        self.rules = ColumnRules.learnt(sentences, self.label_columns, lexicon)

    def _restore(self, vocabularies):
        self.label_columns = learnt_columns.restored_columns(
            self.column_names, vocabularies, *self._schemes
        )
        super()._restore(vocabularies)
        freeze(self.network, self.frozen)

    def _new_network(self):
        return self.settings.network.build(
            self.settings,
            self.features,
            self.label_columns,
            seed=self.seed,
            vector_dim=self.vector_dim,
        )

    def get_config(self):
        own = {"chunk_scheme": self.chunk_scheme, "frozen": list(self.frozen)}
        rules = self.rules and self.rules.config()
        return {**super().get_config(), **own, "rules": rules}

    def call(self, inputs, training=False):
        """The outputs of the network for ids `(batch, time, features)`.

        With a character network, the ids come in a dict with the letters. In training,
        `inputs` may be a tuple of these and gold tag ids `(batch, time)`.
        """
        ids, labels = inputs if isinstance(inputs, (tuple, list)) else (inputs, None)
        return run_network(self.network, ids, labels, training)

    def known_words(self, words=()):
        return set(self.features.vocabularies["word"][: self.training_words])

    # Sentences to arrays

    def annotated(self, sentences):
        return annotated(sentences, self.column_names)

    def targets(self, sentences):
        """The tag ids of all tokens of the sentences."""
        return targets_of(sentences, self.label_columns)

    def batches(self, sentences, fitting):
        least = self.settings.task.min_count
        learnt_columns.check_known_labels(sentences, self.label_columns, least)
        return super().batches(sentences, fitting)

    def check_development(self, sentences):
        learnt_columns.check_development(sentences, self.label_columns)

    def dataset(self, batches):
        """The data for training: see `training.dataset`."""
        tokens = training.token_signature(self.features)
        return training.dataset(batches, tokens, reads_labels(self.network))

    # Training

    @property
    def figures(self):
        """The names of the figures of `evaluate`: see `models.figures`."""
        return tag_figures.figure_names(self.label_columns)

    @property
    def default_monitor(self):
        """The figure of the recipe, or else accuracy, or F1 for chunks alone."""
        own = self.settings.task.monitor
        return own or f"val_{tag_figures.best_figure(self.label_columns)}"

    def pretrain(self, sentences, method="window", **options):
        """Learn the embeddings of words and labels from their sequences alone.

        Section 3.2 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`. Call it before
        `fit`; with the setting `pretrain`, the first `fit` calls it. Words keep vectors
        from `embeddings=`.

        Args:
            sentences: training sentences with tags. A model without vocabularies
                counts them first.
            method: "window", the paper's language model over past and future, or
                "cbow", gensim's word2vec, which is faster.
            **options: `word_epochs=20`, `label_epochs=10`, `seed` (by default the
                model's: the same seed gives all networks the same embeddings) and
                `verbose`.

        Returns:
            The names of the tables that were set.

        Raises:
            ValueError: for an unknown method, a network without such tables, or one
                that has been trained.
        """
        sentences = self.annotated(sentences)
        if self.network is None:
            self.adapt(sentences)
        refuse_trained(self)
        self._pretraining_due = False
        return pretrain_tables(self, sentences, method, **options)

    def retarget(
        self, sentences, *, keep_labels=None, frozen=(), seed=None, **changes
    ) -> "Tagger":
        """A tagger for other sentences that starts from the weights of this one.

        It has the same network with extended vocabularies: known words, characters and
        tags keep their weights, and new ones start as in a new model. `fit` then trains
        it, with a new optimizer::

            french = english.retarget(corpus.train, learning_rate=0.001)
            french.fit(corpus.train, validation_data=corpus.dev, epochs=5)

        Args:
            sentences: training sentences with tags.
            keep_labels: whether tags that the sentences lack stay in the inventory; by
                default if the sentences have some tags of this model.
            frozen: names of layers in `model.network.layers` that are not trained, such
                as "word_embedding" or "stack".
            seed: seed of new weights, dropout and order; by default that of this model.
            **changes: keywords of training, such as `learning_rate` and `epochs`, and
                `dropout`, `layer_dropout`, `constrained` and `monitor`.

        Returns:
            A new `Tagger`. Its `metadata["started_from"]` has the corpus and the scores
            of this one, which does not change.

        Raises:
            ValueError: for a keyword that would change the network, an unknown layer, a
                string in the place of a list of layers, sentences without tags, or new
                tags for a network that reads its labels as probabilities.
        """
        self._require_network()
        sentences = self.annotated(sentences)
        seed = self.seed if seed is None else seed
        return retargeted(self, sentences, keep_labels, frozen, seed, changes)

    def check_weights(self, weights):
        weights.check_columns(self.column_names)

    def check_pupil(self):
        check_pupil(self)

    def taught(self, batches, teaching, given):
        """Give batches what the `Teaching` has of the sentences, as they were given."""
        columns = self.label_columns
        batches.sentences = teaching.encoded(batches.sentences, given, columns)

    def text_batches(self, sentences, teacher, lesson, like):
        """The batches of some text: see `models.distillation`."""
        return tagged_text(self, sentences, lesson, like)

    def before_fit(self, sentences, resumed, verbose):
        if resumed:
            self._pretraining_due = False
        # a recipe may ask for pretraining without tables to pretrain
        if self._pretraining_due and has_tables(self):
            self.pretrain(sentences, self.settings.task.pretrain, verbose=verbose)

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """See `models.tagger_loss`."""
        return tagger_loss(self, compiled, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The compiled metrics of the logits: with several columns, of all of them."""
        return tagger_metrics(super().compute_metrics, self, y, y_pred, sample_weight)

    # Evaluation

    def evaluator(self, sentences, calls=QUIET) -> Callable[[], dict]:
        """A function that evaluates the model, with its weights at that time."""
        return tag_figures.evaluator(self, self.annotated(sentences), calls)

    def report(self, sentences, **options):
        """Figures and tables: see `models.report.tag_report`."""
        return tag_report(self, sentences, **options)

    def counts(self, sentences, figures, **options):
        """The counts behind figures, unit by unit: see `models.counts`."""
        return tag_counts(self.column(None), sentences, figures, **options)

    def multi_tagging(self, sentences, **kwargs):
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        return multi_tagging_of(self.column(None), self.annotated(sentences), **kwargs)

    # Prediction

    @property
    def batch_tokens(self) -> int:
        """The number of padded tokens in one call of the network."""
        if not (self.chunk_scheme or self.settings.get("decoder") == "crf"):
            return PREDICTION_TOKENS
        size = max(map(len, self.label_columns))
        return min(PREDICTION_TOKENS, max(1, PATH_FLOATS // size**2))

    def network_outputs(self, encoded, calls=QUIET):
        """The outputs of the network, a batch at a time.

        Args:
            encoded: `EncodedSentences`.
            calls: the `NetworkCalls`.

        Yields:
            The indices of the sentences, and for each column the logits `(batch, time,
            labels)` and the ids of the best labels `(batch, time)`. Time may exceed a
            length.
        """
        for chosen, outputs in self.predict_batches(encoded, calls):
            columns = [column.part(outputs) for column in self.label_columns]
            yield chosen, [decoding.best_of(part, len(chosen)) for part in columns]

    def output_arrays(self, outputs, names):
        return decoding.answers(self.label_columns, outputs, names)

    # Serving

    def described(self, top_k=5):
        """See `SentenceModel.described`."""
        rules = {"rules": self.rules.config()} if self.rules else {}
        return super().described(top_k) | rules

    def serving(self, top_k):
        """The function from ids and their mask to the outputs that `export` lists."""
        return tag_answer(self.network, self.label_columns, top_k)
