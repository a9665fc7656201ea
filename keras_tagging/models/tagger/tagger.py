"""The tagger: sentences in, tags out."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_tagging import training
from keras_tagging.architectures.output import (
    path_loss,
    read_outputs,
    reads_labels,
    run_network,
)
from keras_tagging.data.sentence import Sentences
from keras_tagging.encoding.label_columns import ColumnRules, targets_of, vocabulary_of
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.models.fit import weights_of_tokens
from keras_tagging.models.labels import refuse_unknown
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger import decoding, label_columns
from keras_tagging.models.tagger.decoding import logits_of
from keras_tagging.models.tagger.figures import MeasuredTagging
from keras_tagging.models.tagger.retarget import freeze, retargeted
from keras_tagging.training.context_embeddings import cbow_embeddings, window_embeddings

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network
# The Viterbi search needs (batch, tags, tags) floats: 64 MB
PATH_FLOATS = 2**24
#: of pretraining
METHODS = {"window": window_embeddings, "cbow": cbow_embeddings}


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(MeasuredTagging, SentenceModel):
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

    def __init__(
        self, architecture, settings, chunk_scheme=None, frozen=(), rules=None, **kwargs
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
        return label_columns.schemes_of(self.label_columns)

    @property
    def beam_width(self) -> int:
        """Hypotheses kept by a network that reads its labels. You may set it."""
        return self.settings.get("beam_width", 1)

    @beam_width.setter
    def beam_width(self, width: int) -> None:
        self.settings.network.refuse_unused({"beam_width": width})
        self.settings = self.settings.replaced(beam_width=width)
        for layer in self.network.layers if self.network else ():
            if isinstance(layer, LabelEmbeddingRNN):
                layer.beam_width = width
        self.predict_function = None  # it was compiled with the old width

    def adapt(self, sentences: Sentences) -> None:
        """Count the vocabularies of words and tags, and build the network.

        Args:
            sentences: training sentences with tags.

        Raises:
            ValueError: if the model has vocabularies already, there are no tags, or all
                tokens have the same one.
        """
        sentences = self.annotated(sentences)
        super().adapt(sentences)
        self._pretraining_due = self.settings.task.pretrain is not None
        if self.settings.task.consistent:
            self.rules = ColumnRules.learnt(sentences, self.label_columns)

    def count_labels(self, sentences):
        columns = label_columns.columns_to_learn(
            sentences, self.column_names, self.settings
        )
        self._schemes = (label_columns.schemes_of(columns),)
        labels = {column.vocabulary: column.labels for column in columns}
        return labels | self.count_other_labels(sentences)

    def count_other_labels(self, sentences) -> dict[str, list[str]]:
        """The vocabularies of labels that are no columns of tags."""
        return {}

    def learn_rules(self, sentences: Sentences, lexicon=()) -> None:
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
        self.label_columns = label_columns.restored_columns(
            self.column_names, vocabularies, *self._schemes
        )
        super()._restore(vocabularies)
        freeze(self.network, self.frozen)

    def _new_network(self, *others):
        return super()._new_network(self.label_columns, *others)

    def get_config(self):
        config = {"chunk_scheme": self.chunk_scheme, "frozen": list(self.frozen)}
        rules = self.rules and self.rules.config()
        return {**super().get_config(), **config, "rules": rules}

    def call(self, inputs, training=False):
        """The outputs of the network for ids `(batch, time, features)`.

        With a character network, the ids come in a dict with the letters. In training,
        `inputs` may be a tuple of these and gold tag ids `(batch, time)`.
        """
        ids, labels = inputs if isinstance(inputs, (tuple, list)) else (inputs, None)
        return run_network(self.network, ids, labels, training)

    # Sentences to arrays

    def targets(self, sentences):
        """The tag ids of all tokens of the sentences."""
        return targets_of(sentences, self.label_columns)

    def batches(self, sentences, fitting):
        least = self.settings.task.min_count
        label_columns.check_known_labels(sentences, self.label_columns, least)
        return super().batches(sentences, fitting)

    def check_development(self, sentences):
        for column in self.label_columns:
            labels = label_columns.counted(sentences, column)
            refuse_unknown(*labels, column.ids, "development")

    def dataset(self, batches):
        """The data for training; where the network reads labels, they are an input."""
        data = super().dataset(batches)
        if reads_labels(self.network):
            data = data.map(lambda ids, targets, mask: ((ids, targets), targets, mask))
        return data

    # Training

    @property
    def default_monitor(self):
        """The figure of the recipe, or else accuracy, or F1 for chunks alone."""
        return self.settings.task.monitor or super().default_monitor

    def pretrain(
        self,
        sentences: Sentences,
        method: str = "window",
        word_epochs: int = 20,
        label_epochs: int = 10,
        seed: int | None = None,
        verbose: int = 0,
    ) -> list[str]:
        """Learn the embeddings of words and labels from their sequences alone.

        Section 3.2 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`. Call it before
        `fit`; with the setting `pretrain`, the first `fit` calls it. Words keep vectors
        from `embeddings=`.

        Args:
            sentences: training sentences with tags. A model without vocabularies
                counts them first.
            method: "window", the paper's language model over past and future, or
                "cbow", gensim's word2vec, which is faster.
            word_epochs, label_epochs: epochs for the tables of words and of labels; 0
                leaves them as they are.
            seed: by default the model's; the same seed gives all networks the same
                embeddings.
            verbose: 1 shows a progress bar of "window"; gensim has none.

        Returns:
            The names of the tables that were set; a network without embeddings of
            words or labels has none.

        Raises:
            ValueError: if the network has been trained.
        """
        sentences = self.annotated(sentences)
        if self.network is None:
            self.adapt(sentences)
        if int(self.optimizer.iterations):
            raise ValueError("this model is trained: call pretrain before fit")
        self._pretraining_due = False
        encoded = self.encode(sentences, targets=True)
        options = {"seed": self.seed if seed is None else seed}
        if method == "window":
            options["verbose"] = verbose
        set_tables = []

        def train(variable, ids, first, **more):
            # rows before the first belong to no word and keep their initial values
            rows, dim = variable.shape
            table = np.array(ops.convert_to_numpy(variable))
            table[first:] = METHODS[method](
                ids - first, encoded.lengths, rows - first, dim, **options, **more
            )
            variable.assign(table)
            set_tables.append(variable.path)
            return table

        names = self.features.names
        if word_epochs and "word" in names and self.settings.task.embeddings is None:
            train(
                self.network.get_layer("word_embedding").embeddings,
                encoded.ids[:, names.index("word")],
                FIRST_ID,
                context=self.settings.window.window // 2 or 3,
                epochs=word_epochs,
            )
        layers = (x for x in self.network.layers if isinstance(x, LabelEmbeddingRNN))
        first, *others = [layer for layer in layers if layer.embeds] or [None]
        if label_epochs and first:
            context = max(1, first.label_context)
            table, ids = first.label_embeddings, encoded.targets
            labels = train(table, ids, 0, context=context, epochs=label_epochs)
            for layer in others:  # both directions start from the same table
                layer.label_embeddings.assign(labels)
                set_tables.append(layer.label_embeddings.path)
        return set_tables

    def retarget(
        self,
        sentences: Sentences,
        *,
        keep_labels: bool | None = None,
        frozen: Sequence[str] = (),
        seed: int | None = None,
        **changes: Any,
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

    def token_weights(self, sentences, sample_weight, class_weight):
        [column, *others] = self.label_columns
        if class_weight and others:
            raise ValueError("class_weight is for a tagger of one column")
        return weights_of_tokens(sentences, sample_weight, class_weight, column)

    def check_student(self):
        reads_own = self.settings.label_options is not None
        if reads_own or self.settings.get("decoder") == "crf":
            raise ValueError("a student needs decoder='softmax', as 'bigru' has it")

    def distil(self, batches, distillation, unannotated):
        """Give batches the soft targets of their sentences.

        Args:
            batches: of the training sentences.
            distillation: the `Distillation`.
            unannotated: the sentences as the user gave them: without gold tags, where
                they have none.
        """
        columns = self.distilled_columns(unannotated)
        batches.sentences = distillation.encoded(
            batches.sentences, unannotated, columns
        )

    def distilled_columns(self, sentences):
        """The columns of labels that it learns from soft targets."""
        return self.label_columns

    def prepared(self, sentences, keep, resumed, verbose):
        if self._pretraining_due and not resumed:
            shown = verbose in (1, 2, "auto")
            self.pretrain(sentences, self.settings.task.pretrain, verbose=shown)
        self._pretraining_due = False
        return sentences

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The loss of a batch: that of each column, with the weight of the column.

        It is the compiled loss; a CRF has its likelihood instead. A bidirectional
        network that reads labels adds the losses of both directions. With soft targets
        see `training.soft_cross_entropy`.

        Args:
            compiled: Keras' own `compute_loss`, which adds the losses of layers.
            y: `(batch, time)` label ids; with named columns `(batch, time, columns)`;
                with soft targets a dict: see `EncodedSentences.batch`.
            y_pred: what the network gave.
            sample_weight: `(batch, time)`, 0 in the padding.
        """
        soft = y if isinstance(y, dict) else None
        if soft is None and self.column_names[0] is None:
            outputs = y_pred if isinstance(y_pred, dict) else {"logits": y_pred}
            if "emissions" not in outputs:
                names = [n for n in ("logits", "other_logits") if n in outputs]
                return sum(compiled(None, y, outputs[n], sample_weight) for n in names)
        gold = y if soft is None else soft["gold"]
        terms = []
        for i, column in enumerate(self.label_columns):
            targets = gold if column.name is None else gold[..., i]
            outputs = column.part(y_pred)
            if isinstance(outputs, dict) and "emissions" in outputs:
                crf = self.network.get_layer(column.layer("crf"))
                loss = path_loss(crf, targets, outputs, sample_weight, self.weighted)
            else:
                # a copy: on PyTorch, Keras multiplies it in place by the logits' mask
                loss = self.loss(targets, logits_of(outputs), 1.0 * sample_weight)
            terms.append((i, logits_of(outputs), loss, self.settings.task.weights[i]))
        return self.joined_loss(terms, soft, sample_weight)

    def joined_loss(self, terms, soft, sample_weight):
        """The losses of gold targets, of soft ones, and of layers.

        See `training.soft_cross_entropy`.

        Args:
            terms: the number of a column of targets, its logits, the mean loss of gold
                and its weight.
            soft: the soft targets; None without a teacher.
            sample_weight: `(batch, time)`.
        """
        of_gold, of_soft = 0.0, 0.0
        share, temperature = self.soft_share
        for i, logits, loss, weight in terms:
            of_gold = of_gold + weight * ops.cast(loss, "float32")
            if soft is not None:
                ids, shares = soft["ids"][:, :, i], soft["probabilities"][:, :, i]
                of_soft = of_soft + weight * training.mean_soft_cross_entropy(
                    ids, shares, logits, sample_weight, temperature
                )
        if soft is None:
            return sum(self.losses, of_gold)
        both = (1 - share) * of_gold + share * temperature**2 * of_soft
        return sum(self.losses, both)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The compiled metrics of the logits: with several columns, of all of them."""
        gold = training.measured_targets(y)
        for i, column in enumerate(self.label_columns):
            targets = gold if column.name is None else gold[..., i]
            logits = logits_of(column.part(y_pred))
            metrics = super().compute_metrics(None, targets, logits, sample_weight)
        return metrics

    # Prediction

    @property
    def batch_tokens(self) -> int:
        """The number of padded tokens in one call of the network."""
        crf = self.settings.get("decoder") == "crf"
        searched = [len(x) for x in self.label_columns if crf or x.scheme]
        size = max(searched, default=1)
        return min(PREDICTION_TOKENS, max(1, PATH_FLOATS // size**2))

    def output_arrays(self, outputs, names):
        return decoding.answers(self.label_columns, outputs, names)

    # Serving

    def described(self, top_k=5):
        """See `SentenceModel.described`."""
        rules = {"rules": self.rules.config()} if self.rules else {}
        return super().described(top_k) | rules

    def serving(self, top_k):
        """The function from ids and their mask to the outputs that `export` lists."""

        def answer(tokens, real):
            return self.served(run_network(self.network, tokens), real, top_k)

        return answer

    def served(self, outputs, real, top_k):
        """The tags among the outputs that `export` lists, from those of the network."""
        made = {}
        for column in self.label_columns:
            labels = tf.constant(column.labels, tf.string)
            logits, best = read_outputs(column.part(outputs), tf.argmax)
            rows = tf.nn.softmax(logits) * tf.cast(real[:, :, None], logits.dtype)
            shares, order = tf.math.top_k(rows, min(top_k, len(column.labels)))
            top = tf.where(real[:, :, None], tf.gather(labels, order), "")
            values = {
                "tags": tf.where(real, tf.gather(labels, best), ""),
                "probabilities": tf.gather(rows, best, batch_dims=2),
                "top_tags": top,
                "top_probabilities": shares,
            }
            made |= {column.output_names[base]: x for base, x in values.items()}
        return made
