"""Seeds, dropout and dtypes of stacks; `test_skip_stack` has their equations."""

import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack

UNITS, FEATURES = 5, 3
LENGTHS = np.array([6, 1, 4, 0])
TIME = 6
MASK = np.arange(TIME) < LENGTHS[:, None]


def random_inputs(seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(LENGTHS), TIME, FEATURES)).astype("float32")


def make(merge="layer", num_layers=2, **kwargs):
    stack = BidirectionalStack(
        GRUCell(UNITS), num_layers=num_layers, merge=merge, **kwargs
    )
    stack.build((None, None, FEATURES))
    return randomize(stack)


@pytest.mark.one_backend
@pytest.mark.parametrize("seed", [None, 11])
def test_copies_start_from_different_weights(seed):
    cell = GRUCell(
        UNITS,
        kernel_initializer=keras.initializers.GlorotUniform(seed=seed),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seed),
    )
    stack = BidirectionalStack(cell, num_layers=2)
    stack.build((None, None, UNITS))
    matrices = [w for w in stack.get_weights() if w.ndim == 2]
    blocks = [block for w in matrices for block in np.split(w, 3, axis=1)]
    assert len(blocks) == 2 * 4 * 3
    for i, block in enumerate(blocks):
        assert all(abs(block - other).max() > 1e-2 for other in blocks[:i])


def test_dropout_only_in_training_and_repeatable_by_seed():
    x = random_inputs()
    first, second, third, plain = (
        ops.convert_to_numpy(make(dropout=rate, seed=seed)(x, mask=MASK, training=True))
        for rate, seed in [(0.5, 1), (0.5, 1), (0.5, 2), (0.0, None)]
    )
    np.testing.assert_array_equal(first, second)
    assert abs(first - third).max() > 1e-3
    dropped = (first == 0)[MASK].mean()
    assert 0.3 < dropped < 0.7 and not (plain == 0)[MASK].any()
    at_inference = ops.convert_to_numpy(make(dropout=0.5, seed=1)(x, mask=MASK))
    np.testing.assert_array_equal(
        at_inference, ops.convert_to_numpy(make()(x, mask=MASK))
    )


def test_variational_dropout_drops_the_same_components_of_a_sentence():
    x, length = random_inputs(), MASK.sum(1)
    stack = make(dropout=0.5, seed=1, variational=True)
    again = type(stack).from_config(stack.get_config())
    assert again.dropout_layers[0].noise_shape == stack.dropout_layers[0].noise_shape
    dropped = ops.convert_to_numpy(stack(x, mask=MASK, training=True)) == 0
    sentences = [row[:n] for row, n in zip(dropped, length, strict=True) if n]
    for row in sentences:
        assert (row == row[:1]).all() and 0 < row[0].mean() < 1
    assert any((row[0] != sentences[0][0]).any() for row in sentences)


@pytest.mark.one_backend
def test_layers_of_one_seed_drop_different_positions():
    ones = np.ones((4, TIME, 2 * UNITS), "float32")
    first, second = (
        ops.convert_to_numpy(layer(ones, training=True))
        for layer in make(dropout=0.5, seed=1).dropout_layers
    )
    assert (first != second).any()


def test_mixed_precision():
    stack = BidirectionalStack(
        GRUCell(UNITS, dtype="mixed_bfloat16"), dropout=0.1, dtype="mixed_bfloat16"
    )
    outputs = stack(random_inputs(), mask=MASK)
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"
    assert stack.weights[0].dtype == "float32"


@pytest.mark.one_backend
@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"merge": "sum"}, "merge='sum': known are 'top', 'layer'"),
        ({"cell": keras.layers.GRUCell(3)}, "GRUCell is no RecurrentCell"),
    ],
)
def test_wrong_arguments_are_named(kwargs, message):
    with pytest.raises(ValueError, match=message):
        BidirectionalStack(**{"cell": GRUCell(3), **kwargs})
