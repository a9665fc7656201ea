"""The model a user holds: sentences in, tags out."""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np

from keras_tagging import training
from keras_tagging.data.atomic import replacing
from keras_tagging.data.batching import (
    EncodedSentences,
    plan_batches,
    round_up,
)
from keras_tagging.data.normalisation import flat_strings, to_nfc
from keras_tagging.data.sentence import Corpus, Sentence, as_sentence, as_sentences
from keras_tagging.data.vocabulary import count_vocabulary
from keras_tagging.embeddings import WordVectors, load_vectors
from keras_tagging.features import TokenFeatures
from keras_tagging.metadata import metadata_path, write_metadata
from keras_tagging.metrics import assigned, multi_tagging
from keras_tagging.models import ARCHITECTURES
from keras_tagging.models.decoding import (
    best_tags,
    figures,
    slices,
    tag_probabilities,
    with_probability,
    within_beta,
)
from keras_tagging.models.embedding import vector_table
from keras_tagging.models.settings import choose

PREDICTION_TOKENS = 4096  # padded tokens in one call of the network


@keras.saving.register_keras_serializable("keras_tagging")
class Tagger(keras.Model):
    """A sequence tagger that takes sentences wherever Keras takes arrays.

    Made by :func:`keras_tagging.build`. It holds a `TokenFeatures`, which turns
    words into ids, and a functional network `network` from ids to logits; both are
    made by the first `fit`, which counts the vocabularies, or by `adapt`.

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
    def _word_size(self):
        return self.features.sizes.get("word")

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
        self.features.adapt(flat_strings(sentences, self.features.columns), words)
        self._restore({**self.features.vocabularies, "tags": tags})
        if vectors:
            table = self.network.get_layer("vector_embedding").embeddings
            table.assign(vector_table(vectors, table.shape[0]))
            self._plain.vectors = None  # the table has them now
            self.settings["vectors"] = _described(self.settings["vectors"])
        self.optimizer.build(self.trainable_variables)

    def _restore(self, vocabularies):
        self._plain.tags = list(vocabularies["tags"])
        self._plain.tag_ids = {tag: i for i, tag in enumerate(self._plain.tags)}
        words = {k: list(v) for k, v in vocabularies.items() if k != "tags"}
        self.features.set_vocabularies(words)
        build = ARCHITECTURES[self.architecture].build_network
        self.network = build(
            self.features,
            len(self._plain.tags),
            seed=self.seed,
            vector_dim=self._plain.vector_dim,
            **choose(self.settings, build),
        )
        self.built = True

    def call(self, inputs, training=False):
        """Logits `(batch, time, num_tags)` of ids `(batch, time, features)`."""
        return self.network(inputs, training=training)

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

    def evaluator(self, sentences) -> Callable[[], dict]:
        """A function that evaluates the model as it then is on these sentences."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        return lambda: figures(
            sentences, encoded, self._logits(encoded), self.tags, self._word_size
        )

    def evaluate(self, x, y=None, *, return_dict=False, **kwargs):
        """Figures on sentences with gold tags, over their real tokens.

        Returns:
            With `return_dict` a dict, else the list of its values: `loss` (mean
            cross-entropy of a token whose gold tag is in the inventory),
            `accuracy`, `oov_accuracy` (over words unseen in training, in their
            normalised form; nan if there is none), `sentence_accuracy`, and where
            the tags are chunks `precision`, `recall` and `f1` as conlleval counts
            them. A gold tag outside the inventory is an error.
        """
        if y is not None or kwargs:
            extra = ", ".join(["y"] * (y is not None) + list(kwargs))
            raise ValueError(f"evaluate takes sentences and return_dict, not {extra}")
        found = self.evaluator(x)()
        return found if return_dict else list(found.values())

    def multi_tagging(self, sentences, **kwargs):
        """K18 Table 4 on sentences with gold tags: see `metrics.multi_tagging`."""
        sentences = as_sentences(sentences, tagged=True)
        encoded = self.encode(sentences, targets=True)
        gold = (encoded.targets[a:b] for a, b in encoded.spans())
        rows = (p for s in slices(sentences) for p in self._probabilities(s))
        return multi_tagging(gold, rows, **kwargs)

    # Prediction

    def predict(self, x, **kwargs):
        """Tag probabilities: a list with one `(tokens, num_tags)` array a sentence."""
        if kwargs:
            raise ValueError(f"predict takes sentences only, not {', '.join(kwargs)}")
        parts = map(self._probabilities, slices(as_sentences(x)))
        return [rows for part in parts for rows in part]

    def tag(self, sentences, *, beta=None, probabilities=False):
        """Tags sentences.

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
        if beta is None and not probabilities:
            encoded = self.encode(sentences)
            return best_tags(self._logits(encoded), encoded.lengths, self.tags)
        rows = self._probabilities(sentences)
        if beta is None:
            return [with_probability(row, self.tags) for row in rows]
        return [within_beta(row, self.tags, beta) for row in rows]

    def _probabilities(self, sentences) -> list[np.ndarray]:
        encoded = self.encode(sentences)
        batches = self._logits(encoded)
        return tag_probabilities(batches, encoded.lengths, len(self.tags))

    def _logits(self, encoded) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Sentence indices and their logits, a batch at a time, without the empty."""
        lengths = round_up(encoded.lengths, self.length_multiple)
        for chosen in plan_batches(lengths, token_budget=PREDICTION_TOKENS):
            ids, _, _ = encoded.batch(chosen, self.length_multiple)
            yield chosen, np.asarray(self.predict_on_batch(ids), "float32")

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
