"""Scores of heads, against the equations in NumPy."""

import keras
import numpy as np
from keras import ops
from layers.gradients import gradients

from keras_tagging.layers import BiaffineHeads


def by_hand(weights, x, length):
    """Dozat & Manning (2017), Eq. 4 and 9, word by word."""
    found = np.zeros((length, length + 1))

    def hidden(name, i):
        y = x[i] @ weights[f"{name}_kernel"] + weights[f"{name}_bias"]
        return np.where(y > 0, y, 0.2 * y)

    for i in range(length):
        d = hidden("dependent", i)
        for j in range(length + 1):
            h = weights["root"] if j == 0 else hidden("head", j - 1)
            found[i, j] = d @ weights["bilinear"] @ h + weights["prior"] @ h
    return found


def test_scores_are_those_of_the_equations():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 5, 4)).astype("float32")
    lengths = [5, 3, 1]
    mask = np.arange(5) < np.array(lengths)[:, None]
    layer = BiaffineHeads(6, activation=lambda y: keras.ops.leaky_relu(y, 0.2))
    layer.build((None, None, 4))
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    weights = {w.name: keras.ops.convert_to_numpy(w) for w in layer.weights}
    found = keras.ops.convert_to_numpy(layer(x, mask=mask))
    assert found.shape == (3, 5, 6)
    for row, own, length in zip(found, x, lengths, strict=True):
        expected = by_hand(weights, own, length)
        np.testing.assert_allclose(row[:length, : length + 1], expected, atol=1e-4)
        assert (row[:length, length + 1 :] < -1e4).all()


def test_gradients_reach_every_weight():
    layer = BiaffineHeads(3)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 4, 3)).astype("float32")
    layer(x)
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    found = gradients(layer.trainable_weights, lambda: ops.sum(layer(x) ** 2))
    assert all(np.abs(gradient).max() > 0 for gradient in found)
