from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import (
    Dtype,
    Named,
    Stepped,
    Tensor,
    config_of,
    single_precision,
)
from keras_tagging.cells.initializers import reseeded
from keras_tagging.cells.regularized_layer import RegularizedLayer
from keras_tagging.utils.checks import check_choice

LABEL_INPUTS = ("embedding", "probabilities", "one-hot", None)
COMBINATIONS = ("sum", "concat")
OPTIONS = ("units", "num_labels", "label_dim", "label_context", "label_input")
OPTIONS += ("hidden_context", "future_label_context", "future_hidden_context")
OPTIONS += ("combine", "activation", "kernel_initializer", "label_initializer")


@keras.saving.register_keras_serializable("keras_tagging")
class LabelEmbeddingCell(RegularizedLayer):
    r"""One step of a network that reads its own labels: E-, J-, I- and I+E-RNN.

    .. math::
        L_t &= [E_l(y_{t-c}) \dots E_l(y_{t-1})], \quad
        L^f_t = [E_l(y_{t+1}) \dots E_l(y_{t+c})] \\
        h_t &= \Sigma([I_t L_t L^f_t] \cdot H + [y_{t-c} \dots y_{t-1}] \cdot R
               + [h_{t-c} \dots h_{t-1}] \cdot R) \\
        P(y_t) &= \mathrm{softmax}(h_t \cdot O)

    Dinarelli & Tellier (2016), sections 2.2 to 2.4, :cite:`dinarelli2016`. Each
    network has some of the terms:

    =========  ==========================================================
    E-RNN      `label_input=None, hidden_context=6`
    J-RNN      `label_input="probabilities"` or `"one-hot"`: y through R (Eq. 3)
    I-RNN      `label_input="embedding"`: L beside the input, through H
    I+E-RNN    `label_input="embedding", hidden_context=6`
    =========  ==========================================================

    What is fed back is a constant for the gradient: plain backpropagation with an
    explicit context (section 2.2). In `keras.layers.RNN` the cell feeds back the labels
    that it finds best; :class:`keras_tagging.layers.LabelEmbeddingRNN` has the same
    weights and is faster, reads gold labels and the future, and searches with a beam.

    Departures: the paper writes the context both as c - 1 (Eq. 3) and as c items
    (section 2.5); it is c. Before the sentence stand zero vectors. The equations omit
    the biases.

    Args:
        units: int. Hidden units.
        num_labels: int.
        label_dim: size of a label's embedding.
        label_context: c, previous labels that are read.
        label_input: "embedding", "probabilities", "one-hot", or None for no labels.
        hidden_context: previous hidden states that are read.
        future_label_context, future_hidden_context: labels and hidden states after
            the position, which only a `LabelEmbeddingRNN` can read.
        combine: how what R multiplies meets the rest: "sum", as in the equations, or
            "concat", the control of section 3.4: twice the hidden units.
        activation: of the hidden layer.
        kernel_initializer: of all matrices.
        label_initializer: of the label embeddings.
        dtype: float32 or float64; half precision becomes float32.
        **kwargs: those of :class:`keras_tagging.cells.RegularizedLayer`; the label
            embeddings have no regularizer. There is no dropout of the input: put a
            `keras.layers.Dropout` before the layer.

    Call arguments:
        inputs: `(batch, features)`: :math:`I_t`.
        states: `[logits, coming]`: the output before, and what the labels and states
            so far add to the hidden layer at the next positions, `(batch, contexts *
            hidden_size)`.

    Returns:
        Logits `(batch, num_labels)`, and the new states.

    Weights:
        kernel: H, `(features + (c + c^f) * label_dim, units)`; the rows of L and L^f
            with "embedding" only.
        recurrent_kernel: R, `(context, units)`: y, future y, h and future h, whichever
            are read, each from the first to the last position.
        bias: `(hidden_size,)`.
        label_embeddings: E_l, `(num_labels, label_dim)`, with "embedding".
        output_kernel: O, `(hidden_size, num_labels)`.
        output_bias: `(num_labels,)`.

    Raises:
        ValueError: for an unknown argument; in the call if a context of the future is
            to be read.
    """

    def __init__(
        self,
        units: int,
        num_labels: int,
        label_dim: int = 200,
        label_context: int = 6,
        label_input: str | None = "embedding",
        hidden_context: int = 0,
        future_label_context: int = 0,
        future_hidden_context: int = 0,
        combine: str = "sum",
        activation: Named = "sigmoid",
        kernel_initializer: Named = "glorot_uniform",
        label_initializer: Named = "uniform",
        dtype: Dtype = "float32",
        **kwargs: Any,
    ):
        check_choice("label_input", label_input, LABEL_INPUTS)
        check_choice("combine", combine, COMBINATIONS)
        super().__init__(dtype=single_precision(dtype), **kwargs)
        self.units = units
        self.num_labels = num_labels
        self.label_dim = label_dim
        self.label_context = label_context
        self.label_input = label_input
        self.hidden_context = hidden_context
        self.future_label_context = future_label_context
        self.future_hidden_context = future_hidden_context
        self.combine = combine
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.label_initializer = keras.initializers.get(label_initializer)
        # lags of each context, and the size of one of its items
        reads_labels = label_input and label_context + future_label_context > 0
        self.embeds = bool(reads_labels) and label_input == "embedding"
        item = label_dim if self.embeds else num_labels
        self._lags = {
            "labels": label_context if label_input else 0,
            "future_labels": future_label_context if label_input else 0,
            "states": hidden_context,
            "future_states": future_hidden_context,
        }
        through_h = ("labels", "future_labels") if self.embeds else ()
        self._of_r = [name for name in self._lags if name not in through_h]
        has_r = any(self._lags[name] for name in self._of_r)
        self.hidden_size = units * (2 if combine == "concat" and has_r else 1)
        self._sizes = {
            name: item if "labels" in name else self.hidden_size for name in self._lags
        }
        lags = max(1, self._lags["labels"], self._lags["states"])
        # the output is first: on JAX a masked step of Keras repeats states[0]
        self.state_size = [num_labels, lags * self.hidden_size]
        self.output_size = num_labels

    # Weights

    def build(self, input_shape, *_, **__):
        self.features = input_shape[-1]
        rows = {"kernel": self.features, "recurrent_kernel": 0}
        self._places = {}  # of each context: its matrix and its first row there
        for name, lags in self._lags.items():
            matrix = "recurrent_kernel" if name in self._of_r else "kernel"
            self._places[name] = matrix, rows[matrix]
            rows[matrix] += lags * self._sizes[name]
        draw, size = self.kernel_initializer, self.hidden_size
        add = self.add_regularized
        self.kernel = add("kernel", "kernel", (rows["kernel"], self.units), draw)
        if rows["recurrent_kernel"]:
            shape = (rows["recurrent_kernel"], self.units)
            self.recurrent_kernel = add(
                "recurrent", "recurrent_kernel", shape, reseeded(draw, 1)
            )
        self.bias = add("bias", "bias", (size,), "zeros")
        if self.embeds:
            shape = self.num_labels, self.label_dim
            self.label_embeddings = self.add_weight(
                shape, self.label_initializer, name="label_embeddings"
            )
        shape = (size, self.num_labels)
        self.output_kernel = add("kernel", "output_kernel", shape, reseeded(draw, 2))
        self.output_bias = add("bias", "output_bias", (self.num_labels,), "zeros")

    def context_table(self, name: str, lags: int | None = None) -> Tensor:
        """Contributions of each item, one, two, ... positions away.

        The result is `(item, lags, hidden_size)`.

        Of labels there is one row each, whatever is read of them. None if the context
        is not read; zeros from its size up to `lags`.
        """
        size, count = self._sizes[name], self._lags[name]
        if not count:
            return None
        matrix, first = self._places[name]
        matrix = ops.convert_to_tensor(getattr(self, matrix))
        rows = matrix[first : first + count * size]
        table = ops.reshape(rows, (count, size, self.units))
        if "future" not in name:  # its rows run from the first position to t - 1
            table = ops.flip(table, 0)
        table = ops.transpose(table, (1, 0, 2))
        if self.embeds and "labels" in name:
            table = ops.tensordot(self.label_embeddings, table, 1)
        table = self._place(table, name in self._of_r)
        return ops.pad(table, ((0, 0), (0, (lags or count) - count), (0, 0)))

    def past_tables(self, reads_labels: bool = True) -> tuple[Tensor, Tensor]:
        """Those of labels, or None, and of hidden states, with equal lags."""
        lags = max(self._lags["labels"] * reads_labels, self._lags["states"])
        labels = self.context_table("labels", lags) if reads_labels else None
        return labels, self.context_table("states", lags)

    def _place(self, x, from_r):
        """Put `units` into their half of the hidden layer, with `combine="concat"`."""
        if self.hidden_size == self.units:
            return x
        zeros = ops.zeros_like(x)
        return ops.concatenate([zeros, x] if from_r else [x, zeros], -1)

    # Computation

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The input's part of the hidden layer, with the bias: `(..., hidden_size)`."""
        kernel = ops.convert_to_tensor(self.kernel)[: self.features]
        return self._place(ops.matmul(inputs, kernel), False) + self.bias

    def hidden(self, x: Tensor) -> Tensor:
        """Hidden states and logits of the hidden layer's input."""
        states = self.activation(x)
        return states, self.logits(states)

    def logits(self, states: Tensor) -> Tensor:
        """Apply the output layer to hidden states."""
        return ops.matmul(states, self.output_kernel) + self.output_bias

    def one_hot(self, labels: Tensor) -> Tensor:
        """Zeros for -1."""
        return ops.one_hot(labels, self.num_labels, dtype=self.compute_dtype)

    def choose(self, logits: Tensor) -> Tensor:
        """Turn logits into the labels, or probabilities, that the loop feeds back."""
        if self.label_input == "probabilities":
            return ops.softmax(logits)
        return self.one_hot(ops.argmax(logits, -1))

    def step(self, projected: Tensor, states: Tensor) -> Stepped:
        """One time step, with the label that is best here fed back.

        Args:
            projected: `(batch, hidden_size)`, what `project` returned.
            states: `[logits, coming]`.
        """
        if self._lags["future_labels"] or self._lags["future_states"]:
            raise ValueError("a cell reads no future: use LabelEmbeddingRNN")
        _, coming = states
        size = self.hidden_size
        h, logits = self.hidden(projected + coming[:, :size])
        coming = ops.concatenate([coming[:, size:], ops.zeros_like(h)], -1)
        labels, hidden = self.past_tables()
        if labels is not None:
            fed = self.choose(ops.stop_gradient(logits))
            coming = coming + ops.matmul(fed, flat_table(labels))
        if hidden is not None:
            coming = coming + ops.matmul(ops.stop_gradient(h), flat_table(hidden))
        return logits, [logits, coming]

    def call(self, inputs: Tensor, states: Tensor, training: bool = False) -> Stepped:
        return self.step(self.project(inputs, training=training), states)

    def get_initial_state(self, batch_size: int | None = None) -> list[Tensor]:
        return [
            ops.zeros((batch_size, size), dtype=self.compute_dtype)
            for size in self.state_size
        ]

    def get_config(self):
        return {**super().get_config(), **config_of(self, *OPTIONS)}


def flat_table(table):
    """`(item, lags * size)` of `(item, lags, size)`: what an item adds, at once."""
    return None if table is None else ops.reshape(table, (table.shape[0], -1))
