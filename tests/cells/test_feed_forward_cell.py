import keras
import numpy as np
import pytest
from cells.cases import (
    FEATURES,
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

from keras_tagging.cells import ElmanCell, FeedForwardCell
from keras_tagging.layers import ProjectedRNN

CLOSE = {"rtol": 1e-5, "atol": 1e-6}
SENTENCES = random_sentences(FEATURES)


def random_cell(seed=3, **kwargs):
    cell = FeedForwardCell(UNITS, **kwargs)
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


@pytest.mark.one_backend
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_equals_keras_dense_in_every_step(activation):
    cell = random_cell(activation=activation)
    stock = keras.layers.Dense(UNITS, activation=activation)
    stock.build((None, None, FEATURES))
    stock.set_weights(cell.get_weights())
    expected = array(stock(SENTENCES))
    layer = ProjectedRNN(cell, return_sequences=True, zero_output_for_mask=True)
    found = array(layer(SENTENCES, mask=MASK))
    np.testing.assert_allclose(found[MASK], expected[MASK], **CLOSE)
    assert not found[~MASK].any()
    # project and step take any leading shape
    at_once = array(cell.step(cell.project(SENTENCES), None)[0])
    np.testing.assert_allclose(at_once, expected, **CLOSE)


def test_equals_elman_without_recurrent_weights():
    cell = random_cell()
    elman = ElmanCell(UNITS)
    elman.build((None, FEATURES))
    kernel, bias = cell.get_weights()
    elman.set_weights([kernel, np.zeros((UNITS, UNITS)), bias])
    options = {"return_sequences": True}
    found, expected = (
        array(ProjectedRNN(each, **options)(SENTENCES)) for each in (cell, elman)
    )
    np.testing.assert_allclose(found, expected, **CLOSE)


def make_model():
    layer = ProjectedRNN(FeedForwardCell(UNITS), return_sequences=True)
    inputs = keras.Input((None, FEATURES))
    model = keras.Model(inputs, layer(inputs))
    return randomize(model, seed=3, scale=0.5)


def test_gradients_reach_every_weight():
    model = make_model()
    model.compile(keras.optimizers.SGD(1.0), "mse")
    before = model.get_weights()
    model.train_on_batch(SENTENCES, np.ones((*SENTENCES.shape[:2], UNITS)))
    assert len(before) == 2
    for old, new in zip(before, model.get_weights(), strict=True):
        assert (abs(np.atleast_2d(new - old)).max(axis=0) > 1e-6).all()


def test_keras_file_round_trip(tmp_path):
    model = make_model()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(array(again(SENTENCES)), array(model(SENTENCES)))
    assert type(again.layers[-1].cell) is FeedForwardCell


@pytest.mark.one_backend
def test_without_bias():
    cell = random_cell(use_bias=False)
    assert [weight.name for weight in cell.weights] == ["kernel"]
    x = random_inputs(9, FEATURES)
    weights = named_weights(cell) | {"bias": np.zeros(UNITS)}
    (expected,) = reference.step(x, [np.zeros((9, UNITS))], weights, "h")
    found = array(cell.step(cell.project(x), None)[0])
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.one_backend
def test_config_round_trip():
    cell = FeedForwardCell(
        UNITS,
        activation="tanh",
        use_bias=False,
        kernel_initializer="he_normal",
        bias_initializer="ones",
    )
    again = FeedForwardCell.from_config(cell.get_config())
    assert again.get_config() == cell.get_config()
    default = FeedForwardCell.from_config(FeedForwardCell(UNITS).get_config())
    assert default.activation is keras.activations.relu
    serialized = keras.saving.serialize_keras_object(cell)
    assert serialized["registered_name"] == "keras_tagging>FeedForwardCell"
