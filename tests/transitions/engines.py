"""One search by NumPy, by Keras, and a graph of it by ONNX Runtime."""

import keras
import numpy as np
import onnxruntime
from cells.cases import named_weights
from keras import ops
from onnx import helper

from keras_tagging.layers.transition_scorer import KerasEngine
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import IR_VERSION, OPSETS, Builder, value_info
from keras_tagging.onnx.graphs import OnnxEngine
from keras_tagging.onnx.layers import LAYERS
from keras_tagging.onnx.tracing import Tracer
from keras_tagging.transitions import NumPy


def numpy_score(scorer, tokens, beam):
    """The function `score` of a scorer with a `FeedForwardCell`."""
    weights = {k: w.astype("float32") for k, w in named_weights(scorer).items()}
    boundary = np.broadcast_to(weights["boundary"], (len(tokens), 2, tokens.shape[2]))
    vectors = np.repeat(np.concatenate([boundary, tokens], 1), beam, 0)
    each = np.arange(len(vectors))[:, None]

    def score(nodes, labels, states):
        parts = vectors[each, nodes], weights["label_embeddings"][labels]
        x = np.concatenate([part.reshape(len(vectors), -1) for part in parts], 1)
        hidden = np.maximum(x @ weights["kernel"] + weights["bias"], 0)
        return hidden @ weights["output_kernel"], states

    return score


def by_onnx(function, arrays, ranks=(2, 2)):
    """The outputs, of these ranks, of a function of a tracer and arrays by name."""
    builder = Builder()
    xp = Arrays(builder)
    inputs = {
        name: Array(xp, name, str(x.dtype), (*[None] * min(x.ndim, 2), *x.shape[2:]))
        for name, x in arrays.items()
    }
    outputs = function(Tracer(xp, LAYERS), *inputs.values())
    graph = helper.make_graph(
        builder.nodes(),
        "search",
        [value_info(x.name, x.dtype, x.shape) for x in inputs.values()],
        [
            value_info(x.name, x.dtype, (None,) * rank)
            for x, rank in zip(outputs, ranks, strict=True)
        ],
        builder.initializers,
    )
    opsets = [helper.make_opsetid(*item) for item in OPSETS.items()]
    model = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opsets)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), None, ["CPUExecutionProvider"]
    )
    return session.run(None, arrays)


def with_numpy(find, *arrays):
    """What a function of an engine and arrays gives, as the next two do."""
    return find(NumPy(), *arrays)


def with_keras(find, *arrays):
    return ops.convert_to_numpy(
        find(KerasEngine(), *map(ops.convert_to_tensor, arrays))
    )


def in_graph(find, *arrays):
    def found(tracer, *given):
        return [tracer.xp.cast(find(OnnxEngine(tracer), *given), "int32")]

    return by_onnx(found, {f"x{i}": x for i, x in enumerate(arrays)}, (2,))[0]


ENGINES = [with_numpy, with_keras]
if keras.backend.backend() == "tensorflow":  # which alone exports
    ENGINES.append(in_graph)
