"""The model a user holds: sentences in, tags out."""

import random
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
from keras import ops

from keras_tagging import training
from keras_tagging.data.atomic import replacing
from keras_tagging.data.batching import EncodedSentences
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Sentence, as_sentences
from keras_tagging.data.vocabulary import count_vocabulary
from keras_tagging.embeddings import WordVectors, load_vectors
from keras_tagging.features import TokenFeatures
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.metadata import metadata_path, write_metadata
from keras_tagging.models import ARCHITECTURES
from keras_tagging.models.embedding import vector_table
from keras_tagging.models.output import check_decoder, path_loss, run_network
from keras_tagging.models.prediction import SentencePrediction
from keras_tagging.models.pretrain import check_pretraining, pretrain_tables
from keras_tagging.models.settings import (
    check_label_options,
    check_value,
    choose,
)


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(SentencePrediction, keras.Model):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    Made by :func:`keras_tagging.build`. It holds a `TokenFeatures`, which turns
    words into ids, and a functional network `network` from ids to what `models.output`
    describes; both are made by the first `fit`, which counts the vocabularies, or by
    `adapt`.

    Args:
        architecture: a name from :func:`keras_tagging.available`.
        settings: all keywords of the architecture, from `resolve_settings`.
        seed: of weights, dropout and the order of batches; by default drawn from
            Python's `random`.
        vocabularies: of the features, with the tags under "tags"; for `from_config`.
        vector_dim: of the pretrained vectors; for `from_config`.
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
        check_decoder(**choose(settings, check_decoder))
        check_pretraining(settings.get("pretrain"))
        self.architecture = architecture
        self.seed = random.randrange(10**6) if seed is None else int(seed)
        vectors = settings["vectors"]
        if vectors is not None and not vocabularies:
            if not isinstance(vectors, WordVectors):
                vectors = load_vectors(vectors)
            vector_dim = vectors.matrix.shape[1]
        # kept out of Keras' tracking, which wraps containers and copies them
        self._plain = SimpleNamespace(
            settings=settings,
            vectors=vectors,
            vector_dim=vector_dim,
            metadata=metadata or {},
            penalty=0.0,
            pretraining_due=False,
        )
        chosen = choose(settings, TokenFeatures.__init__)
        self._plain.features = TokenFeatures(**chosen | {"vectors": vector_dim > 0})
        self.network = None
        if vocabularies:
            self._restore(vocabularies)
        optimizing = choose(settings, training.compile_settings)
        self.compile(**training.compile_settings(**optimizing))

    # Vocabularies and network

    @property
    def features(self) -> TokenFeatures:
        return self._plain.features

    @property
    def tags(self) -> list[str]:
        """The tag inventory, in the order of the network's outputs."""
        self._require_network()
        return self._plain.tags

    @property
    def length_multiple(self) -> int:
        """Of padded lengths: XLA, JAX' compiler too, compiles for every one."""
        return 8 if self.jit_compile or keras.backend.backend() == "jax" else 1

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

    @property
    def settings(self) -> dict:
        """All keywords the model was built with."""
        return self._plain.settings

    @property
    def metadata(self) -> dict:
        """What `save` writes beside the model: corpus, epochs, scores."""
        return self._plain.metadata

    def adapt(self, sentences: Iterable[Sentence]) -> None:
        """Counts the vocabularies of words and tags, and builds the network.

        Args:
            sentences: training sentences with tags.

        Raises:
            ValueError: if the model has vocabularies already, or there are no tags.
        """
        if self.network is not None:
            raise ValueError(
                "this model has vocabularies already, and its weights belong to them; "
                "build a new model for other sentences"
            )
        sentences = as_sentences(sentences, tagged=True)
        tags = (tag for sentence in sentences for tag in sentence.tags)
        tags = count_vocabulary(tags, self.settings["min_count"])
        if not tags:
            raise ValueError(
                "no tag to learn: the training sentences have no tokens, or no tag "
                f"occurs min_count={self.settings['min_count']} times"
            )
        vectors = self._plain.vectors
        words = [to_nfc(word) for word in vectors.words] if vectors else ()
        strings = flat_strings(sentences, self.features.columns)
        self.features.adapt(strings, words, lengths=list(map(len, sentences)))
        self._restore({**self.features.vocabularies, "tags": tags})
        if vectors:
            table = self.network.get_layer("vector_embedding").embeddings
            table.assign(vector_table(vectors, table.shape[0]))
            self._plain.vectors = None  # the table has them now
            self.settings["vectors"] = _described(self.settings["vectors"])
        self._plain.pretraining_due = self.settings["pretrain"] is not None
        self.optimizer.build(self.trainable_variables)

    def _restore(self, vocabularies):
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

    def call(self, inputs, training=False):
        """What the network gives for ids `(batch, time, features)`.

        In training they may come in a tuple with gold tag ids `(batch, time)`.
        """
        ids, labels = inputs if isinstance(inputs, (tuple, list)) else (inputs, None)
        return run_network(self.network, ids, labels, training)

    # Sentences to arrays

    def encode(self, sentences: list[Sentence], targets=False) -> EncodedSentences:
        """Ids of all tokens of the sentences, and their tag ids if asked for."""
        self._require_network()
        ids = self.features.encode(flat_strings(sentences, self.features.columns))
        offsets = np.cumsum([0, *(len(s.tokens) for s in sentences)])
        if not targets:
            return EncodedSentences(ids, offsets)
        find = self._plain.tag_ids.get
        tag_ids = [find(tag, -1) for s in sentences for tag in s.tags]
        return EncodedSentences(ids, offsets, np.array(tag_ids, "int32"))

    def _require_network(self):
        if self.network is None:
            raise ValueError("this model has no vocabularies yet: fit or adapt it")

    # Training

    def pretrain(self, sentences, method="window", **options):
        """Learns the embeddings of words and labels from their sequences alone.

        Section 3.2 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`; to be called
        before `fit`. The setting `pretrain` makes the first `fit` do so.

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
        sentences = as_sentences(sentences, tagged=True)
        if self.network is None:
            self.adapt(sentences)
        if int(self.optimizer.iterations):
            raise ValueError(
                "this model has been trained: pretraining would undo its embeddings"
            )
        self._plain.pretraining_due = False
        return pretrain_tables(self, sentences, method, **options)

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
            x: training sentences with tags.
            y: None; the tags are in the sentences.
            validation_data: development sentences with tags.
            epochs, batch_size, token_budget: by default those of the recipe.
            callbacks: Keras callbacks; they find the figures of `evaluate` on the
                development sentences in their logs as `val_accuracy` and so on.
            verbose: 0, 1 (progress bar), 2 (a line an epoch) or "auto".
            monitor: the figure that tells the best epoch; by default `val_f1` where
                the tags are chunks and `val_accuracy` elsewhere.
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
            ValueError: if tags are missing, or `resume` holds another run.
        """
        if y is not None:
            raise ValueError("the tags are part of the sentences: call fit(sentences)")
        sentences = as_sentences(x, tagged=True)
        if self.network is None:
            self.adapt(sentences)
        resuming = resume is not None and (Path(resume) / "resume.npz").exists()
        if self._plain.pretraining_due and not resuming:
            shown = {"verbose": verbose in (1, 2, "auto")}
            self.pretrain(sentences, self.settings["pretrain"], **shown)
        plan = choose(self.settings, training.fit_settings)
        if batch_size is not None or token_budget is not None:
            plan |= {"batch_size": batch_size, "token_budget": token_budget}
        if epochs is not None:
            plan["epochs"] = epochs
        return training.fit_tagger(
            self,
            super().fit,
            sentences,
            as_sentences(validation_data or [], tagged=True),
            plan,
            monitor=monitor,
            patience=patience,
            restore_best=restore_best,
            callbacks=callbacks,
            verbose=verbose,
            log=log,
            resume=resume,
        )

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
        if self._plain.penalty:
            size = sum(ops.sum(ops.square(v)) for v in self.trainable_variables)
            tokens = ops.sum(sample_weight)
            loss = loss + self._plain.penalty * tokens * size
        return loss

    def penalise(self, l2, tokens):
        """Sets the penalty of `compute_loss` for training on this many tokens."""
        if self._plain.penalty != l2 / 2 / tokens:
            self._plain.penalty = l2 / 2 / tokens
            self.train_function = None  # which has the old one compiled in

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """The compiled metrics, of the logits; those of a CRF are log marginals."""
        logits = y_pred["logits"] if isinstance(y_pred, dict) else y_pred
        return super().compute_metrics(x, y, logits, sample_weight)

    # Saving

    def get_config(self):
        vocabularies = None
        if self.network is not None:
            vocabularies = {**self.features.vocabularies, "tags": self.tags}
        vectors = _described(self.settings["vectors"])
        return {
            "name": self.name,
            "architecture": self.architecture,
            "settings": {**self.settings, "vectors": vectors},
            "seed": self.seed,
            "vocabularies": vocabularies,
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
        if self.network is None and isinstance(self.settings["vectors"], WordVectors):
            raise ValueError("vectors given as an object are saved once fit has run")
        with replacing(path) as partial:
            super().save(partial, **kwargs)
        write_metadata(self, metadata_path(path))

    def export(self, filepath, *, top_k=5, **kwargs):
        """Writes a SavedModel: see :func:`keras_tagging.export.export`."""
        from keras_tagging.export import export  # it stands above this module

        self._require_network()
        export(self, filepath, top_k=top_k, **kwargs)


def _described(vectors) -> str | None:
    """Vectors as a setting: their file, or how many an object held."""
    if isinstance(vectors, WordVectors):
        return f"{len(vectors.words)} vectors given as an object"
    return None if vectors is None else str(vectors)
