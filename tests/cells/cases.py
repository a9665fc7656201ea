"""Every cell with its reference; those of Wu et al. (2016, 2017) a case a table row."""

from contextlib import nullcontext
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
from keras import ops
from reference import (
    coupled_lstm,
    gru,
    highway,
    parser,
    shortcut_block,
    skip_lstm,
    skip_stack,
)

from keras_tagging.cells import (
    CoupledLSTMCell,
    ElmanCell,
    FeedForwardCell,
    GRUCell,
    HighwayLSTMCell,
    LayeredCell,
    RecurrentHighwayCell,
    ShortcutBlockCell,
    SkipLSTMCell,
)

UNITS, FEATURES = 4, 3
# Padded sentences: rows of TIME steps. The first two are mirror images.
LENGTHS = np.array([4, 4, 3, 1, 0])
TIME, BATCH = 4, len(LENGTHS)
MASK = np.arange(TIME) < LENGTHS[:, None]


class Case(NamedTuple):
    cell_class: type
    reference: Any
    settings: dict[str, Any]


class OneState:
    """A reference of a cell that has one state, and reads no other layer."""

    @staticmethod
    def reads(settings):
        return ()

    @staticmethod
    def num_states(settings):
        return 1

    @staticmethod
    def for_layer(layer, settings):
        return settings


class OfGRU(OneState):
    @staticmethod
    def step(x, states, weights, settings):
        arrays = weights["kernel"], weights["recurrent_kernel"]
        bias = weights.get("bias", np.zeros(arrays[0].shape[1]))
        return [gru.step(x, *states, (*arrays, bias), settings.get("update", "new"))]


class OfParser(OneState):
    """The feed-forward layer and Elman's of Elkaref & Bohnet (2017)."""

    @staticmethod
    def step(x, states, weights, settings):
        weights = {"bias": np.zeros(weights["kernel"].shape[1])} | weights
        name = settings.get("activation", "relu")
        function = {"relu": lambda a: np.maximum(a, 0), "tanh": np.tanh}[name]
        return parser.step(x, states, weights, "h", function)


def skip(**settings):
    return Case(SkipLSTMCell, skip_lstm, settings)


def block(**settings):
    return Case(ShortcutBlockCell, shortcut_block, settings)


def mixed(**settings):
    return block(self_connection=True, **settings)


def highway_lstm(**settings):
    return Case(HighwayLSTMCell, highway.lstm, settings)


def rhn(**settings):
    return Case(RecurrentHighwayCell, highway.rhn, settings)


CASES = {
    # Table 2 of Wu et al. (2016), and what its section 4 adds.
    "highway-lstm": highway_lstm(),
    "highway-lstm-peepholes": highway_lstm(peepholes=True),
    "highway-lstm-first-layer": highway_lstm(depth_gate=False),
    "highway-lstm-first-layer-peepholes": highway_lstm(
        depth_gate=False, peepholes=True
    ),
    "rhn-depth-3": rhn(),
    "rhn-depth-2": rhn(depth=2),
    "rhn-depth-1": rhn(depth=1),
    "rhn-coupled": rhn(coupled=True),
    "rhn-no-output-gate": rhn(output_gate=False),
    "rhn-coupled-no-output-gate": rhn(depth=2, coupled=True, output_gate=False),
    "skip-none": skip(skip=None, gate=None),
    "skip-gates": skip(skip="gates", gate=None),
    "skip-gates-tanh": skip(skip="gates", gate=None, mapping="tanh"),
    "internals-no-gate": skip(skip="internals", gate=None),
    "internals-joint": skip(skip="internals"),
    "internals-exclusive": skip(skip="internals", gate="exclusive"),
    "internals-vertical": skip(skip="internals", gate="vertical"),
    "internals-sigmoid": skip(skip="internals", mapping="sigmoid"),
    "outputs-no-gate": skip(gate=None),
    "outputs-joint": skip(),
    "outputs-joint-forget-5": skip(forget_bias=5.0),
    "outputs-exclusive": skip(gate="exclusive"),
    "outputs-vertical": skip(gate="vertical"),
    "outputs-sigmoid": skip(mapping="sigmoid"),
    "outputs-exclusive-tanh": skip(gate="exclusive", mapping="tanh"),
    # Table 2 of Wu et al. (2017); its first row is outputs-joint.
    "mixed": mixed(),
    "mixed-no-gate": mixed(internal="plain", output="plain", gate=None),
    "mixed-highway": mixed(internal="highway", output="highway"),
    "mixed-cell-shortcut": mixed(cell_shortcut=True),
    "mixed-first-layer": mixed(internal=None, output=None, gate=None),
    "mixed-linear": mixed(gate="linear"),
    "block": block(),
    "block-output-plain": block(output="plain"),
    "block-internal-plain": block(internal="plain"),
    "block-no-internal": block(internal=None),
    "block-no-output": block(output=None),
    "block-highway": block(internal="highway", output="highway"),
    "block-first-layer": block(internal=None, output=None, gate=None),
    # Table 3 of Wu et al. (2017).
    "block-tanh": block(mapping="tanh"),
    "block-sigmoid": block(mapping="sigmoid"),
    "block-scale": block(gate="scale"),
    "block-linear": block(gate="linear"),
    "block-linear-tanh": block(gate="linear", mapping="tanh"),
    "block-below": block(gate="below"),
    "block-recurrent": block(gate="recurrent"),
    "block-skip": block(gate="skip"),
    "block-bernoulli": block(gate="bernoulli"),
    "block-bernoulli-0.3": block(gate="bernoulli", bernoulli_p=0.3),
    "block-learned-bernoulli": block(gate="learned-bernoulli"),
    # Section 2.1 of Lample et al. (2016)
    "coupled-lstm": Case(CoupledLSTMCell, coupled_lstm, {}),
    # Section 2.1 of Kadari et al. (2018), sections 3.2 and 7 of Elkaref & Bohnet (2017)
    "gru": Case(GRUCell, OfGRU, {}),
    "gru-keep": Case(GRUCell, OfGRU, {"update": "keep"}),
    "elman": Case(ElmanCell, OfParser, {}),
    "feed-forward": Case(FeedForwardCell, OfParser, {}),
}


def op_by_op():
    """A context in which JAX runs loops as they stand: it compiles each one anew."""
    if keras.backend.backend() != "jax":
        return nullcontext()
    import jax

    return jax.disable_jit()


def op_by_op_but(*words):
    """A fixture: in all tests of a module, but those with such a word in the name."""

    @pytest.fixture(autouse=True)
    def loops(request):
        other = {*words} & set(request.node.name.split("_"))
        with nullcontext() if other else op_by_op():
            yield

    return loops


def randomize(layer, seed=0, scale=1.0):
    """Gives every weight and bias of a built layer random values."""
    rng = np.random.default_rng(seed)
    layer.set_weights([rng.normal(scale=scale, size=w.shape) for w in layer.weights])
    return layer


def as_model(layer, features, time=None):
    """The layer in a Keras model of sequences and their mask, which compiles it."""
    inputs, masks = keras.Input((time, features)), keras.Input((time,), dtype="bool")
    return keras.Model([inputs, masks], layer(inputs, mask=masks))


def stack_weights(stack):
    """[(forward weights, backward weights), ...], each by name."""
    layers = zip(stack.forward_layers, stack.backward_layers, strict=True)
    return [tuple(named_weights(rnn.cell) for rnn in pair) for pair in layers]


def random_inputs(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def random_sentences(features, seed=1):
    """(batch, time, features) of LENGTHS, with random values at padding too."""
    x = random_inputs(len(LENGTHS), TIME, features, seed=seed)
    x[1] = x[0, ::-1]
    return x


def width(cell):
    """The input width of a cell in these tests."""
    return FEATURES + len(cell.reads) * UNITS


#: of cells that get random weights, for which Keras needs not draw others
ZEROS = {"kernel_initializer": "zeros", "recurrent_initializer": "zeros"}


def make(case, **settings):
    """The unbuilt cell of a case, which expects what it reads of other layers."""
    if issubclass(case.cell_class, LayeredCell):
        settings = {"appended_inputs": True} | settings
    return case.cell_class(UNITS, **case.settings | settings)


def build(cell, seed=0):
    """The cell with random weights and biases."""
    cell.build((None, width(cell)))
    return randomize(cell, seed)


def state_sizes(cell):
    size = cell.state_size
    return list(size) if isinstance(size, (list, tuple)) else [size]


def random_states(cell, batch=BATCH):
    sizes = state_sizes(cell)
    return [random_inputs(batch, n, seed=2 + i) for i, n in enumerate(sizes)]


def named_weights(cell):
    """What the references take."""
    weights = zip(cell.weights, cell.get_weights(), strict=True)
    return {variable.name: array.astype("float64") for variable, array in weights}


def split_inputs(case, inputs):
    """A cell's input (..., width) as the references take it: x, and the rest by name.

    Everything after the layer input is UNITS wide.
    """
    inputs = inputs.astype("float64")
    names = case.reference.reads(case.settings)
    x, *others = np.split(
        inputs,
        [inputs.shape[-1] - UNITS * n for n in range(len(names), 0, -1)],
        axis=-1,
    )
    return x, dict(zip(names, others, strict=True))


def expected_step(case, inputs, states, weights, **settings):
    """The reference's states after one step, a row of the batch at a time."""
    settings = case.settings | settings
    rows = []
    for row, *row_states in zip(inputs, *states, strict=True):
        x, others = split_inputs(case, row)
        rows.append(case.reference.step(x, row_states, weights, settings, **others))
    return [np.stack(state) for state in zip(*rows, strict=True)]


def expected_run(case, sentence, weights, backwards=False):
    """The reference's outputs (time, UNITS) for one sentence without padding."""
    x, others = split_inputs(case, sentence)
    none = {"recurrent_kernel": np.zeros((UNITS, UNITS))}  # of a feed-forward layer
    return skip_stack.run(
        case.reference, x, none | weights, case.settings, backwards, **others
    )[0]


def build_with(cell, weights):
    """The built cell with weights given by name."""
    cell.build((None, width(cell)))
    cell.set_weights([weights[variable.name] for variable in cell.weights])
    return cell


def after_step(cell, inputs, states, **kwargs):
    """The states after one step, as arrays; the output is the first of them."""
    output, new_states = cell(inputs, states, **kwargs)
    arrays = [ops.convert_to_numpy(state) for state in new_states]
    np.testing.assert_array_equal(ops.convert_to_numpy(output), arrays[0])
    return arrays
