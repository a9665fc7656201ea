"""Truncated backpropagation against its definition, unrolled step by step in NumPy."""

import keras
import numpy as np
import pytest
from cells.cases import named_weights, op_by_op_but, random_inputs, randomize
from keras import ops
from layers import scorers
from layers.gradients import gradients
from reference import parser as reference

from keras_tagging.cells import ElmanCell, FeedForwardCell
from keras_tagging.layers.transition_scorer import run_truncated

BATCH, TIME, FEATURES, UNITS = 2, 7, 2, 3
CELLS = {name: scorers.CELLS[name] for name in ("elman", "lstm", "gru")}
EVERY = pytest.mark.parametrize("name", CELLS)
TRUNCATIONS = pytest.mark.parametrize("truncation", ["sliding", "chunked"])
ERRORS = random_inputs(BATCH, TIME, UNITS, seed=3)
loops = op_by_op_but("compiled")


def random_cell(name):
    cell_class, options, _ = CELLS[name]
    cell = cell_class(UNITS, **options)
    cell.build((None, FEATURES))
    return randomize(cell, 2, scale=0.7)


def inputs_as_weights(time=TIME):
    """Inputs that a gradient can be taken of."""
    return keras.Variable(random_inputs(BATCH, time, FEATURES), name="inputs")


def run(cell, inputs, *options):
    return run_truncated(cell, cell.project(ops.convert_to_tensor(inputs)), *options)


@EVERY
@TRUNCATIONS
@pytest.mark.parametrize("time", [TIME, 1])
def test_outputs_are_those_of_the_whole_recurrence(name, truncation, time):
    """Whatever the limit, be the length a multiple of it or not."""
    cell, inputs = random_cell(name), inputs_as_weights(time)
    values = ops.convert_to_numpy(inputs).astype("float64")
    expected = reference.run(values, named_weights(cell), CELLS[name][2])[0]
    for limit in (None, 1, 3, TIME, TIME + 2):
        found = ops.convert_to_numpy(run(cell, inputs, limit, truncation))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@TRUNCATIONS
def test_nothing_happens_before_the_first_step(truncation):
    """Where a step from zeros does not end in zeros, either."""
    cell = ElmanCell(UNITS, activation="sigmoid")
    cell.build((None, FEATURES))
    randomize(cell, 2)
    inputs = inputs_as_weights()
    expected = ops.convert_to_numpy(run(cell, inputs))
    found = ops.convert_to_numpy(run(cell, inputs, 3, truncation))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def found_gradients(cell, inputs, limit, truncation, errors=ERRORS):
    """By name, for given errors of the outputs."""
    variables = [*cell.weights, inputs]
    errors = ops.convert_to_tensor(errors)
    found = gradients(
        variables, lambda: ops.sum(errors * run(cell, inputs, limit, truncation))
    )
    return dict(zip([v.name for v in variables], found, strict=True))


def expected_gradients(name, cell, inputs, limit, truncation):
    return reference.truncated_gradients(
        ops.convert_to_numpy(inputs).astype("float64"),
        named_weights(cell),
        ERRORS,
        CELLS[name][2],
        limit,
        truncation,
    )


@EVERY
@TRUNCATIONS
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_gradients_follow_the_definition(name, truncation, limit):
    cell, inputs = random_cell(name), inputs_as_weights()
    found = found_gradients(cell, inputs, limit, truncation)
    expected = expected_gradients(name, cell, inputs, limit, truncation)
    assert len(found) == 4
    for key, array in expected.items():
        np.testing.assert_allclose(found[key], array, rtol=1e-4, atol=1e-5)
        assert abs(array).max() > 0.05
    # those of the other way are others
    turned = {"sliding": "chunked", "chunked": "sliding"}[truncation]
    others = expected_gradients(name, cell, inputs, limit, turned)
    assert max(abs(others[key] - expected[key]).max() for key in others) > 0.01


@pytest.mark.one_backend
@EVERY
def test_without_a_limit_errors_go_back_to_the_start(name):
    cell, inputs = random_cell(name), inputs_as_weights()
    expected = expected_gradients(name, cell, inputs, TIME, "sliding")
    for limit, truncation in (
        (None, "sliding"),
        (TIME - 1, "sliding"),
        (TIME, "chunked"),
        (TIME + 2, "chunked"),
    ):
        found = found_gradients(cell, inputs, limit, truncation)
        for key, array in expected.items():
            np.testing.assert_allclose(found[key], array, rtol=1e-4, atol=1e-5)


@pytest.mark.one_backend
@TRUNCATIONS
def test_nothing_recurs_in_a_feed_forward_layer(truncation):
    cell = FeedForwardCell(UNITS)
    cell.build((None, FEATURES))
    randomize(cell, 2)
    inputs = inputs_as_weights()
    values = ops.convert_to_numpy(inputs).astype("float64")
    weights = named_weights(cell)
    expected = np.maximum(values @ weights["kernel"] + weights["bias"], 0)
    for limit in (None, 1, 3):
        found = ops.convert_to_numpy(run(cell, inputs, limit, truncation))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_compiled_with_a_batch_and_a_length_that_are_not_known():
    start = keras.Input((None, FEATURES))
    cell, found = random_cell("lstm"), []
    for options in ((2, "sliding"), (2, "chunked"), (None,)):
        layer = keras.layers.Lambda(
            lambda x, options=options: run(cell, x, *options),
            output_shape=(None, UNITS),
        )
        found.append(layer(start))
    model = keras.Model(start, found)
    for time in (TIME, 1):
        inputs = random_inputs(BATCH, time, FEATURES)
        values = inputs.astype("float64")
        expected = reference.run(values, named_weights(cell), CELLS["lstm"][2])[0]
        for output in model.predict(inputs, verbose=0):
            np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-6)
