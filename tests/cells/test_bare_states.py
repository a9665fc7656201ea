"""A state as a bare tensor, which Keras' own cells accept beside a list of one."""

import keras
import numpy as np
import pytest
from cells.cases import CASES, FEATURES, UNITS, build, make, random_inputs, width
from keras import ops

pytestmark = pytest.mark.one_backend

BATCH = 2  # as many rows as an LSTM has states: a tensor could pass for the two
ONE_STATE = [n for n, case in CASES.items() if isinstance(make(case).state_size, int)]


def run(cell, method, inputs, states):
    if method == "step":
        inputs = cell.project(inputs)
    output, new_states = (cell if method == "call" else cell.step)(inputs, states)
    assert isinstance(new_states, list)
    return [ops.convert_to_numpy(x) for x in (output, *new_states)]


@pytest.mark.parametrize("method", ["step", "call"])
@pytest.mark.parametrize("name", ONE_STATE)
def test_a_bare_state_is_a_list_of_one(name, method):
    cell = build(make(CASES[name]))
    inputs = random_inputs(BATCH, width(cell))
    state = ops.convert_to_tensor(random_inputs(BATCH, UNITS))
    found = run(cell, method, inputs, state)
    expected = run(cell, method, inputs, [state])
    for found_array, expected_array in zip(found, expected, strict=True):
        np.testing.assert_array_equal(found_array, expected_array)
    if name != "feed-forward":
        assert abs(found[0] - run(cell, method, inputs, [state[:1]])[0]).max() > 1e-3


@pytest.mark.parametrize("method", ["step", "call"])
@pytest.mark.parametrize("name", ["outputs-joint", "highway-lstm", "mixed"])
def test_one_tensor_is_not_taken_for_two_states(name, method):
    cell = build(make(CASES[name]))
    inputs, state = random_inputs(BATCH, width(cell)), random_inputs(BATCH, UNITS)
    for states in (ops.convert_to_tensor(state), [state]):
        with pytest.raises((ValueError, IndexError)):
            run(cell, method, inputs, states)


def test_initial_state_of_a_layer_may_be_bare():
    layer = keras.layers.RNN(build(make(CASES["gru"])))
    x, state = random_inputs(BATCH, 3, FEATURES), random_inputs(BATCH, UNITS)
    found, expected = (
        ops.convert_to_numpy(layer(x, initial_state=given))
        for given in (ops.convert_to_tensor(state), [ops.convert_to_tensor(state)])
    )
    np.testing.assert_array_equal(found, expected)
