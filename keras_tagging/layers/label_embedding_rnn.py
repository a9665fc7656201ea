"""A layer that reads its own labels: what they add to its input, and the search."""

from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of, dropout_of
from keras_tagging.cells.label_embedding_cell import LabelEmbeddingCell, flat_table
from keras_tagging.layers.loop import as_mask, over_time, reverse

# log p of a hypothesis that does not exist
IMPOSSIBLE = -1e9


def context_contribution(items, table, mask, past=True):
    """The contributions of all items of a context to each position.

    Args:
        items: what stands at each position: label ids `(batch, time)`, -1 for
            nothing, or `(batch, time, item)`.
        table: `(item, lags, size)`: what an item adds one, two, ... positions away.
        mask: `(batch, time)`, False at padding, which adds nothing.
        past: whether a position reads the items before it, or those after it.

    Returns:
        `(batch, time, size)`.
    """
    rows, lags, size = table.shape
    table = ops.reshape(table, (rows, lags * size))
    if len(items.shape) == 2:
        mask = mask & (items >= 0)
        products = ops.take(table, ops.maximum(items, 0), axis=0)
    else:
        products = ops.matmul(items, table)
    products = ops.where(ops.expand_dims(mask, -1), products, 0.0)
    padded = ops.pad(products, ((0, 0), (lags, lags), (0, 0)))
    total = 0.0
    for lag, part in enumerate(ops.split(padded, lags, axis=-1), 1):
        start = lags - lag if past else lags + lag
        total = total + part[:, start : (start - 2 * lags) or None]
    return total


def greedy_search(hidden_layer, choose, x, mask, labels, hidden, gold=None):
    """The hidden states of a sentence whose every label is the best at its position.

    The state of the loop is what is known of the hidden layer's input at the next
    positions: a label or a hidden state is multiplied once for all of them.

    Args:
        hidden_layer, x, mask, labels, hidden: as in `beam_search`; labels may be None
            if hidden is not.
        choose: function from logits to what is fed back, `(batch, num_labels)`.
        gold: a share `(batch, time, 1)` and `(batch, time, num_labels)`, which is fed
            back to this share in place of what was chosen; or None.

    Returns:
        `(batch, time, size)`, 0 where masked.
    """
    size = x.shape[-1]
    lags = (hidden if labels is None else labels).shape[1]
    labels, hidden = flat_table(labels), flat_table(hidden)
    if gold is not None:
        x = ops.concatenate([x, *gold], -1)

    def step(x, states):
        [coming] = states
        h, logits = hidden_layer(x[:, :size] + coming[:, :size])
        coming = _shift(coming, size)
        if labels is not None:
            fed = choose(logits)
            if gold is not None:
                share, labels_of_gold = x[:, size : size + 1], x[:, size + 1 :]
                fed = share * labels_of_gold + (1 - share) * fed
            coming = coming + ops.matmul(fed, labels)
        if hidden is not None:
            coming = coming + ops.matmul(h, hidden)
        return h, [coming]

    nothing = ops.concatenate([ops.zeros_like(x[:, 0, :size])] * lags, -1)
    return over_time(step, x, [nothing], mask)


def beam_search(hidden_layer, x, mask, labels, hidden, width):
    """Keeps the `width` best label sequences of each sentence, position by position.

    Their order is that of :math:`\\sum_t \\log P(y_t | y_{t-c} \\dots y_{t-1}, x)`,
    the product of the probabilities in Eq. 2 of Dinarelli & Tellier (2016),
    :cite:`dinarelli2016`, who decode greedily. Of equal sums the one found first
    counts.

    Args:
        hidden_layer: function from its input `(batch, width, size)` to hidden states
            and logits.
        x: `(batch, time, size)`: what the hidden layer reads but for the contexts.
        mask: `(batch, time)`, False at padding.
        labels: `(num_labels, lags, size)`: what a label adds to the input of the
            hidden layer one, two, ... positions later.
        hidden: `(size, lags, size)`: the same of a hidden state, or None.
        width: hypotheses kept.

    Returns:
        The best sequence `(batch, time)` as floats, and the hidden states along it
        `(batch, time, size)`; 0 where masked.
    """
    num_labels, lags, size = labels.shape
    labels, hidden = flat_table(labels), flat_table(hidden)

    def step(x, states):
        coming, scores = states
        coming = ops.reshape(coming, (-1, width, lags * size))
        h, logits = hidden_layer(ops.expand_dims(x, 1) + coming[:, :, :size])
        totals = ops.expand_dims(scores, -1) + ops.log_softmax(logits)
        best, chosen = ops.top_k(ops.reshape(totals, (-1, width * num_labels)), width)
        chosen = ops.cast(chosen, "int32")
        parent = ops.one_hot(chosen // num_labels, width, dtype=x.dtype)
        label = chosen % num_labels
        coming = _shift(coming, size)
        if hidden is not None:
            coming = coming + ops.matmul(h, hidden)
        coming = ops.matmul(parent, coming)
        coming = coming + ops.matmul(
            ops.one_hot(label, num_labels, dtype=x.dtype), labels
        )
        kept = [ops.cast(label, x.dtype), _flat(parent), _flat(h)]
        best = best - best[:, :1]
        return ops.concatenate(kept, -1), [_flat(coming), best]

    def back(kept, states):
        [here] = states  # which hypothesis, one-hot
        label = ops.sum(here * kept[:, :width], -1, keepdims=True)
        parents = ops.reshape(kept[:, width : width + width**2], (-1, width, width))
        h = ops.reshape(kept[:, width + width**2 :], (-1, width, size))
        before = ops.matmul(ops.expand_dims(here, 1), parents)
        h = ops.matmul(before, h)[:, 0]
        return ops.concatenate([label, h], -1), [before[:, 0]]

    nothing = ops.zeros_like(x[:, 0])
    coming = ops.concatenate([nothing] * (lags * width), -1)
    first = ops.zeros_like(nothing[:, :1])
    others = ops.concatenate([first] * (width - 1), -1)
    scores = ops.concatenate([first, others + IMPOSSIBLE], -1)
    kept = over_time(step, x, [coming, scores], mask)
    best = ops.concatenate([first + 1, others], -1)
    path = over_time(back, kept, [best], mask, backwards=True)
    return ops.round(path[:, :, 0]), path[:, :, 1:]


def _shift(coming, size):
    """Moves what is coming one position on."""
    nothing = ops.zeros_like(coming[..., :size])
    return ops.concatenate([coming[..., size:], nothing], -1)


def _flat(x):
    return ops.reshape(x, (-1, x.shape[1] * x.shape[2]))


FEEDBACKS = ("gold", "predicted")
# keywords of Keras' recurrent layers, each with the one value that it has here
FIXED = {"return_state": False, "stateful": False, "unroll": False}
FIXED |= {"return_sequences": True}
OPTIONS = ("feedback", "go_backwards", "beam_width", "dropout", "seed", "return_dict")


@keras.saving.register_keras_serializable("keras_tagging")
class LabelEmbeddingRNN(LabelEmbeddingCell):
    r"""A recurrent output layer that reads its own labels: E-, J-, I- and I+E-RNN.

    It runs the equations of :class:`keras_tagging.cells.LabelEmbeddingCell` over a
    sentence, to the logits of each token's labels::

        logits = LabelEmbeddingRNN(100, num_labels)(hidden)
        model = keras.Model(token_ids, logits)
        model.compile("adam", SparseCategoricalCrossentropy(from_logits=True))
        model.fit(token_ids, label_ids)

    In `keras.layers.Bidirectional` the two directions do not know of each other, so
    give `merge_mode="ave"` or `"sum"`, whose logits multiply their probabilities. What
    Keras does by default, "concat", gives `2 * num_labels` features, which are no
    logits: a loss would read the forward half alone. A `Dense(num_labels)` makes some.

    As what is fed back is a constant for the gradient, training is one pass over all
    positions at once. With gold labels and no hidden context it is all there is; else
    a loop without gradient goes before it and finds the labels or states to read.

    Departures: the paper does not say which labels it trains on; section 2.3 suggests
    its own predictions. With `dropout` the labels of the future are those of the
    dropped layer.

    Args:
        units, num_labels, label_dim, label_context, label_input: those of the cell.
        hidden_context, combine, activation: those of the cell.
        \*args, \*\*kwargs: those of the cell too.
        future_label_context, future_hidden_context: labels and hidden states after
            the position, from a layer of the other direction.
        feedback: labels read in training: "predicted", for which a model needs gold
            labels only as targets; "gold", which makes them an input, too; or, at
            random, gold with this probability: `gold_share` is then a variable to
            change.
        go_backwards: whether to run from the end of the sentence.
        beam_width: hypotheses kept in decoding; 1 is greedy, which is exact with
            probabilities or without labels, as all have one context.
        dropout: fraction of the hidden layer dropped before the output layer.
        seed: int, of dropout and the random feedback.
        return_dict: whether to return labels and states beside the logits.
        return_sequences, return_state, stateful, unroll: True, False, False, False:
            other values are errors that say why.

    Call arguments:
        inputs: `(batch, time, features)`: :math:`I_t`.
        labels: `(batch, time)` gold label ids, read in training only; -1, a label
            without an id, reads as a zero vector.
        future: the dict of a layer of the other direction, if the future is read.
        mask: `(batch, time)`, False at padding, which must be at the end. By default
            that of `inputs`.
        initial_state: None; Keras' `Bidirectional` gives it.

    Returns:
        Logits `(batch, time, num_labels)`, 0 at padding; as from every Keras layer,
        those of the last position first with `go_backwards`.

        With `return_dict` a dict in the order of the sentence, whose entries beyond its
        end mean nothing: "logits", "tags" `(batch, time)` int32, "states" `(batch,
        time, hidden_size)`. In decoding "tags" are the labels that were fed back, and
        the others stand along that path.

    Raises:
        ValueError: for an unknown argument; in the call if `labels` is needed and
            missing, or there is an `initial_state`.
    """

    # what Keras' wrappers ask of a recurrent layer
    return_sequences = True
    return_state = False
    stateful = False

    def __init__(
        self,
        units: int,
        num_labels: int,
        *args: Any,
        feedback: Any = "predicted",
        go_backwards: bool = False,
        beam_width: int = 1,
        dropout: float = 0.0,
        seed: int | None = None,
        return_dict: bool = False,
        **kwargs: Any,
    ):
        for name, only in FIXED.items():
            if kwargs.pop(name, only) != only:
                raise ValueError(f"a LabelEmbeddingRNN has {name}={only}")
        self.mixed = isinstance(feedback, float) or type(feedback) is int
        if not (feedback in FEEDBACKS or (self.mixed and 0 <= feedback <= 1)):
            raise ValueError(
                f"feedback={feedback!r}: known are 'gold', 'predicted', a share of "
                "gold labels from 0 to 1 and, in build, the first and last such share"
            )
        super().__init__(units, num_labels, *args, **kwargs)
        self.supports_masking = True
        self.feedback = feedback
        self.go_backwards = go_backwards
        self.beam_width = beam_width
        self.dropout = dropout
        self.seed = seed
        self.return_dict = return_dict
        self.hidden_dropout = dropout_of(self, dropout, "hidden_dropout")
        self.seed_generator = keras.random.SeedGenerator(seed) if self.mixed else None

    def build(self, input_shape, *_, **__):
        super().build(input_shape)
        if self.mixed:
            self.gold_share = self.add_weight(
                (),
                name="gold_share",
                initializer=keras.initializers.Constant(self.feedback),
                trainable=False,
            )

    def call(
        self,
        inputs: Tensor,
        labels: Tensor = None,
        future: Tensor = None,
        mask: Tensor = None,
        inputs_mask: Tensor = None,  # how Keras hands it over where `labels` are given
        initial_state: Tensor = None,
        training: bool = False,
    ) -> Tensor:
        needed = self._lags["future_labels"] or self._lags["future_states"]
        if initial_state is not None:
            raise ValueError("a LabelEmbeddingRNN has no initial_state")
        # the loop, where a context is read, runs from the first position
        turn = reverse if self.go_backwards else lambda x: x
        mask = inputs_mask if mask is None else mask
        inputs, labels, future, mask = map(turn, (inputs, labels, future, mask))
        inputs = ops.cast(inputs, self.compute_dtype)
        mask = as_mask(mask, inputs)
        reads_labels = self._lags["labels"] or self._lags["future_labels"]
        reads_gold = reads_labels and self.feedback != "predicted"
        if training and reads_gold and labels is None:
            raise ValueError(
                f"training with feedback={self.feedback!r} needs labels: call the "
                'layer with labels=, or give feedback="predicted"'
            )
        if training and labels is not None:
            labels = ops.where(mask, ops.cast(labels, "int32"), -1)

        x = self.project(inputs)
        if needed:
            x = x + self._read_future(future, labels if training else None, mask)
        if training:
            states = self.activation(self._with_contexts(x, labels, mask))
            tags, dropped = None, self.hidden_dropout(states, training=True)
            logits = self.logits(dropped)
        else:
            tags, states = self._decode(x, mask)
            logits = self.logits(states)
        if not self.return_dict:
            return ops.where(ops.expand_dims(mask, -1), logits, 0.0)
        tags = ops.cast(ops.argmax(logits, -1) if tags is None else tags, "int32")
        return turn({"logits": logits, "tags": tags, "states": states})

    def _draw(self, labels):
        """`(batch, time, 1)`: 1 where the gold label is to be read, else 0."""
        draw = keras.random.uniform(ops.shape(labels), seed=self.seed_generator)
        return ops.cast(ops.expand_dims(draw < self.gold_share, -1), self.compute_dtype)

    def _fed(self, logits, labels, gold=None):
        """The labels of every position: their ids, or weights over all labels.

        Args:
            logits: of all positions.
            labels: gold ids, None in decoding.
            gold: what `_draw` gave, with a share as `feedback`.
        """
        soft = self.label_input == "probabilities"
        if labels is not None and self.feedback == "gold":
            return self.one_hot(labels) if soft else labels
        logits = ops.stop_gradient(logits)
        fed = ops.softmax(logits) if soft else ops.cast(ops.argmax(logits, -1), "int32")
        if labels is None or not self.mixed:
            return fed
        read = self.one_hot(labels) if soft else labels
        return ops.where((gold if soft else gold[:, :, 0]) > 0, read, fed)

    def _read_future(self, future, labels, mask):
        total = 0.0
        if self._lags["future_labels"]:
            if labels is None and self.label_input != "probabilities":
                fed = future["tags"]  # the best path, which need not be the best logits
            else:
                gold = self._draw(labels) if self.mixed and labels is not None else None
                fed = self._fed(future["logits"], labels, gold)
            total = total + context_contribution(
                fed, self.context_table("future_labels"), mask, past=False
            )
        if self._lags["future_states"]:
            states = ops.stop_gradient(future["states"])
            table = self.context_table("future_states")
            total = total + context_contribution(states, table, mask, past=False)
        return total

    def _with_contexts(self, x, labels, mask):
        """The hidden layer's input in training: all positions at once."""
        reads_labels = self._lags["labels"] > 0
        if reads_labels and self.feedback == "gold":
            x = x + context_contribution(
                self._fed(None, labels), self.context_table("labels"), mask
            )
            reads_labels = False
        if not reads_labels and not self._lags["states"]:
            return x
        # what the loop finds is constant: so is all it computes with
        gold = self._draw(labels) if reads_labels and self.mixed else None
        of_gold = None if gold is None else (gold, self.one_hot(labels))
        of_labels, of_states = tables = self.past_tables(reads_labels)
        states = greedy_search(
            self.hidden, self.choose, ops.stop_gradient(x), mask, *tables, of_gold
        )
        states = ops.stop_gradient(states)
        if of_labels is not None:
            fed = self._fed(self.logits(states), labels, gold)
            x = x + context_contribution(fed, of_labels, mask)
        if of_states is not None:
            x = x + context_contribution(states, of_states, mask)
        return x

    def _decode(self, x, mask):
        """The path's labels, None if they are those of the best logits; its states."""
        if not self._lags["labels"] and not self._lags["states"]:
            return None, self.activation(x)
        sparse = self.label_input in ("embedding", "one-hot")
        if self.beam_width == 1 or not (sparse and self._lags["labels"]):
            search = greedy_search(
                self.hidden, self.choose, x, mask, *self.past_tables()
            )
            return None, search
        return beam_search(self.hidden, x, mask, *self.past_tables(), self.beam_width)

    # Keras

    def compute_mask(self, inputs, mask=None):
        if self.return_dict or mask is None:
            return None
        return reverse(mask) if self.go_backwards else mask

    def compute_output_shape(self, input_shape, *_, **__):
        return (*input_shape[:-1], self.num_labels)

    def compute_output_spec(self, inputs, *_, **__):
        shape, dtype = tuple(inputs.shape[:-1]), self.compute_dtype
        logits = keras.KerasTensor((*shape, self.num_labels), dtype)
        if not self.return_dict:
            return logits
        return {
            "logits": logits,
            "tags": keras.KerasTensor(shape, "int32"),
            "states": keras.KerasTensor((*shape, self.hidden_size), dtype),
        }

    def get_config(self):
        return {**super().get_config(), **config_of(self, *OPTIONS)}

    @classmethod
    def from_config(cls, config):
        # layers saved before there was the keyword returned a dict
        return cls(**{"return_dict": True, **config})
