"""Vectors of tokens from their characters, against references one token at a time."""

import keras
import numpy as np
import pytest
from cells.cases import named_weights, op_by_op, randomize
from keras import ops
from layers.gradients import gradients
from reference import characters as reference

from keras_tagging.layers import CharacterEncoder

KINDS = ["gru", "lstm", "coupled-lstm", "cnn"]
EVERY = pytest.mark.parametrize("kind", KINDS)
UNITS, SIZE = 4, 3
TOKENS = [[2, 3, 4, 5, 6, 2], [5], [], [6, 6], [3, 2, 6, 4, 3]]


def padded(tokens, width=0):
    letters = np.zeros((len(tokens), max(width, *map(len, tokens))), "int32")
    for row, token in zip(letters, tokens, strict=True):
        row[: len(token)] = token
    return letters


def encoder(kind, **options):
    """Random weights, the vector of padding among them."""
    layer = CharacterEncoder(7, UNITS, kind=kind, embedding_dim=SIZE, **options)
    layer.build((None, None))
    return randomize(layer, 3)


def run(layer, letters, **options):
    with op_by_op():
        return ops.convert_to_numpy(layer(ops.convert_to_tensor(letters), **options))


def expected(layer, tokens):
    table = layer.table.get_weights()[0].astype("float64")
    rows = []
    for token in tokens:
        vectors = table[np.array(token, int)]
        if layer.kind == "cnn":
            rows.append(reference.convolution(vectors, *layer.filters.get_weights()))
            continue
        both = [
            rnn.get_weights() if layer.kind == "gru" else named_weights(rnn.cell)
            for rnn in layer.directions
        ]
        rows.append(reference.recurrent(layer.kind, vectors, *both))
    return np.stack(rows)


@EVERY
def test_equals_the_papers_equations(kind):
    layer = encoder(kind)
    found = run(layer, padded(TOKENS))
    np.testing.assert_allclose(found, expected(layer, TOKENS), rtol=1e-4, atol=1e-5)
    assert found.shape == layer.compute_output_shape((len(TOKENS), 6))


@EVERY
def test_every_weight_has_a_gradient_and_padding_has_none(kind):
    layer = encoder(kind)
    letters = ops.convert_to_tensor(padded(TOKENS))
    scale = ops.convert_to_tensor([[1.0], [-2.0], [3.0], [0.5], [-1.5]])
    with op_by_op():
        found = gradients(
            layer.trainable_variables, lambda: ops.sum(layer(letters) * scale)
        )
    table, *others = found
    assert not table[0].any() and not table[1].any()
    assert np.abs(table[2:]).min() > 0
    for variable, gradient in zip(layer.trainable_variables[1:], others, strict=True):
        assert np.abs(gradient).max() > 0, variable.path


@EVERY
def test_the_two_directions_start_with_other_weights(kind):
    options = {
        "kernel_initializer": keras.initializers.GlorotUniform(seed=1),
        "recurrent_initializer": keras.initializers.Orthogonal(seed=1),
    }
    layers = []
    for _ in range(2):
        layer = CharacterEncoder(7, UNITS, kind=kind, embedding_dim=SIZE, **options)
        layer.build((None, None))
        layers.append(layer)
    one, other = (layer.get_weights()[1:] for layer in layers)
    assert all(map(np.array_equal, one, other))
    if kind != "cnn":
        forward, backward = (rnn.get_weights() for rnn in layers[0].directions)
        assert not np.array_equal(forward[0], backward[0])
        assert not np.array_equal(forward[1], backward[1])
