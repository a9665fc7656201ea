"""The tagger: sentences in, tags out."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import keras
import numpy as np

from keras_tagging import training
from keras_tagging.architectures import TAGGERS
from keras_tagging.architectures.output import (
    path_loss,
    read_outputs,
    reads_labels,
    run_network,
)
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.encoding.batching import (
    EncodedSentences,
    TrainingBatches,
    round_up,
    slices,
)
from keras_tagging.encoding.vocabulary import Inventory
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.metrics import (
    assigned,
    looks_like_chunks,
    multi_tagging,
    within_beta,
)
from keras_tagging.models.calls import QUIET
from keras_tagging.models.constraint import decoding_scheme
from keras_tagging.models.counts import tag_counts
from keras_tagging.models.decoding import (
    Batches,
    best_tags,
    figures,
    normal_words,
    streamed,
    tag_probabilities,
    with_probability,
)
from keras_tagging.models.known_labels import check_labels, tags_to_learn
from keras_tagging.models.pretrained import vector_table
from keras_tagging.models.pretraining import has_tables, pretrain_tables
from keras_tagging.models.report import tag_report
from keras_tagging.models.retarget import retargeted
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.serving import tag_answer
from keras_tagging.utils.suggestions import check_known

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network
# The Viterbi search needs (batch, tags, tags) floats: 64 MB
PATH_FLOATS = 2**24


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(SentenceModel):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    :func:`keras_tagging.build` makes taggers. `architectures.output` describes the
    outputs of the `network`, which reads ids.

    Args:
        architecture, settings: see `SentenceModel`.
        training_words: the number of words that occur in training, not only among the
            vectors; for `from_config`.
        chunk_scheme: "iob2", "iob1" or "iobes", if its tags must be consistent in it;
            for `from_config`.
        frozen: names of layers that are not trained; for `from_config`.
        **kwargs: arguments of `SentenceModel`.
    """

    kind, command, outputs = "tagger", "tag", "tags"
    architectures = TAGGERS
    report_options = ("multi_tagging", "betas", "per_tag")

    def __init__(
        self,
        architecture,
        settings,
        training_words=None,
        chunk_scheme=None,
        frozen=(),
        **kwargs,
    ):
        self.training_words = training_words
        self.chunk_scheme = chunk_scheme
        self.frozen = tuple(frozen)
        self._pretraining_due = False
        super().__init__(architecture, settings, **kwargs)

    # Vocabularies and network

    @property
    def tags(self) -> list[str]:
        """The tag inventory, in the order of the network's outputs."""
        self._require_network()
        return self._inventory.names

    @property
    def size(self) -> str:
        """The numbers of tags and parameters, in words."""
        return f"{len(self.tags)} tags, {self.count_params():,} parameters"

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
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        tags = tags_to_learn(sentences, self.settings.task.min_count)
        self.chunk_scheme = decoding_scheme(
            self.settings.get("constrained", False), tags, [s.tags for s in sentences]
        )
        vocabularies = self._count(sentences)
        # words that only the vectors have come after these
        self.training_words = len(vocabularies.get("word", ()))
        vectors = self.pretrained.vectors
        self._build_network({**vocabularies, "tags": tags})
        if vectors:
            table = self.network.get_layer("vector_embedding").embeddings
            table.assign(vector_table(vectors, table.shape[0]))
        self._pretraining_due = self.settings.task.pretrain is not None

    def _restore(self, vocabularies):
        self._vocabularies = tuple(vocabularies.items())
        self._inventory = Inventory(vocabularies["tags"])
        words = {k: list(v) for k, v in vocabularies.items() if k != "tags"}
        self.features.set_vocabularies(words)
        self.network = self.settings.network.build(
            self.settings,
            self.features,
            self._inventory.names,
            seed=self.seed,
            vector_dim=self.vector_dim,
            scheme=self.chunk_scheme,
        )
        layers = {layer.name: layer for layer in self.network.layers if layer.weights}
        for name in self.frozen:
            check_known("layer to freeze", name, sorted(layers))
            layers[name].trainable = False
        self.built = True

    def get_config(self):
        own = {"training_words": self.training_words, "chunk_scheme": self.chunk_scheme}
        return {**super().get_config(), **own, "frozen": list(self.frozen)}

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
        return as_sentences(sentences, tagged=True)

    def encode(self, sentences: list[Sentence], targets=False) -> EncodedSentences:
        """The ids of all tokens of the sentences; with `targets` also their tag ids."""
        encoded = super().encode(sentences)
        if not targets:
            return encoded
        find = self._inventory.ids.get
        tag_ids = [find(tag, -1) for s in sentences for tag in s.tags]
        return replace(encoded, targets=np.array(tag_ids, "int32"))

    def batches(self, sentences, fitting):
        words = self.features.names[0] == "word"
        tags = Counter(tag for sentence in sentences for tag in sentence.tags)
        least = self.settings.task.min_count
        check_labels("tags", tags, self._inventory.ids, least)
        return TrainingBatches(
            self.encode(sentences, targets=True),
            seed=self.seed,
            multiple=self.length_multiple,
            word_column=0 if words else None,
            batch_size=fitting.batch_size,
            token_budget=fitting.token_budget,
            unknown_rate=fitting.unknown_rate,
        )

    def dataset(self, batches):
        """The data for training: see `training.dataset`."""
        tokens = training.token_signature(self.features)
        return training.dataset(batches, tokens, reads_labels(self.network))

    # Training

    @property
    def figures(self):
        """The names of the figures of `evaluate`, over real tokens.

        * `loss`: the mean cross-entropy of tokens whose gold tag is in the inventory;
          with a CRF too, from the marginals that `predict` gives;
        * `accuracy`, where a gold tag outside the inventory is an error;
        * `oov_accuracy`: that of words unseen in training, in their normal form; nan
          without any;
        * `sentence_accuracy`: the share of sentences without an error;
        * for chunk tags `precision`, `recall` and `f1`, as conlleval counts them.
        """
        names = ["loss", "accuracy", "oov_accuracy", "sentence_accuracy"]
        chunks = ["precision", "recall", "f1"]
        return names + chunks * looks_like_chunks(self.tags)

    @property
    def default_monitor(self):
        """The figure of the recipe, or else F1 for chunk tags, accuracy for others."""
        chunks = looks_like_chunks(self.tags)
        return self.settings.task.monitor or ("val_f1" if chunks else "val_accuracy")

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
        if int(self.optimizer.iterations):
            raise ValueError(
                "this model is trained, and pretraining would replace its embeddings: "
                "call pretrain before fit"
            )
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
            ValueError: for a keyword that would change the network, an unknown layer,
                sentences without tags, or new tags for a network that reads its labels
                as probabilities.
        """
        self._require_network()
        sentences = self.annotated(sentences)
        tags = tags_to_learn(sentences, self.settings.task.min_count)
        seed = self.seed if seed is None else seed
        return retargeted(self, sentences, tags, keep_labels, frozen, seed, changes)

    def before_fit(self, sentences, verbose):
        # a recipe may ask for pretraining without tables to pretrain
        if self._pretraining_due and has_tables(self):
            self.pretrain(sentences, self.settings.task.pretrain, verbose=verbose)

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        """The compiled loss; a CRF has its likelihood instead.

        A bidirectional network that reads labels adds the losses of both directions.
        With `l2`, a batch also has its share of the penalty of an epoch.
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
        """The compiled metrics of the logits, which are log marginals in a CRF."""
        logits = y_pred["logits"] if isinstance(y_pred, dict) else y_pred
        return super().compute_metrics(x, y, logits, sample_weight)

    # Evaluation

    def evaluator(self, sentences, calls=QUIET) -> Callable[[], dict]:
        """A function that evaluates the model, with its weights at that time."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        words = normal_words(self, sentences, encoded)
        return lambda: figures(
            sentences, encoded, self._outputs(encoded, calls), self.tags, words
        )

    def report(self, sentences, **options):
        """Figures and tables: see `models.report.tag_report`."""
        return tag_report(self, sentences, **options)

    def counts(self, sentences, figures, **options):
        """The counts behind figures, unit by unit: see `models.counts`."""
        return tag_counts(self, sentences, figures, **options)

    def multi_tagging(self, sentences, **kwargs):
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        gold = (encoded.targets[a:b] for a, b in encoded.spans())
        rows = (p for part in slices(sentences) for p in self.predictions(part))
        return multi_tagging(gold, rows, **kwargs)

    # Prediction

    @property
    def batch_tokens(self) -> int:
        """The number of padded tokens in one call of the network."""
        if not (self.chunk_scheme or self.settings.get("decoder") == "crf"):
            return PREDICTION_TOKENS
        return min(PREDICTION_TOKENS, max(1, PATH_FLOATS // len(self.tags) ** 2))

    def predictions(self, sentences, calls=QUIET) -> list[np.ndarray]:
        """Tag probabilities: one `(tokens, num_tags)` array a sentence.

        With a CRF they are the marginals of each token. In a network that reads its
        labels, they are the probabilities after the preceding labels of the best path.
        """

        def of(part):
            encoded = self.encode(part)
            batches = self._outputs(encoded, calls)
            return tag_probabilities(batches, encoded.lengths, len(self.tags))

        return [rows for part in slices(sentences) for rows in of(part)]

    def tag(self, sentences, *, beta=None, probabilities=False):
        """Tag sentences.

        With a CRF the tags are those of the best path, and chunk tags are those of the
        best path with consistent chunks (`constrained`): they need not be the most
        probable of each token. `beta` uses the probabilities alone.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or tuple
                gives a list; any other iterable gives a generator that reads a limited
                number of sentences ahead.
            beta: return every tag with p >= beta * max p, best first.
            probabilities: return the probability with the tag.

        Returns:
            For each sentence a list with one entry a token: the tag; with
            `probabilities`, `(tag, p)`; with `beta`, a list of `(tag, p)`.
        """
        self._require_network()
        if beta is not None:
            assigned(np.ones((1, 1)), beta)  # refuse a wrong beta at once
        return streamed(sentences, lambda part: self._tag(part, beta, probabilities))

    def _tag(self, sentences, beta, probabilities):
        if beta is not None:
            rows = self.predictions(sentences)
            return [within_beta(row, self.tags, beta) for row in rows]
        encoded = self.encode(sentences)
        batches = self._outputs(encoded)
        if probabilities:
            return with_probability(batches, encoded.lengths, self.tags)
        return best_tags(batches, encoded.lengths, self.tags)

    def _outputs(self, encoded, calls=QUIET) -> Batches:
        """Sentence indices, logits and best tag ids, a batch at a time."""
        lengths = round_up(encoded.lengths, self.length_multiple)
        budget = self.batch_tokens
        sizes = calls.sizes(budget)
        for chosen in calls.plan(lengths, budget):
            ids, _, _ = encoded.batch(chosen, self.length_multiple, **sizes)
            outputs = read_outputs(self.predict_on_batch(ids), np.argmax)
            # without the rows of padding
            logits, tag_ids = (np.asarray(part)[: len(chosen)] for part in outputs)
            yield chosen, logits.astype("float32", copy=False), tag_ids

    def annotate(self, sentences):
        """The sentences with their tags, one after the other."""
        sentences = list(as_sentences(sentences))
        for sentence, tags in zip(sentences, self.tag(sentences), strict=True):
            yield replace(sentence, tags=tags)

    # Serving

    def serving(self, top_k):
        """The function from ids and their mask to the outputs that `export` lists."""
        return tag_answer(self.network, self.tags, top_k)

    @property
    def served_layers(self):
        return [self.network]
