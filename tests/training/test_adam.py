"""Adam in fewer passes over the weights: the updates are those of Keras."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import check_close

from keras_tagging.training.adam import Adam

if keras.backend.backend() != "tensorflow":
    pytest.skip("the class of Keras alone", allow_module_level=True)

CLOSE = {"rtol": 2e-6, "atol": 5e-6}
RANDOM = np.random.default_rng(0)
STARTS = [RANDOM.normal(size=shape).astype("f") for shape in ((7, 3), (3, 4), (4,))]


def trained(optimizer, dtype="float32", dense=False, steps=4):
    """All variables after steps with the gradients of a table and of a layer."""
    table, kernel, bias = variables = [keras.Variable(x, dtype=dtype) for x in STARTS]
    optimizer.build(variables)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:  # a row may come twice, or never
            x = keras.ops.take(table, ids, 0)
            loss = tf.reduce_sum(tf.tanh(x @ kernel + bias) ** 2)
        gradients = tape.gradient(loss, [v.value for v in variables])
        optimizer.apply(
            [tf.convert_to_tensor(g) for g in gradients] if dense else gradients
        )

    for number in range(steps):
        step(tf.constant([1, number, 1, 5]))
    return [v.numpy().astype("float64") for v in (*variables, *optimizer.variables)]


@pytest.mark.parametrize(
    "options",
    [
        {"use_ema": True, "ema_momentum": 0.9, "global_clipnorm": 0.3},
        {"global_clipnorm": 1e3, "beta_1": 0.8, "beta_2": 0.99, "epsilon": 1e-3},
        {"clipnorm": 0.1, "amsgrad": True},
    ],
)
def test_its_updates_are_those_of_keras(options):
    theirs = trained(keras.optimizers.Adam(0.05, **options))
    check_close(trained(Adam(0.05, **options)), theirs, **CLOSE)


def test_without_a_limit_a_row_that_comes_twice_has_one_gradient():
    """Keras adds up the squares of its gradients, on TensorFlow."""
    options = {"weight_decay": 0.1}
    theirs = trained(keras.optimizers.Adam(0.05, **options), "float64", dense=True)
    check_close(trained(Adam(0.05, **options), "float64"), theirs, **CLOSE)
