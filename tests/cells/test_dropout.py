"""Dropout of the inputs and of h_{t-1}: one mask for all steps, as in Keras' cells.

A mask multiplies what a matrix reads, so it may as well multiply the matrix's rows: a
cell without dropout, with rows scaled by the mask of one sentence, is the reference.
"""

import keras
import numpy as np
import pytest
from cells import cases
from cells.cases import CASES, FEATURES, UNITS, make, op_by_op, random_inputs, width
from keras import ops

from keras_tagging.cells import (
    ElmanCell,
    FeedForwardCell,
    HighwayLSTMCell,
    SkipLSTMCell,
    SkipStackCell,
)
from keras_tagging.layers import ProjectedRNN

BATCH, TIME = 2, 3
NAMED = ("coupled-lstm", "outputs-joint", "internals-exclusive", "block", "mixed")
NAMED += ("highway-lstm-peepholes", "rhn-depth-2", "block-recurrent")
NAMED += ("gru", "gru-keep")
RATES = {"dropout": 0.5, "recurrent_dropout": 0.5}
CELLS = {
    **{name: lambda name=name, **kw: make(CASES[name], **kw) for name in NAMED},
    "elman": lambda **kwargs: ElmanCell(UNITS, "tanh", **kwargs),
}
ON_EVERY_BACKEND = {"outputs-joint", "gru"}


def build(cell):
    """The cell with small random weights, always the same."""
    return cases.randomize(cases.build(cell), scale=0.5)


def random_masks(cell, seed=5):
    rng = np.random.default_rng(seed)
    sizes = width(cell), cell.units
    return [2.0 * rng.integers(0, 2, (BATCH, n)).astype("float32") for n in sizes]


def scaled(cell, x_mask, h_mask):
    """The weights whose rows that read x or h_tm1 are scaled."""
    arrays = []
    for weight, array in zip(cell.weights, cell.get_weights(), strict=True):
        reads_h = weight.name in ("recurrent_kernel", "gate_recurrent_kernel")
        if reads_h:
            array = array * h_mask[:, None]
        elif len(array.shape) == 2 and len(array) == FEATURES:
            array = array * x_mask[:FEATURES, None]
        arrays.append(array)
    return arrays


@pytest.mark.parametrize("layer_class", [keras.layers.RNN, ProjectedRNN])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[] if name in ON_EVERY_BACKEND else pytest.mark.one_backend
        )
        for name in CELLS
    ],
)
def test_masks_are_those_of_all_steps_and_gates(name, layer_class):
    cell, plain = build(CELLS[name](**RATES)), build(CELLS[name]())
    x = random_inputs(BATCH, TIME, width(cell))
    masks = random_masks(cell)
    cell._dropout_mask, cell._recurrent_dropout_mask = map(ops.convert_to_tensor, masks)
    with op_by_op():
        layer = layer_class(cell, return_sequences=True)
        found = ops.convert_to_numpy(layer(x, training=True))
        reference = keras.layers.RNN(plain, return_sequences=True)
        for row, sentence, *of_row in zip(found, x, *masks, strict=True):
            plain.set_weights(scaled(cell, *of_row))
            expected = ops.convert_to_numpy(reference(sentence[None]))[0]
            np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-5)
        plain.set_weights(cell.get_weights())
        outputs = layer(x), reference(x)
        np.testing.assert_allclose(*map(ops.convert_to_numpy, outputs), atol=1e-5)


def identity(**rates):
    """h_t = x_t + h_{t-1}, with its dropout."""
    options = {"kernel_initializer": "identity", "recurrent_initializer": "identity"}
    return ElmanCell(UNITS, "linear", use_bias=False, **options, **rates)


def copy(**rates):
    """h_t = x_t, with its dropout."""
    options = {"kernel_initializer": "identity", "use_bias": False}
    return FeedForwardCell(UNITS, "linear", **options, **rates)


@pytest.mark.parametrize("layer_class", [keras.layers.RNN, ProjectedRNN])
def test_each_sequence_and_batch_has_masks_of_its_own(layer_class):
    ones, many = np.ones((1, 1, 1), "float32"), 200
    layer = layer_class(copy(dropout=0.2, seed=1), return_sequences=True)
    x = np.broadcast_to(ones, (many, TIME, UNITS))
    first, second = (ops.convert_to_numpy(layer(x, training=True)) for _ in range(2))
    assert sorted(set(first.ravel())) == [0, 1.25]
    np.testing.assert_array_equal(first, np.broadcast_to(first[:, :1], x.shape))
    assert (first != second).any() and (first[0] != first).any()
    np.testing.assert_allclose(first.mean(), 1, atol=0.1)
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(x)), x)

    layer = layer_class(identity(recurrent_dropout=0.5, seed=1), return_sequences=True)
    start = [np.broadcast_to(ones[0], (many, UNITS))]
    found = ops.convert_to_numpy(layer(0 * x, initial_state=start, training=True))
    mask = found[:, 0]
    assert sorted(set(mask.ravel())) == [0, 2]
    for step in range(TIME):
        np.testing.assert_array_equal(found[:, step], mask ** (step + 1))
    np.testing.assert_allclose(mask.mean(), 1, atol=0.15)


@pytest.mark.parametrize("own", [True, False])
def test_each_cell_of_a_stack_has_masks_of_its_own(own):
    """Our stack and that of Keras: every unit is dropped by either of the two cells."""
    cells = [copy(dropout=0.5, seed=seed) for seed in (1, 2)]
    cell = SkipStackCell(cells) if own else cells
    layer = keras.layers.RNN(cell, return_sequences=True)
    x = np.ones((50, TIME, UNITS), "float32")
    found = ops.convert_to_numpy(layer(x, training=True))
    assert sorted(set(found.ravel())) == [0, 4]
    np.testing.assert_array_equal(found, np.broadcast_to(found[:, :1], x.shape))
    assert 0.15 < (found > 0).mean() < 0.35
    again = ops.convert_to_numpy(layer(x, training=True))
    assert (found != again).any()


@pytest.mark.parametrize(
    "name", ["gru", pytest.param("internals-exclusive", marks=pytest.mark.one_backend)]
)
def test_one_training_step_equals_the_stock_layers(name):
    """Equal weights after SGD with the same seed: the gradient outside the loop is
    that of the dropped h_{t-1}."""
    after = []
    for layer_class in (ProjectedRNN, keras.layers.RNN):
        cell = build(CELLS[name](seed=3, **RATES))
        before = cell.get_weights()
        inputs = keras.Input((TIME, width(cell)))
        outputs = layer_class(cell, return_sequences=True)(inputs)
        model = keras.Model(inputs, outputs)
        # `test_projected_rnn` compiles such a step by XLA
        eagerly = keras.backend.backend() != "jax"
        model.compile(keras.optimizers.SGD(1.0), "mse", run_eagerly=eagerly)
        x = random_inputs(8, TIME, width(cell))
        model.train_on_batch(x, np.ones((8, TIME, UNITS), "float32"))
        after.append(cell.get_weights())
    for start, ours, stock in zip(before, *after, strict=True):
        assert (abs(ours - start).max(axis=0) > 1e-7).all()
        np.testing.assert_allclose(ours, stock, atol=1e-5)


@pytest.mark.one_backend
@pytest.mark.parametrize("cell_class", [SkipLSTMCell, HighwayLSTMCell])
def test_unit_forget_bias_is_a_forget_bias_of_one(cell_class):
    cell = cell_class(UNITS, unit_forget_bias=True, bias_initializer="ones")
    cell.build((None, width(cell)))
    assert (ops.convert_to_numpy(cell.bias) == 1).all()  # as in Keras, not 2
    assert cell.get_config()["forget_bias"] == 1
    assert cell_class.from_config(cell.get_config()).forget_bias == 1
    assert cell_class(UNITS).forget_bias == 0
