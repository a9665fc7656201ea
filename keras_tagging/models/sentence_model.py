"""What taggers and parsers share: settings, training, saving."""

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
from keras_tagging.models.metadata import metadata_path, write_metadata
from keras_tagging.models.pretrained import Pretrained, joined_words, word_table
from keras_tagging.models.saved_config import (
    check_compile_config,
    check_vocabularies,
    checked_config,
    refuse_paths,
)
from keras_tagging.utils.atomic import replacing_together


class SentenceModel(keras.Model):
    """A model that takes sentences wherever Keras takes arrays.

    It holds `features`, which turn words into ids, and `network`, which reads them.
    Both are made by the first `fit`, which counts the vocabularies, or by `adapt`.

    What a subclass learns is its own matter. It has:

    * `kind`, `command` and `reads_trees`: what it is called, the command that uses it,
      and whether its corpora need trees;
    * `annotated(sentences)`: the sentences, if they have what is to be learnt;
    * `adapt(sentences)`, which counts vocabularies, and `_restore(vocabularies)`;
    * `batches(sentences, fitting)` and `dataset(batches)`: what Keras trains on;
    * `figures`, and `evaluator(sentences)`: a function that gives them for the model as
      it then is; `default_monitor` tells the best epoch;
    * `annotate(sentences)`: the sentences with what it predicts;
    * `report(sentences, **options)`: figures and tables, `report_options` of them;
    * `counts(sentences, figures)`: what significance is tested on;
    * `serving(top_k)`: what a SavedModel computes, and `served_layers`;
    * `architectures`, those that it may have, and `outputs`, the vocabulary of what is
      learnt.

    A model opens no file: a setting that names vectors says where they came from.

    Args:
        architecture: a name from :func:`keras_tagging.available`.
        settings: a `Settings`, or the keywords of one, from a configuration.
        seed: of weights, dropout and the order of batches; by default drawn from
            Python's `random`.
        vocabularies: of the features and of what is learnt; for `from_config`.
        vector_dim: of the pretrained vectors that are a feature; for `from_config`.
        metadata: for `from_config`.
        pretrained: the vectors that `build` has read; never from a configuration.

    Raises:
        ValueError: if the seed is negative, a setting names vectors that are not given,
            or the vocabularies are not those of the settings.
    """

    kind = command = outputs = None
    architectures = {}
    reads_trees = False
    report_options = ()
    #: what to do about a column that the input lacks
    missing_column = "name it by --option 'columns={{\"{name}\": 1}}'"

    def __init__(
        self,
        architecture,
        settings,
        seed=None,
        vocabularies=None,
        vector_dim=0,
        metadata=None,
        pretrained=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if seed is not None and seed < 0:
            raise ValueError(f"seed={seed}: a seed is not negative")
        if not isinstance(settings, Settings):
            settings = find_architecture(architecture).restored(settings)
        if vocabularies is None and not pretrained:
            refuse_paths(settings)
        self.architecture = architecture
        self.settings = settings
        self.seed = random.randrange(10**6) if seed is None else int(seed)
        self.vector_dim = vector_dim
        # no dict: Keras would wrap and copy it
        self.metadata = UserDict(metadata or {})
        self.network = None
        self.pretrained = pretrained or Pretrained()
        self._vocabularies = None
        self._penalty = 0.0
        self.features = self._new_features()
        if vocabularies is not None:
            check_vocabularies(vocabularies, {*self.features.table_names, self.outputs})
            self._restore(vocabularies)
        self.compile(**training.compile_arguments(settings.optimizer))

    def _new_features(self) -> TokenFeatures:
        chosen = asdict(self.settings.features) | {"columns": self._columns()}
        return TokenFeatures(vectors=self.vector_dim > 0, **chosen)

    def _columns(self) -> tuple[str, ...]:
        """Columns of the sentences that are features."""
        return self.settings.features.columns

    @property
    def vocabularies(self) -> dict[str, list[str]] | None:
        """Those of the features and of what is learnt, by name; None before `adapt`."""
        return None if self._vocabularies is None else dict(self._vocabularies)

    @property
    def input_columns(self) -> tuple[str, ...]:
        """Columns that sentences must have, beside their words."""
        return self.features.columns

    @property
    def length_multiple(self) -> int:
        """Of padded lengths: XLA, JAX' compiler too, compiles for every one."""
        return 8 if self.jit_compile or keras.backend.backend() == "jax" else 1

    def encode(self, sentences) -> EncodedSentences:
        """Ids of all tokens of the sentences."""
        self._require_network()
        ids = self.features.encode(flat_strings(sentences, self.features.columns))
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        return EncodedSentences(ids, offsets)

    def _require_network(self):
        if self.network is None:
            raise ValueError("this model has no vocabularies yet: fit or adapt it")

    def known_words(self, words=()) -> set[str]:
        """The words of training, in normal form, that have an id of their own.

        Args:
            words: those of the training sentences: this model does not tell them from
                words that only its pretrained vectors know.
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
        """Counts the vocabularies of the features.

        Words with a pretrained vector are in that of the words, behind those of
        training.
        """
        strings = flat_strings(sentences, self.features.columns)
        vectors = self.pretrained.vectors
        words = [to_nfc(word) for word in vectors.words] if vectors else ()
        self.features.adapt(strings, words, lengths=list(map(len, sentences)))
        return dict(self.features.vocabularies)

    def _build_network(self, vocabularies) -> None:
        """Builds the network and the optimizer; word tables take their vectors."""
        start, rows = self.pretrained.embeddings, None
        if start:
            words = list(map(to_nfc, start.words))
            joined, rows = joined_words(self.features, words)
            vocabularies = vocabularies | {"word": joined}
        self._restore(vocabularies)
        if start:
            table = self.network.get_layer("word_embedding").embeddings
            initial = ops.convert_to_numpy(table)
            table.assign(word_table(initial, vocabularies["word"], rows, start))
        self.pretrained = Pretrained()
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
        """Trains on sentences. The first call counts the vocabularies.

        Args:
            x: training sentences, annotated with what is to be learnt.
            y: None; the annotation is in the sentences.
            validation_data: development sentences, annotated too.
            epochs, batch_size, token_budget: by default those of the recipe.
            callbacks: Keras callbacks; they find the figures of `evaluate` on the
                development sentences in their logs as `val_accuracy` and so on.
            verbose: 0, 1 (progress bar), 2 (a line an epoch) or "auto".
            monitor: the figure that tells the best epoch; by default
                `default_monitor`.
            patience: stop after this many epochs without a better one.
            restore_best: whether to end with the weights of the best development
                epoch, as the papers do.
            log: CSV file for the figures of all epochs.
            resume: folder that keeps the state of the run after every epoch. If it
                holds one, training goes on from there, exactly as if it had never
                been interrupted.

        Returns:
            A `keras.callbacks.History` of all epochs, resumed ones included.

        Raises:
            ValueError: if the annotation is missing, or `resume` holds another run.
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
        if not self.optimizer.built:  # a user's own, compiled after adapt
            self.optimizer.build(self.trainable_variables)

        fingerprint = Corpus(sentences).fingerprint()
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
                "development sentences": Corpus(dev).fingerprint(),
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
        """The training sentences with all that the model reads.

        Args:
            keep: folder in which work is kept for a run that goes on, or None.
            verbose: as in `fit`; above 0 what is done is said.
        """
        return sentences

    def before_fit(self, sentences, verbose):
        """What is done once before the first epoch, and not when a run goes on."""

    def _penalise(self, l2, tokens):
        """Sets the penalty of a batch, for training on this many tokens an epoch."""
        if self._penalty != l2 / 2 / tokens:
            self._penalty = l2 / 2 / tokens
            self.train_function = None  # which has the old one compiled in

    def penalised(self, loss, sample_weight):
        """The loss of a batch, with its share of the penalty of an epoch."""
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
            ValueError: if a configuration of this package cannot be so.
        """
        return cls(**checked_config(cls, config))

    def build_from_config(self, config):
        """Nothing to do: `from_config` has built the network."""

    def compile_from_config(self, config):
        """Compiles with the optimizer, loss and metrics of a saved model.

        Raises:
            ValueError: if they name anything else.
        """
        check_compile_config(config)
        super().compile_from_config(config)

    def save(self, filepath, overwrite=True, **kwargs):
        """Writes a `.keras` file atomically, and its metadata as JSON beside it.

        `model.keras` gets `metadata.json`, any other `NAME.keras` gets
        `NAME.metadata.json`: versions, settings, training corpus, scores. A kill may
        leave the model without this file, but never with that of another model.
        """
        path = Path(filepath)
        if path.suffix != ".keras":
            raise ValueError(f"{path}: the file name of a model ends in .keras")
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
        if self.pretrained:
            raise ValueError(
                "pretrained vectors are saved once fit has run: they are part of the "
                "weights then"
            )
        with replacing_together(path, metadata_path(path)) as [partial, metadata]:
            super().save(partial, **kwargs)
            write_metadata(self, metadata)

    def export(self, filepath, *, format="tf_saved_model", top_k=5, **kwargs):
        """Writes a SavedModel, or an ONNX file with `format="onnx"`.

        See :func:`keras_tagging.models.export.export`.
        """
        from keras_tagging.models.export import export  # which takes seconds

        self._require_network()
        export(self, filepath, format=format, top_k=top_k, **kwargs)
