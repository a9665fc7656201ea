"""Regularizers and constraints: one place owns them for the weights of every cell."""

import keras
import numpy as np
import pytest
from cells.cases import CASES, FEATURES, TIME, UNITS, make, random_inputs, width
from keras import ops

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack, ProjectedRNN

RATES = {"kernel": 1.0, "recurrent": 100.0, "bias": 10_000.0}


def kind_of(weight):
    if "bias" in weight.name:
        return "bias"
    matrix = len(weight.shape) == 2
    return "recurrent" if matrix and "recurrent" in weight.name else "kernel"


@pytest.mark.one_backend
@pytest.mark.parametrize("name", CASES)
def test_every_weight_is_regularized_and_constrained_as_its_kind(name):
    options = {f"{k}_regularizer": keras.regularizers.L1(r) for k, r in RATES.items()}
    options |= {
        f"{k}_constraint": keras.constraints.MaxNorm(r) for k, r in RATES.items()
    }
    layer = ProjectedRNN(make(CASES[name], bias_initializer="ones", **options))
    layer.build((None, None, width(layer.cell)))
    expected = sum(
        RATES[kind_of(w)] * abs(ops.convert_to_numpy(w)).sum() for w in layer.weights
    )
    assert len(layer.losses) == len(layer.weights)
    for weight in layer.weights:
        assert weight.constraint.max_value == RATES[kind_of(weight)]
    found = ops.convert_to_numpy(sum(layer.losses))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_training_keeps_to_them():
    """In a stack, whose kernels have a gradient made outside of the loop."""
    cell = make(
        CASES["outputs-joint"],
        appended_inputs=False,
        kernel_constraint=keras.constraints.NonNeg(),
        recurrent_regularizer=keras.regularizers.L1(100.0),
    )
    stack = BidirectionalStack(cell, num_layers=1)
    model = keras.Sequential([keras.Input((TIME, FEATURES)), stack])
    model.compile("sgd", "mse")
    recurrent = stack.forward_layers[0].cell.recurrent_kernel
    before = ops.convert_to_numpy(recurrent)
    x = random_inputs(4, TIME, FEATURES)
    model.train_on_batch(x, random_inputs(4, TIME, 2 * UNITS))
    kernel = stack.forward_layers[0].cell.kernel
    assert (ops.convert_to_numpy(kernel) >= 0).all()
    after = ops.convert_to_numpy(recurrent)
    np.testing.assert_allclose(after, before - np.sign(before), atol=0.1)


def test_the_output_is_regularized_by_the_layer():
    layer = ProjectedRNN(GRUCell(UNITS), activity_regularizer="l2")
    layer(random_inputs(2, TIME, FEATURES))
    assert ops.convert_to_numpy(sum(layer.losses)) > 0
