"""The tagger a user holds: sentences in, tags out."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import keras
import numpy as np

from keras_tagging import training
from keras_tagging.architectures import TAGGERS
from keras_tagging.architectures.output import path_loss, read_outputs, run_network
from keras_tagging.corpora.labels import refuse_one_label
from keras_tagging.data.normalisation import flat_strings
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.encoding.batching import (
    EncodedSentences,
    TrainingBatches,
    round_up,
    slices,
)
from keras_tagging.encoding.vocabulary import FIRST_ID, Inventory, count_vocabulary
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.metrics import (
    assigned,
    looks_like_chunks,
    multi_tagging,
    within_beta,
)
from keras_tagging.models.calls import QUIET, NetworkCalls
from keras_tagging.models.counts import tag_counts
from keras_tagging.models.decoding import (
    Batches,
    best_tags,
    figures,
    tag_probabilities,
    with_probability,
)
from keras_tagging.models.known_labels import check_labels
from keras_tagging.models.pretrained import vector_table
from keras_tagging.models.pretraining import has_tables, pretrain_tables
from keras_tagging.models.report import tag_report
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.serving import tag_answer

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network
# The Viterbi search holds (batch, tags, tags) floats: 64 MB
PATH_FLOATS = 2**24


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(SentenceModel):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    Made by :func:`keras_tagging.build`. Its `network` goes from ids to what
    `architectures.output` describes.

    Args:
        architecture, settings: see `SentenceModel`.
        training_words: how many of the words stood in training, not only among the
            vectors; for `from_config`.
        **kwargs: those of `SentenceModel`.
    """

    kind, command, outputs = "tagger", "tag", "tags"
    architectures = TAGGERS
    report_options = ("multi_tagging", "betas", "per_tag")

    def __init__(self, architecture, settings, training_words=None, **kwargs):
        self.training_words = training_words
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
        """How many tags and parameters it has, in words."""
        return f"{len(self.tags)} tags, {self.count_params():,} parameters"

    @property
    def beam_width(self) -> int:
        """Hypotheses kept by a network that reads its labels; may be set."""
        return self.settings.get("beam_width", 1)

    @beam_width.setter
    def beam_width(self, width):
        self.settings.network.refuse_unused({"beam_width": width})
        self.settings = self.settings.replaced(beam_width=width)
        for layer in self.network.layers if self.network else ():
            if isinstance(layer, LabelEmbeddingRNN):
                layer.beam_width = width
        self.predict_function = None  # which has the old one compiled in

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Counts the vocabularies of words and tags, and builds the network.

        Args:
            sentences: training sentences with tags.

        Raises:
            ValueError: if the model has vocabularies already, or there are no tags, or
                one for all tokens.
        """
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        refuse_one_label(sentences)
        least = self.settings.task.min_count
        tags = count_vocabulary((tag for s in sentences for tag in s.tags), least)
        if not tags:
            raise ValueError(
                "no tag to learn: the training sentences have no tokens, or no tag "
                f"occurs min_count={least} times"
            )
        vocabularies = self._count(sentences)
        # those that vectors add are behind them
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
            len(self._inventory),
            seed=self.seed,
            vector_dim=self.vector_dim,
        )
        self.built = True

    def get_config(self):
        return {**super().get_config(), "training_words": self.training_words}

    def call(self, inputs, training=False):
        """What the network gives for ids `(batch, time, features)`.

        In training they may come in a tuple with gold tag ids `(batch, time)`.
        """
        ids, labels = inputs if isinstance(inputs, (tuple, list)) else (inputs, None)
        return run_network(self.network, ids, labels, training)

    def known_words(self, words=()):
        return set(self.features.vocabularies["word"][: self.training_words])

    # Sentences to arrays

    def annotated(self, sentences):
        return as_sentences(sentences, tagged=True)

    def encode(self, sentences: list[Sentence], targets=False) -> EncodedSentences:
        """Ids of all tokens of the sentences, and their tag ids if asked for."""
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
        """What Keras trains on: see `training.dataset`."""
        reads_labels = len(self.network.inputs) > 1
        return training.dataset(batches, len(self.features.names), reads_labels)

    # Training

    @property
    def figures(self):
        names = ["loss", "accuracy", "oov_accuracy", "sentence_accuracy"]
        chunks = ["precision", "recall", "f1"]
        return names + chunks * looks_like_chunks(self.tags)

    @property
    def default_monitor(self):
        """That of the recipe, or else F1 for chunk tags and accuracy for others."""
        chunks = looks_like_chunks(self.tags)
        return self.settings.task.monitor or ("val_f1" if chunks else "val_accuracy")

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
        self._pretraining_due = False
        return pretrain_tables(self, sentences, method, **options)

    def before_fit(self, sentences, verbose):
        # a recipe's own choice asks for what there is
        if self._pretraining_due and has_tables(self):
            self.pretrain(sentences, self.settings.task.pretrain, verbose=verbose)

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

    # Evaluation

    def evaluator(self, sentences, calls=QUIET) -> Callable[[], dict]:
        """A function that evaluates the model as it then is on these sentences."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        words = self._words(sentences, encoded)
        return lambda: figures(
            sentences, encoded, self._outputs(encoded, calls), self.tags, words
        )

    def _words(self, sentences, encoded) -> dict:
        """The words as training knows them, and which it knows; {} without words."""
        known = self.features.vocabularies.get("word")
        if known is None:
            return {}
        if self.settings.task.embeddings is None:
            size = self.features.sizes["word"]
            # by their ids: all but the unknown one stood in the training sentences
            words = [encoded.ids[a:b, 0].tolist() for a, b in encoded.spans()]
            return {"sentences": words, "known_words": range(FIRST_ID, size)}
        # words that only the vectors know have ids too
        forms = self.features.normal_forms(flat_strings(sentences)["tokens"])
        words = [forms[a:b] for a, b in encoded.spans()]
        return {"sentences": words, "known_words": self.known_words()}

    def evaluate(
        self,
        x,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
        **kwargs,
    ):
        """Figures on sentences with gold tags, over their real tokens.

        Args:
            x: sentences.
            batch_size: sentences in a call of the network, which changes no figure;
                by default as many as fit 4096 padded tokens.
            verbose: 1 shows a progress bar, 2 a line; 0 and "auto" nothing.
            return_dict: whether to give a dict.
            y, sample_weight, steps, callbacks: None; Keras' own have no place here.

        Returns:
            With `return_dict` a dict, else the list of its values: `loss` (mean
            cross-entropy of a token whose gold tag is in the inventory; with a CRF
            too, from the marginals that `predict` gives),
            `accuracy`, `oov_accuracy` (over words unseen in training, in their
            normalised form; nan if there is none), `sentence_accuracy`, and where
            the tags are chunks `precision`, `recall` and `f1` as conlleval counts
            them. A gold tag outside the inventory is an error.
        """
        if kwargs:
            raise ValueError(f"Arguments not recognized: {', '.join(kwargs)}")
        sentences = as_sentences(x, tagged=True)
        others = {"y": y, "sample_weight": sample_weight}
        others |= {"steps": steps, "callbacks": callbacks}
        calls = NetworkCalls(len(sentences), batch_size, verbose, **others)
        found = self.evaluator(sentences, calls)()
        calls.end(found)
        return found if return_dict else list(found.values())

    def report(self, sentences, **options):
        """Figures and tables: see `models.report.tag_report`."""
        return tag_report(self, sentences, **options)

    def counts(self, sentences, figures, **options):
        """What figures are counted from, unit by unit: see `models.counts`."""
        return tag_counts(self, sentences, figures, **options)

    def multi_tagging(self, sentences, **kwargs):
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        gold = (encoded.targets[a:b] for a, b in encoded.spans())
        rows = (p for s in slices(sentences) for p in self._probabilities(s))
        return multi_tagging(gold, rows, **kwargs)

    # Prediction

    @property
    def batch_tokens(self) -> int:
        """Padded tokens in one call of the network."""
        if self.settings.get("decoder") != "crf":
            return PREDICTION_TOKENS
        return min(PREDICTION_TOKENS, max(1, PATH_FLOATS // len(self.tags) ** 2))

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """Tag probabilities: a list with one `(tokens, num_tags)` array a sentence.

        With a CRF they are the marginals of each token; of a network that reads its
        labels, those after the labels before on the path it found.

        Args:
            x: sentences, or lists of words.
            batch_size, verbose, steps, callbacks: as in `evaluate`.
        """
        sentences = as_sentences(x)
        others = {"steps": steps, "callbacks": callbacks}
        calls = NetworkCalls(len(sentences), batch_size, verbose, **others)
        parts = (self._probabilities(part, calls) for part in slices(sentences))
        found = [rows for part in parts for rows in part]
        calls.end()
        return found

    def tag(self, sentences, *, beta=None, probabilities=False):
        """Tags sentences.

        With a CRF the tags are those of the best path, which need not be the most
        probable of each token; `beta` goes by the probabilities alone.

        Args:
            sentences: an iterable of sentences, or of lists of words. A list or
                tuple gives a list; any other iterable gives a generator that reads
                a limited number of sentences ahead.
            beta: also give every tag with p >= beta * max p, best first.
            probabilities: give the probability with the tag.

        Returns:
            For each sentence a list with one entry a token: the tag; with
            `probabilities` `(tag, p)`; with `beta` a list of `(tag, p)`.
        """
        self._require_network()
        if isinstance(sentences, (str, Corpus)):
            as_sentences(sentences)  # refuses them at once, not in the generator
        if beta is not None:
            assigned(np.ones((1, 1)), beta)  # a wrong beta is told at once
        chunks = slices(map(as_sentence, sentences))
        tagged = (
            row for chunk in chunks for row in self._tag(chunk, beta, probabilities)
        )
        return list(tagged) if isinstance(sentences, (list, tuple)) else tagged

    def _tag(self, sentences, beta, probabilities):
        if beta is not None:
            rows = self._probabilities(sentences)
            return [within_beta(row, self.tags, beta) for row in rows]
        encoded = self.encode(sentences)
        batches = self._outputs(encoded)
        if probabilities:
            return with_probability(batches, encoded.lengths, self.tags)
        return best_tags(batches, encoded.lengths, self.tags)

    def _probabilities(self, sentences, calls=QUIET) -> list[np.ndarray]:
        encoded = self.encode(sentences)
        batches = self._outputs(encoded, calls)
        return tag_probabilities(batches, encoded.lengths, len(self.tags))

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
        """From ids, and which of them are real, to what `export` says of a tagger."""
        return tag_answer(self.network, self.tags, top_k)

    @property
    def served_layers(self):
        return [self.network]
