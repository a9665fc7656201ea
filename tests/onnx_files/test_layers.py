"""Layers in a functional model of a user's own, computed in ONNX."""

import keras
import numpy as np
import onnxruntime
import pytest
from keras import ops
from onnx import helper

from keras_tagging import CRF, ChunkDecoder
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import IR_VERSION, OPSETS, Builder, value_info
from keras_tagging.onnx.layers import LAYERS
from keras_tagging.onnx.tracing import Tracer, unchanged
from keras_tagging.runtime.extensions import session_options

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def normal(rng, shape):
    return rng.normal(0, 2, shape)


def sharp(rng, shape):
    return np.where(rng.random(shape) < 0.4, 0, 10 ** rng.uniform(-37, 0, shape))


def both(layer, seed=0, masked=True, scores=normal):
    """What Keras and ONNX Runtime give for random scores, masked at the end."""
    inputs = keras.Input((None, len(TAGS)))
    mask = ops.not_equal(inputs[:, :, 0], 0) if masked else None
    model = keras.Model(inputs, layer(inputs, mask=mask))
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 1, w.shape) for w in model.get_weights()])
    builder = Builder()
    xp = Arrays(builder)
    tracer = Tracer(xp, LAYERS)
    tracer.give(model.inputs[0], Array(xp, "x", "float32"))
    with unchanged(model):
        found = tracer.value(model.outputs[0])
    made = helper.make_graph(
        builder.nodes(),
        "layer",
        [value_info("x", "float32", ("batch", "time", len(TAGS)))],
        [value_info(found.name, found.dtype, found.shape)],
        builder.initializers,
    )
    opsets = [helper.make_opsetid(*item) for item in OPSETS.items()]
    made = helper.make_model(made, ir_version=IR_VERSION, opset_imports=opsets)
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), session_options(), ["CPUExecutionProvider"]
    )
    x = scores(rng, (6, 9, len(TAGS))).astype("float32")
    if masked:
        x[np.arange(9) >= np.array([9, 5, 1, 3, 8, 2])[:, None]] = 0
    return np.asarray(model(x)), session.run(None, {"x": x})[0]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "layer",
    [
        lambda: ChunkDecoder(TAGS, from_logits=True),
        lambda: ChunkDecoder(TAGS),
        lambda: CRF(len(TAGS), tags=TAGS, constrained=True),
        lambda: CRF(),
    ],
    ids=["chunks of logits", "chunks", "constrained crf", "crf"],
)
def test_decoders(layer, seed, masked):
    ours, theirs = both(layer(), seed, masked)
    assert ours.any()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_probabilities_of_zero_and_near_it():
    ours, theirs = both(ChunkDecoder(TAGS), scores=sharp)
    np.testing.assert_array_equal(ours, theirs)
    assert len(np.unique(ours)) == len(TAGS)


def test_what_is_not_known_is_named():
    class Unknown(keras.Operation):
        def call(self, x, mask=None):
            return x

        def compute_output_spec(self, x, mask=None):
            return keras.KerasTensor(x.shape)

    with pytest.raises(NotImplementedError, match="^Unknown$"):
        both(Unknown())
    with pytest.raises(NotImplementedError, match="keras.layers.LSTM"):
        both(keras.layers.LSTM(3, return_sequences=True))
