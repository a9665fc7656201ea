"""The scores of a parser's moves, whose gradient reaches back some steps."""

from functools import partial
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_tagging.ccg.grammar import Grammar
from keras_tagging.cells.configuration import Named, Tensor, config_of, dropout_of
from keras_tagging.cells.initializers import reseeded
from keras_tagging.cells.splitting import split
from keras_tagging.layers.loop import over_time
from keras_tagging.transitions import (
    DEPRELS,
    Outputs,
    RuleTables,
    ccg_system,
    search,
    transition_system,
)
from keras_tagging.utils.checks import check_choice

TRUNCATIONS = ("sliding", "chunked")


def run_truncated(cell, projected, limit=None, truncation="sliding"):
    r"""The outputs of a recurrent cell; backpropagation through time is truncated.

    "Errors are propagated backwards to layers in previous time steps until a limit
    :math:`\tau` is reached": Elkaref & Bohnet (2017), section 5, :cite:`elkaref2017`.
    The outputs are those of the whole sequence, whatever the limit. A loop without
    gradient finds all states; then all windows of the limit are run at once, each from
    the state before it, so that no loop over time has a gradient.

    Args:
        cell: a `RecurrentCell`; its first state is zeros.
        projected: `(batch, time, size)`, what `cell.project` gave.
        limit: :math:`\tau`; None for no limit.
        truncation: "sliding": the error of every step reaches the `limit` steps before
            it. "chunked": the sequence is cut into chunks of `limit` steps and errors
            stay within; that is quicker by a factor of `limit` in the recurrence.

    Returns:
        `(batch, time, units)`.
    """
    weights = list(cell.recurrent_weights())
    if not weights:  # nothing recurs
        return cell.step(projected, None)[0]
    nothing = cell.get_initial_state(ops.shape(projected)[0])
    if limit is None:
        step = partial(cell.step, weights=weights)
        return over_time(step, projected, nothing, None)

    frozen = [ops.stop_gradient(weight) for weight in weights]

    def step(x, states):
        _, states = cell.step(x, states, weights=frozen)
        return ops.concatenate(states, -1), states

    states = over_time(step, ops.stop_gradient(projected), nothing, None)
    states = ops.stop_gradient(states)
    run = _sliding if truncation == "sliding" else _chunked
    return run(partial(cell.step, weights=weights), projected, states, limit, nothing)


def _split(states, like):
    """The states as a list, with the axes before the last one flattened."""
    sizes = [state.shape[-1] for state in like]
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    flat = ops.reshape(states, (-1, sum(sizes)))
    return split(flat, ends)


def _sliding(step, projected, states, limit, like):
    batch, time = ops.shape(projected)[:2]
    size = projected.shape[-1]
    # of step t: the state after step t - limit - 1, and then the steps up to t
    before = ops.pad(states, ((0, 0), (limit + 1, 0), (0, 0)))[:, :time]
    before = _split(before, like)
    inputs = ops.pad(projected, ((0, 0), (limit, 0), (0, 0)))
    number = ops.tile(ops.arange(time), [batch])
    for back in range(limit, -1, -1):
        x = inputs[:, limit - back : limit - back + time]
        output, before = step(ops.reshape(x, (-1, size)), before)
        # what would be before the first step leaves the state at zero
        exists = ops.expand_dims(number >= back, -1)
        before = [ops.where(exists, state, 0.0) for state in before]
    return ops.reshape(output, (batch, time, output.shape[-1]))


def _chunked(step, projected, states, limit, like):
    batch, time = ops.shape(projected)[:2]
    size = projected.shape[-1]
    chunks = -(-time // limit)
    padding = ((0, 0), (0, chunks * limit - time), (0, 0))
    inputs = ops.reshape(ops.pad(projected, padding), (batch * chunks, limit, size))
    # the state after the last step of the chunk before
    ends = ops.pad(states, ((0, 0), (limit, 0), (0, 0)))[:, limit - 1 :: limit]
    before = _split(ends[:, :chunks], like)
    outputs = []
    for i in range(limit):
        output, before = step(inputs[:, i], before)
        outputs.append(output)
    outputs = ops.stack(outputs, 1)
    outputs = ops.reshape(outputs, (batch, chunks * limit, outputs.shape[-1]))
    return outputs[:, :time]


DROPPED = ("configurations", "tokens")


class KerasEngine:
    """The engine of `transitions.search` for Keras, in a graph or not."""

    xp = ops

    def loop(self, step, values, most, shapes):
        def goes_on(number, going, *_):
            return ops.logical_and(number < most, going)

        def body(number, _, *values):
            going, *values = step(*values)
            return number + 1, ops.cast(going, "bool"), *values

        start = (ops.cast(0, "int32"), ops.cast(True, "bool"))
        return ops.while_loop(goes_on, body, (*start, *values))[2:]

    def top_k(self, x, k):
        if keras.backend.backend() == "torch":  # whose own has no order of equal ones
            places = ops.argsort(-x, axis=-1)[..., :k]
            values = ops.take_along_axis(x, places, axis=-1)
        else:
            values, places = ops.top_k(x, k)
        return values, ops.cast(places, "int32")

    def reordered(self, x, rows):
        return ops.take(x, rows, axis=0)

    def places(self, mask):
        return ops.nonzero(mask)[0]

    def put(self, x, rows, values):
        values = ops.cast(values, x.dtype)
        return ops.scatter_update(x, ops.expand_dims(rows, -1), values)

    def log_softmax(self, x):
        return ops.log_softmax(x)


@keras.saving.register_keras_serializable("keras_tagging")
class TransitionScorer(keras.layers.Layer):
    r"""Scores the moves of a parser, one configuration after another.

    .. math::
        x_t &= [e^w, e^t \text{ of 18 nodes}; e^l \text{ of 12 of them}] \\
        h_t &= \mathrm{cell}(x_t, h_{t-1}), \quad y_t = \mathrm{softmax}(W_h h_t)

    Elkaref & Bohnet (2017), section 3, :cite:`elkaref2017`; the nodes are those of
    Table 1, or whatever the transition system reads. The cell is the hidden layer:
    feed-forward, or recurrent over the transitions of a sentence. The output layer has
    no bias: a node for each action with each of its labels, so SHIFT, then LEFT_ARC by
    label, then RIGHT_ARC.

    In training the moves are given and all configurations are read at once. A trained
    parser finds its own moves; there the products of the input layer are made once
    for each token and place, and each label and place, not for each configuration
    (Chen & Manning 2014, section 3.4).

    Departures: "NULL" and "ROOT" are vectors of the size of a token's, which is the
    same as a word and a tag vector each.

    Args:
        cell: a `RecurrentCell` that reads nothing but its input.
        num_labels: V, dependency labels; ids count from 1.
        label_dim: size of a label's embedding.
        system: the name of a transition system: see `keras_tagging.transitions`.
        grammar: a `ccg.Grammar`: the system is "ccg" with its rules, and the labels are
            its categories. None for all other systems.
        truncation_limit, truncation: how far and which way errors go back in time, as
            in :func:`keras_tagging.layers.transition_scorer.run_truncated`.
        input_dropout: fraction of the input dropped in training.
        dropped: "configurations": each is dropped on its own, as in the paper;
            "tokens": a token, and a label, is dropped once for all configurations
            that read it, which makes training much quicker.
        hidden_dropout: fraction of the hidden layer dropped before the output layer,
            never on the way to the next time step (Zaremba et al. 2014).
        beam_width: hypotheses kept in parsing; 1 is greedy.
        arc_labels: None, or the ids of the labels that an arc from ROOT may have in
            parsing, and of those that an arc from a word may have.
        initializer: of the output layer; the cell has its own.
        table_initializer: of the embeddings.
        seed: int, of dropout.

    Call arguments:
        tokens: `(batch, words, size)`.
        nodes: `(batch, time, num_nodes)` int32, as `features` of the system gives: 18
            nodes with the systems of this package.
        labels: `(batch, time, num_labels)` int32: 12.

    Returns:
        Logits `(batch, time, outputs)`: 2 V + 1 with arc-standard.

    Attributes:
        rules: the `RuleTables` of the grammar, or None.

    Weights:
        boundary: `(2, size)`, of NULL and ROOT.
        label_embeddings: `(V + 1, label_dim)`, NULL first.
        output_kernel: W_h, `(units, outputs)`.
        Those of the cell; the rows of its kernel are those of the tokens, then of the
        labels.

    Raises:
        ValueError: for an unknown choice or system, or a cell with dropout.
    """

    def __init__(
        self,
        cell: Any,
        num_labels: int,
        label_dim: int = 100,
        system: str = "arc-standard",
        grammar: Any = None,
        truncation_limit: int | None = 5,
        truncation: str = "sliding",
        input_dropout: float = 0.0,
        dropped: str = "configurations",
        hidden_dropout: float = 0.0,
        beam_width: int = 1,
        arc_labels: Any = None,
        initializer: Named = "glorot_uniform",
        table_initializer: Named = "uniform",
        seed: int | None = None,
        **kwargs: Any,
    ):
        check_choice("truncation", truncation, TRUNCATIONS)
        check_choice("dropped", dropped, DROPPED)
        if cell.dropout or cell.recurrent_dropout:
            raise ValueError(
                "a parser has no dropout of the cell: give input_dropout or "
                "hidden_dropout, not dropout or recurrent_dropout of the cell"
            )
        super().__init__(**kwargs)
        self.supports_masking = True  # what is beyond the end is never read
        self.cell = cell
        self.num_labels = num_labels
        self.label_dim = label_dim
        self.grammar, self.rules = grammar, None
        if grammar is None:
            self.system = transition_system(system)
        else:
            self.rules = RuleTables(grammar)
            self.system = ccg_system(self.rules)
        self.outputs = Outputs(self.system, {DEPRELS: num_labels})
        self.truncation_limit = truncation_limit
        self.truncation = truncation
        self.input_dropout = input_dropout
        self.dropped = dropped
        self.hidden_dropout = hidden_dropout
        self.beam_width = beam_width
        self.arc_labels = arc_labels and tuple(map(tuple, arc_labels))
        self.initializer = keras.initializers.get(initializer)
        self.table_initializer = keras.initializers.get(table_initializer)
        self.seed = seed

        self.drop_input = dropout_of(self, input_dropout)
        self.drop_labels = dropout_of(self, input_dropout, offset=1)
        self.drop_hidden = dropout_of(self, hidden_dropout, offset=2)

    def build(self, tokens_shape, *_):
        size = tokens_shape[-1]
        system = self.system
        features = system.num_nodes * size + system.num_labels * self.label_dim
        draw = self.table_initializer
        self.boundary = self.add_weight((2, size), draw, name="boundary")
        shape = self.num_labels + 1, self.label_dim
        self.label_embeddings = self.add_weight(
            shape, reseeded(draw, 1), name="label_embeddings"
        )
        if not self.cell.built:
            self.cell.build((None, features))
            self.cell.built = True
        shape = self.cell.units, len(self.outputs)
        self.output_kernel = self.add_weight(
            shape, self.initializer, name="output_kernel"
        )

    def call(
        self, tokens: Tensor, nodes: Tensor, labels: Tensor, training: bool = False
    ):
        nodes, labels = ops.cast(nodes, "int32"), ops.cast(labels, "int32")
        vectors = self._with_boundary(tokens)
        if training and self.dropped == "configurations":
            projected = self._read(vectors, nodes, labels, training)
        else:
            tables = self.contributions(vectors, training)
            projected = self.look_up(tables, nodes, labels)
        hidden = run_truncated(
            self.cell,
            projected,
            self.truncation_limit if training else None,
            self.truncation,
        )
        hidden = self.drop_hidden(hidden, training=training)
        # float32: under a mixed policy many moves would have the same rounded logit
        return ops.cast(ops.matmul(hidden, self.output_kernel), "float32")

    def _with_boundary(self, tokens):
        """NULL and ROOT before the tokens: `(batch, words + 2, size)`."""
        shape = (ops.shape(tokens)[0], 2, tokens.shape[-1])
        boundary = ops.broadcast_to(ops.cast(self.boundary, tokens.dtype), shape)
        return ops.concatenate([boundary, tokens], 1)

    def _read(self, vectors, nodes, labels, training):
        """The input of every configuration, dropped, times the cell's kernel."""
        batch, time = ops.shape(nodes)[:2]
        width, size = ops.shape(vectors)[1], vectors.shape[-1]
        rows = nodes + ops.reshape(ops.arange(batch) * width, (-1, 1, 1))
        of_nodes = ops.take(ops.reshape(vectors, (-1, size)), rows, axis=0)
        table = ops.convert_to_tensor(self.label_embeddings)
        of_labels = ops.take(table, labels, axis=0)
        parts = [
            ops.reshape(of_nodes, (batch, time, nodes.shape[-1] * size)),
            ops.reshape(of_labels, (batch, time, labels.shape[-1] * self.label_dim)),
        ]
        x = self.drop_input(ops.concatenate(parts, -1), training=training)
        return self.cell.project(x, training=training)

    def contributions(self, vectors: Tensor, training: bool = False) -> Tensor:
        """The share of tokens and labels in the hidden layer, in each place.

        Args:
            vectors: of NULL, ROOT and the tokens.
        """
        vectors = self.drop_input(vectors, training=training)
        labels = ops.convert_to_tensor(self.label_embeddings)
        labels = self.drop_labels(labels, training=training)
        kernel = ops.convert_to_tensor(self.cell.kernel)
        size, width = vectors.shape[-1], kernel.shape[-1]
        split = self.system.num_nodes * size
        of_nodes, of_labels = (
            ops.transpose(ops.reshape(rows, (count, dim, width)), (1, 0, 2))
            for rows, count, dim in (
                (kernel[:split], self.system.num_nodes, size),
                (kernel[split:], self.system.num_labels, self.label_dim),
            )
        )
        return ops.tensordot(vectors, of_nodes, 1), ops.tensordot(labels, of_labels, 1)

    def look_up(self, tables: Tensor, nodes: Tensor, labels: Tensor) -> Tensor:
        """Make the result of `cell.project` for configurations out of the tables.

        Args:
            tables: from `contributions`.
            nodes: `(batch, time, num_nodes)`.
            labels: `(batch, time, num_labels)`.
        """
        batch, width = ops.shape(tables[0])[:2]
        size = tables[0].shape[-1]
        tables = [ops.reshape(table, (-1, size)) for table in tables]
        first = ops.reshape(ops.arange(batch) * width, (-1, 1, 1))
        parts = []
        for table, numbers, begin in zip(
            tables, (nodes, labels), (first, 0), strict=True
        ):
            places = numbers.shape[-1]
            begin = ops.add(begin * places, np.arange(places, dtype="int32"))
            rows = ops.add(numbers * places, begin)
            parts.append(ops.sum(ops.take(table, rows, axis=0), -2))
        if self.cell.bias is not None:
            parts.append(self.cell.bias)
        return sum(parts[1:], start=parts[0])

    def parse(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The tree of every sentence.

        Args:
            tokens: `(batch, words, size)`.
            lengths: `(batch,)` int32, words of each sentence.

        Returns:
            Heads and labels `(batch, words)` int32: 0 is ROOT, i word i; -1 and 0
            beyond a sentence's end.
        """
        part = self.scoring(tokens, self.beam_width)
        lengths, width = ops.cast(lengths, "int32"), ops.shape(tokens)[1] + 2
        return self.search(KerasEngine(), part, lengths, width)

    def search(self, engine, part, lengths, width):
        """The trees: see `transitions.search`.

        Args:
            engine: as there.
            part: the function `score` and the initial states.
            lengths, width: as there.
        """
        options = self.beam_width, self.arc_masks()
        made = self.system, self.outputs, *part
        return search(engine, *made, lengths, width, *options)

    def scoring(self, tokens, beam):
        """The function `score` of `transitions.search`, and the initial states.

        Args:
            tokens: `(batch, words, size)`.
            beam: hypotheses of each sentence.
        """
        batch = ops.shape(tokens)[0]
        tables = self.contributions(self._with_boundary(tokens))
        weights = list(self.cell.recurrent_weights())

        def score(nodes, labels, states):
            nodes, labels = (
                ops.reshape(x, (batch, beam, x.shape[-1])) for x in (nodes, labels)
            )
            x = self.look_up(tables, nodes, labels)
            x = ops.reshape(x, (batch * beam, x.shape[-1]))
            hidden, states = self.cell.step(x, states, weights=weights)
            logits = ops.matmul(hidden, self.output_kernel)
            # float32: half has no score as low as that of what is forbidden
            return ops.cast(logits, "float32"), states

        return score, self.cell.get_initial_state(batch * beam)

    def arc_masks(self):
        """Whether an arc from ROOT, and one from a word, may be made by each output.

        Returns:
            Two arrays `(outputs,)` bool, or None if all arcs may have any label.
        """
        if self.arc_labels is None:
            return None
        labels = self.outputs.labels
        return [(labels == 0) | np.isin(labels, some) for some in self.arc_labels]

    def compute_mask(self, *_, **__):
        """None: what follows is no layer."""

    def get_config(self):
        names = ("num_labels", "label_dim", "truncation_limit", "truncation")
        names += ("input_dropout", "dropped", "hidden_dropout")
        names += ("beam_width", "arc_labels", "seed")
        names += ("initializer", "table_initializer")
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "system": self.system.name,
            "grammar": self.grammar and self.grammar.to_dict(),
            **config_of(self, *names),
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config.pop("cell"))
        grammar = config.pop("grammar", None)
        return cls(cell, grammar=grammar and Grammar.from_dict(grammar), **config)
