import keras
import numpy as np
import pytest
from cells.cases import (
    FEATURES,
    LENGTHS,
    MASK,
    UNITS,
    named_weights,
    random_inputs,
    random_sentences,
    random_states,
    randomize,
)
from keras import ops
from reference import parser as reference

from keras_tagging.cells import ElmanCell
from keras_tagging.layers import ProjectedRNN

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
SENTENCES = random_sentences(FEATURES)


def random_cell(seed=0, **kwargs):
    cell = ElmanCell(UNITS, **kwargs)
    cell.build((None, FEATURES))
    return randomize(cell, seed)


def array(tensor):
    return ops.convert_to_numpy(tensor)


@pytest.mark.parametrize("compiled", [False, True])
def test_step_equals_the_papers_equation(compiled):
    cell = random_cell()
    x, (h,) = random_inputs(9, FEATURES), random_states(cell, 9)
    if compiled:
        inputs = keras.Input((FEATURES,)), keras.Input((UNITS,))
        model = keras.Model(inputs, cell(inputs[0], [inputs[1]])[0])
        found = model.predict([x, h], verbose=0)
    else:
        found, (state,) = cell(x, [h])
        found = array(found)
        np.testing.assert_array_equal(found, array(state))
    (expected,) = reference.step(x, [h], named_weights(cell), "h")
    np.testing.assert_allclose(found, expected, **CLOSE)
    assert 0.2 < (found > 0).mean() < 0.8  # the ReLU has been at work


def test_a_step_by_hand():
    """max{0, 2 * 3 - 1 * 4 + 0.5} and max{0, -3 + 4 * 2 - 6}."""
    cell = ElmanCell(2)
    cell.build((None, 1))
    cell.set_weights([np.array([[2, -1]]), np.diag([-1, 2]), np.array([0.5, -6])])
    found, _ = cell(np.array([[3.0]]), [np.array([[4.0, 4.0]])])
    np.testing.assert_array_equal(array(found), [[2.5, 0]])


@pytest.mark.one_backend
def test_with_tanh_equals_keras_simple_rnn():
    cell = random_cell(activation="tanh")
    options = {"return_sequences": True, "return_state": True}
    stock = keras.layers.SimpleRNN(UNITS, **options)
    stock.build((None, None, FEATURES))
    stock.set_weights(cell.get_weights())
    ours = ProjectedRNN(cell, **options)
    pairs = zip(ours(SENTENCES, mask=MASK), stock(SENTENCES, mask=MASK), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(array(found), array(expected), **CLOSE)


def test_project_then_step_is_call_for_any_leading_shape():
    cell = random_cell()
    x, (h,) = ops.convert_to_tensor(SENTENCES), random_states(cell)
    projected = cell.project(x)
    assert projected.shape == (*SENTENCES.shape[:2], UNITS)
    for t in range(SENTENCES.shape[1]):
        found = cell.step(projected[:, t], [ops.convert_to_tensor(h)])[0]
        np.testing.assert_allclose(array(found), array(cell(x[:, t], [h])[0]), **CLOSE)


def test_masked_batch_equals_each_sentence_alone():
    layer = ProjectedRNN(
        random_cell(), return_sequences=True, zero_output_for_mask=True
    )
    found = array(layer(SENTENCES, mask=MASK))
    for row, sentence, length in zip(found, SENTENCES, LENGTHS, strict=True):
        if length:
            (expected,) = reference.run(
                sentence[:length].astype("float64"), named_weights(layer.cell), "h"
            )
            np.testing.assert_allclose(row[:length], expected, rtol=1e-4, atol=1e-5)
        assert not row[length:].any()


def make_model():
    layer = ProjectedRNN(ElmanCell(UNITS), return_sequences=True)
    inputs = keras.Input((None, FEATURES))
    model = keras.Model(inputs, layer(inputs))
    return randomize(model, scale=0.5)


def test_gradients_reach_every_weight():
    model = make_model()
    model.compile(keras.optimizers.SGD(1.0), "mse")
    before = model.get_weights()
    model.train_on_batch(SENTENCES, np.ones((*SENTENCES.shape[:2], UNITS)))
    assert len(before) == 3
    for old, new in zip(before, model.get_weights(), strict=True):
        assert (abs(np.atleast_2d(new - old)).max(axis=0) > 1e-6).all()


def test_keras_file_round_trip(tmp_path):
    model = make_model()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(array(again(SENTENCES)), array(model(SENTENCES)))
    assert type(again.layers[-1].cell) is ElmanCell


@pytest.mark.one_backend
def test_without_bias():
    cell = random_cell(use_bias=False)
    assert [weight.name for weight in cell.weights] == ["kernel", "recurrent_kernel"]
    x, (h,) = random_inputs(9, FEATURES), random_states(cell, 9)
    weights = named_weights(cell) | {"bias": np.zeros(UNITS)}
    (expected,) = reference.step(x, [h], weights, "h")
    np.testing.assert_allclose(array(cell(x, [h])[0]), expected, **CLOSE)


@pytest.mark.one_backend
def test_config_round_trip():
    cell = ElmanCell(
        UNITS,
        activation="tanh",
        use_bias=False,
        kernel_initializer="he_normal",
        recurrent_initializer="glorot_normal",
        bias_initializer="ones",
    )
    again = ElmanCell.from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    serialized = keras.saving.serialize_keras_object(cell)
    assert serialized["registered_name"] == "keras_tagging>ElmanCell"


@pytest.mark.one_backend
def test_the_papers_activation_is_the_default_and_survives_a_round_trip():
    again = ElmanCell.from_config(ElmanCell(UNITS).get_config())
    assert again.activation is keras.activations.relu


@pytest.mark.one_backend
def test_initial_weights():
    cell = ElmanCell(UNITS, bias_initializer=keras.initializers.Constant(0.02))
    cell.build((None, FEATURES))
    _, recurrent, bias = cell.get_weights()
    np.testing.assert_allclose(recurrent @ recurrent.T, np.eye(UNITS), atol=1e-5)
    np.testing.assert_allclose(bias, np.full(UNITS, 0.02))
    (state,) = cell.get_initial_state(batch_size=2)
    np.testing.assert_array_equal(array(state), np.zeros((2, UNITS)))
