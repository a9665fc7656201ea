"""The parser's moves as an ONNX Loop: the greedy search of `layers.transition_search`.

The transition system itself is `keras_tagging.parsing`, with the arrays of the graph.
"""

import numpy as np

from keras_tagging.layers.transition_search import FORBIDDEN, LARGEST
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import value_info
from keras_tagging.onnx.recurrence import outputs_of_body
from keras_tagging.onnx.tracing import Tracer
from keras_tagging.parsing import (
    LEFT_ARC,
    NUM_LABELS,
    NUM_NODES,
    RIGHT_ARC,
    SHIFT,
    advance,
    features,
    legal,
    start,
)
from keras_tagging.parsing.transitions import HEAD, LABEL, Configuration


def greedy_search(tracer: Tracer, scorer, tokens: Array, lengths: Array):
    """The tree of every sentence.

    Args:
        tracer: of the graph.
        scorer: a `TransitionScorer`.
        tokens: `(batch, words, size)`.
        lengths: `(batch,)` int32.

    Returns:
        Heads and labels `(batch, words)` int32.
    """
    if scorer.beam_width > 1:
        raise NotImplementedError(
            f"a beam search (beam_width={scorer.beam_width}; 1 is greedy)"
        )
    xp = tracer.xp
    batch, words = xp.length(tokens, 0), xp.length(tokens, 1)
    size = tokens.shape[-1]
    boundary = xp.expand_dims(xp.asarray(scorer.boundary), 0)
    vectors = xp.concatenate([xp.broadcast_to(boundary, [batch, 2, size]), tokens], 1)
    vectors.shape = (None, None, size)
    of_nodes, of_labels = tracer.call(scorer.contributions, vectors)
    units = of_labels.shape[-1]
    tables = [xp.reshape(table, [-1, units]) for table in (of_nodes, of_labels)]
    weights = list(scorer.cell.recurrent_weights())

    width = words + 2
    nodes, top, front, _ = start(lengths, width, xp)
    zeros = xp.zeros([batch, 1])
    states = [xp.zeros([batch, n]) for n in scorer.cell.state_sizes]

    def move(nodes, top, front, scores, *states):
        configuration = Configuration(nodes, top, front, lengths)
        x = look_up(xp, tables, *features(configuration, xp), width)
        if scorer.cell.bias is not None:
            x = x + scorer.cell.bias
        x.shape = (None, units)
        hidden, states = tracer.call(scorer.cell.step, x, list(states), weights=weights)
        logits = xp.matmul(hidden, scorer.output_kernel)
        totals = scores + move_scores(xp, logits, configuration, scorer.num_labels)
        scores, output = xp.top_k(totals, 1)
        output = xp.cast(xp.squeeze(output, 1), "int32")
        moves = move_of(xp, output, scorer.num_labels)
        nodes, top, front, _ = advance(configuration, *moves, xp=xp)
        return nodes, top, front, scores, *states

    sizes = [(None, None, 7), (None,), (None,), (None, 1)]
    sizes += [(None, n) for n in scorer.cell.state_sizes]
    last = 2 * xp.cast(xp.reduce("ReduceMax", lengths), "int64")
    nodes, *_ = loop(tracer, last, move, [nodes, top, front, zeros, *states], sizes)
    best = nodes[:, 2:]
    return best[:, :, HEAD] - 1, best[:, :, LABEL]


def loop(tracer: Tracer, count: Array, step, values: list[Array], shapes: list):
    """The values after `count` steps, each a function of those before."""
    xp, builder = tracer.xp, tracer.xp.builder
    number, goes_on = builder.name("number"), builder.name("goes_on")
    before = [
        Array(xp, builder.name("value"), x.dtype, shape)
        for x, shape in zip(values, shapes, strict=True)
    ]

    def make():
        with tracer.inside():
            after = step(*before)
        after = [xp.cast(a, b.dtype) for a, b in zip(after, before, strict=True)]
        going = Array(xp, goes_on, "bool")
        return outputs_of_body(xp, [going, *after], [(), *shapes])

    inputs = [value_info(number, "int64", ()), value_info(goes_on, "bool", ())]
    inputs += [value_info(x.name, x.dtype, x.shape) for x in before]
    body = builder.body(inputs, make)
    given = [count.name, "", *(x.name for x in values)]
    names = builder.node("Loop", given, len(values), body=body)
    return [
        Array(xp, name, x.dtype, x.shape) for name, x in zip(names, before, strict=True)
    ]


def look_up(xp: Arrays, tables, nodes: Array, labels: Array, width) -> Array:
    """The cell's input for configurations: see `TransitionScorer.look_up`.

    Args:
        tables: `(rows, units)` for a node, or a label, in each place.
        nodes: `(batch, 18)`.
        labels: `(batch, 12)`.
        width: rows of the nodes of a sentence.
    """
    first = xp.arange(xp.length(nodes, 0), "int64") * width
    rows = xp.expand_dims(first, 1) + nodes
    rows = rows * NUM_NODES + np.arange(NUM_NODES)
    labels = labels * NUM_LABELS + np.arange(NUM_LABELS, dtype="int32")
    of_nodes, of_labels = tables
    return xp.sum(xp.take(of_nodes, rows), 1) + xp.sum(xp.take(of_labels, labels), 1)


def move_scores(xp: Arrays, logits, configuration, num_labels) -> Array:
    """Log probabilities of all outputs: see `layers.transition_search`."""
    may = legal(configuration, xp)
    parsed = ~xp.any(may, 1, keepdims=True)
    times = [1, num_labels]
    may = xp.concatenate(
        [may[:, :1] | parsed]
        + [
            xp.cast(xp.tile(xp.cast(may[:, i : i + 1], "int32"), times), "bool")
            for i in (1, 2)
        ],
        1,
    )
    logits = xp.where(xp.node("IsNaN", logits, dtype="bool"), 0.0, logits)
    logits = xp.minimum(xp.maximum(logits, -LARGEST), LARGEST)
    return xp.unary("LogSoftmax", xp.where(may, logits, FORBIDDEN), axis=-1)


def move_of(xp: Arrays, outputs, num_labels):
    """Move and label of an output: see `layers.transition_search`."""
    right = outputs > num_labels
    moves = xp.where(outputs == 0, SHIFT, xp.where(right, RIGHT_ARC, LEFT_ARC))
    return moves, xp.where(right, outputs - num_labels, outputs)
