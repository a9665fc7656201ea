import keras
import numpy as np
import pytest
from cells.cases import as_model, random_inputs, randomize
from keras import ops
from reference import gru

from keras_tagging.cells import GRUCell
from keras_tagging.layers import ProjectedRNN

UNITS, FEATURES = 5, 3
LENGTHS = np.array([6, 1, 4, 0])
TIME = 6
MASK = np.arange(TIME) < LENGTHS[:, None]
# Not only padding at the end: gaps and a masked start.
HOLES = np.array([[1, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 1]] * 2, dtype=bool)
X = random_inputs(*MASK.shape, FEATURES)


def twin(layer, **kwargs):
    """The stock layer with the same cell configuration and weights."""
    stock = keras.layers.RNN(GRUCell.from_config(layer.cell.get_config()), **kwargs)
    stock.build((None, None, FEATURES))
    stock.set_weights(layer.get_weights())
    return stock


def arrays(outputs):
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    return [ops.convert_to_numpy(output) for output in outputs]


def run(layer, x, mask, compiled):
    if not compiled:
        return arrays(layer(x, mask=mask))
    if mask is None:
        sequences = keras.Input((None, FEATURES))
        return arrays(keras.Model(sequences, layer(sequences)).predict(x, verbose=0))
    return arrays(as_model(layer, FEATURES).predict([x, mask], verbose=0))


@pytest.mark.slow("jax")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mask", [None, MASK, HOLES], ids=["none", "padding", "holes"])
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"return_sequences": True},
        {"return_sequences": True, "zero_output_for_mask": True},
        {"return_sequences": True, "go_backwards": True, "return_state": True},
        {"return_state": True, "zero_output_for_mask": True, "go_backwards": True},
    ],
    ids=str,
)
def test_equals_the_stock_layer(kwargs, mask, compiled):
    layer = ProjectedRNN(GRUCell(UNITS), **kwargs)
    layer.build((None, None, FEATURES))
    randomize(layer)
    found = run(layer, X, mask, compiled)
    expected = run(twin(layer, **kwargs), X, mask, compiled)
    for found_array, expected_array in zip(found, expected, strict=True):
        np.testing.assert_allclose(found_array, expected_array, atol=1e-5)


@pytest.mark.one_backend
def test_a_mask_cannot_be_read_unrolled_and_backwards():
    layer = ProjectedRNN(GRUCell(3), unroll=True, go_backwards=True)
    with pytest.raises(ValueError, match="unroll and go_backwards"):
        layer(X, mask=MASK)


class RecordingCell(GRUCell):
    """Lists the calls of its methods."""

    def build(self, input_shape):
        super().build(input_shape)
        self.calls = []

    def project(self, inputs, training=False):
        self.calls.append(("project", tuple(inputs.shape), training))
        return super().project(inputs, training=training)

    def recurrent_weights(self):
        self.calls.append("recurrent_weights")
        return super().recurrent_weights()

    def step(self, projected, states, weights=None):
        self.calls.append("step")
        return super().step(projected, states, weights=weights)


@pytest.mark.parametrize("training", [False, True])
def test_only_the_step_is_inside_the_loop(training):
    layer = ProjectedRNN(RecordingCell(UNITS), unroll=True)
    layer.build(X.shape)
    layer.cell.calls.clear()
    layer(X, training=training)
    prologue, steps = layer.cell.calls[:2], layer.cell.calls[2:]
    assert "recurrent_weights" in prologue
    assert ("project", X.shape, training) in prologue
    assert steps == ["step"] * TIME


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="gradients are TensorFlow's here"
)
def test_second_derivative_raises_instead_of_being_wrong():
    import tensorflow as tf

    layer = ProjectedRNN(GRUCell(UNITS), return_sequences=True)
    x = tf.constant(X)
    layer.build(x.shape)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.reduce_sum(layer(x, training=True) ** 2)
        penalty = tf.reduce_sum(inner.gradient(loss, x) ** 2)
    with pytest.raises(LookupError, match="no second derivative"):
        outer.gradient(penalty, layer.trainable_variables)


def test_stateful_continues_where_the_last_batch_ended():
    whole = ProjectedRNN(GRUCell(UNITS))
    whole.build(X.shape)
    randomize(whole)
    halves = ProjectedRNN(GRUCell(UNITS), stateful=True)
    halves.build((len(X), TIME // 2, FEATURES))
    halves.cell.set_weights(whole.cell.get_weights())
    halves(X[:, : TIME // 2])
    np.testing.assert_allclose(
        *arrays([halves(X[:, TIME // 2 :]), whole(X)]), atol=1e-5
    )


def test_initial_state_is_used():
    layer = ProjectedRNN(GRUCell(UNITS))
    layer.build(X.shape)
    randomize(layer)
    h = np.full((len(X), UNITS), 0.5, "float32")
    weights = layer.get_weights()
    (found,) = arrays(layer(X[:, :1], initial_state=[h]))
    expected = [gru.step(X[i, 0], h[i], weights) for i in range(len(X))]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_stock_bidirectional_takes_it():
    both = keras.layers.Bidirectional(
        ProjectedRNN(GRUCell(UNITS), return_sequences=True)
    )
    both.build(X.shape)
    randomize(both)
    (found,) = arrays(both(X, mask=MASK))
    forward, backward = np.split(np.array(both.get_weights(), dtype=object), 2)
    for row, sentence, length in zip(found, X, LENGTHS, strict=True):
        expected = gru.stack(sentence[:length], [(forward, backward)], "top")
        np.testing.assert_allclose(row[:length], expected, atol=1e-5)
        assert not row[length:].any()


def test_one_training_step_equals_the_stock_layers():
    """Equal weights after one step of SGD: equal gradients. Each has moved."""
    jit_compile = keras.backend.backend() != "torch"  # where it takes a minute
    options = {"return_sequences": True, "go_backwards": True}
    layer = ProjectedRNN(GRUCell(UNITS), **options)
    layer.build((None, None, FEATURES))
    randomize(layer)
    before = layer.get_weights()
    after = []
    for each in (layer, twin(layer, **options)):
        model = as_model(each, FEATURES, TIME)
        model.compile(
            keras.optimizers.SGD(1.0), "mse", jit_compile=jit_compile, run_eagerly=False
        )
        target = np.ones((len(LENGTHS), TIME, UNITS), "float32")
        model.train_on_batch([X, MASK], target)
        after.append(each.get_weights())
    for start, ours, stock in zip(before, *after, strict=True):
        assert (abs(ours - start).max(axis=0) > 1e-6).all()
        np.testing.assert_allclose(ours, stock, atol=1e-5)
