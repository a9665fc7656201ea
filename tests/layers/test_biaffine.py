"""Scores of heads and of labels, and their network, against the equations in NumPy."""

import keras
import numpy as np
import pytest
from cells.cases import named_weights, random_inputs, randomize, stack_weights
from conftest import WORDS_ONLY
from keras import ops
from layers.gradients import gradients
from models.biaffine import DRY, EMPTY, TRAIN, random_parser
from reference import biaffine as reference

import keras_tagging
from keras_tagging.layers import ArcLabels, BiaffineHeads

LENGTHS = np.array([5, 3, 1])
MASK = np.arange(5) < LENGTHS[:, None]
X = random_inputs(3, 5, 4)


def made(layer):
    layer.build((None, None, 4))
    return randomize(layer)


@pytest.mark.one_backend
def test_scores_are_float32_in_a_graph_of_half_precision_as_well():
    vectors = keras.KerasTensor((2, None, 4), "float16")
    scores = BiaffineHeads(3, dtype="mixed_float16")(vectors)
    assert (scores.shape, scores.dtype) == ((2, None, None), "float32")


def test_scores_of_heads_are_those_of_the_equations():
    layer = made(BiaffineHeads(6))
    found = ops.convert_to_numpy(layer(X, mask=MASK))
    assert found.shape == (3, 5, 6)
    for row, own, n in zip(found, X, LENGTHS, strict=True):
        expected = reference.head_scores(named_weights(layer), own[:n])
        np.testing.assert_allclose(row[:n, : n + 1], expected, atol=1e-5, rtol=1e-5)
        assert (row[:n, n + 1 :] < -1e4).all()


@pytest.mark.parametrize("part", ["all", "no product"])
def test_scores_of_labels_are_those_of_the_equations(part):
    """Without the product they are a plain layer over both vectors."""
    layer = made(ArcLabels(2, 6))
    if part != "all":
        layer.kernel.assign(layer.kernel * (np.arange(18) > 5)[:, None])
    chosen = (
        np.random.default_rng(2).integers(0, 6, MASK.shape) % (LENGTHS + 1)[:, None]
    )
    dependents, heads = layer(X, mask=MASK)
    found = layer.scores(dependents, heads, np.where(MASK, chosen, -1).astype("int32"))
    weights = named_weights(layer)
    for b, n in enumerate(LENGTHS):
        expected = reference.label_scores(weights, X[b, :n], chosen[b, :n])
        if part != "all":
            d, h = reference.hidden(weights, X[b, :n])
            both = np.concatenate([d, h[chosen[b, :n]]], 1)
            expected = both @ weights["kernel"][6:] + weights["bias"]
        own = ops.convert_to_numpy(found[b])[:n]
        np.testing.assert_allclose(own, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("layer", [BiaffineHeads(3), ArcLabels(2, 3)])
def test_gradients_reach_every_weight(layer):
    made(layer)
    chosen = np.arange(5)[::-1] * np.ones((3, 1), int)

    def total():
        found = layer(X)
        if isinstance(layer, ArcLabels):
            found = layer.scores(*found, chosen)
        return ops.sum(found**2)

    for gradient in gradients(layer.trainable_weights, total):
        assert np.abs(gradient).max() > 0


# The network


def test_the_network_is_that_of_the_equations():
    model = random_parser(num_layers=3)
    layers = {
        layer.name: stack_weights(layer)
        if "stack" in layer.name
        else named_weights(layer)
        for layer in model.network.layers
    }
    given = [*TRAIN[:3], EMPTY]
    ids, *_ = model.encode(given, targets=True).batch(np.arange(4))
    assert len(layers["stack"]) == 2 and ids.shape[1] > min(map(len, TRAIN[:3]))
    outputs = model.network(ids)
    heads = np.zeros(ids.shape[:2], "int32")
    for b, s in enumerate(given):
        heads[b, : len(s)] = [*map(int, s.columns["head"])]
    outputs["labels"] = model.label_scores(outputs, heads)
    assert ops.convert_to_numpy(outputs["lengths"]).tolist() == [*map(len, given)]
    table = layers["word_embedding"]["embeddings"]
    for b, s in enumerate(given[:3]):
        n, columns = len(s), ("upos", "xpos")
        expected = reference.network(
            layers, table[ids[b, :n, 0]], columns, heads[b, :n]
        )
        found = keras.tree.map_structure(
            lambda x, b=b, n=n: ops.convert_to_numpy(x[b])[:n],
            {name: outputs[name] for name in expected},
        )
        found["heads"] = found["heads"][:, : n + 1]
        keras.tree.map_structure(
            lambda x, y: np.testing.assert_allclose(x, y, atol=1e-5, rtol=1e-5),
            found,
            expected,
        )


def test_without_feeding_the_tags_are_those_of_a_tagger():
    model = random_parser(tags="upos", feed_dim=0)
    sizes = {"units": 4, "word_dim": 5, "num_layers": 2, "merge": "layer"}
    tagger = keras_tagging.build("bilstm", tags="upos", **sizes, **WORDS_ONLY)
    tagger.adapt(TRAIN)
    for layer in tagger.network.layers:
        layer.set_weights(model.network.get_layer(layer.name).get_weights())
    ids, *_ = model.encode(TRAIN, targets=True).batch(np.arange(len(TRAIN)))
    both = (ops.convert_to_numpy(x.network(ids)["upos"]) for x in (model, tagger))
    np.testing.assert_array_equal(*both)


def test_the_loss_reaches_every_weight():
    model = random_parser(**DRY)
    ids, targets, mask = model.encode(TRAIN, targets=True).batch(np.arange(len(TRAIN)))
    arrays = [ops.convert_to_tensor(x) for x in (targets, mask)]

    def loss():
        return model.compute_loss(None, arrays[0], model(ids), arrays[1])

    found = gradients(model.trainable_variables, loss)
    for variable, gradient in zip(model.trainable_variables, found, strict=True):
        assert np.abs(gradient).max() > 1e-5, variable.path
