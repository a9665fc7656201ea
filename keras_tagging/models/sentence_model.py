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
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Corpus
from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.layers.packing import packed
from keras_tagging.models.calls import SentenceCalls
from keras_tagging.models.given_vectors import GivenVectors, joined_words, word_table
from keras_tagging.models.metadata import metadata_path, write_metadata
from keras_tagging.models.saved_config import (
    check_compile_config,
    check_vocabularies,
    checked_config,
    refuse_paths,
)
from keras_tagging.utils.atomic import replacing_together


class SentenceModel(SentenceCalls):
    """A model that takes sentences wherever Keras takes arrays.

    It has `features`, which turn words into ids, and a `network`, which reads them. The
    first `fit`, or `adapt`, counts the vocabularies and makes both.

    A subclass defines:

    * `kind`, `command`, `reads_trees` and `reads_surfaces`: its name, the command that
      uses it, and whether its corpora need trees, or the text that they come from;
    * `architectures`: the allowed ones; `inventories`: the vocabularies of its labels;
    * `annotated(sentences)`: the sentences, after a check of their annotation;
    * `adapt(sentences)`, which counts vocabularies, and `_restore(vocabularies)`;
    * `batches(sentences, fitting)` and `dataset(batches)`: the data for training;
    * `figures`, the names, and `evaluator(sentences)`, a function that computes them
      with the weights at the time; `default_monitor`, which selects the best epoch;
    * `predictions(sentences)`: the output of `predict`;
    * `annotate(sentences)`: the sentences with predicted annotation;
    * `report(sentences, **options)`: figures and tables, with `report_options`;
    * `counts(sentences, figures)`: counts for tests of significance;
    * `serving(top_k)`: the computation of a SavedModel, and `served_layers`.

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

    kind = command = None
    inventories = ()
    column_names = ()  # the columns of labels that it learns
    architectures = {}
    reads_trees = reads_surfaces = False
    report_options = ()
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
        self.features = self._new_features()
        if vocabularies is not None:
            names = {*self.features.table_names, *self.inventories}
            check_vocabularies(vocabularies, names)
            self._restore(vocabularies)
        self.compile(**training.compile_arguments(settings.optimizer))

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

    def encode(self, sentences) -> EncodedSentences:
        """Ids of all tokens of the sentences."""
        self._require_network()
        found = self.features.encode(flat_strings(sentences, self.features.columns))
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        if not self.features.letters:
            return EncodedSentences(found, offsets)
        column = self.features.names.index("letters")
        return EncodedSentences(offsets=offsets, letter_column=column, **found)

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
        self.features.adapt(strings, words, lengths=list(map(len, sentences)))
        return dict(self.features.vocabularies)

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

    # Training

    def fit(
        self,
        x,
        y=None,
        *,
        validation_data=None,
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
    ):
        """Train on sentences. The first call counts the vocabularies.

        Args:
            x: training sentences with gold tags, or gold trees.
            y: None; the annotation is in the sentences.
            validation_data: development sentences, annotated too.
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
            ValueError: if the annotation is missing, or `resume` has another run.
        """
        if y is not None:
            raise ValueError(
                "the annotation is part of the sentences: call fit(sentences)"
            )
        sentences = self.annotated(x)
        dev = self.annotated(validation_data or [])
        if self.network is None:
            self.adapt(sentences)
        fitting = self._fitting(epochs, batch_size, token_budget)
        watched = self.default_monitor if dev and monitor is None else monitor
        training.check_fitting(
            self.figures, bool(dev), fitting.decay, watched, patience
        )

        sentences = self.prepared(sentences, keep=resume, verbose=verbose)
        if resume is None or not (Path(resume) / "resume.npz").exists():
            self.before_fit(sentences, verbose=verbose in (1, 2, "auto"))
        batches = self.batches(sentences, fitting)
        if not len(batches):
            raise ValueError("no training sentence has a token: nothing to learn from")
        self._penalise(fitting.l2, batches.num_targets)
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

    def _penalise(self, l2, tokens):
        """Set the penalty of a batch, for training on this many tokens an epoch."""
        if self._penalty != l2 / 2 / tokens:
            self._penalty = l2 / 2 / tokens
            self.train_function = None  # it was compiled with the old penalty

    def penalised(self, loss, sample_weight):
        """The loss of a batch, plus its share of the penalty of an epoch."""
        if not self._penalty:
            return loss
        size = sum(ops.sum(ops.square(v)) for v in self.trainable_variables)
        return loss + self._penalty * ops.sum(sample_weight) * size

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
