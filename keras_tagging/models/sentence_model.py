"""The base of taggers, parsers and segmenters: settings, training, saving."""

import random
from collections import UserDict
from dataclasses import asdict, replace
from pathlib import Path

import keras
import numpy as np
from keras import ops

from keras_tagging import training
from keras_tagging.architectures import Settings
from keras_tagging.architectures import architecture as find_architecture
from keras_tagging.architectures.output import run_network
from keras_tagging.data.named_columns import check_labelled
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Corpus, as_sentences
from keras_tagging.encoding.batching import EncodedSentences, TrainingBatches
from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.layers.packing import packed
from keras_tagging.models.calls import SentenceCalls
from keras_tagging.models.fit_input import (
    Weights,
    development,
    digest_of,
    held_out,
    refuse_unused,
    with_targets,
)
from keras_tagging.models.given_vectors import GivenVectors, joined_words, word_table
from keras_tagging.models.metadata import metadata_path, write_metadata
from keras_tagging.models.report import Report, without_nan
from keras_tagging.models.saved_config import (
    check_compile_config,
    check_vocabularies,
    checked_config,
    refuse_paths,
)
from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing_together


class SentenceModel(SentenceCalls):
    """A model that takes sentences wherever Keras takes arrays.

    It has `features`, which turn words into ids, and a `network`, which reads them. The
    first `fit`, or `adapt`, counts the vocabularies and makes both.

    A subclass defines:

    * `kind`: its name; see `kinds.Kind`, and `kinds.answers.Answers` for what a class
      of its kind, with Keras and without, says of its answers;
    * `inventories`: the vocabularies of its labels;
    * `annotated(sentences)`: the sentences, after a check of their annotation;
    * `adapt(sentences)`, which counts vocabularies, and `_restore(vocabularies)`;
    * `targets(sentences)`, the int32 ids to learn, or `batches(sentences, fitting)` and
      `dataset(batches)`: the data for training;
    * `figures`, the names, and `evaluator(sentences)`, a function that computes them
      with the weights at the time; `lower_is_better`, those of them that should fall,
      such as an error; `default_monitor`, which selects the best epoch;
    * `predictions(sentences)`: the output of `predict`, if it is not `annotate`'s;
    * `answers_of(outputs, names)`: from outputs of the network to answers;
    * `serving(top_k)`: the computation of a SavedModel;

    and, if there is more to say, `objectives()` and `batch_loss` for another loss,
    `check_development(sentences)`, `report(sentences, **options)` with
    `report_options`, and `counts(sentences, figures)` for tests of significance.

    A model opens no file: a setting that names a file of vectors is only a record.

    Args:
        architecture: a name from :func:`keras_tagging.available`.
        settings: a `Settings`, or its keywords from a configuration.
        seed: seed of weights, dropout and order; by default Python's `random` draws it.
        vocabularies: those of the features and of the labels; for `from_config`.
        vector_dim: dimension of the vectors that are a feature; for `from_config`.
        metadata: for `from_config`.
        given_vectors: the vectors that `build` has read; never from a configuration.

    Raises:
        ValueError: if the seed is negative, a setting needs vectors that are missing,
            or the vocabularies do not fit the settings.
    """

    inventories = ()
    column_names = ()  # the columns of labels that it learns
    report_options = ()
    lower_is_better = ()  # its figures that should fall, beside losses
    batch_tokens = 4096  # padded tokens in one call of the network
    #: the remedy for a column that the input lacks
    missing_column = "name it by --option 'columns={{\"{name}\": 1}}'"

    def __init__(
        self,
        architecture,
        settings,
        seed=None,
        vocabularies=None,
        vector_dim=0,
        metadata=None,
        given_vectors=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if seed is not None and seed < 0:
            raise ValueError(f"seed={seed}: give 0 or more")
        if not isinstance(settings, Settings):
            settings = find_architecture(architecture).restored(settings)
        if vocabularies is None and not given_vectors:
            refuse_paths(settings)
        self.architecture = architecture
        self.settings = settings
        self.seed = random.randrange(10**6) if seed is None else int(seed)
        self.vector_dim = vector_dim
        # not a dict, which Keras would wrap and copy
        self.metadata = UserDict(metadata or {})
        self.network = None
        self.given_vectors = given_vectors or GivenVectors()
        self._vocabularies = None
        self._penalty = 0.0
        self.soft_share = (0.0, 1.0)  # weight and temperature of soft targets
        self.weighted = False  # whether tokens in training have weights
        self.features = self._new_features()
        if vocabularies is not None:
            names = {*self.features.table_names, *self.inventories}
            check_vocabularies(vocabularies, names)
            self._restore(vocabularies)
        self.compile(**self.objectives())

    def objectives(self) -> dict[str, object]:
        """The arguments of `compile`: optimizer, loss and metrics of training.

        A kind whose targets are not labels takes out what is for labels:
        ``{**super().objectives(), "weighted_metrics": []}``.
        """
        return training.compile_arguments(self.settings.optimizer)

    @property
    def default_monitor(self) -> str:
        """The figure that selects the best epoch: accuracy, or else the first one.

        Taggers of chunk tags have F1.
        """
        own = "accuracy" if "accuracy" in self.figures else self.figures[0]
        return f"val_{own}"

    def _new_features(self) -> TokenFeatures:
        chosen = asdict(self.settings.features) | {"columns": self._columns()}
        letters = self.settings.letters.letters
        return TokenFeatures(vectors=self.vector_dim > 0, letters=letters, **chosen)

    def _columns(self) -> tuple[str, ...]:
        """The columns of sentences that are features."""
        return self.settings.features.columns

    @property
    def vocabularies(self) -> dict[str, list[str]] | None:
        """The vocabularies of features and labels by name; None before `adapt`."""
        return None if self._vocabularies is None else dict(self._vocabularies)

    @property
    def size(self) -> str:
        """The numbers of its labels and parameters, in words."""
        vocabularies = self.vocabularies or {}
        counts = {k.removeprefix("tags:"): vocabularies[k] for k in self.inventories}
        labels = [f"{len(labels)} {name}" for name, labels in counts.items()]
        return ", ".join([*labels, f"{self.count_params():,} parameters"])

    @property
    def input_columns(self) -> tuple[str, ...]:
        """The columns that sentences must have, beside their words."""
        return self.features.columns

    @property
    def length_multiple(self) -> int:
        """Padded lengths are multiples of this: XLA and JAX compile for each length."""
        return 8 if self.jit_compile or keras.backend.backend() == "jax" else 1

    @property
    def devices(self) -> int:
        """The devices that share each batch: see `training.devices`."""
        return training.devices_of_batches()

    def encode(self, sentences, targets=False) -> EncodedSentences:
        """The ids of all tokens; with `targets` those to learn, too."""
        self._require_network()
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        strings = flat_strings(sentences, self.features.columns, self.marks)
        found = self.features.encode(strings)
        if self.features.letters:
            found["letter_column"] = self.features.names.index("letters")
        else:
            found = {"ids": found}
        if targets:
            found["targets"] = self._checked(self.targets(sentences), offsets[-1])
        return EncodedSentences(offsets=offsets, **found)

    def _checked(self, targets, count):
        if len(targets) != count:
            raise ValueError(
                f"targets of a {self.kind} gives {len(targets)} for {count} tokens: "
                "give one a token, or define batches and dataset"
            )
        if targets.dtype.kind not in "iu":  # which TensorFlow would cut
            raise ValueError(
                f"the targets of a {self.kind} are {targets.dtype}, but should be "
                "int32: scale and round them, and scale them back in batch_loss, or "
                "define batches and dataset"
            )
        return targets

    def predict_step(self, *args):  # on JAX they begin with the state
        """A batch of predictions, as Keras computes it, without its padding."""
        with packed(not self.jit_compile):
            return super().predict_step(*args)

    def _require_network(self):
        if self.network is None:
            raise ValueError("this model has no vocabularies yet: fit or adapt it")

    def known_words(self, words=()) -> set[str]:
        """The words of training, in normal form, that have an id of their own.

        Args:
            words: the words of the training sentences, which this model cannot tell
                from words that are only in its pretrained vectors.
        """
        return {word for word in self.features.vocabularies["word"] if word in words}

    # Vocabularies

    def _refuse_second_adapt(self):
        if self.network is not None:
            raise ValueError(
                "this model has vocabularies already, and its weights belong to them; "
                "build a new model for other sentences"
            )

    def _count(self, sentences) -> dict[str, list[str]]:
        """Count the vocabularies of the features.

        The vocabulary of words has the words of training, then those of the vectors.
        """
        strings = flat_strings(sentences, self.features.columns)
        vectors = self.given_vectors.vectors
        words = [to_nfc(word) for word in vectors.words] if vectors else ()
        lengths, classes = list(map(len, sentences)), self.given_vectors.classes
        self.features.adapt(strings, words, lengths, classes)
        return dict(self.features.vocabularies)

    def adapt(self, sentences) -> None:
        """Count the vocabularies of words and labels, and build the network.

        Args:
            sentences: training sentences.

        Raises:
            ValueError: if the model has vocabularies already, or the annotation is
                missing.
        """
        self._refuse_second_adapt()
        sentences = self.annotated(sentences)
        labels = self.count_labels(sentences)
        if set(labels) != set(self.inventories):
            raise ValueError(
                f"count_labels of a {self.kind} gives {sorted(labels)}, but its "
                f"inventories are {sorted(self.inventories)}: name the same in both"
            )
        self._build_network(self._count(sentences) | labels)

    def count_labels(self, sentences) -> dict[str, list[str]]:
        """The vocabularies of `inventories`, from training sentences."""
        return {}

    def _build_network(self, vocabularies) -> None:
        """Build the network and the optimizer, and put vectors into word tables."""
        training.check_alike({**self.get_config(), "vocabularies": vocabularies})
        start, rows = self.given_vectors.embeddings, None
        if start:
            words = list(map(to_nfc, start.words))
            joined, rows = joined_words(self.features, words)
            vocabularies = vocabularies | {"word": joined}
        self._restore(vocabularies)
        if start:
            table = self.network.get_layer("word_embedding").embeddings
            initial = ops.convert_to_numpy(table)
            table.assign(word_table(initial, vocabularies["word"], rows, start))
        self.given_vectors = GivenVectors()
        self.optimizer.build(self.trainable_variables)

    def _restore(self, vocabularies) -> None:
        """Take vocabularies, and build the network that belongs to them."""
        self._vocabularies = tuple(vocabularies.items())
        own = {*self.inventories}
        words = {k: list(v) for k, v in vocabularies.items() if k not in own}
        self.features.set_vocabularies(words)
        self.network = self._new_network()
        self.built = True

    def _new_network(self):
        return self.settings.network.build(
            self.settings, self.features, self.vocabularies, seed=self.seed
        )

    def call(self, inputs, training=False):
        """The outputs of the network for ids `(batch, time, features)`."""
        return run_network(self.network, inputs, training=training)

    # Training

    def annotated(self, sentences):
        """The sentences, after a check that they have the columns to learn."""
        sentences = as_sentences(sentences)
        check_labelled(
            sentences,
            self.column_names,
            f"a {self.kind} learns from it; a list in JSON has strings or integers",
        )
        return sentences

    def batches(self, sentences, fitting):
        """The batches of training."""
        names = self.features.names
        return TrainingBatches(
            self.encode(sentences, targets=True),
            word_column=names.index("word") if "word" in names else None,
            **self.batching(fitting),
        )

    def batching(self, fitting) -> dict[str, object]:
        """The keywords that all kinds of batches have."""
        return {
            "seed": self.seed,
            "multiple": self.length_multiple,
            "devices": self.devices,
            "batch_size": fitting.batch_size,
            "token_budget": fitting.token_budget,
            "unknown_rate": fitting.unknown_rate,
            "word_dropout": fitting.word_dropout,
        }

    def dataset(self, batches):
        """The data for training: see `training.dataset`."""
        return training.dataset(batches, training.token_signature(self.features))

    def compute_loss(
        self, x=None, y=None, y_pred=None, sample_weight=None, training=True
    ):
        """The loss of a batch; with `l2`, and a share of the penalty of an epoch."""
        loss = self.batch_loss(super().compute_loss, y, y_pred, sample_weight)
        return self.penalised(loss, sample_weight)

    def batch_loss(self, compiled, y, y_pred, sample_weight):
        """The loss of a batch: by default the compiled one.

        Args:
            compiled: Keras' own `compute_loss`.
            y, y_pred, sample_weight: as there.
        """
        return compiled(None, y, y_pred, sample_weight)

    def fit(
        self,
        x,
        y=None,
        *,
        validation_data=None,
        validation_split=0.0,
        class_weight=None,
        sample_weight=None,
        soft_targets=None,
        soft_weight=0.5,
        temperature=1.0,
        epochs=None,
        batch_size=None,
        token_budget=None,
        callbacks=(),
        verbose="auto",
        monitor=None,
        patience=None,
        restore_best=True,
        log=None,
        resume=None,
        **others,
    ):
        """Train on sentences. The first call counts the vocabularies.

        Args:
            x: training sentences with gold tags, or gold trees; or lists of words.
            y: for lists of words their tags, a list of strings each; where a model
                learns columns, a dict of such lists by their names. By default the
                annotation is in the sentences.
            validation_data: development sentences, annotated too, or `(x, y)`.
            validation_split: the share of the sentences that are held out for
                development, the last ones, in the place of `validation_data`.
            class_weight: for taggers of one column, a dict from labels to numbers by
                which their tokens count; 1 for other labels.
            sample_weight: a number for each sentence; for taggers also a list for each,
                a number a token. The loss of a batch is the weighted mean, as Keras has
                it; a CRF's terms are those of :class:`keras_tagging.layers.CRFLoss`. A
                token of weight 0 counts as one whose tag is unknown. Figures on
                development sentences have no weights.
            soft_targets: for taggers, the `SoftTargets` of a teacher for these
                sentences, which then need no gold tags. Where they have none, the
                figures of training compare with the teacher's best tags.
            soft_weight: the share of the soft targets in the loss, from 0 to 1; the
                rest is of the gold tags.
            temperature: of the softened distributions of teacher and pupil: above 1,
                improbable tags count more. See `training.soft_cross_entropy`.
            epochs, batch_size, token_budget: by default those of the recipe.
            callbacks: Keras callbacks; their logs have the figures of `evaluate` on the
                development sentences as `val_accuracy` and so on.
            verbose: 0, 1 (progress bar), 2 (a line an epoch) or "auto".
            monitor: the figure that selects the best epoch; by default
                `default_monitor`.
            patience: stop after this many epochs without improvement.
            restore_best: whether to end with the weights of the best development
                epoch, as the papers do.
            log: a CSV file for the figures of all epochs.
            resume: a folder for the state of the run after every epoch. If it has one
                already, training continues from there, exactly as if it had never been
                interrupted.

        Returns:
            A `keras.callbacks.History` of all epochs, resumed ones included.

        Raises:
            ValueError: if the annotation is missing, no label of the development
                sentences is known, `resume` has another run, or the model cannot learn
                from soft targets, or from these; for weights that do not fit, for a
                `tf.data.Dataset`, and for arguments of Keras that have no use.
        """
        refuse_unused(others)
        x = with_targets(x, y, self.column_names)
        weights = Weights(sample_weight, class_weight)
        if weights:
            self.check_weights(weights)
        if soft_targets is not None and (weights or validation_split):
            raise ValueError(
                "soft targets are of all sentences, and weighted by soft_weight: leave "
                "class_weight, sample_weight and validation_split out"
            )
        given, teaching = x, None
        if soft_targets is not None:
            self.check_pupil()
            teaching = training.Teaching(soft_targets, soft_weight, temperature)
            given = as_sentences(x)
            x = teaching.labelled(given, self.column_names)
        sentences = self.annotated(x)
        weights.check_count(sentences)
        if validation_split and validation_data:
            raise ValueError("give validation_data or validation_split, not both")
        if validation_split:
            sentences, dev = held_out(sentences, validation_split)
        else:
            dev = self.annotated(development(validation_data, self.column_names))
        if self.network is None:
            self.adapt(sentences)
        self.check_development(dev)
        fitting = self._fitting(epochs, batch_size, token_budget)
        watched = self.default_monitor if dev and monitor is None else monitor
        training.check_fitting(
            self.figures, bool(dev), fitting.decay, watched, patience
        )

        columns = getattr(self, "label_columns", ())
        of_tokens = weights.of_tokens(sentences, columns) if weights else None
        sentences = self.prepared(sentences, keep=resume, verbose=verbose)
        if resume is None or not (Path(resume) / "resume.npz").exists():
            self.before_fit(sentences, verbose=verbose in (1, 2, "auto"))
        batches = self.batches(sentences, fitting)
        if teaching:
            columns = self.label_columns
            batches.sentences = teaching.encoded(batches.sentences, given, columns)
            self._set("soft_share", (teaching.weight, teaching.temperature))
        if of_tokens is not None:
            batches.weigh(of_tokens)
        self._set("weighted", of_tokens is not None)
        if not len(batches):
            raise ValueError("no training sentence has a token: nothing to learn from")
        # the penalty of a batch, for training on so many tokens an epoch
        self._set("_penalty", fitting.l2 / 2 / batches.num_targets)
        if not self.optimizer.built:  # the user compiled another one after adapt
            self.optimizer.build(self.trainable_variables)

        read = {*self.input_columns, *self.column_names}
        fingerprint = Corpus(sentences).fingerprint(read)
        self.metadata.update(training_sentences=fingerprint, epochs=fitting.epochs)
        plan = training.Plan(
            batches=batches,
            dataset=self.dataset(batches),
            optimizer=self.optimizer,
            fitting=fitting,
            feedback=getattr(self.settings.label_options, "feedback", None),
            evaluate=self.evaluator(dev) if dev else None,
            monitor=monitor or self.default_monitor,
            lower_is_better=self.lower_is_better,
            patience=patience,
            restore_best=restore_best,
            callbacks=callbacks,
            log=log,
            resume=resume,
            run={
                **self.get_config()["settings"],
                **asdict(fitting),
                "seed": self.seed,
                "monitor": monitor,
                "patience": patience,
                "training sentences": fingerprint,
                "development sentences": Corpus(dev).fingerprint(read),
                "soft targets": teaching and teaching.run,
                "weights": digest_of(of_tokens),
            },
        )
        return training.carry_out(plan, super().fit, verbose)

    def _fitting(self, epochs, batch_size, token_budget):
        fitting = self.settings.fitting
        if batch_size is not None or token_budget is not None:
            sizes = {"batch_size": batch_size, "token_budget": token_budget}
            fitting = replace(fitting, **sizes)
        return fitting if epochs is None else replace(fitting, epochs=epochs)

    def prepared(self, sentences, keep, verbose):
        """The training sentences with everything that the model reads.

        Args:
            keep: a folder that keeps finished work for a resumed run, or None.
            verbose: as in `fit`; above 0, progress is printed.
        """
        return sentences

    def before_fit(self, sentences, verbose):
        """Hook that runs once before the first epoch, but not when a run resumes."""

    def check_development(self, sentences):
        """Raise a ValueError if development sentences have no label of training."""

    def check_weights(self, weights):
        """Raise a ValueError if the model cannot learn with these `Weights`."""
        raise ValueError(
            f"a {self.kind} learns from all its sentences alike: leave class_weight "
            "and sample_weight out"
        )

    def check_pupil(self):
        """Raise a ValueError if the model cannot learn from soft targets."""
        raise ValueError(
            f"soft targets are tags of tokens, for taggers: a {self.kind} learns from "
            "annotated sentences alone; leave soft_targets= out"
        )

    def _set(self, name, value):
        """Set a number, or some, of the loss of a batch."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.train_function = None  # it was compiled with the old one

    def penalised(self, loss, sample_weight):
        """The loss of a batch, plus its share of the penalty of an epoch."""
        if not self._penalty:
            return loss
        size = sum(ops.sum(ops.square(v)) for v in self.trainable_variables)
        return loss + self._penalty * ops.sum(sample_weight) * size

    # Evaluation

    def report(self, sentences, **options):
        """Figures and tables: see `models.report`."""
        return Report(without_nan(self.evaluate(sentences, return_dict=True)))

    def counts(self, sentences, figures, **options):
        """The counts behind figures, unit by unit.

        Raises:
            ValueError: if models of this kind have none.
        """
        raise ValueError(
            f"two models of the kind {self.kind} cannot be compared unit by unit: "
            "compare the figures of evaluate"
        )

    # Serving

    @property
    def served_layers(self):
        """The layers that a SavedModel has."""
        return [self.network]

    def output_names(self):
        outputs = self.outputs(self.described()).items()
        return [name for name, output in outputs if not output.optional]

    def described(self, top_k: int = 5) -> dict[str, object]:
        """The description of the model in an ONNX file: see `kinds.answers.Answers`."""
        corpus = self.metadata.get("corpus") or {}
        own = {self.inventory: getattr(self, self.inventory)} if self.inventory else {}
        return {
            "columns": list(self.input_columns),
            **own,
            # the column of tags that have no name
            "corpus": {"tag_column": corpus.get("tag_column")},
            "top_k": top_k,
            # what a request should look like
            "normal_form": "NFC",
            "combining_marks": limits.COMBINING_MARKS,
            "sentence_tokens": limits.SENTENCE_TOKENS,
            "batch_tokens": self.batch_tokens,
        }

    # Saving

    def get_config(self):
        return {
            "name": self.name,
            "architecture": self.architecture,
            "settings": self.settings.flat(),
            "seed": self.seed,
            "vocabularies": self.vocabularies,
            "vector_dim": self.vector_dim,
            "metadata": dict(self.metadata),
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The model that `get_config` describes; no file is opened.

        Raises:
            ValueError: if the configuration is not valid.
        """
        return cls(**checked_config(cls, config))

    def build_from_config(self, config):
        """Nothing to do: `from_config` has built the network."""

    def compile_from_config(self, config):
        """Compile with the optimizer, loss and metrics of a saved model.

        Raises:
            ValueError: if they are anything else.
        """
        check_compile_config(config)
        super().compile_from_config(config)

    def save(self, filepath, overwrite=True, **kwargs):
        """Write a `.keras` file atomically, and its metadata as JSON beside it.

        The metadata are in `metadata.json` beside `model.keras`, and in
        `NAME.metadata.json` beside any other `NAME.keras`: versions, settings, training
        corpus, scores. A kill may leave the model without this file, but never with the
        one of another model.
        """
        path = Path(filepath)
        if path.suffix != ".keras":
            raise ValueError(f"{path}: the name of a model's file must end in .keras")
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
        if self.given_vectors:
            raise ValueError(
                "call fit or adapt first: it makes the pretrained vectors part of the "
                "weights, which are saved"
            )
        with replacing_together(path, metadata_path(path)) as [partial, metadata]:
            super().save(partial, **kwargs)
            write_metadata(self, metadata)

    def export(self, filepath, *, format="tf_saved_model", top_k=5, **kwargs):
        """Write a SavedModel, or an ONNX file with `format="onnx"`.

        See :func:`keras_tagging.models.export.export`.
        """
        from keras_tagging.models.export import export  # which takes seconds

        self._require_network()
        export(self, filepath, format=format, top_k=top_k, **kwargs)
