import keras
import numpy as np
import pytest
from cells.cases import random_inputs, randomize
from keras import ops
from reference import gru

from keras_tagging.cells import GRUCell

UNITS, FEATURES, BATCH = 5, 3, 4


def random_cell(seed=0, **kwargs):
    """A built cell whose weights and biases are all random and non-zero."""
    cell = GRUCell(UNITS, **kwargs)
    cell.build((None, FEATURES))
    return randomize(cell, seed)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("update", ["new", "keep"])
def test_step_equals_the_papers_equations(update, compiled):
    cell = random_cell(update=update)
    x, h = random_inputs(BATCH, FEATURES), random_inputs(BATCH, UNITS, seed=2)
    if compiled:
        inputs = keras.Input((FEATURES,)), keras.Input((UNITS,))
        model = keras.Model(inputs, cell(inputs[0], [inputs[1]])[0])
        found = model.predict([x, h], verbose=0)
    else:
        found, (state,) = cell(x, [h])
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (found, state)))
        found = ops.convert_to_numpy(found)
    weights = cell.get_weights()
    expected = [gru.step(*xh, weights, update) for xh in zip(x, h, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow("jax")
@pytest.mark.parametrize("update", ["new", "keep"])
def test_equals_keras_gru(update):
    """Keras' update gate weighs the old state, 1 - z: its weights are the negative."""
    cell = random_cell(update=update)
    stock = keras.layers.GRU(UNITS, reset_after=False, return_sequences=True)
    x = random_inputs(BATCH, 7, FEATURES)
    stock.build(x.shape)
    weights = cell.get_weights()
    if update == "new":
        for w in weights:
            w[..., :UNITS] *= -1
    stock.set_weights(weights)
    found = keras.layers.RNN(cell, return_sequences=True)(x)
    np.testing.assert_allclose(
        *map(ops.convert_to_numpy, (found, stock(x))), rtol=1e-5, atol=1e-6
    )


def test_project_then_step_is_call_for_any_leading_shape():
    cell = random_cell()
    x = ops.convert_to_tensor(random_inputs(BATCH, 7, FEATURES))
    h = ops.convert_to_tensor(random_inputs(BATCH, UNITS, seed=2))
    projected = cell.project(x)
    assert projected.shape == (BATCH, 7, 3 * UNITS)
    for t in range(7):
        np.testing.assert_allclose(
            ops.convert_to_numpy(cell.step(projected[:, t], [h])[0]),
            ops.convert_to_numpy(cell(x[:, t], [h])[0]),
            rtol=1e-5,
            atol=1e-6,
        )


@pytest.mark.one_backend
@pytest.mark.parametrize("seed", [None, 7])
def test_each_gate_has_an_orthogonal_recurrent_matrix_of_its_own(seed):
    cell = GRUCell(
        UNITS, recurrent_initializer=keras.initializers.Orthogonal(seed=seed)
    )
    cell.build((None, FEATURES))
    blocks = np.split(cell.get_weights()[1], 3, axis=1)
    for block in blocks:
        np.testing.assert_allclose(block @ block.T, np.eye(UNITS), atol=1e-5)
    z, r, h = blocks
    assert abs(z - r).max() > 0.1 and abs(r - h).max() > 0.1 and abs(z - h).max() > 0.1


@pytest.mark.one_backend
def test_without_bias():
    cell = GRUCell(UNITS, use_bias=False)
    cell.build((None, FEATURES))
    assert len(cell.weights) == 2
    kernel, recurrent_kernel = cell.get_weights()
    x, h = random_inputs(FEATURES), random_inputs(UNITS, seed=2)
    expected = gru.step(x, h, (kernel, recurrent_kernel, np.zeros(3 * UNITS)))
    found = ops.convert_to_numpy(cell(x[None], [h[None]])[0])
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.one_backend
def test_activations_are_used():
    cell = random_cell(activation="relu", recurrent_activation="hard_sigmoid")
    x, h = random_inputs(BATCH, FEATURES), random_inputs(BATCH, UNITS, seed=2)
    kernel, recurrent_kernel, bias = cell.get_weights()

    def hard_sigmoid(a):
        return np.clip(a / 6 + 0.5, 0, 1)

    gates = hard_sigmoid((x @ kernel + h @ recurrent_kernel + bias)[:, : 2 * UNITS])
    z, r = np.split(gates, 2, axis=1)
    candidate = x @ kernel + (r * h) @ recurrent_kernel + bias
    expected = (1 - z) * h + z * np.maximum(candidate[:, 2 * UNITS :], 0)
    found = ops.convert_to_numpy(cell(x, [h])[0])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.one_backend
def test_config_round_trip():
    cell = GRUCell(
        UNITS,
        update="keep",
        activation="relu",
        recurrent_activation="hard_sigmoid",
        use_bias=False,
        kernel_initializer="he_normal",
        recurrent_initializer="glorot_normal",
        bias_initializer="ones",
    )
    again = GRUCell.from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    serialized = keras.saving.serialize_keras_object(cell)
    assert serialized["registered_name"] == "keras_tagging>GRUCell"


@pytest.mark.one_backend
def test_unknown_update_is_named():
    with pytest.raises(ValueError, match="update='old': known are 'new', 'keep'"):
        GRUCell(3, update="old")
