"""The model a user holds: sentences in, tags out."""

from collections.abc import Iterable
from dataclasses import replace

import keras
import numpy as np

from keras_tagging import training
from keras_tagging.architectures.embedding import vector_table
from keras_tagging.architectures.output import check_decoder, path_loss, run_network
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import EncodedSentences, TrainingBatches
from keras_tagging.encoding.vocabulary import count_vocabulary
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.metrics import looks_like_chunks
from keras_tagging.models import ARCHITECTURES
from keras_tagging.models.prediction import SentencePrediction
from keras_tagging.models.pretraining import (
    check_pretraining,
    has_tables,
    pretrain_tables,
)
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.settings import (
    check_label_options,
    check_value,
    choose,
)


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(SentencePrediction, SentenceModel):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    Made by :func:`keras_tagging.build`. Its `network` goes from ids to what
    `models.output` describes.

    Args:
        architecture, settings: see `SentenceModel`.
        training_words: how many of the words stood in training, not only among the
            vectors; for `from_config`.
        **kwargs: those of `SentenceModel`.
    """

    def __init__(self, architecture, settings, training_words=None, **kwargs):
        check_decoder(**choose(settings, check_decoder))
        check_pretraining(settings.get("pretrain"))
        super().__init__(architecture, settings, **kwargs)
        self._plain.training_words = training_words
        self._plain.pretraining_due = False

    def _make_features(self):
        super()._make_features(vectors=self._plain.vector_dim > 0)

    # Vocabularies and network

    @property
    def tags(self) -> list[str]:
        """The tag inventory, in the order of the network's outputs."""
        self._require_network()
        return self._plain.tags

    @property
    def beam_width(self) -> int:
        """Hypotheses kept by a network that reads its labels; may be set."""
        return self.settings.get("beam_width", 1)

    @beam_width.setter
    def beam_width(self, width):
        check_label_options(self.settings, {"beam_width": width})
        self.settings["beam_width"] = check_value("beam_width", width, 1)
        for layer in self.network.layers if self.network else ():
            if isinstance(layer, LabelEmbeddingRNN):
                layer.beam_width = width
        self.predict_function = None  # which has the old one compiled in

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Counts the vocabularies of words and tags, and builds the network.

        Args:
            sentences: training sentences with tags.

        Raises:
            ValueError: if the model has vocabularies already, or there are no tags.
        """
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        tags = (tag for sentence in sentences for tag in sentence.tags)
        tags = count_vocabulary(tags, self.settings["min_count"])
        if not tags:
            raise ValueError(
                "no tag to learn: the training sentences have no tokens, or no tag "
                f"occurs min_count={self.settings['min_count']} times"
            )
        vectors = self._plain.given.get("vectors")
        words = [to_nfc(word) for word in vectors.words] if vectors else ()
        vocabularies = self._count(sentences, words)
        # those that vectors add are behind them
        self._plain.training_words = len(self.features.vocabularies.get("word", ()))
        self._restore({**vocabularies, "tags": tags})
        if vectors:
            table = self.network.get_layer("vector_embedding").embeddings
            table.assign(vector_table(vectors, table.shape[0]))
        self._take_vectors()
        self._plain.pretraining_due = self.settings["pretrain"] is not None
        self.optimizer.build(self.trainable_variables)

    def _restore(self, vocabularies):
        self._plain.vocabularies = vocabularies
        self._plain.tags = list(vocabularies["tags"])
        self._plain.tag_ids = {tag: i for i, tag in enumerate(self._plain.tags)}
        words = {k: list(v) for k, v in vocabularies.items() if k != "tags"}
        self.features.set_vocabularies(words)
        module = ARCHITECTURES[self.architecture]
        self.network = module.build_network(
            self.features,
            len(self._plain.tags),
            seed=self.seed,
            vector_dim=self._plain.vector_dim,
            **choose(self.settings, module.build_network, module.CELL),
        )
        self.built = True

    def get_config(self):
        config = {"training_words": self._plain.training_words}
        return {**super().get_config(), **config}

    def call(self, inputs, training=False):
        """What the network gives for ids `(batch, time, features)`.

        In training they may come in a tuple with gold tag ids `(batch, time)`.
        """
        ids, labels = inputs if isinstance(inputs, (tuple, list)) else (inputs, None)
        return run_network(self.network, ids, labels, training)

    # Sentences to arrays

    def annotated(self, sentences):
        return as_sentences(sentences, tagged=True)

    def encode(self, sentences: list[Sentence], targets=False) -> EncodedSentences:
        """Ids of all tokens of the sentences, and their tag ids if asked for."""
        encoded = super().encode(sentences)
        if not targets:
            return encoded
        find = self._plain.tag_ids.get
        tag_ids = [find(tag, -1) for s in sentences for tag in s.tags]
        return replace(encoded, targets=np.array(tag_ids, "int32"))

    def batches(self, sentences, plan):
        words = self.features.names[0] == "word"
        return TrainingBatches(
            self.encode(sentences, targets=True),
            seed=self.seed,
            multiple=self.length_multiple,
            word_column=0 if words else None,
            **choose(plan, TrainingBatches),
        )

    def dataset(self, batches):
        """What Keras trains on: see `training.dataset`."""
        reads_labels = len(self.network.inputs) > 1
        return training.dataset(batches, len(self.features.names), reads_labels)

    @property
    def figures(self):
        names = ["loss", "accuracy", "oov_accuracy", "sentence_accuracy"]
        chunks = ["precision", "recall", "f1"]
        return names + chunks * looks_like_chunks(self.tags)

    @property
    def default_monitor(self):
        """That of the recipe, or else F1 for chunk tags and accuracy for others."""
        chunks = looks_like_chunks(self.tags)
        return self.settings.get("monitor") or ("val_f1" if chunks else "val_accuracy")

    # Training

    def pretrain(self, sentences, method="window", **options):
        """Learns the embeddings of words and labels from their sequences alone.

        Section 3.2 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`; to be called
        before `fit`. The setting `pretrain` makes the first `fit` do so. Words that
        start as the vectors of `embeddings=` keep them.

        Args:
            sentences: training sentences with tags. The first ones a model sees also
                give the vocabularies.
            method: "window", the paper's language model over past and future, or
                "cbow", gensim's word2vec, which is quicker.
            **options: `word_epochs=20`, `label_epochs=10`, `seed` (by default the
                model's: equal seeds give all networks the same embeddings) and
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
        if int(self.optimizer.iterations):
            raise ValueError(
                "this model has been trained: pretraining would undo its embeddings"
            )
        self._plain.pretraining_due = False
        return pretrain_tables(self, sentences, method, **options)

    def before_fit(self, sentences, verbose):
        # a recipe's own choice asks for what there is
        if self._plain.pretraining_due and has_tables(self):
            self.pretrain(sentences, self.settings["pretrain"], verbose=verbose)

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        """The compiled loss; of a CRF the likelihood, whatever loss is compiled.

        A bidirectional network that reads labels has the losses of both directions.
        With `l2` a batch also bears its share of the penalty of an epoch.
        """
        outputs = y_pred if isinstance(y_pred, dict) else {"logits": y_pred}
        if "emissions" in outputs:
            crf = self.network.get_layer("crf")
            loss = sum(self.losses, path_loss(crf, y, outputs, sample_weight))
        else:
            names = [name for name in ("logits", "other_logits") if name in outputs]
            loss = sum(
                super(Tagger, self).compute_loss(
                    x, y, outputs[name], sample_weight, training
                )
                for name in names
            )
        return self.penalised(loss, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The compiled metrics, of the logits; those of a CRF are log marginals."""
        logits = y_pred["logits"] if isinstance(y_pred, dict) else y_pred
        return super().compute_metrics(x, y, logits, sample_weight)
