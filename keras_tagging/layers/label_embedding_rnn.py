import keras
from keras import ops

from keras_tagging.cells.initializers import reseeded
from keras_tagging.layers.label_decoding import beam_search, greedy_search, spread
from keras_tagging.layers.loop import reverse
from keras_tagging.utils.checks import check_choice

LABEL_INPUTS = ("embedding", "probabilities", "one-hot", None)
COMBINATIONS = ("sum", "concat")
FEEDBACKS = ("gold", "predicted")
OPTIONS = ("units", "num_labels", "label_dim", "label_context", "label_input")
OPTIONS += ("hidden_context", "future_label_context", "future_hidden_context")
OPTIONS += ("combine", "feedback", "go_backwards", "beam_width", "dropout", "seed")


@keras.saving.register_keras_serializable("keras_tagging")
class LabelEmbeddingRNN(keras.layers.Layer):
    r"""A recurrent network that reads its own labels: E-, J-, I- and I+E-RNN.

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
    explicit context (section 2.2). So training is one pass over all positions at once.
    With gold labels and no hidden context it is all there is; else a loop without
    gradient goes before it and finds the labels or states to read.

    Departures: the paper writes the context both as c - 1 (Eq. 3) and as c items
    (section 2.5); it is c. Before the sentence stand zero vectors. The equations omit
    the biases. The paper does not say which labels it trains on; section 2.3 suggests
    its own predictions. With `dropout` the labels of the future are those of the
    dropped layer.

    Args:
        units: int. Hidden units.
        num_labels: int.
        label_dim: size of a label's embedding.
        label_context: c, previous labels that are read.
        label_input: "embedding", "probabilities", "one-hot", or None for no labels.
        hidden_context: previous hidden states that are read.
        future_label_context, future_hidden_context: labels and hidden states after
            the position, from a layer of the other direction.
        combine: how what R multiplies meets the rest: "sum", as in the equations, or
            "concat", the control of section 3.4: twice the hidden units.
        activation: of the hidden layer.
        feedback: labels read in training: "gold", "predicted", or, at random, gold
            with this probability; `gold_share` is then a variable to change.
        go_backwards: whether to run from the end of the sentence.
        beam_width: hypotheses kept in decoding; 1 is greedy, which is exact with
            probabilities or without labels, as all have one context.
        dropout: fraction of the hidden layer dropped before the output layer.
        seed: int, of dropout and the random feedback.
        kernel_initializer: of all matrices.
        label_initializer: of the label embeddings.

    Call arguments:
        inputs: `(batch, time, features)`: :math:`I_t`.
        labels: `(batch, time)` gold label ids, read in training only; -1, a label
            without an id, reads as a zero vector.
        future: what a layer of the other direction gave, if the future is read.
        mask: `(batch, time)`, False at padding, which must be at the end.

    Returns:
        A dict, whose entries beyond a sentence's end mean nothing: "logits"
        `(batch, time, num_labels)`, "tags" `(batch, time)` int32, "states"
        `(batch, time, hidden_size)`. In decoding "tags" are the labels that were
        fed back, and the others stand along that path.

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
        ValueError: for an unknown argument, a negative context, a beam below 1, half
            precision; in the call if `labels` or `future` is needed and missing.
    """

    def __init__(
        self,
        units,
        num_labels,
        label_dim=200,
        label_context=6,
        label_input="embedding",
        hidden_context=0,
        future_label_context=0,
        future_hidden_context=0,
        combine="sum",
        activation="sigmoid",
        feedback="gold",
        go_backwards=False,
        beam_width=1,
        dropout=0.0,
        seed=None,
        kernel_initializer="glorot_uniform",
        label_initializer="uniform",
        dtype="float32",
        **kwargs,
    ):
        check_choice("label_input", label_input, LABEL_INPUTS)
        check_choice("combine", combine, COMBINATIONS)
        self.mixed = isinstance(feedback, float) or type(feedback) is int
        if not (feedback in FEEDBACKS or (self.mixed and 0 <= feedback <= 1)):
            raise ValueError(
                f"feedback={feedback!r}: known are 'gold', 'predicted', a share of "
                "gold labels from 0 to 1 and, in build, the first and last such share"
            )
        future = future_label_context, future_hidden_context
        if min(label_context, hidden_context, *future) < 0:
            raise ValueError("a context is not negative")
        if beam_width < 1:
            raise ValueError(f"beam_width={beam_width}: at least 1 is needed")
        super().__init__(dtype=dtype, **kwargs)
        if self.compute_dtype not in ("float32", "float64"):
            raise ValueError(f"dtype={self.compute_dtype!r}: labels need float32")
        self.supports_masking = True
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
        self.feedback = feedback
        self.go_backwards = go_backwards
        self.beam_width = beam_width
        self.dropout = dropout
        self.seed = seed
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.label_initializer = keras.initializers.get(label_initializer)
        self.hidden_dropout = keras.layers.Dropout(
            dropout, seed=seed, dtype=dtype, name="hidden_dropout"
        )
        self.seed_generator = keras.random.SeedGenerator(seed) if self.mixed else None
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
        self.kernel = self.add_weight(
            (rows["kernel"], self.units), name="kernel", initializer=draw
        )
        if rows["recurrent_kernel"]:
            self.recurrent_kernel = self.add_weight(
                (rows["recurrent_kernel"], self.units),
                name="recurrent_kernel",
                initializer=reseeded(draw, 1),
            )
        self.bias = self.add_weight((size,), name="bias", initializer="zeros")
        if self.embeds:
            self.label_embeddings = self.add_weight(
                (self.num_labels, self.label_dim),
                name="label_embeddings",
                initializer=self.label_initializer,
            )
        self.output_kernel = self.add_weight(
            (size, self.num_labels), name="output_kernel", initializer=reseeded(draw, 2)
        )
        self.output_bias = self.add_weight(
            (self.num_labels,), name="output_bias", initializer="zeros"
        )
        if self.mixed:
            self.gold_share = self.add_weight(
                (),
                name="gold_share",
                initializer=keras.initializers.Constant(self.feedback),
                trainable=False,
            )

    def _table(self, name, lags=None):
        """What an item adds one, two, ... positions away: `(item, lags, hidden_size)`.

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

    def _tables(self, reads_labels=True):
        """Those of labels, or None, and of hidden states, with equal lags."""
        lags = max(self._lags["labels"] * reads_labels, self._lags["states"])
        labels = self._table("labels", lags) if reads_labels else None
        return labels, self._table("states", lags)

    def _place(self, x, from_r):
        """Of `units`, to its half of the hidden layer with `combine="concat"`."""
        if self.hidden_size == self.units:
            return x
        zeros = ops.zeros_like(x)
        return ops.concatenate([zeros, x] if from_r else [x, zeros], -1)

    # Computation

    def call(self, inputs, labels=None, future=None, mask=None, training=False):
        needed = self._lags["future_labels"] or self._lags["future_states"]
        if needed and future is None:
            raise ValueError("a context of the future needs `future`")
        if self._lags["future_states"]:
            size = future["states"].shape[-1]
            if size != self.hidden_size:
                raise ValueError(f"states of {size} to read, not {self.hidden_size}")
        # the loop, where a context is read, runs from the first position
        turn = reverse if self.go_backwards else lambda x: x
        inputs, labels, future, mask = map(turn, (inputs, labels, future, mask))
        inputs = ops.cast(inputs, self.compute_dtype)
        if mask is None:
            mask = ops.ones_like(inputs[:, :, 0])
        mask = ops.cast(mask, "bool")
        reads_labels = self._lags["labels"] or self._lags["future_labels"]
        reads_gold = reads_labels and self.feedback != "predicted"
        if training and reads_gold and labels is None:
            raise ValueError(f"training with feedback={self.feedback!r} needs labels")
        if training and labels is not None:
            labels = ops.where(mask, ops.cast(labels, "int32"), -1)

        x = ops.matmul(inputs, ops.convert_to_tensor(self.kernel)[: self.features])
        x = self._place(x, False) + self.bias
        if needed:
            x = x + self._read_future(future, labels if training else None, mask)
        if training:
            states = self.activation(self._with_contexts(x, labels, mask))
            tags, dropped = None, self.hidden_dropout(states, training=True)
            logits = self._logits(dropped)
        else:
            tags, states = self._decode(x, mask)
            logits = self._logits(states)
        tags = ops.cast(ops.argmax(logits, -1) if tags is None else tags, "int32")
        return turn({"logits": logits, "tags": tags, "states": states})

    def _hidden(self, x):
        """Hidden states and logits."""
        states = self.activation(x)
        return states, self._logits(states)

    def _logits(self, states):
        return ops.matmul(states, self.output_kernel) + self.output_bias

    def _one_hot(self, labels):
        """Zeros for -1."""
        return ops.one_hot(labels, self.num_labels, dtype=self.compute_dtype)

    def _choose(self, logits):
        """What the loop feeds back of the logits, over the labels."""
        if self.label_input == "probabilities":
            return ops.softmax(logits)
        return self._one_hot(ops.argmax(logits, -1))

    def _draw(self, labels):
        """`(batch, time, 1)`: 1 where the gold label is to be read, else 0."""
        draw = keras.random.uniform(ops.shape(labels), seed=self.seed_generator)
        return ops.cast(ops.expand_dims(draw < self.gold_share, -1), self.compute_dtype)

    def _fed(self, logits, labels, gold=None):
        """What is read of every position: label ids, or weights over the labels.

        Args:
            logits: of all positions.
            labels: gold ids, None in decoding.
            gold: what `_draw` gave, with a share as `feedback`.
        """
        soft = self.label_input == "probabilities"
        if labels is not None and self.feedback == "gold":
            return self._one_hot(labels) if soft else labels
        logits = ops.stop_gradient(logits)
        fed = ops.softmax(logits) if soft else ops.cast(ops.argmax(logits, -1), "int32")
        if labels is None or not self.mixed:
            return fed
        known = self._one_hot(labels) if soft else labels
        return ops.where((gold if soft else gold[:, :, 0]) > 0, known, fed)

    def _read_future(self, future, labels, mask):
        total = 0.0
        if self._lags["future_labels"]:
            if labels is None and self.label_input != "probabilities":
                fed = future["tags"]  # the best path, which need not be the best logits
            else:
                gold = self._draw(labels) if self.mixed and labels is not None else None
                fed = self._fed(future["logits"], labels, gold)
            total = total + spread(fed, self._table("future_labels"), mask, past=False)
        if self._lags["future_states"]:
            states = ops.stop_gradient(future["states"])
            table = self._table("future_states")
            total = total + spread(states, table, mask, past=False)
        return total

    def _with_contexts(self, x, labels, mask):
        """The hidden layer's input in training: all positions at once."""
        reads_labels = self._lags["labels"] > 0
        if reads_labels and self.feedback == "gold":
            x = x + spread(self._fed(None, labels), self._table("labels"), mask)
            reads_labels = False
        if not reads_labels and not self._lags["states"]:
            return x
        # what the loop finds is constant: so is all it computes with
        gold = self._draw(labels) if reads_labels and self.mixed else None
        known = None if gold is None else (gold, self._one_hot(labels))
        of_labels, of_states = tables = self._tables(reads_labels)
        states = greedy_search(
            self._hidden, self._choose, ops.stop_gradient(x), mask, *tables, known
        )
        states = ops.stop_gradient(states)
        if of_labels is not None:
            fed = self._fed(self._logits(states), labels, gold)
            x = x + spread(fed, of_labels, mask)
        if of_states is not None:
            x = x + spread(states, of_states, mask)
        return x

    def _decode(self, x, mask):
        """The path's labels, None if they are those of the best logits; its states."""
        if not self._lags["labels"] and not self._lags["states"]:
            return None, self.activation(x)
        sparse = self.label_input in ("embedding", "one-hot")
        if self.beam_width == 1 or not (sparse and self._lags["labels"]):
            search = greedy_search(self._hidden, self._choose, x, mask, *self._tables())
            return None, search
        return beam_search(self._hidden, x, mask, *self._tables(), self.beam_width)

    # Keras

    def compute_mask(self, *_, **__):
        """None: what follows is no layer."""

    def compute_output_spec(self, inputs, *_, **__):
        shape, dtype = tuple(inputs.shape[:-1]), self.compute_dtype
        return {
            "logits": keras.KerasTensor((*shape, self.num_labels), dtype),
            "tags": keras.KerasTensor(shape, "int32"),
            "states": keras.KerasTensor((*shape, self.hidden_size), dtype),
        }

    def get_config(self):
        initializer = keras.initializers.serialize
        return {
            **super().get_config(),
            **{name: getattr(self, name) for name in OPTIONS},
            "activation": keras.activations.serialize(self.activation),
            "kernel_initializer": initializer(self.kernel_initializer),
            "label_initializer": initializer(self.label_initializer),
        }
