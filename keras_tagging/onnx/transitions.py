"""The parser's moves as an ONNX Loop: the engine of `transitions.search` in a graph."""

import numpy as np

from keras_tagging.cells import FeedForwardCell
from keras_tagging.onnx.arrays import Array
from keras_tagging.onnx.tracing import Tracer


class OnnxEngine:
    """An `Engine` that adds nodes to a graph.

    Args:
        tracer: of the graph.
    """

    def __init__(self, tracer: Tracer):
        self.tracer, self.xp = tracer, tracer.xp

    def top_k(self, x, k: int):
        values, places = self.xp.top_k(x, k)
        return values, self.xp.cast(places, "int32")

    def reordered(self, x, rows):
        rows_of_x = self.xp.take(x, rows, axis=0)
        rows_of_x.like, rows_of_x.shape = x.like or x, x.shape
        return rows_of_x

    def loop(self, step, values: list[Array], most: Array, shapes: list):
        xp, builder = self.xp, self.xp.builder
        counters = [
            Array(xp, builder.name(name), dtype, ())
            for name, dtype in (("number", "int64"), ("goes_on", "bool"))
        ]
        before = [
            Array(xp, builder.name("value"), x.dtype, shape)
            for x, shape in zip(values, shapes, strict=True)
        ]
        for here, x in zip(before, values, strict=True):
            here.like = x

        def make():
            with self.tracer.inside():
                going, *after = step(*before)
            after = [xp.cast(a, b.dtype) for a, b in zip(after, before, strict=True)]
            # NumPy's, because a bool of Python has no shape
            going = xp.asarray(np.array(True) if going is True else going)
            return zip([going, *after], [(), *shapes], strict=True)

        body = xp.body([*counters, *before], make, loops=True)
        inputs = [xp.cast(most, "int64").name, "", *(x.name for x in values)]
        names = builder.node("Loop", inputs, len(values), body=body)
        return [
            Array(xp, name, x.dtype, x.shape)
            for name, x in zip(names, before, strict=True)
        ]

    def log_softmax(self, x):
        return self.xp.node("LogSoftmax", x, axis=-1)


def parsed(tracer: Tracer, joint, tokens: list[Array], lengths: Array):
    """The tree of every sentence: see `TransitionScorer.parse`.

    Args:
        tracer: of the graph.
        joint: the `JointScorer` of one `TransitionScorer` or several.
        tokens: `(batch, words, size)` of each.
        lengths: `(batch,)` int32.

    Returns:
        Heads and labels `(batch, words)` int32.
    """
    parts = [
        scoring(tracer, scorer, vectors, joint.beam_width)
        for scorer, vectors in zip(joint.scorers, tokens, strict=True)
    ]
    width = tracer.xp.length(tokens[0], 1) + 2
    return joint.search(OnnxEngine(tracer), parts, lengths, width)


def derived(
    tracer: Tracer, scorer, supertags, tokens: Array, logits: Array, lengths, beam: int
):
    """The moves of derivations and their scores: see `transitions.Supertags.search`.

    Args:
        tracer: of the graph.
        scorer: a `TransitionScorer` with a grammar.
        supertags: a `transitions.Supertags`.
        tokens: `(batch, words, size)`.
        logits: of the tagger, `(batch, words, tags)`.
        lengths: `(batch,)` int32.
        beam: hypotheses.
    """
    words = tracer.xp.cast(tracer.xp.length(tokens, 1), "int32")
    part = scoring(tracer, scorer, tokens, beam)
    return supertags.search(
        OnnxEngine(tracer), scorer, part, logits, lengths, words, beam
    )


def scoring(tracer: Tracer, scorer, tokens: Array, beam: int):
    """The same as `TransitionScorer.scoring`, in a graph."""
    xp, cell = tracer.xp, scorer.cell
    batch, width = xp.length(tokens, 0), xp.length(tokens, 1) + 2
    tables = tables_of(tracer, scorer, tokens)
    weights, sizes = list(cell.recurrent_weights()), cell.state_sizes
    if isinstance(cell, FeedForwardCell):
        sizes = []  # its state is not read, and need not follow the hypotheses
    # the row of the first node of the sentence of each hypothesis
    first = xp.tile(xp.expand_dims(xp.arange(batch), 1), [1, beam])
    first = xp.reshape(first, [-1, 1]) * xp.cast(width, "int32")

    def summed(table, ids, begin, places):
        begin = xp.add(begin * places, np.arange(places, dtype="int32"))
        return xp.sum(xp.take(table, ids * places + begin, axis=0), 1)

    def score(nodes, labels, states):
        x = summed(tables[0], nodes, first, scorer.system.num_nodes)
        if scorer.system.num_labels:
            x = x + summed(tables[1], labels, 0, scorer.system.num_labels)
        x.shape = (None, tables[0].shape[-1])
        hidden, after = tracer.call(cell.step, x, states, weights=weights)
        return xp.matmul(hidden, scorer.output_kernel), after[: len(sizes)]

    states = [xp.zeros([batch * beam, size]) for size in sizes]
    for state, size in zip(states, sizes, strict=True):
        state.shape = (None, size)
    return score, states


def tables_of(tracer: Tracer, scorer, tokens: Array) -> list[Array]:
    """The parts of the input, by node and by label, in each place: `(rows, units)`.

    The bias is in those of one place. The table of labels is a constant; it is not
    joined to that of nodes, which would have to be copied.
    """
    xp, size = tracer.xp, tokens.shape[-1]
    boundary = xp.expand_dims(xp.asarray(scorer.boundary), 0)
    shape = [xp.length(tokens, 0), 2, size]
    vectors = xp.concatenate([xp.broadcast_to(boundary, shape), tokens], 1)
    vectors.shape = (None, None, size)
    nodes, labels = tracer.call(scorer.contributions, vectors)
    tables = [nodes, labels] if scorer.system.num_labels else [nodes]
    if scorer.cell.bias is not None:
        bias = xp.expand_dims(xp.asarray(scorer.cell.bias), 0)
        others = tables[-1].shape[-2] - 1
        tables[-1] = tables[-1] + xp.pad(bias, [(0, others), (0, 0)])
    return [xp.reshape(table, [-1, nodes.shape[-1]]) for table in tables]
