"""The base of taggers, parsers and segmenters: settings, training, saving."""

import random
from collections import UserDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import keras
import numpy as np
from keras import ops

from keras_tagging import training
from keras_tagging.architectures import Settings
from keras_tagging.architectures import architecture as find_architecture
from keras_tagging.architectures.output import run_network
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Sentences
from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.models.files import checks, saving
from keras_tagging.models.fit import TrainedOnSentences
from keras_tagging.models.given_vectors import GivenVectors, joined_words, word_table
from keras_tagging.models.shrinking import Words, shrunk
from keras_tagging.utils import limits

CROSS_ENTROPY = keras.losses.SparseCategoricalCrossentropy
CROSS_ENTROPY |= keras.losses.CategoricalCrossentropy
#: names of the model's own loss and metrics, as Keras has them
OWN = ("sparse_categorical_crossentropy", "accuracy", "acc")


class SentenceModel(TrainedOnSentences):
    """A model that takes sentences wherever Keras takes arrays.

    It has `features`, which turn words into ids, and a `network`, which reads them. The
    first `fit`, or `adapt`, counts the vocabularies and makes both.

    A subclass defines:

    * `kind`: its name; see `kinds.Kind`, and `kinds.predictor.Predictor` for what a
      class of its kind, with Keras and without, says of its outputs;
    * `inventories`: the vocabularies of its labels;
    * `annotated(sentences)`: the sentences, after a check of their annotation;
    * `adapt(sentences)`, which counts vocabularies, and `_restore(vocabularies)`;
    * `targets(sentences)`, the int32 ids to learn, or `batches(sentences, fitting)` and
      `dataset(batches)`: the data for training;
    * `figures`, the names, and `evaluator(sentences)`, a function that computes them
      with the weights at the time; `lower_is_better`, those of them that should fall,
      such as an error; `default_monitor`, which selects the best epoch;
    * `predictions(sentences)`: the output of `predict`, if it is not `annotate`'s;
    * `output_arrays(outputs, names)`: from outputs of the network to answers;
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
        training_words: the number of words that occur in training, not only among the
            vectors; None if it is not known; for `from_config`.
        metadata: for `from_config`.
        given_vectors: the vectors that `build` has read; never from a configuration.

    Raises:
        ValueError: if a setting needs vectors that are missing,
            or the vocabularies do not fit the settings.
    """

    inventories = ()
    column_names = ()  # the columns of labels that it learns
    report_options = ()
    lower_is_better = ()  # its figures that should fall, beside losses
    figures_in_training = None  # those that training computes; None for all
    batch_tokens = 4096  # padded tokens in one call of the network
    export_format = "tf_saved_model"

    def __init__(
        self,
        architecture: str,
        settings: Settings | Mapping[str, Any],
        seed: int | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        vector_dim: int = 0,
        training_words: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        given_vectors: GivenVectors | None = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if not isinstance(settings, Settings):
            settings = find_architecture(architecture).restored(settings)
        if vocabularies is None and not given_vectors:
            checks.refuse_paths(settings)
        self.architecture = architecture
        self.settings = settings
        self.seed = random.randrange(10**6) if seed is None else int(seed)
        self.vector_dim = vector_dim
        self.training_words = training_words
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
            checks.check_vocabularies(vocabularies, names)
            with checks.few_weights():
                self._restore(vocabularies)
        self.compile(**self.objectives())

    def objectives(self) -> dict[str, object]:
        """The arguments of `compile`: optimizer, loss and metrics of training.

        A kind whose targets are not labels takes out what is for labels:
        ``{**super().objectives(), "weighted_metrics": []}``.
        """
        return training.compile_arguments(self.settings.optimizer)

    def compile(self, optimizer="rmsprop", loss=None, *arguments, **options):
        """Keras' `compile`; cross-entropy and accuracy by name are the model's own.

        Those of Keras count padding, and cannot take tags outside of the inventory.

        Raises:
            ValueError: for another name, or a cross-entropy of Keras.
        """
        measures = [options.get("metrics") or [], options.get("weighted_metrics") or []]
        for given in [loss, *keras.tree.flatten(measures)]:
            if isinstance(given, str | CROSS_ENTROPY) and given not in OWN:
                name = getattr(given, "name", given)
                raise ValueError(f"{name!r} would count padding: give {OWN[0]} or none")
        own = self.objectives()
        loss = own["loss"] if isinstance(loss, str) else loss
        if any(isinstance(x, str) for x in keras.tree.flatten(measures)):
            options["metrics"], options["weighted_metrics"] = (
                [x for x in keras.tree.flatten(some) if not isinstance(x, str)]
                for some in measures
            )
            options["weighted_metrics"] += own["weighted_metrics"] or []
        super().compile(optimizer, loss, *arguments, **options)

    def summary(self, *arguments, expand_nested=True, **options):
        """Keras' `summary`, with the layers of the network."""
        super().summary(*arguments, expand_nested=expand_nested, **options)

    @property
    def default_monitor(self) -> str:
        """The figure that selects the best epoch: accuracy, or else the first one.

        Taggers of chunk tags have F1.
        """
        figure = "accuracy" if "accuracy" in self.figures else self.figures[0]
        return f"val_{figure}"

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

    def encode(self, sentences, targets: bool = False) -> EncodedSentences:
        """The ids of all tokens; with `targets` those to learn, too."""
        self._require_network()
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        strings = flat_strings(sentences, self.features.columns, self.marks)
        arrays = self.features.encode(strings)
        if self.features.letters:
            arrays["letter_column"] = self.features.names.index("letters")
        else:
            arrays = {"ids": arrays}
        if targets:
            arrays["targets"] = self.targets(sentences)
        return EncodedSentences(offsets=offsets, **arrays)

    def _require_network(self):
        if self.network is None:
            raise ValueError("this model has no vocabularies yet: fit or adapt it")

    def known_words(self) -> set[str]:
        """The words of training, in normal form, that have an id of their own."""
        return set(self.features.vocabularies["word"][: self.training_words])

    # Vocabularies

    def adapt(self, sentences: Sentences) -> None:
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
        self._build(self._count_features(sentences) | labels)

    def _refuse_second_adapt(self):
        if self.network is not None:
            raise ValueError("this model has vocabularies already: build a new one")

    def _count_features(self, sentences) -> dict[str, list[str]]:
        """Count the vocabularies of the features.

        The vocabulary of words has those of training, whose number the model keeps, and
        behind them those of the vectors.
        """
        strings = flat_strings(sentences, self.features.columns)
        words, classes = self.given_vectors.table[0], self.given_vectors.classes
        self.features.adapt(strings, words, list(map(len, sentences)), classes)
        vocabularies = dict(self.features.vocabularies)
        self.training_words = len(vocabularies.get("word", ()))
        return vocabularies

    def _build(self, vocabularies) -> None:
        """Build the network and the optimizer, and put vectors into word tables."""
        training.check_alike({**self.get_config(), "vocabularies": vocabularies})
        start, (_, vectors) = self.given_vectors.embeddings, self.given_vectors.table
        if start:
            words, rows = joined_words(self.features, list(map(to_nfc, start.words)))
            vocabularies = vocabularies | {"word": words}
        self._restore(vocabularies)
        if start:
            table = self.network.get_layer("word_embedding").embeddings
            initial = ops.convert_to_numpy(table)
            table.assign(word_table(initial, words, rows, start))
        if vectors is not None:
            table = self.network.get_layer("vector_embedding").embeddings
            table.assign(vectors)
        self.given_vectors = GivenVectors()
        self.optimizer.build(self.trainable_variables)

    def count_labels(self, sentences) -> dict[str, list[str]]:
        """The vocabularies of `inventories`, from training sentences."""
        return {}

    def _restore(self, vocabularies) -> None:
        """Take vocabularies, and build the network that belongs to them."""
        self._vocabularies = tuple(vocabularies.items())
        of_labels = {*self.inventories}
        words = {k: list(v) for k, v in vocabularies.items() if k not in of_labels}
        self.features.set_vocabularies(words)
        self.network = self._new_network()
        self.built = True

    def _new_network(self, *labels, **options):
        """Build the network of the settings, for the vocabularies or other labels."""
        if self.vector_dim:
            options["vector_dim"] = self.vector_dim
        return self.settings.network.build(
            self.settings,
            self.features,
            *(labels or [self.vocabularies]),
            seed=self.seed,
            **options,
        )

    def call(self, inputs, training=False):
        """The outputs of the network for ids `(batch, time, features)`."""
        return run_network(self.network, inputs, training=training)

    def shrink_vectors(
        self,
        words: int | Collection[str] | None = None,
        dtype: str = "float16",
        keep: Words | None = (),
    ) -> Self:
        """The same model with fewer pretrained vectors, or less precise ones.

        See :func:`keras_tagging.models.shrinking.shrunk`.
        """
        self._require_network()
        return shrunk(self, words, dtype, keep)

    # Serving

    @property
    def served_layers(self):
        """The layers that a SavedModel has."""
        return [self.network]

    def described(self, top_k: int = 5) -> dict[str, object]:
        """The description of the model in an ONNX file."""
        inventory = {}
        if self.inventory:
            inventory[self.inventory] = getattr(self, self.inventory)
        corpus = self.metadata.get("corpus") or {}
        return {
            "columns": list(self.input_columns),
            **inventory,
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

    def get_config(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "architecture": self.architecture,
            "settings": self.settings.flat(),
            "seed": self.seed,
            "vocabularies": self.vocabularies,
            "vector_dim": self.vector_dim,
            "training_words": self.training_words,
            "metadata": dict(self.metadata),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        """The model that `get_config` describes; no file is opened.

        Raises:
            ValueError: if the configuration is not valid.
        """
        return cls(**checks.checked_config(cls, config))

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Nothing to do: `from_config` has built the network."""

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compile with the optimizer, loss and metrics of a saved model.

        Raises:
            ValueError: if they are anything else.
        """
        checks.check_compile_config(config)
        super().compile(**keras.saving.deserialize_keras_object(config))
        if self.built:
            self.optimizer.build(self.trainable_variables)

    def save(self, filepath: str | Path, overwrite: bool = True, **kwargs: Any) -> None:
        """Write a `.keras` file atomically, and its metadata as JSON beside it.

        The metadata are in `metadata.json` beside `model.keras`, and in
        `NAME.metadata.json` beside any other `NAME.keras`: versions, settings, training
        corpus, scores. A kill may leave the model without this file, but never with the
        one of another model.
        """
        saving.save(self, super().save, Path(filepath), overwrite, **kwargs)

    def export(
        self, filepath: str | Path, *, format: str | None = None, top_k=5, **kwargs: Any
    ) -> None:
        """Write a SavedModel, or an ONNX file with `format="onnx"`.

        A segmenter and CCG parsers, which work in Python too, have ONNX files alone:
        see :func:`keras_tagging.models.files.export.export`.
        """
        from keras_tagging.models.files.export import export  # which takes seconds

        self._require_network()
        export(
            self, filepath, format=format or self.export_format, top_k=top_k, **kwargs
        )
