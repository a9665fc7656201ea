"""What models that take sentences share: settings, training, saving."""

import random
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
from keras import ops

from keras_tagging import training
from keras_tagging.architectures.embedding import joined_words, word_table
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.encoding.batching import EncodedSentences
from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.models.metadata import metadata_path, write_metadata
from keras_tagging.models.settings import choose
from keras_tagging.utils.atomic import replacing
from keras_tagging.vectors import as_vectors

#: settings that may be vectors: those that words start as, and a feature of K18's
PRETRAINED = ("embeddings", "vectors")


class SentenceModel(keras.Model):
    """A model that takes sentences wherever Keras takes arrays.

    It holds a `TokenFeatures`, which turns words into ids, and `network`, which reads
    them; both are made by the first `fit`, which counts the vocabularies, or by
    `adapt`. A subclass says what is learnt of a sentence:

    * `annotated(sentences)`: the sentences, if they have what is to be learnt;
    * `adapt(sentences)`, which counts vocabularies, and `_restore(vocabularies)`;
    * `batches(sentences, plan)` and `dataset(batches)`, what Keras trains on;
    * `evaluator(sentences)`: a function that gives the `figures`, by name, of the
      model as it then is; `default_monitor` tells the best epoch.

    Args:
        architecture: a name from :func:`keras_tagging.available`.
        settings: all keywords of the architecture, from `resolve_settings`.
        seed: of weights, dropout and the order of batches; by default drawn from
            Python's `random`.
        vocabularies: of the features and of what is learnt; for `from_config`.
        vector_dim: of the pretrained vectors that are a feature; for `from_config`.
        metadata: for `from_config`.
    """

    def __init__(
        self,
        architecture,
        settings,
        seed=None,
        vocabularies=None,
        vector_dim=0,
        metadata=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if seed is not None and seed < 0:
            raise ValueError(f"seed={seed}: a seed is not negative")
        self.architecture = architecture
        self.seed = random.randrange(10**6) if seed is None else int(seed)
        given = {}
        if not vocabularies:
            names = [name for name in PRETRAINED if settings.get(name) is not None]
            given = {name: as_vectors(settings[name]) for name in names}
            for name in names:
                if not isinstance(settings[name], str | Path):
                    settings[name] = given[name]
        if "vectors" in given:
            vector_dim = given["vectors"].matrix.shape[1]
        if "embeddings" in given:
            settings["word_dim"] = given["embeddings"].matrix.shape[1]
        # kept out of Keras' tracking, which wraps containers and copies them
        self._plain = SimpleNamespace(
            settings=settings,
            given=given,
            vector_dim=vector_dim,
            metadata=metadata or {},
            penalty=0.0,
            vocabularies=None,
        )
        self.network = None
        self._make_features()
        if vocabularies:
            self._restore(vocabularies)
        optimizing = choose(settings, training.compile_settings)
        self.compile(**training.compile_settings(**optimizing))

    def _make_features(self, **options):
        chosen = choose(self.settings, TokenFeatures.__init__)
        self._plain.features = TokenFeatures(**chosen | options)

    @property
    def features(self) -> TokenFeatures:
        return self._plain.features

    @property
    def length_multiple(self) -> int:
        """Of padded lengths: XLA, JAX' compiler too, compiles for every one."""
        return 8 if self.jit_compile or keras.backend.backend() == "jax" else 1

    @property
    def settings(self) -> dict:
        """All keywords the model was built with."""
        return self._plain.settings

    @property
    def metadata(self) -> dict:
        """What `save` writes beside the model: corpus, epochs, scores."""
        return self._plain.metadata

    def encode(self, sentences) -> EncodedSentences:
        """Ids of all tokens of the sentences."""
        self._require_network()
        ids = self.features.encode(flat_strings(sentences, self.features.columns))
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        return EncodedSentences(ids, offsets)

    def _require_network(self):
        if self.network is None:
            raise ValueError("this model has no vocabularies yet: fit or adapt it")

    def _refuse_second_adapt(self):
        if self.network is not None:
            raise ValueError(
                "this model has vocabularies already, and its weights belong to them; "
                "build a new model for other sentences"
            )

    def _count(self, sentences, vector_words=()):
        """Counts the vocabularies of the features and gives them.

        Words with a pretrained vector are in that of the words, behind those of
        training.
        """
        strings = flat_strings(sentences, self.features.columns)
        self.features.adapt(strings, vector_words, lengths=list(map(len, sentences)))
        found = dict(self.features.vocabularies)
        if vectors := self._plain.given.get("embeddings"):
            words = list(map(to_nfc, vectors.words))
            found["word"], self._plain.rows = joined_words(self.features, words)
        return found

    def _take_vectors(self):
        """Gives the word table its pretrained vectors, which then are forgotten."""
        if vectors := self._plain.given.get("embeddings"):
            table = self.network.get_layer("word_embedding").embeddings
            initial = ops.convert_to_numpy(table)
            words = self._plain.vocabularies["word"]
            table.assign(word_table(initial, words, self._plain.rows, vectors))
            self._plain.rows = None
        for name in self._plain.given:
            self.settings[name] = described(self.settings[name])
        self._plain.given = {}

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
        if self.network is None:
            self.adapt(sentences)
        dev = self.annotated(validation_data or [])
        decay = self.settings.get("decay")
        watched = self.default_monitor if dev and monitor is None else monitor
        training.check_fitting(self.figures, bool(dev), decay, watched, patience)
        sentences = self.prepared(sentences, keep=resume, verbose=verbose)
        if resume is None or not (Path(resume) / "resume.npz").exists():
            self.before_fit(sentences, verbose=verbose in (1, 2, "auto"))
        plan = choose(self.settings, training.fit_settings)
        if batch_size is not None or token_budget is not None:
            plan |= {"batch_size": batch_size, "token_budget": token_budget}
        if epochs is not None:
            plan["epochs"] = epochs
        return training.fit_model(
            self,
            super().fit,
            sentences,
            dev,
            plan,
            monitor=monitor,
            patience=patience,
            restore_best=restore_best,
            callbacks=callbacks,
            verbose=verbose,
            log=log,
            resume=resume,
        )

    def prepared(self, sentences, keep, verbose):
        """The training sentences with all that the model reads.

        Args:
            keep: folder in which work is kept for a run that goes on, or None.
            verbose: as in `fit`; above 0 what is done is said.
        """
        return sentences

    def before_fit(self, sentences, verbose):
        """What is done once before the first epoch, and not when a run goes on."""

    def penalised(self, loss, sample_weight):
        """The loss of a batch, with its share of the penalty of an epoch."""
        if not self._plain.penalty:
            return loss
        size = sum(ops.sum(ops.square(v)) for v in self.trainable_variables)
        return loss + self._plain.penalty * ops.sum(sample_weight) * size

    def penalise(self, l2, tokens):
        """Sets the penalty of `compute_loss` for training on this many tokens."""
        if self._plain.penalty != l2 / 2 / tokens:
            self._plain.penalty = l2 / 2 / tokens
            self.train_function = None  # which has the old one compiled in

    # Saving

    def get_config(self):
        names = [name for name in PRETRAINED if name in self.settings]
        pretrained = {name: described(self.settings[name]) for name in names}
        return {
            "name": self.name,
            "architecture": self.architecture,
            "settings": {**self.settings, **pretrained},
            "seed": self.seed,
            "vocabularies": self._plain.vocabularies,
            "vector_dim": self._plain.vector_dim,
            "metadata": self.metadata,
        }

    def build_from_config(self, config):
        """Nothing to do: `from_config` has built the network."""

    def save(self, filepath, overwrite=True, **kwargs):
        """Writes a `.keras` file atomically, and its metadata as JSON beside it.

        `model.keras` gets `metadata.json`, any other `NAME.keras` gets
        `NAME.metadata.json`: versions, settings, training corpus, scores.
        """
        path = Path(filepath)
        if path.suffix != ".keras":
            raise ValueError(f"{path}: the file name of a model ends in .keras")
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
        given = [self.settings.get(name) for name in PRETRAINED]
        if not all(isinstance(source, str | Path | None) for source in given):
            raise ValueError("vectors given as an object are saved once fit has run")
        with replacing(path) as partial:
            super().save(partial, **kwargs)
        write_metadata(self, metadata_path(path))

    def export(self, filepath, *, top_k=5, **kwargs):
        """Writes a SavedModel: see :func:`keras_tagging.models.export.export`."""
        from keras_tagging.models.export import export  # it stands above this module

        self._require_network()
        export(self, filepath, top_k=top_k, **kwargs)


def described(source) -> str | None:
    """Vectors as a setting: their file, or how many an object held."""
    if source is None or isinstance(source, str | Path):
        return None if source is None else str(source)
    return f"{len(source.words)} vectors given as an object"
