"""Settings in which one cell must equal another, simpler one."""

from functools import partial

import keras
import numpy as np
import pytest
from cells.cases import (
    BATCH,
    CASES,
    FEATURES,
    MASK,
    UNITS,
    ZEROS,
    after_step,
    block,
    build,
    build_with,
    highway_lstm,
    make,
    mixed,
    random_inputs,
    random_sentences,
    random_states,
    rhn,
    skip,
    width,
)
from keras import ops

from keras_tagging.cells import GRUCell

make = partial(make, **ZEROS)

pytestmark = pytest.mark.one_backend

SHUT, OPEN = -1e4, 1e4  # a sigmoid's argument for exactly 0 and 1
INPUTS = random_inputs(BATCH, FEATURES + 2 * UNITS)


def weights_of(cell):
    return {w.name: ops.convert_to_numpy(w).copy() for w in cell.weights}


def with_gate_at(cell, weights, gate, value):
    """The weights with the bias of `gate`, one of cell.gates, at `value`."""
    block = cell.gates.index(gate)
    bias = weights["bias"].copy()
    bias[block * UNITS : (block + 1) * UNITS] = value
    return weights | {"bias": bias}


def without_gate(cell, weights, gate):
    """The weights without the block of `gate`."""
    block = cell.gates.index(gate)
    columns = slice(block * UNITS, (block + 1) * UNITS)
    return {
        name: w if "gate" in name else np.delete(w, columns, axis=-1)
        for name, w in weights.items()
    }


def assert_equal_steps(one, other, inputs=INPUTS, states=None, **kwargs):
    """The first cell's states after a step are the second's, which may have fewer.

    The inputs are cut to what each cell reads.
    """
    states = states or random_states(one)
    found = after_step(one, inputs[:, : width(one)], states, **kwargs)
    fewer = states[: len(other.state_sizes)]
    expected = after_step(other, inputs[:, : width(other)], fewer, **kwargs)
    for found_state, expected_state in zip(found, expected, strict=False):
        np.testing.assert_allclose(found_state, expected_state, rtol=1e-5, atol=1e-6)


def assert_other_steps(one, other, inputs=INPUTS):
    """The outputs differ: what the tests below switch off does something."""
    states = random_states(one)
    found = after_step(one, inputs[:, : width(one)], states)[0]
    fewer = states[: len(other.state_sizes)]
    expected = after_step(other, inputs[:, : width(other)], fewer)[0]
    assert abs(found - expected).max() > 1e-2


def lstm_weights(arrays):
    """Keras' gates are i, f, c, o; ours i, f, o, s."""
    i, f, o, s = np.split(np.arange(4 * UNITS), 4)
    return [array[..., np.concatenate([i, f, s, o])] for array in arrays]


def negative_update_gate(arrays):
    """Keras' update gate weighs the old state, 1 - z."""
    for array in arrays:
        array[..., :UNITS] *= -1
    return arrays


STOCK = {
    "skip-none": (keras.layers.LSTM, {}, lstm_weights),
    "highway-lstm-first-layer": (keras.layers.LSTM, {}, lstm_weights),
    "mixed-first-layer": (keras.layers.LSTM, {}, lstm_weights),
    "gru": (keras.layers.GRU, {"reset_after": False}, negative_update_gate),
    "gru-keep": (keras.layers.GRU, {"reset_after": False}, list),
    "elman": (keras.layers.SimpleRNN, {"activation": "relu"}, list),
}


@pytest.mark.parametrize("name", STOCK)
def test_equals_the_layer_of_keras(name):
    layer, settings, weights_of_stock = STOCK[name]
    options = {"return_sequences": True, "return_state": True}
    cell, stock = build(make(CASES[name])), layer(UNITS, **settings, **options)
    stock.build((None, None, FEATURES))
    stock.set_weights(weights_of_stock(cell.get_weights()))
    ours = keras.layers.RNN(cell, **options)
    x = random_sentences(FEATURES)
    for found, expected in zip(ours(x, mask=MASK), stock(x, mask=MASK), strict=True):
        np.testing.assert_allclose(
            *map(ops.convert_to_numpy, (found, expected)), rtol=1e-5, atol=1e-6
        )


def test_a_feed_forward_cell_equals_a_dense_layer_and_elmans_without_recurrence():
    cell = build(make(CASES["feed-forward"]))
    kernel, bias = cell.get_weights()
    dense = keras.layers.Dense(UNITS, activation="relu")
    dense.build((None, FEATURES))
    dense.set_weights([kernel, bias])
    elman = make(CASES["elman"])
    recurrent = {"recurrent_kernel": np.zeros((UNITS, UNITS))}
    build_with(elman, {"kernel": kernel, "bias": bias} | recurrent)
    x = random_sentences(FEATURES)
    expected = ops.convert_to_numpy(dense(x))
    # project and step take any leading shape
    found = [cell.step(cell.project(x), None)[0]]
    found += [keras.layers.RNN(c, return_sequences=True)(x) for c in (cell, elman)]
    for each in map(ops.convert_to_numpy, found):
        np.testing.assert_allclose(each, expected, rtol=1e-5, atol=1e-6)


def test_a_step_of_elmans_cell_by_hand():
    """max{0, 2 * 3 - 1 * 4 + 0.5} and max{0, -3 + 4 * 2 - 6}."""
    cell = CASES["elman"].cell_class(2)
    cell.build((None, 1))
    cell.set_weights([np.array([[2, -1]]), np.diag([-1, 2]), np.array([0.5, -6])])
    (found,) = after_step(cell, np.array([[3.0]]), [np.array([[4.0, 4.0]])])
    np.testing.assert_array_equal(found, [[2.5, 0]])


def test_activations_of_a_gru():
    settings = {"activation": "relu", "recurrent_activation": "hard_sigmoid"}
    cell = build(make(CASES["gru"], **settings))
    x, (h,) = INPUTS[:, :FEATURES], random_states(cell)
    kernel, recurrent_kernel, bias = cell.get_weights()
    gates = (x @ kernel + h @ recurrent_kernel + bias)[:, : 2 * UNITS]
    z, r = np.split(np.clip(gates / 6 + 0.5, 0, 1), 2, axis=1)
    candidate = x @ kernel + (r * h) @ recurrent_kernel + bias
    expected = (1 - z) * h + z * np.maximum(candidate[:, 2 * UNITS :], 0)
    (found,) = after_step(cell, x, [h])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def at(name, value):
    """The change of weights that have a value then: those of a gate, or by name."""

    def change(cell, weights):
        if name in weights:
            return weights | {name: np.broadcast_to(value, weights[name].shape)}
        return with_gate_at(cell, weights, name, value)

    return change


def without_peepholes(cell, weights):
    return weights | {f"peephole_{gate}": np.zeros(UNITS) for gate in "ifo"}


NO_SKIP = skip(skip=None, gate=None)
NO_SHORTCUT = {"internal": None, "output": None, "gate": None}
BLOCKS = pytest.mark.parametrize("kind", [block, mixed])
#: a cell, the change of its weights, the simpler cell that it then is, and the gate of
#: `cell.gates` that this one has not
SIMPLER = [
    (mixed(cell_shortcut=True), at("cell_gate_bias", SHUT), mixed(internal=None), None),
    (highway_lstm(peepholes=True), without_peepholes, highway_lstm(), None),
]
for mapping in ("identity", "tanh"):
    for where in ("outputs", "internals"):
        case = skip(skip=where, mapping=mapping)
        ungated = skip(skip=where, mapping=mapping, gate=None)
        SIMPLER += [
            (case, at("g", SHUT), NO_SKIP, "g"),
            (case, at("g", OPEN), ungated, "g"),
        ]
        for gate in ("exclusive", "vertical"):
            case = skip(skip=where, mapping=mapping, gate=gate)
            SIMPLER.append((case, at("gate_bias", SHUT), NO_SKIP, None))
    for where, place in (("outputs", "internal"), ("internals", "output")):
        other = skip(skip=where, gate="vertical", mapping=mapping)
        SIMPLER.append((mixed(**{place: None}, mapping=mapping), None, other, None))
for kind in (block, mixed):
    none, plain = kind(**NO_SHORTCUT), kind(internal="plain", output="plain", gate=None)
    SIMPLER += [
        (kind(gate=gate, internal=how, output=how), at("gate_bias", SHUT), none, None)
        for gate in ("vertical", "below", "recurrent", "skip")
        for how in ("gated", "highway")
    ]
    SIMPLER += [
        (kind(), at("gate_bias", OPEN), plain, None),
        (kind(gate="linear"), at("gate_skip_kernel", 0), none, None),
        (kind(gate="scale"), at("gate_scale", 0), none, None),
        (kind(gate="linear"), at("gate_skip_kernel", np.eye(UNITS)), plain, None),
    ]
# a mixed block that forgets is the shortcut block
SIMPLER += [
    (mixed(**settings), at("f", SHUT), block(**settings), "f")
    for settings in (
        {},
        {"internal": "highway", "output": "plain"},
        {"internal": None},
        {"output": None},
        NO_SHORTCUT,
        {"gate": "recurrent"},
        {"gate": "linear"},
    )
]
#: a cell, and the one that it is where the layers below give zeros
OF_ZEROS = [
    (skip(skip="gates", gate=None), NO_SKIP),
    (skip(skip="gates", gate=None, mapping="tanh"), NO_SKIP),
    (skip(skip="internals", gate=None), NO_SKIP),
    (skip(skip="internals", gate="vertical"), NO_SKIP),
    (skip(skip="outputs", gate=None), NO_SKIP),
    (skip(skip="outputs", gate="exclusive", mapping="tanh"), NO_SKIP),
]
for peepholes in (False, True):
    first = highway_lstm(peepholes=peepholes, depth_gate=False)
    case = highway_lstm(peepholes=peepholes)
    SIMPLER.append((case, at("depth_bias", SHUT), first, None))
    OF_ZEROS.append((case, first))


@pytest.mark.parametrize("case, simpler", OF_ZEROS)
def test_zeros_from_the_layers_below_leave_a_simpler_cell(case, simpler):
    cell = build(make(case))
    other = build_with(make(simpler), weights_of(cell))
    inputs = INPUTS.copy()
    inputs[:, FEATURES:] = 0
    assert_equal_steps(cell, other, inputs)
    assert_other_steps(cell, other)


@pytest.mark.parametrize("case, change, simpler, gate", SIMPLER)
def test_what_is_switched_off_leaves_a_simpler_cell(case, change, simpler, gate):
    cell = build(make(case))
    weights = weights_of(cell)
    kept = without_gate(cell, weights, gate) if gate else weights
    other = build_with(make(simpler), kept)
    if change is None:
        assert_equal_steps(cell, other)
        return
    assert_other_steps(cell, other)
    assert_equal_steps(build_with(make(case), change(cell, weights)), other)


@BLOCKS
def test_open_highway_gate_gives_the_shortcut_alone(kind):
    settings = kind(internal="highway", output="highway")
    weights = weights_of(build(make(settings)))
    weights["gate_bias"][:] = OPEN
    cell = build_with(make(settings), weights)
    for state in after_step(cell, INPUTS[:, : width(cell)], random_states(cell)):
        np.testing.assert_allclose(state, INPUTS[:, FEATURES : width(cell)], rtol=1e-6)


def test_coupled_rhn_of_depth_1_equals_a_gru_that_never_resets():
    """h_t = (1 - t) h_{t-1} + t a."""
    cell = build(make(rhn(depth=1, coupled=True, output_gate=False)))
    blocks = {}
    for name, w in weights_of(cell).items():
        h, t = np.split(w, 2, axis=-1)
        blocks[name] = np.concatenate([t, np.zeros_like(h), h], axis=-1)  # z, r, h
    blocks["bias"][UNITS : 2 * UNITS] = OPEN
    gru = GRUCell(UNITS, update="new")
    gru.build((None, FEATURES))
    gru.set_weights([blocks[w.name] for w in gru.weights])
    assert_equal_steps(cell, gru)


@pytest.mark.parametrize(
    "coupled, output_gate, expected",
    [
        # s_1 = 1/2 * 3/4 + 2/5 * 1/4 = 0.475; s_2 = -1/2 * 1/2 + s_1 * 1/2
        (False, False, -0.0125),
        # o = 1/2
        (False, True, 0.5 * np.tanh(-0.0125)),
        # s_1 = 1/2 * 3/4 + 2/5 * 1/4; the same, as 1 - t is 1/4 and then 1/2
        (True, False, -0.0125),
        (True, True, 0.5 * np.tanh(-0.0125)),
    ],
)
def test_rhn_of_depth_2_by_hand(coupled, output_gate, expected):
    """Zero matrices: a = 1/2, t = 3/4, c = 1/4 first, then -1/2, 1/2, 1/2."""
    cell = rhn().cell_class(1, depth=2, coupled=coupled, output_gate=output_gate)
    cell.build((None, 1))
    values = {"h": np.arctanh(0.5), "t": np.log(3), "c": -np.log(3), "o": 0.0}
    weights = {w.name: np.zeros(w.shape) for w in cell.weights}
    weights["bias"] = np.array([values[gate] for gate in cell.gates])
    weights["bias_2"][0] = np.arctanh(-0.5)
    cell.set_weights([weights[w.name] for w in cell.weights])
    (found,) = after_step(cell, np.ones((1, 1), "float32"), [np.full((1, 1), 0.4)])
    np.testing.assert_allclose(found, [[expected]], rtol=1e-4)
