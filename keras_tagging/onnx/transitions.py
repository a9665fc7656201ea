"""The parser's moves as an ONNX Loop: the search of `layers.transition_search`.

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
from keras_tagging.parsing.transitions import (
    HEAD,
    LABEL,
    Configuration,
    with_label,
)


def search(tracer: Tracer, scorer, tokens: Array, lengths: Array):
    """The tree of every sentence: see `layers.transition_search`.

    Args:
        tracer: of the graph.
        scorer: a `TransitionScorer`, with its beam.
        tokens: `(batch, words, size)`.
        lengths: `(batch,)` int32.

    Returns:
        Heads and labels `(batch, words)` int32.
    """
    xp, beam = tracer.xp, scorer.beam_width
    batch, words = xp.length(tokens, 0), xp.length(tokens, 1)
    tables = tables_of(tracer, scorer, tokens)
    units = tables[1].shape[-1]
    weights = list(scorer.cell.recurrent_weights())

    width = words + 2
    lengths = xp.reshape(xp.tile(xp.expand_dims(lengths, 1), [1, beam]), [-1])
    lengths.shape = (None,)
    # the hypotheses of a sentence follow one another, the best first
    sentences = xp.expand_dims(xp.arange(batch, "int64"), 1)
    of_hypotheses = xp.reshape(xp.tile(sentences, [1, beam]), [-1])
    nodes, top, front, _ = start(lengths, width, xp)
    scores = np.array([[0.0] + [FORBIDDEN] * (beam - 1)], "float32")
    scores = xp.broadcast_to(xp.asarray(scores), [batch, beam])
    states = [xp.zeros([batch * beam, n]) for n in scorer.cell.state_sizes]

    def move(nodes, top, front, scores, *states):
        configuration = Configuration(nodes, top, front, lengths)
        rows = of_hypotheses * width
        x = look_up(xp, tables, *features(configuration, xp), rows)
        if scorer.cell.bias is not None:
            x = x + scorer.cell.bias
        x.shape = (None, units)
        hidden, states = tracer.call(scorer.cell.step, x, list(states), weights=weights)
        logits = xp.matmul(hidden, scorer.output_kernel)
        gains = move_scores(xp, logits, configuration, scorer)
        moves = 2 * scorer.num_labels + 1
        totals = xp.expand_dims(scores, -1) + xp.reshape(gains, [batch, beam, moves])
        scores, chosen = xp.top_k(xp.reshape(totals, [batch, beam * moves]), beam)
        output = xp.cast(xp.reshape(xp.mod(chosen, moves), [-1]), "int32")
        if beam > 1:
            parents = sentences * beam + xp.floor_divide(chosen, moves)
            parents = xp.reshape(parents, [-1])
            nodes, top, front, *states = (
                taken(xp, x, parents) for x in (nodes, top, front, *states)
            )
            configuration = Configuration(nodes, top, front, lengths)
        moves = move_of(xp, output, scorer.num_labels)
        nodes, top, front, _ = advance(configuration, *moves, xp=xp)
        return nodes, top, front, scores, *states

    sizes = [(None, None, 7), (None,), (None,), (None, beam)]
    sizes += [(None, n) for n in scorer.cell.state_sizes]
    last = 2 * xp.cast(xp.reduce("ReduceMax", lengths), "int64")
    nodes, *_ = loop(tracer, last, move, [nodes, top, front, scores, *states], sizes)
    best = xp.reshape(nodes, [batch, beam, width, 7])[:, 0][:, 2:]
    return best[:, :, HEAD] - 1, best[:, :, LABEL]


def tables_of(tracer: Tracer, scorer, tokens: Array) -> list[Array]:
    """The parts of the input, by node and by label, in each place: `(rows, units)`."""
    xp, size = tracer.xp, tokens.shape[-1]
    boundary = xp.expand_dims(xp.asarray(scorer.boundary), 0)
    shape = [xp.length(tokens, 0), 2, size]
    vectors = xp.concatenate([xp.broadcast_to(boundary, shape), tokens], 1)
    vectors.shape = (None, None, size)
    found = tracer.call(scorer.contributions, vectors)
    units = found[1].shape[-1]
    tables = [xp.reshape(table, [-1, units]) for table in found]
    for table in tables:
        table.shape = (None, units)
    return tables


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


def taken(xp: Arrays, x: Array, rows: Array) -> Array:
    """Some rows of an array, which keep their shape."""
    found = xp.take(x, rows)
    found.shape = x.shape
    return found


def look_up(xp: Arrays, tables, nodes: Array, labels: Array, first: Array) -> Array:
    """The cell's input for configurations: see `TransitionScorer.look_up`.

    Args:
        tables: see `tables_of`.
        nodes: `(hypotheses, 18)`.
        labels: `(hypotheses, 12)`.
        first: `(hypotheses,)`, the row of the first node of their sentence.
    """
    rows = xp.expand_dims(first, 1) + nodes
    rows = rows * NUM_NODES + np.arange(NUM_NODES)
    labels = labels * NUM_LABELS + np.arange(NUM_LABELS, dtype="int32")
    of_nodes, of_labels = tables
    return xp.sum(xp.take(of_nodes, rows), 1) + xp.sum(xp.take(of_labels, labels), 1)


def move_scores(xp: Arrays, logits, configuration, scorer) -> Array:
    """Log probabilities of all outputs: see `layers.transition_search`."""
    may = legal(configuration, xp)
    parsed = ~xp.any(may, 1, keepdims=True)
    times = [1, scorer.num_labels]
    left, right = (
        xp.cast(xp.tile(xp.cast(may[:, i : i + 1], "int32"), times), "bool")
        for i in (1, 2)
    )
    if (masks := scorer.arc_masks()) is not None:
        masks = [xp.asarray(mask[None]) for mask in masks]
        left, right = with_label(configuration, left, right, masks, xp)
    may = xp.concatenate([may[:, :1] | parsed, left, right], 1)
    logits = xp.where(xp.node("IsNaN", logits, dtype="bool"), 0.0, logits)
    logits = xp.minimum(xp.maximum(logits, -LARGEST), LARGEST)
    return xp.unary("LogSoftmax", xp.where(may, logits, FORBIDDEN), axis=-1)


def move_of(xp: Arrays, outputs, num_labels):
    """Move and label of an output: see `layers.transition_search`."""
    right = outputs > num_labels
    moves = xp.where(outputs == 0, SHIFT, xp.where(right, RIGHT_ARC, LEFT_ARC))
    return moves, xp.where(right, outputs - num_labels, outputs)
