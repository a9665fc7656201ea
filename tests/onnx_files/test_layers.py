"""Layers in a functional model of a user's own, computed in ONNX."""

import keras
import numpy as np
import pytest
from cells.cases import ZEROS
from keras import ops
from onnx_files.odd import session_of

from keras_tagging import CRF, ChunkDecoder
from keras_tagging.architectures import architecture
from keras_tagging.layers import BidirectionalStack
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.onnx.layers import LAYERS
from keras_tagging.onnx.tracing import Tracer, unchanged

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def normal(rng, shape):
    return rng.normal(0, 2, shape)


def sharp(rng, shape):
    return np.where(rng.random(shape) < 0.4, 0, 10 ** rng.uniform(-37, 0, shape))


def in_onnx(model, x):
    """The outputs of a functional model with one input, computed by ONNX Runtime."""
    xp = Arrays(Builder())
    tracer = Tracer(xp, LAYERS)
    axes = ("batch", "time", x.shape[-1])
    tracer.give(model.inputs[0], xp.input("x", "float32", axes))
    with unchanged(model):
        for i, output in enumerate(model.outputs):
            array = tracer.value(output)
            xp.output(f"y{i}", array, array.shape)
    return session_of(xp).run(None, {"x": x})


def padded(x):
    """The same with zeros at the end of most rows of these six."""
    x[np.arange(x.shape[1]) >= np.array([9, 5, 1, 3, 8, 2])[:, None]] = 0
    return x


def both(layer, seed=0, masked=True, scores=normal):
    """What Keras and ONNX Runtime give for random scores, masked at the end."""
    inputs = keras.Input((None, len(TAGS)))
    mask = ops.not_equal(inputs[:, :, 0], 0) if masked else None
    model = keras.Model(inputs, layer(inputs, mask=mask))
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 1, w.shape) for w in model.get_weights()])
    x = scores(rng, (6, 9, len(TAGS))).astype("float32")
    x = padded(x) if masked else x
    return np.asarray(model(x)), in_onnx(model, x)[0]


# what the defaults of the architectures leave out
CELLS = {
    "gru keep": ("bigru", {"update": "keep"}, {"merge": "top", "input_layer": "tanh"}),
    "skip plain": ("skip-bilstm", {"gate": None, "mapping": "tanh"}, {}),
    "skip exclusive": ("skip-bilstm", {"gate": "exclusive"}, {}),
    "skip vertical": ("skip-bilstm", {"gate": "vertical", "mapping": "sigmoid"}, {}),
    "skip internals": ("skip-bilstm", {"skip": "internals"}, {}),
    "skip gates": ("skip-bilstm", {"skip": "gates", "gate": None}, {}),
    "highway peepholes": ("highway-bilstm", {"peepholes": True}, {}),
    "rhn coupled": ("rhn", {"coupled": True, "output_gate": False}, {}),
    # c of two layers below is read from the third layer on
    "mixed block": (
        "shortcut-bilstm",
        {"self_connection": True, "cell_shortcut": True},
        {"num_layers": 3},
    ),
    **{
        f"shortcut {gate}": ("shortcut-bilstm", {"gate": gate, **places}, {})
        for gate, places in {
            "below": {"output": "plain"},
            "recurrent": {},
            "skip": {"internal": "highway"},
            "linear": {"self_connection": True},
            "scale": {"output": "highway"},
            "bernoulli": {},
            "learned-bernoulli": {"output": None},
        }.items()
    },
}


@pytest.fixture(scope="module")
def stacks():
    """Of all cells in one model: what Keras and ONNX Runtime give."""
    inputs = keras.Input((None, 7))
    mask = ops.not_equal(inputs[:, :, 0], 0)
    outputs = {}
    for case, (name, options, more) in CELLS.items():
        more = {"num_layers": 2} | more
        settings = architecture(name).settings("fast", **options, **more)
        layer = BidirectionalStack(
            settings.cell(5, seed=1, **ZEROS),
            num_layers=settings.network.num_layers,
            merge=settings.network.merge,
            input_layer=settings.network.input_layer,
        )
        outputs[case] = layer(inputs, mask=mask)
    model = keras.Model(inputs, list(outputs.values()))
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(0, 0.7, w.shape) for w in model.get_weights()])
    x = padded(normal(rng, (6, 5, 7)).astype("float32"))
    return dict(zip(CELLS, zip(model(x), in_onnx(model, x), strict=True), strict=True))


@pytest.mark.parametrize("case", CELLS)
def test_stacks_of_every_cell(case, stacks):
    ours, theirs = map(np.asarray, stacks[case])
    assert (abs(ours[0]).max(-1) > 1e-2).all()
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


ACTIVATIONS = "relu leaky_relu elu selu gelu silu softplus softsign hard_sigmoid tanh"


def test_activations():
    inputs = keras.Input((None, 3))
    chosen = map(keras.activations.get, [*ACTIVATIONS.split(), "sigmoid", "linear"])
    model = keras.Model(inputs, [activation(inputs + 0.0) for activation in chosen])
    x = np.random.default_rng(0).normal(0, 3, (2, 50, 3)).astype("float32")
    for ours, theirs in zip(model(x), in_onnx(model, x), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("seed", range(2))
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


def test_the_best_tags_are_kept_where_they_are_consistent():
    def outside(rng, shape):  # of chunks, in the last batches always
        return rng.normal(0, 1, shape) - seed * np.array([0, 0, 1, 0, 1])

    for seed in range(8):
        ours, theirs = both(ChunkDecoder(TAGS, from_logits=True), seed, True, outside)
        np.testing.assert_array_equal(ours, theirs)


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
