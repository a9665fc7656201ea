"""The dependency parser: sentences in, trees out."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from keras_tagging.architectures.output import run_network
from keras_tagging.data.sentence import Corpus, Sentence, as_sentences
from keras_tagging.data.trees import arc_labels, trainable, trees_of
from keras_tagging.encoding.batching import ids_of
from keras_tagging.kinds.parsing import (
    FIGURES,
    PREDICTED,
    Parsing,
    counts_of,
    tables_of,
)
from keras_tagging.metrics.accuracy import share
from keras_tagging.models.fit import weights_of_tokens
from keras_tagging.models.given_vectors import GivenVectors
from keras_tagging.models.labels import count_relations, refuse_unknown_relations, some
from keras_tagging.models.parser.moves import batches_of_moves
from keras_tagging.models.report import Report, without_nan
from keras_tagging.models.sentence_model import SentenceModel
from keras_tagging.models.tagger.jackknife import (
    copied,
    jackknife,
    new_tagger,
    tagged_in,
)
from keras_tagging.models.tagger.tagger import Tagger
from keras_tagging.transitions import gold_moves
from keras_tagging.utils.checks import check_known
from keras_tagging.utils.tables import any_strings

PAPER_NAMES = {"s": "j"}  # the paper's names of gates that the cells name otherwise


@keras.saving.register_keras_serializable("keras_tagging")
class Parser(Parsing, SentenceModel):
    """A transition-based dependency parser that takes sentences.

    :func:`keras_tagging.build` makes parsers. The `network` computes a vector for each
    token, and the `scorer` scores moves: see
    :class:`keras_tagging.layers.TransitionScorer`. Trees are columns of sentences:
    `head` ("0" is ROOT) and `deprel`.

    By default the parser expects gold tags, at prediction time too. Its `figures` are
    the shares of words with the right head (`uas`), head and label (`las`) and label
    (`label_accuracy`), and of trees that are right without and with labels (`ucm`,
    `lcm`).

    Args:
        architecture, settings: see `SentenceModel`.
        **kwargs: arguments of `SentenceModel`.
        tagger: configuration of the parser's own tagger; for `from_config`.
        arc_labels: the output of `data.trees.arc_labels`; for `from_config`.
    """

    inventories = ("labels",)
    tagger_class = Tagger
    counting_options = ("punctuation", "subtypes")
    report_options = (*counting_options, "tables")
    missing_column = (
        "tag it first, name the column of a file in columns by --option "
        "'columns={{\"{name}\": 1}}', or train a parser that needs no tags "
        "(--tags predicted, or --tags None)"
    )
    figures = FIGURES
    default_monitor = "val_las"
    batch_tokens = 1024  # each needs 18 rows of tables

    def __init__(self, architecture, settings, tagger=None, arc_labels=None, **kwargs):
        self.scorer = self.tagger = None
        self.arc_labels = arc_labels and tuple(map(tuple, arc_labels))
        # the fingerprint of training sentences, and their predicted tags
        self.jackknifed: tuple[str, list] | None = None
        super().__init__(architecture, settings, **kwargs)
        if tagger:
            self.set_tagger(self.tagger_class.from_config(tagger))

    def set_tagger(self, tagger: Tagger | None) -> None:
        """Set the trained tagger whose tags the parser reads."""
        tagger.trainable = False
        self.tagger = tagger

    # Vocabularies and network

    @property
    def labels(self) -> list[str]:
        """The dependency labels; the first has id 1."""
        self._require_network()
        return list(self.vocabularies["labels"])

    @property
    def size(self) -> str:
        """The numbers of labels and parameters, in words."""
        labels = f"{len(self.labels)} dependency labels"
        return f"{labels}, {self.count_params():,} parameters"

    @property
    def input_columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.features.columns if name != PREDICTED)

    @property
    def beam_width(self) -> int:
        """Hypotheses kept in parsing; 1 is greedy. You may set it."""
        return self.settings["beam_width"]

    @beam_width.setter
    def beam_width(self, width: int) -> None:
        self.settings = self.settings.replaced(beam_width=width)
        if self.scorer is not None:
            self.scorer.beam_width = width
        self.predict_function = None  # it was compiled with the old width

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Count words, tags and dependency labels, and build the network.

        Args:
            sentences: training sentences with trees.

        Raises:
            ValueError: if the model has vocabularies already, or there are no trees.
        """
        self._refuse_second_adapt()
        sentences = as_sentences(sentences)
        trees_and_labels = trees_of(sentences)
        if self.settings.task.tags == "gold":
            self.settings = self.settings.replaced(tags=gold_column(sentences))
            self.features = self._new_features()
        if self.settings.task.tags == "predicted":  # they have the gold inventory
            column = gold_column(sentences)
            tags = (s.columns.get(column, []) for s in sentences)
            sentences = with_tags(sentences, tags)
        _, trees, _ = trainable(trees_and_labels, self.settings.task.nonprojective)
        labels = count_relations(trees)
        self.arc_labels = arc_labels(trees) if self.settings["constrained"] else None
        vocabularies = self._count_features(sentences)
        self._build(vocabularies | {"labels": labels})

    def _columns(self):
        tags, columns = self.settings.task.tags, self.settings.features.columns
        if tags in (None, "gold"):
            return columns
        return *columns, PREDICTED if tags == "predicted" else tags

    def _new_network(self):
        ids = {label: i for i, label in enumerate(self.vocabularies["labels"], 1)}
        of_arcs = self.arc_labels and [[ids[x] for x in of] for of in self.arc_labels]
        # in this order, which is that of the optimizer's state in files
        self.network, self.scorer = super()._new_network(len(ids), arc_labels=of_arcs)
        return self.network

    def take_over(self, other: "Parser") -> None:
        """Take the vocabularies of another parser, and the settings tied to them."""
        theirs = other.settings
        taken = asdict(theirs.features) | asdict(theirs.letters)
        names = ["tags", "embeddings", "vectors", "nonprojective"]
        names += ["trainable", "trainable_vectors"]
        if theirs.task.embeddings is not None or self.given_vectors:
            names.append("word_dim")
        taken |= {name: theirs[name] for name in names}
        self.settings = self.settings.replaced(**taken)
        self.given_vectors, self.vector_dim = GivenVectors(), other.vector_dim
        self.training_words = other.training_words
        self.features = self._new_features()
        if self.settings["constrained"]:
            self.arc_labels = other.arc_labels
        self._restore(other.vocabularies)
        self.optimizer.build(self.trainable_variables)

    def bootstrap(self, ffn: "Parser", gates: str | Iterable[str] = "all") -> None:
        r"""Start from the weights of a trained feed-forward parser.

        Sections 4, 7 and 8 of Elkaref & Bohnet (2017), :cite:`elkaref2017`: the
        embeddings, the input weights and biases of the gates, :math:`W_x \to W_{x*}`
        and :math:`b_h \to b_*`, and the output weights :math:`W_h`. Weights that
        multiply :math:`h_{t-1}`, and gates that are not named, keep their initial
        values. The 1 in the forget gate's equation is added to the copied bias. An
        encoder (section 6) is copied too. `metadata["bootstrap"]` records the source
        and the gates.

        A parser without vocabularies takes those of the feed-forward parser, with its
        treatment of tags and non-projective trees. Call it before `fit`.

        Args:
            ffn: a trained "ffn-parser" with the same sizes.
            gates: "all", or a list of names: i, j, f, o (LSTM), r, z, h (GRU), h
                (Elman).

        Raises:
            ValueError: if the parsers do not fit each other, `ffn` is not trained, or
                there is no such gate.
        """
        if ffn.architecture != "ffn-parser" or not ffn.scorer:
            raise ValueError("a parser starts from a trained ffn-parser: give one")
        fits = self.settings["system"] == ffn.settings["system"]
        if fits and not self.scorer:
            self.take_over(ffn)
        if not fits or self.vocabularies != ffn.vocabularies:
            raise ValueError("the parsers differ in their vocabularies, or in system=")
        if ffn.tagger and not self.tagger:
            self.set_tagger(copied(ffn.tagger))
            names = ("tagger", "tagger_epochs", "folds")
            taken = {name: ffn.settings[name] for name in names}
            self.settings = self.settings.replaced(**taken)
            self.jackknifed = ffn.jackknifed
        cell, source = self.scorer.cell, ffn.scorer.cell
        gate_names = [PAPER_NAMES.get(gate, gate) for gate in cell.gates]
        chosen = gate_names if gates == "all" else gates
        for gate in chosen:
            check_known("gate", gate, gate_names)
        names = ("boundary", "output_kernel", "label_embeddings")
        pairs = list(zip(self.network.weights, ffn.network.weights, strict=True))
        pairs += [
            (getattr(self.scorer, name), getattr(ffn.scorer, name)) for name in names
        ]
        if any(target.shape != value.shape for target, value in pairs):
            raise ValueError("the parsers differ in size: give both the same sizes")
        for target, value in pairs:
            target.assign(value)
        for name, constant in (("kernel", 0.0), ("bias", 1.0)):
            value = ops.convert_to_numpy(getattr(source, name))
            variable = getattr(cell, name)
            before = np.array(ops.convert_to_numpy(variable))
            blocks = np.split(before, len(cell.gates), axis=-1)
            for i, gate in enumerate(gate_names):
                if gate in chosen:
                    added = constant * getattr(cell, "forget_bias", 0.0) * (gate == "f")
                    blocks[i] = value + added
            variable.assign(np.concatenate(blocks, axis=-1))
        self.metadata["bootstrap"] = {
            "gates": [gate for gate in gate_names if gate in chosen],
            "seed": ffn.seed,
            "training_sentences": ffn.metadata.get("training_sentences"),
        }

    def call(self, inputs, training: bool = False):
        """Logits of all moves, or trees.

        Args:
            inputs: ids `(batch, words, features)`, nodes `(batch, time, num_nodes)` and
                labels `(batch, time, num_labels)`, as the transition system has them;
                or the ids alone. With a character network, a dict of ids and letters in
                place of the ids.

        Returns:
            Logits `(batch, time, outputs)`; for ids alone the output of
            `TransitionScorer.parse`, a dict of `heads` and `labels`, `(batch, words)`
            int32.
        """
        if isinstance(inputs, (tuple, list)):
            tokens, nodes, labels = inputs
            vectors = run_network(self.network, tokens, training=training)
            return self.scorer(vectors, nodes, labels, training=training)
        lengths = ops.sum(ops.cast(ids_of(inputs)[:, :, 0] > 0, "int32"), 1)
        vectors = run_network(self.network, inputs)
        heads, labels = self.scorer.parse(vectors, lengths)
        return {"heads": heads, "labels": labels}

    # Training

    def annotated(self, sentences):
        sentences = as_sentences(sentences)
        trees_of(sentences)
        return sentences

    def token_weights(self, sentences, sample_weight, class_weight):
        if class_weight or any(map(np.ndim, sample_weight)):
            raise ValueError("a parser takes one sample_weight a sentence alone")
        return weights_of_tokens(sentences, sample_weight)

    def check_development(self, sentences):
        refuse_unknown_relations(sentences, self.labels)

    def prepared(self, sentences, keep, resumed, verbose):
        """Add jackknifed tags, if the parser reads predicted ones."""
        task = self.settings.task
        if task.tags != "predicted":
            self.metadata["tags"] = tag_input(self) or {}
            return sentences
        column = gold_column(sentences)
        self.metadata["tags"] = {"column": column}
        self.metadata["tags"] = tag_input(self)
        # a tagger from another parser has drawn the folds with its own seed
        seed = self.tagger.seed if self.tagger else self.seed
        new = partial(new_tagger, task.tagger, seed)
        gold = tagged_in(sentences, column)

        def report(step):
            if verbose:
                print(f"Tags for the parser: {step}", flush=True)

        def begin(fold, tagger):
            report(f"fold {fold + 1} of {min(task.folds, len(gold))}")
            return ()

        fingerprint = Corpus(sentences).fingerprint()
        if self.jackknifed is None or self.jackknifed[0] != fingerprint:
            options = {"folds": task.folds, "epochs": task.tagger_epochs}
            options |= {"keep": keep, "verbose": verbose, "begin": begin}
            self.jackknifed = fingerprint, jackknife(gold, new, **options)
        if self.tagger is None:
            report("a tagger of all sentences")
            tagger = new()
            tagger.fit(gold, epochs=task.tagger_epochs, verbose=verbose)
            self.set_tagger(copied(tagger))
        return with_tags(sentences, self.jackknifed[1])

    def encode(self, sentences):
        """The ids of all tokens of the sentences; missing tags are predicted."""
        return super().encode(self.tagged(sentences))

    def prepare_input(self, sentences):
        return self.tagged(sentences)

    def tagged(self, sentences):
        """The sentences with the tags of the parser's own tagger, if it has one."""
        if self.tagger and not all(PREDICTED in s.columns for s in sentences):
            words = [s.tokens for s in sentences]
            sentences = with_tags(sentences, self.tagger.tag(words))
        return sentences

    def batches(self, sentences, fitting):
        treatment = self.settings.task.nonprojective
        chosen, trees, crossing = trainable(trees_of(sentences), treatment)
        ids = {label: i for i, label in enumerate(self.labels, 1)}
        if unknown := sorted({d for _, deprels in trees for d in deprels} - set(ids)):
            raise ValueError(
                f"this parser does not know {len(unknown):,} of the deprels of the "
                f"training sentences ({some(unknown)}): its own are "
                f"{some(self.labels)}; build a new one for these sentences"
            )
        moves = gold_moves(
            self.scorer.system,
            [heads for heads, _ in trees],
            [[ids[deprel] for deprel in deprels] for _, deprels in trees],
            [f"sentence {i + 1}" for i in chosen],
        )
        treated = {"skip": "left out", "lift": "lifted"}
        self.metadata["nonprojective"] = {
            "sentences": crossing,
            "treatment": treated[treatment],
        }
        sentences = [sentences[i] for i in chosen]
        encoded = self.encode(sentences)
        return batches_of_moves(self, encoded, chosen, moves, fitting)

    def dataset(self, batches):
        data = super().dataset(batches)
        return data.map(lambda *parts: (parts[:3], *parts[3:]))

    def get_config(self):
        tagger = self.tagger.get_config() if self.tagger else None
        config = super().get_config()
        return {**config, "tagger": tagger, "arc_labels": self.arc_labels}

    # Trees

    @any_strings()
    def report(self, sentences, *, punctuation="keep", subtypes=False, tables=False):
        """Figures and tables.

        Args:
            sentences: sentences with gold trees.
            punctuation, subtypes: see `metrics.attachment_scores`.
            tables: whether to add tables by relation, sentence length and distance.
        """
        counting = {"punctuation": punctuation, "subtypes": subtypes}

        def figures(scored):
            return without_nan({name: getattr(scored, name) for name in self.figures})

        sentences = self.tagged(self.annotated(sentences))
        scored = self.scores(sentences, **counting)
        others = {}
        if gold := with_gold_tags(self, sentences):
            both = zip(gold, sentences, strict=True)
            rows = ([s.columns[PREDICTED] for s in pair] for pair in both)
            right = [a == b for row in rows for a, b in zip(*row, strict=True)]
            others = without_nan({"tag_accuracy": share(sum(right), len(right))})
            others["with_gold_tags"] = figures(self.scores(gold, **counting))
        return Report(
            figures(scored),
            tables_of(scored) if tables else {},
            counting,
            tags=in_words(self),
            **others,
        )

    def counts(self, sentences, figures, **options):
        """The counts behind figures: for each `(sentences, 2)`, `[words, right]`.

        Raises:
            ValueError: if a sentence has no tree.
        """
        return counts_of(self.scores(sentences, **options), figures)

    def output_arrays(self, outputs, names):
        labels = np.array(["", *self.labels], object)
        deprels = labels[np.asarray(outputs["labels"])]
        arrays = {"heads": np.asarray(outputs["heads"]), "deprels": deprels}
        return [arrays[name] for name in names]

    # Serving

    def serving(self, top_k):
        """The function from ids and their mask to the outputs that `export` lists."""
        deprels = tf.constant(["", *self.labels], tf.string)

        def answer(tokens, real):
            trees = self(tokens)
            return {
                "heads": tf.where(real, trees["heads"], -1),
                "deprels": tf.where(real, tf.gather(deprels, trees["labels"]), ""),
            }

        return answer

    @property
    def served_layers(self):
        return [self.network, self.scorer]


# The tags that a parser reads


def gold_column(sentences, columns=("xpos", "pos")) -> str:
    """The first column of tags that all sentences have; the finest tags are `xpos`.

    Raises:
        ValueError: if there is none.
    """
    for column in columns:
        if all("_" not in s.columns.get(column, "_") for s in sentences if s.tokens):
            return column
    raise ValueError(
        "the training sentences have no tags in a column xpos or pos: name their "
        "column with tags=, or give tags=None"
    )


def with_tags(sentences, tags) -> list[Sentence]:
    """The sentences with their predicted tags."""
    return [
        replace(sentence, columns={**sentence.columns, PREDICTED: list(row)})
        for sentence, row in zip(sentences, tags, strict=True)
    ]


def tag_input(model) -> dict[str, str] | None:
    """The tags that a parser reads, for its metadata and its reports.

    Args:
        model: a `Parser` that was adapted.

    Returns:
        None if it reads none; else the `column` of the gold tags, if it is known, and
        what they are taken `from`: "the input", or its own tagger.
    """
    tags = model.settings.task.tags
    if tags is None:
        return None
    if tags != "predicted":
        return {"column": tags, "from": "the input"}
    gold = model.metadata.get("tags", {}).get("column")
    column = {"column": gold} if isinstance(gold, str) else {}
    tagger = model.tagger.architecture if model.tagger else model.settings.task.tagger
    return {**column, "from": f"its own {tagger}"}


def in_words(model) -> str:
    """Tell what a parser reads beside the words, as a sentence without its end."""
    tags = tag_input(model)
    if tags is None:
        columns = ", ".join(model.input_columns)
        columns = f" and the columns {columns}" if columns else " alone"
        return f"reads words{columns}, no tags"
    if tags["from"] == "the input":
        return f"reads the tags in the column {tags['column']}, as the input has them"
    return f"reads the {tags.get('column', 'tags')} that {tags['from']} predicts"


def with_gold_tags(model, sentences: list[Sentence]) -> list[Sentence] | None:
    """The sentences with gold tags in place of those that the parser would predict.

    Args:
        model: a `Parser`.
        sentences: sentences, which may have gold tags.

    Returns:
        None if it has no tagger of its own, or the sentences lack gold tags.
    """
    if model.tagger is None:
        return None
    learnt = tag_input(model).get("column")
    try:
        column = gold_column(sentences, *([(learnt,)] if learnt else []))
    except ValueError:
        return None
    return with_tags(sentences, (s.columns.get(column, []) for s in sentences))
