"""The graph of each kind of models, from strings, or ids of characters, to outputs.

The counterpart of `models.export` and `models.serving`, which do so in TensorFlow.
"""

import keras
import numpy as np

from keras_tagging.cells import FeedForwardCell
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.layers import LAYERS
from keras_tagging.onnx.strings import ids_of_strings
from keras_tagging.onnx.tracing import Tracer, unchanged
from keras_tagging.runtime.models import RANKED
from keras_tagging.runtime.words import IDS
from keras_tagging.transitions.arborescence import best_heads
from keras_tagging.transitions.arc_labels import best_labels


class Request:
    """The inputs of a call, checked, with at least one row and one step.

    A file that reads ids is called by `keras_tagging.runtime` alone: its inputs are as
    they should be, and neither checked nor changed.

    Args:
        xp: of the graph, which gets the inputs "lengths", the columns of the model, and
            "tokens" `(batch, time)`, or with `Arrays.token_ids` the ids of all features
            of these, `(batch, time, features)`.
        model: that reads them.

    Attributes:
        lengths: `(batch,)` int32.
        strings: "" in the padding, whatever stood there.
        token_ids: 0 in the padding; None without.
        real: `(batch, time)`, False in the padding.
    """

    def __init__(self, xp: Arrays, model):
        self.xp, axes = xp, ("batch", "time")
        self.sound = bool(xp.token_ids)
        columns = [*([] if self.sound else ["tokens"]), *model.input_columns]
        self.strings = {name: xp.input(name, "string", axes) for name in columns}
        lengths, self.token_ids = xp.input("lengths", "int32", ("batch",)), None
        if self.sound:
            self.token_ids = xp.input(IDS, "int32", (*axes, xp.token_ids))
        words = self.token_ids or self.strings["tokens"]
        rows, steps = self.rows, self.steps = [xp.length(words, i) for i in (0, 1)]
        if not self.sound:
            lengths = self._checked(lengths)
            # a recurrent loop needs at least one row and one step
            rows, steps = (xp.maximum(1, n) for n in (self.rows, self.steps))
            more = xp.zeros([xp.subtract(rows, self.rows)], "int32")
            lengths = xp.concatenate([lengths, more], 0)
        lengths.shape, self.lengths = (None,), lengths
        self.real = xp.less(xp.arange(steps), xp.expand_dims(lengths, 1))
        self.real.shape = (None, None)
        if not self.sound:
            size = rows, steps
            for name, x in self.strings.items():
                self.strings[name] = self._padded(x, "", size)

    def _checked(self, lengths):
        xp = self.xp
        too_long, rows = xp.greater(lengths, self.steps), xp.length(lengths, 0)
        rules = {
            "lengths must not be negative": xp.any(xp.less(lengths, 0)),
            "lengths must not exceed the width of tokens": xp.any(too_long),
            "one length a row of tokens": xp.not_equal(rows, self.rows),
        }
        for message, broken in rules.items():
            # ONNX has no assertion: a place that is not there is an error, which
            # ONNX Runtime reports with the name of the node
            place = xp.cast(broken, "int64")
            nothing = xp.node("Gather", np.zeros(1, "int32"), place, name=message)
            lengths = xp.add(lengths, nothing)
        return lengths

    def _padded(self, array: Array, nothing, size) -> Array:
        """An input with so many rows and steps, and nothing in the padding."""
        xp, (rows, steps) = self.xp, size
        wider = [self.rows, xp.subtract(steps, self.steps)]
        array = xp.concatenate([array, xp.broadcast_to(nothing, wider)], 1)
        below = [xp.subtract(rows, self.rows), steps]
        array = xp.concatenate([array, xp.broadcast_to(nothing, below)], 0)
        return xp.where(self.real, array, nothing)

    def ids(self, model) -> list[Array]:
        """The inputs of a network: ids `(batch, time, features)`, 0 in the padding.

        With a character network letters `(distinct tokens + 1, characters)` follow.
        """
        features = model.features
        ids = ids_of_strings(self.xp, features, self.strings, self.token_ids)
        ids, *letters = ids.values() if features.letters else [ids]
        if not self.sound or features.columns:
            ids = ids * self.xp.cast(self.xp.expand_dims(self.real, -1), "int32")
        ids.shape = (None, None, len(features.names))
        return [ids, *letters]

    def run(self, tracer: Tracer, model):
        """The outputs of the network of a model."""
        return run_network(tracer, model.network, self.ids(model))

    def answers(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The outputs of the graph, without the row and the step that were added."""
        if self.sound:
            return arrays
        return {k: array[: self.rows, : self.steps] for k, array in arrays.items()}


def run_network(tracer: Tracer, network, inputs: list[Array]):
    """The outputs of a network for ids and letters: see `architectures.output`."""
    labels = tracer.xp.zeros_like(inputs[0][:, :, 0]) - 1  # read in training only
    for tensor, array in zip(network.inputs, [*inputs, labels], strict=False):
        tracer.give(tensor, array)
    return keras.tree.map_structure(tracer.value, network._outputs_struct)


def outputs_of(request: Request, model):
    """The outputs of the network of a model for a request; of an ensemble, joined."""
    if members := getattr(model, "members", ()):
        outputs = [outputs_of(request, member) for member in members]
        with unchanged(model):
            return Tracer(request.xp, LAYERS).call(model.joined, outputs, request.real)
    with unchanged(model):
        return request.run(Tracer(request.xp, LAYERS), model)


def tag_graph(xp: Arrays, model, top_k: int):
    """The graph of a tagger: see `models.export`."""
    ranked = ranked_switch(xp, model)
    request = Request(xp, model)
    outputs = outputs_of(request, model)
    answers = tags_of(xp, request, model.label_columns, outputs, top_k, ranked)
    return request.answers(answers)


def ranked_switch(xp, model):
    """The input that says whether the best labels of each word are wanted, if any."""
    names = {*model.input_columns}.union(
        *(column.output_names.values() for column in model.label_columns)
    )
    is_read = model.label_columns and RANKED not in names
    return xp.switch(RANKED) if is_read else None


def tags_of(xp, request, columns, outputs, top_k, ranked=None):
    """The outputs of a tagger, with the row and the step that were added.

    Args:
        columns: the `LabelColumn` of each of its outputs.
        outputs: of its network.
        ranked: whether the best labels of each word are wanted; None if they are.
    """
    answers = {}
    for column in columns:
        part = column.part(outputs)
        of_column = column_answer(xp, request, part, column.labels, top_k, ranked)
        answers |= {column.output_names[name]: x for name, x in of_column.items()}
    return answers


def column_answer(xp, request, outputs, labels, top_k, ranked=None):
    """The outputs that `models.export` lists, for one column of labels."""
    if not isinstance(outputs, dict):
        outputs = {"logits": outputs, "tags": xp.argmax(outputs, -1)}
    names = np.array(labels, object)
    chosen = xp.cast(outputs["tags"], "int64")
    wide = xp.expand_dims(request.real, -1)
    rows = xp.node("Softmax", outputs["logits"], axis=-1)
    rows = rows * xp.cast(wide, "float32")
    of_chosen = xp.node("GatherElements", rows, xp.expand_dims(chosen, -1), axis=2)
    count = min(top_k, len(labels))

    def best():
        values, order = xp.top_k(rows, count)
        return [xp.where(wide, xp.take(names, order), ""), values]

    def nothing():
        return [xp.asarray(np.zeros((0, 0, count), x)) for x in (object, "float32")]

    shapes = [(None, None, count)] * 2
    top = best() if ranked is None else xp.branches(ranked, best, nothing, shapes)
    return {
        "tags": xp.where(request.real, xp.take(names, chosen), ""),
        "probabilities": xp.squeeze(of_chosen, -1),
        "top_tags": top[0],
        "top_probabilities": top[1],
        "all_probabilities": rows,
    }


def tree_graph(xp: Arrays, model, top_k: int):
    """The graph of a parser: see `models.export`."""
    request = Request(xp, model)
    answers, tracer, scorer = {}, Tracer(xp, LAYERS), model.scorer
    with unchanged(model):
        for name in set(model.features.columns) - set(model.input_columns):
            # the tags of its own tagger
            outputs = outputs_of(request, model.tagger)
            columns = model.tagger.label_columns
            tags = tags_of(xp, request, columns, outputs, 1)["tags"]
            request.strings[name] = answers["predicted_tags"] = tags
        tokens = request.run(tracer, model)
        part = scoring(tracer, scorer, tokens, scorer.beam_width)
        width, engine = xp.length(tokens, 1) + 2, OnnxEngine(tracer)
        heads, labels = scorer.search(engine, part, request.lengths, width)
    names = np.array(["", *model.labels], object)
    answers["heads"] = xp.where(request.real, heads, -1)
    answers["deprels"] = xp.where(request.real, xp.take(names, labels), "")
    return request.answers(answers)


def biaffine_graph(xp: Arrays, model, top_k: int):
    """The graph of a biaffine parser: see `models.export`."""
    ranked = ranked_switch(xp, model)
    request = Request(xp, model)
    outputs, tracer = outputs_of(request, model), Tracer(xp, LAYERS)
    heads = best_heads(OnnxEngine(tracer), outputs["heads"], request.lengths)
    heads.shape = (None, None)
    with unchanged(model):
        labels = tracer.call(model.label_scores, outputs, heads)
    best = best_labels(OnnxEngine(tracer), labels, heads, model.labels)
    deprels = xp.take(np.array(model.labels, object), best)
    answers = tags_of(xp, request, model.label_columns, outputs, top_k, ranked)
    answers["heads"] = xp.where(request.real, xp.cast(heads, "int32"), -1)
    answers["deprels"] = xp.where(request.real, deprels, "")
    for name, logits, chosen in (
        ("head", outputs["heads"], xp.maximum(heads, 0)),
        ("deprel", labels, best),
    ):
        rows = xp.node("Softmax", logits, axis=-1)
        places = xp.cast(xp.expand_dims(chosen, -1), "int64")
        shares = xp.squeeze(xp.node("GatherElements", rows, places, axis=2), -1)
        answers[f"{name}_probabilities"] = xp.where(request.real, shares, 0.0)
    return request.answers(answers)


def derivation_graph(xp: Arrays, model, top_k: int):
    """The graph of a CCG parser: probabilities, of which NumPy makes derivations."""
    ranked = ranked_switch(xp, model)
    request = Request(xp, model)
    outputs = outputs_of(request, model)
    answers = tags_of(xp, request, model.label_columns, outputs, top_k, ranked)
    heads = xp.node("Softmax", outputs["heads"], axis=-1)
    heads = xp.where(xp.expand_dims(request.real, -1), heads, 0.0)
    return request.answers(answers | {"all_head_probabilities": heads})


def moves_graph(xp: Arrays, model, top_k: int):
    """The graph of a shift-reduce CCG parser, with its search."""
    request = Request(xp, model)
    tracer, beam = Tracer(xp, LAYERS), model.beam_width
    with unchanged(model):
        outputs = request.run(tracer, model)
        states, logits = outputs["states"], outputs["tags"]
        rows, words = (xp.length(states, i) for i in (0, 1))
        moves, scores = model.supertags.search(
            OnnxEngine(tracer),
            model.scorer,
            scoring(tracer, model.scorer, states, beam),
            logits,
            request.lengths,
            xp.cast(words, "int32"),
            beam,
        )
    wide = xp.expand_dims(request.real, -1)
    best = xp.cast(xp.argmax(logits, -1), "int64")
    best = xp.take(np.array(model.tags, object), best)
    # a row a word, as all outputs have
    scores = xp.broadcast_to(xp.expand_dims(scores, 1), [rows, words, beam])
    answers = {
        "tags": xp.where(request.real, best, ""),
        "tag_scores": xp.where(wide, logits, 0.0),
        "moves": xp.where(wide, moves, 0),
        "move_scores": xp.where(wide, scores, 0.0),
    }
    return request.answers(answers)


def segment_graph(xp: Arrays, model, top_k: int):
    """The graph of a segmenter, whose text becomes ids outside of the file.

    It gives the logits `(windows, time, labels)` for ids of characters.
    """
    ids = xp.input("ids", "int32", ("batch", "time", len(model.features.names)))
    with unchanged(model):
        return {"logits": run_network(Tracer(xp, LAYERS), model.network, [ids])}


# The parser's moves as an ONNX Loop: the engine of `transitions.search` in a graph


class OnnxEngine:
    """The engine that adds nodes to a graph.

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

        body = builder.body([*counters, *before], make, loops=True)
        inputs = [xp.cast(most, "int64").name, "", *(x.name for x in values)]
        names = builder.node("Loop", inputs, len(values), body=body)
        return [
            Array(xp, name, x.dtype, x.shape)
            for name, x in zip(names, before, strict=True)
        ]

    def places(self, mask):
        rows = self.xp.squeeze(self.xp.node("NonZero", mask, dtype="int64"), 0)
        rows.shape = (None,)
        return rows

    def put(self, x, rows, values):
        xp = self.xp
        values = xp.cast(values, x.dtype)
        return xp.scatter_update(x, xp.expand_dims(rows, 1), values)

    def log_softmax(self, x):
        return self.xp.node("LogSoftmax", x, axis=-1)


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
    if scorer.cell.bias is not None:
        bias = xp.expand_dims(xp.asarray(scorer.cell.bias), 0)
        labels = labels + xp.pad(bias, [(0, labels.shape[-2] - 1), (0, 0)])
    return [xp.reshape(table, [-1, nodes.shape[-1]]) for table in (nodes, labels)]
