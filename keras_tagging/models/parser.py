"""The dependency parser a user holds: sentences in, trees out."""

from collections.abc import Iterable
from dataclasses import asdict, replace

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_tagging import training
from keras_tagging.architectures import PARSERS
from keras_tagging.data.projectivity import SEPARATOR, unlift
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.data.trees import trainable, trees_of
from keras_tagging.encoding.batching import round_up, slices
from keras_tagging.encoding.move_batches import EncodedMoves, MoveBatches
from keras_tagging.encoding.vocabulary import Inventory, count_vocabulary
from keras_tagging.metrics import AttachmentScores, attachment_scores
from keras_tagging.models.bootstrap import bootstrap
from keras_tagging.models.calls import QUIET, NetworkCalls
from keras_tagging.models.counts import tree_counts
from keras_tagging.models.jackknife import (
    PREDICTED,
    Jackknifed,
    gold_column,
    jackknife,
    train_tagger,
    with_tags,
)
from keras_tagging.models.known_labels import some
from keras_tagging.models.pretrained import Pretrained
from keras_tagging.models.report import tree_report
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.serving import tree_answer
from keras_tagging.models.tagger import Tagger
from keras_tagging.parsing import NUM_LABELS, NUM_NODES, oracle

PREDICTION_TOKENS = 1024  # padded tokens in one call: their tables take 18 rows each
FIGURES = ("uas", "las", "label_accuracy", "ucm", "lcm")


@keras.saving.register_keras_serializable("keras_tagging")
class Parser(SentenceModel):
    """A transition-based dependency parser that takes sentences.

    Made by :func:`keras_tagging.build`. Its `network` gives a vector for each token,
    its `scorer` the moves: see :class:`keras_tagging.layers.TransitionScorer`. Trees
    are columns of sentences: `head` ("0" is ROOT) and `deprel`.

    Args:
        architecture, settings: see `SentenceModel`.
        **kwargs: those of `SentenceModel`.
        tagger: configuration of the parser's own tagger; for `from_config`.
    """

    kind, command, outputs = "parser", "parse", "labels"
    architectures = PARSERS
    tagger_class = Tagger
    reads_trees = True
    report_options = ("punctuation", "subtypes", "tables")
    missing_column = (
        "tag it first, name the column of a file in columns by --option "
        "'columns={{\"{name}\": 1}}', or train a parser that needs no tags "
        "(--tags predicted, or --tags None)"
    )
    figures = FIGURES
    default_monitor = "val_las"

    def __init__(self, architecture, settings, tagger=None, **kwargs):
        self.scorer = self.tagger = None
        self.jackknifed = Jackknifed()
        super().__init__(architecture, settings, **kwargs)
        if tagger:
            self.own(self.tagger_class.from_config(tagger))

    def own(self, tagger):
        """Takes a trained tagger, whose tags the parser reads from now on."""
        tagger.trainable = False
        self.tagger = tagger

    # Vocabularies and network

    @property
    def labels(self) -> list[str]:
        """The dependency labels; the first has id 1."""
        self._require_network()
        return self._inventory.names

    @property
    def size(self) -> str:
        """How many labels and parameters it has, in words."""
        labels = f"{len(self.labels)} dependency labels"
        return f"{labels}, {self.count_params():,} parameters"

    @property
    def input_columns(self):
        return tuple(name for name in self.features.columns if name != PREDICTED)

    @property
    def beam_width(self) -> int:
        """Hypotheses kept in parsing; 1 is greedy. May be set."""
        return self.settings["beam_width"]

    @beam_width.setter
    def beam_width(self, width):
        self.settings = self.settings.replaced(beam_width=width)
        if self.scorer is not None:
            self.scorer.beam_width = width
        self.predict_function = None  # which has the old one compiled in

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Counts words, tags and dependency labels, and builds the network.

        Args:
            sentences: training sentences with trees.

        Raises:
            ValueError: if the model has vocabularies already, or there are no trees.
        """
        self._refuse_second_adapt()
        sentences = as_sentences(sentences)
        given = trees_of(sentences)
        if self.settings.task.tags == "gold":
            self.settings = self.settings.replaced(tags=gold_column(sentences))
            self.features = self._new_features()
        if self.settings.task.tags == "predicted":  # they are of the gold inventory
            column = gold_column(sentences)
            tags = (s.columns.get(column, []) for s in sentences)
            sentences = with_tags(sentences, tags)
        _, trees, _ = trainable(given, self.settings.task.nonprojective)
        labels = count_vocabulary(d for _, deprels in trees for d in deprels)
        if not labels:
            raise ValueError("no tree to learn: no training sentence has a token")
        self._build_network({**self._count(sentences), "labels": labels})

    def _columns(self):
        tags, columns = self.settings.task.tags, self.settings.features.columns
        if tags in (None, "gold"):
            return columns
        return *columns, PREDICTED if tags == "predicted" else tags

    def _restore(self, vocabularies):
        self._vocabularies = tuple(vocabularies.items())
        self._inventory = Inventory(vocabularies["labels"], first_id=1)
        words = {k: list(v) for k, v in vocabularies.items() if k != "labels"}
        self.features.set_vocabularies(words)
        self.network, self.scorer = self.settings.network.build(
            self.settings, self.features, len(self._inventory), seed=self.seed
        )
        self.built = True

    def take_over(self, other: "Parser") -> None:
        """Takes the vocabularies of another parser, and the settings they belong to."""
        theirs = other.settings
        taken = asdict(theirs.features)
        names = ["tags", "embeddings", "trainable", "nonprojective"]
        if theirs.task.embeddings is not None or self.pretrained:
            names.append("word_dim")
        taken |= {name: theirs[name] for name in names}
        self.settings = self.settings.replaced(**taken)
        self.pretrained = Pretrained()
        self.features = self._new_features()
        self._restore(other.vocabularies)
        self.optimizer.build(self.trainable_variables)

    def bootstrap(self, ffn: "Parser", gates="all") -> None:
        """Starts from a trained feed-forward parser: see `models.bootstrap`."""
        bootstrap(self, ffn, gates)

    def call(self, inputs, training=False):
        """Logits of all moves, or trees.

        Args:
            inputs: ids `(batch, words, features)`, nodes `(batch, time, 18)` and
                labels `(batch, time, 12)`; or the ids alone.

        Returns:
            Logits `(batch, time, 2 V + 1)`; of ids alone a dict of `heads` and
            `labels`, `(batch, words)` int32: what `TransitionScorer.parse` gives.
        """
        if isinstance(inputs, (tuple, list)):
            ids, nodes, labels = inputs
            tokens = self.network(ids, training=training)
            return self.scorer(tokens, nodes, labels, training=training)
        lengths = ops.sum(ops.cast(inputs[:, :, 0] > 0, "int32"), 1)
        heads, labels = self.scorer.parse(self.network(inputs), lengths)
        return {"heads": heads, "labels": labels}

    # Training

    def annotated(self, sentences):
        sentences = as_sentences(sentences)
        trees_of(sentences)
        return sentences

    def prepared(self, sentences, keep, verbose):
        """With the tags that other sentences' taggers predict, if they are wanted."""
        task = self.settings.task
        if task.tags != "predicted":
            return sentences
        column = gold_column(sentences)
        # a tagger that is here already has drawn the folds with its own seed
        seed = self.tagger.seed if self.tagger else self.seed
        options = {"architecture": task.tagger, "seed": seed}
        options |= {"epochs": task.tagger_epochs, "verbose": verbose}
        fingerprint = Corpus(sentences).fingerprint()
        if self.jackknifed.fingerprint != fingerprint:
            tags = jackknife(sentences, column, folds=task.folds, keep=keep, **options)
            self.jackknifed = Jackknifed(fingerprint, tags)
        if self.tagger is None:
            self.own(train_tagger(sentences, column, **options))
        return with_tags(sentences, self.jackknifed.tags)

    def encode(self, sentences):
        """Ids of all tokens of the sentences; tags that are lacking are predicted."""
        return super().encode(self._tagged(sentences))

    def _tagged(self, sentences):
        if self.tagger and not all(PREDICTED in s.columns for s in sentences):
            words = [s.tokens for s in sentences]
            sentences = with_tags(sentences, self.tagger.tag(words))
        return sentences

    def batches(self, sentences, fitting):
        treatment = self.settings.task.nonprojective
        chosen, trees, crossing = trainable(trees_of(sentences), treatment)
        treated = {"skip": "left out", "lift": "lifted"}[treatment]
        self.metadata["nonprojective"] = {"sentences": crossing, "treatment": treated}
        sentences = [sentences[i] for i in chosen]
        ids = self._inventory.ids
        if unknown := sorted({d for _, deprels in trees for d in deprels} - set(ids)):
            raise ValueError(
                f"this parser does not know {len(unknown):,} of the deprels of the "
                f"training sentences ({some(unknown)}): its own are "
                f"{some(self.labels)}; build a new one for these sentences"
            )
        moves = oracle(
            [heads for heads, _ in trees],
            [[ids[deprel] for deprel in deprels] for _, deprels in trees],
        )
        names = self.features.names
        return MoveBatches(
            self.encode(sentences),
            EncodedMoves.of(moves, len(self.labels)),
            seed=self.seed,
            multiple=self.length_multiple,
            word_column=names.index("word") if "word" in names else None,
            batch_size=fitting.batch_size,
            token_budget=fitting.token_budget,
            unknown_rate=fitting.unknown_rate,
        )

    def dataset(self, batches):
        """What Keras trains on, with any backend; one pass is one epoch."""
        width = len(self.features.names)
        ids, nodes, labels = (
            tf.TensorSpec((None, None, size), tf.int32)
            for size in (width, NUM_NODES, NUM_LABELS)
        )
        targets = tf.TensorSpec((None, None), tf.int32)
        mask = tf.TensorSpec((None, None), tf.float32)
        data = training.streamed(batches, ids, nodes, labels, targets, mask)
        return data.map(lambda *parts: (parts[:3], *parts[3:]))

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        return self.penalised(loss, sample_weight)

    def get_config(self):
        tagger = self.tagger.get_config() if self.tagger else None
        return {**super().get_config(), "tagger": tagger}

    # Trees

    batch_tokens = PREDICTION_TOKENS

    def evaluator(self, sentences, calls=QUIET, **options):
        sentences = self.annotated(sentences)

        def figures():
            scores = self._scores(sentences, calls, **options)
            return {name: float(getattr(scores, name)) for name in FIGURES}

        return figures

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
        *,
        punctuation="keep",
        subtypes=False,
        **kwargs,
    ):
        """Attachment scores on sentences with gold trees.

        Args:
            x: sentences.
            batch_size: sentences in a call of the network, which changes no figure;
                by default as many as fit 1024 padded tokens.
            verbose: 1 shows a progress bar, 2 a line; 0 and "auto" nothing.
            return_dict: whether to give a dict, else the list of its values.
            punctuation, subtypes: see `metrics.attachment_scores`.
            y, sample_weight, steps, callbacks: None; Keras' own have no place here.

        Returns:
            `uas`, `las`, `label_accuracy` and the shares of trees that are right as
            a whole, without and with labels, `ucm` and `lcm`.
        """
        if kwargs:
            raise ValueError(f"Arguments not recognized: {', '.join(kwargs)}")
        sentences = self.annotated(x)
        others = {"y": y, "sample_weight": sample_weight}
        others |= {"steps": steps, "callbacks": callbacks}
        calls = NetworkCalls(len(sentences), batch_size, verbose, **others)
        counting = {"punctuation": punctuation, "subtypes": subtypes}
        found = self.evaluator(sentences, calls, **counting)()
        calls.end(found)
        return found if return_dict else list(found.values())

    def scores(self, sentences, **options) -> AttachmentScores:
        """As `evaluate`, with the tables that `AttachmentScores` gives."""
        return self._scores(self.annotated(sentences), **options)

    def report(self, sentences, **options):
        """Figures and tables: see `models.report.tree_report`."""
        return tree_report(self, sentences, **options)

    def counts(self, sentences, figures, **options):
        """What figures are counted from, unit by unit: see `models.counts`."""
        return tree_counts(self, sentences, figures, **options)

    def _scores(self, sentences, calls=QUIET, **options):
        trees = self._predicted(sentences, calls)
        heads, deprels = ([tree[i] for tree in trees] for i in (0, 1))
        return attachment_scores(sentences, heads, deprels, **options)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """Heads and labels: for each sentence a pair of lists.

        Args:
            x: sentences, or lists of words if the parser reads no tags.
            batch_size, verbose, steps, callbacks: as in `evaluate`.
        """
        sentences = as_sentences(x)
        others = {"steps": steps, "callbacks": callbacks}
        calls = NetworkCalls(len(sentences), batch_size, verbose, **others)
        found = self._predicted(sentences, calls)
        calls.end()
        return found

    def _predicted(self, sentences, calls):
        return [tree for part in slices(sentences) for tree in self._trees(part, calls)]

    def parse(self, sentences):
        """Parses sentences.

        Args:
            sentences: an iterable of sentences, or of lists of words if the parser
                reads no tags. A list or tuple gives a list; any other iterable gives
                a generator that reads a limited number of sentences ahead.

        Returns:
            The sentences with the columns `head` and `deprel`, and `predicted_tag` if
            the parser has a tagger of its own.
        """
        self._require_network()
        if isinstance(sentences, (str, Corpus)):
            as_sentences(sentences)  # refuses them at once, not in the generator
        chunks = slices(map(as_sentence, sentences))
        parsed = (tree for chunk in chunks for tree in self._parse(chunk))
        return list(parsed) if isinstance(sentences, (list, tuple)) else parsed

    def annotate(self, sentences):
        """The sentences with their trees, one after the other."""
        yield from self.parse(iter(sentences))

    # Serving

    def serving(self, top_k):
        """From ids, and which of them are real, to what `export` says of a parser."""
        return tree_answer(self, self.labels)

    @property
    def served_layers(self):
        return [self.network, self.scorer]

    def _parse(self, sentences):
        sentences = self._tagged(sentences)
        for sentence, (heads, deprels) in zip(
            sentences, self._trees(sentences), strict=True
        ):
            tree = {"head": list(map(str, heads)), "deprel": deprels}
            yield replace(sentence, columns={**sentence.columns, **tree})

    def _trees(self, sentences, calls=QUIET) -> list[tuple[list[int], list[str]]]:
        encoded = self.encode(sentences)
        lengths = round_up(encoded.lengths, self.length_multiple)
        found = [([], []) for _ in sentences]
        names = ["", *self.labels]
        sizes = calls.sizes(PREDICTION_TOKENS)
        for chosen in calls.plan(lengths, PREDICTION_TOKENS):
            ids, _, _ = encoded.batch(chosen, self.length_multiple, **sizes)
            outputs = self.predict_on_batch(ids)
            for row, i in enumerate(chosen):
                n = encoded.lengths[i]
                heads = np.asarray(outputs["heads"][row][:n]).tolist()
                labels = np.asarray(outputs["labels"][row][:n]).tolist()
                deprels = [names[label] for label in labels]
                if any(SEPARATOR in deprel for deprel in deprels):
                    heads, deprels = unlift(heads, deprels)
                    heads = heads.tolist()
                found[i] = heads, deprels
        return found
