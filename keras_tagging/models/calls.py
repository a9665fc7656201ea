"""Keras' `evaluate` and `predict`, for sentences."""

from collections.abc import Mapping
from typing import Any, Literal, overload

import keras
import numpy as np
import tensorflow as tf

from keras_tagging import training
from keras_tagging.data.named_columns import with_targets
from keras_tagging.data.sentence import Labels, Sentence, Sentences, as_sentences
from keras_tagging.encoding.batching import plan_batches, round_up
from keras_tagging.kinds.predictor import Predictor
from keras_tagging.layers.loop import right_padded
from keras_tagging.models.report import Report, figures_alone
from keras_tagging.utils.checks import Positive, checked


class NetworkCalls:
    """The batches of calls of the network, and their progress bar.

    Args:
        count: number of sentences.
        batch_size: sentences in a call; by default as many as fit the token budget.
        verbose: 1 shows a progress bar, 2 a line at the end; 0 and "auto" nothing.

    Raises:
        ValueError: for an invalid `batch_size`.
    """

    def __init__(self, count=0, batch_size=None, verbose="auto"):
        self.count, self.bar = count, None
        self.batch_size = checked("batch_size", batch_size, Positive | None, None)
        if verbose in (1, 2):
            self.bar = keras.utils.Progbar(count, verbose=verbose, unit_name="sentence")

    def end(self, figures: Mapping[str, float] | None = None) -> None:
        """Complete the bar: sentences without a token are in no batch."""
        if self.bar:
            values = list((figures or {}).items())
            self.bar.update(self.count, values=values, finalize=True)


QUIET = NetworkCalls()


def of_any_size(array) -> tf.TensorSpec:
    """An array of a batch, of any number of rows and steps."""
    shape = [None, None, *array.shape[2:]]
    return tf.TensorSpec(shape[: len(array.shape)], array.dtype)


def of_any_shape(function):
    """A `tf.function` of batches, traced once for all numbers of rows and steps.

    Traced as it is called, it would be so for the shape of the first batch, and again,
    for any shape, when a batch of another one comes.
    """
    functions = {}

    def call(data):
        signature = tf.nest.map_structure(of_any_size, data)
        key = tuple(tf.nest.flatten(signature))
        if key not in functions:
            plain = function.python_function
            functions[key] = tf.function(plain, input_signature=[signature])
        return functions[key](data)

    return call


def _of_arrays(name: str, instead: str):
    """The method of Keras of this name, which takes no sentences, but arrays."""

    def method(self, *arguments, **options):
        x = arguments[0] if arguments else options.get("x")
        for _ in range(2):
            x = x[0] if isinstance(x, list | tuple) and x else x
        if isinstance(x, str | Sentence):
            what = f"{name} takes arrays of ids, and no sentences"
            raise ValueError(f"{what}: call model.{instead}")
        return getattr(super(SentenceCalls, self), name)(*arguments, **options)

    return method


class SentenceCalls(keras.Model, Predictor):
    """A model whose `evaluate` and `predict` take sentences.

    A subclass has `annotated`, `encode`, `output_arrays` and
    `evaluator`: see `SentenceModel`. In `counting_options` are the keywords of its
    `evaluator`.
    """

    counting_options = ()

    __call__ = _of_arrays("__call__", "predict(sentences)")
    train_on_batch = _of_arrays("train_on_batch", "fit(sentences, epochs=1)")
    test_on_batch = _of_arrays("test_on_batch", "evaluate(sentences)")
    predict_on_batch = _of_arrays("predict_on_batch", "predict(sentences)")

    @property
    def length_multiple(self) -> int:
        """Padded lengths are multiples of this: XLA and JAX compile for each length."""
        return 8 if self.jit_compile or keras.backend.backend() == "jax" else 1

    def predict_step(self, *args):  # on JAX they begin with the state
        """A batch of predictions, as Keras computes it; padding follows the tokens."""
        with right_padded():
            return super().predict_step(*args)

    def train_step(self, *args):  # on JAX they begin with the state
        """A step of training, as Keras computes it; padding follows the tokens."""
        with right_padded():
            return super().train_step(*args)

    def make_predict_function(self, force=False):
        """Keras' function that predicts for a batch; on TensorFlow `of_any_shape`."""
        before = self.predict_function
        super().make_predict_function(force)
        if (
            keras.backend.backend() == "tensorflow"
            and self.predict_function is not before
            and not (self.run_eagerly or self.jit_compile)
        ):
            self.predict_function = of_any_shape(self.predict_function)
        return self.predict_function

    @overload
    def evaluate(
        self, x: Sentences, *a: Any, return_dict: Literal[True], **options: Any
    ) -> dict[str, float]: ...
    @overload
    def evaluate(
        self, x: Sentences, y: Labels = ..., *a: Any, **options: Any
    ) -> list[float]: ...
    def evaluate(
        self, x, y=None, batch_size=None, verbose="auto", return_dict=False, **options
    ):
        """Evaluate the model on annotated sentences.

        Args:
            x: sentences with gold tags, or gold trees.
            y: for lists of words their tags, as in `fit`.
            batch_size: sentences in a call of the network, which changes no figure; by
                default as many as fit 4096 padded tokens in a tagger, 1024 in a parser.
            verbose: 1 shows a progress bar, 2 a line; 0 and "auto" nothing.
            return_dict: whether to return a dict instead of the list of its values.
            **options: for parsers, `punctuation` and `subtypes`: see
                `metrics.attachment_scores`.

        Returns:
            The figures that `figures` describes.

        Raises:
            ValueError: if the annotation is missing.
        """
        sentences = self.annotated(with_targets(x, y, self.column_names))
        calls = NetworkCalls(len(sentences), batch_size, verbose)
        figures = self.evaluator(sentences, calls, **options)()
        calls.end(figures)
        return figures if return_dict else list(figures.values())

    def evaluator(self, sentences, calls=QUIET, **options):
        """A function that evaluates the model, with its weights at that time.

        Args:
            sentences: as `annotated` gives them.
            calls: the `NetworkCalls`.
        """
        return lambda: self.measured(sentences, calls, **options)

    def report(self, sentences: Sentences, **options: Any) -> Report:
        """Figures and tables: see `models.report`."""
        return figures_alone(self, sentences, **options)

    def predict(
        self, x: Sentences, batch_size: int | None = None, verbose: int | str = "auto"
    ) -> list[Any]:
        """Predict for sentences: see `predictions`.

        Args:
            x: sentences, or lists of words if the model reads nothing else.
            batch_size, verbose: as in `evaluate`.

        Returns:
            A list with an item for each sentence.
        """
        sentences = as_sentences(x)
        calls = NetworkCalls(len(sentences), batch_size, verbose)
        predictions = self.predictions(sentences, calls)
        calls.end()
        return predictions

    def output_names(self):
        inventory = self.inventory and getattr(self, self.inventory)
        outputs = self.outputs({self.inventory: inventory}).items()
        return [name for name, output in outputs if not output.optional]

    def prepare_input(self, sentences):
        """The sentences with everything that the model reads, for prediction."""
        return sentences

    def predict_batches(self, encoded, calls=QUIET):
        """The outputs of the network, batch by batch.

        Args:
            encoded: `EncodedSentences`.
            calls: the `NetworkCalls`.

        Yields:
            The indices of the sentences, and the outputs, which may have more rows and
            steps. An empty sentence is in no batch.
        """
        lengths = round_up(encoded.lengths, self.length_multiple)
        sizes = {"token_budget": self.batch_tokens}
        if calls.batch_size:
            sizes = {"batch_size": calls.batch_size}
        options = sizes | {"devices": training.devices_of_batches()}
        for chosen in plan_batches(lengths, **sizes):
            ids, _, _ = encoded.batch(chosen, self.length_multiple, **options)
            yield chosen, self.predict_on_batch(ids)
            if calls.bar:
                calls.bar.add(len(chosen))

    def output_arrays(self, outputs, names) -> list[np.ndarray]:
        """The outputs of these names, from those of the network for a batch.

        Returns:
            For each name an array `(batch, time)`, or with a further axis. Its rows and
            steps may be more than there are sentences and tokens.
        """
        raise NotImplementedError

    def predict_arrays(self, chunks, names, calls=QUIET):
        """See `kinds.predictor.Predictor.predict_arrays`."""
        for chunk in map(self.prepare_input, chunks):
            yield chunk, self._arrays(self.encode(chunk), names, calls)

    def _arrays(self, encoded, names, calls):
        lengths = encoded.lengths.tolist()
        for chosen, outputs in self.predict_batches(encoded, calls):
            arrays = self.output_arrays(outputs, names)
            for row, i in enumerate(chosen.tolist()):
                yield i, [array[row, : lengths[i]] for array in arrays]

    def predictions(self, sentences, calls=QUIET) -> list:
        """The output of `predict`: here the sentences with what the model finds."""
        return self.decode(sentences, *self.decoding(), 1, calls)
