"""The table at the end of docs/layers.rst: each of its cells is tried here."""

import keras
import numpy as np
import pytest
from keras import layers

from keras_tagging.cells import GRUCell
from keras_tagging.layers import CRF, BidirectionalStack, LabelEmbeddingRNN

NAMES = ("CRF", "BidirectionalStack", "LabelEmbeddingRNN")
EVERY = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.one_backend

RNG = np.random.default_rng(0)
IDS = RNG.integers(1, 9, (4, 5)) * (np.arange(5) < 4)
TAGS = RNG.integers(0, 3, IDS.shape)


def ending(name):
    """The last layers of a model, and its loss."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if name == "CRF":
        crf = CRF(3)
        return [layers.Dense(4), crf], crf.loss
    if name == "BidirectionalStack":
        return [BidirectionalStack(GRUCell(4)), layers.Dense(3)], loss
    return [LabelEmbeddingRNN(4, 3, label_dim=2, label_context=2)], loss


def make_model(name):
    last, loss = ending(name)
    first = [
        layers.Input((None,), dtype="int32"),
        layers.Embedding(9, 6, mask_zero=True),
    ]
    model = keras.Sequential([*first, *last])
    model.compile("adam", loss, metrics=["accuracy"], run_eagerly=True)
    return model


def own_layer(model, name):
    return next(layer for layer in model.layers if type(layer).__name__ == name)


@EVERY
def test_time_distributed(name):
    """As for the sentences of documents, `(documents, sentences, time, features)`."""
    last, loss = ending(name)
    inputs = h = keras.Input((2, 5, 6))
    for layer in last:
        h = layers.TimeDistributed(layer)(h)
    model = keras.Model(inputs, h)
    model.compile("adam", loss, run_eagerly=True)
    x = RNG.normal(size=(4, 2, 5, 6)).astype("float32")
    found = model.predict(x, verbose=0)
    assert found.shape == (4, 2, 5, 3)
    alone = keras.Sequential(last).predict(x[:, 1], verbose=0)
    np.testing.assert_allclose(found[:, 1], alone, atol=1e-5)
    tags = RNG.integers(0, 3, x.shape[:3])
    if name == "CRF":
        with pytest.raises(ValueError, match="let the model end in that layer"):
            model.fit(x, tags, verbose=0)
    else:
        assert np.isfinite(model.fit(x, tags, verbose=0).history["loss"]).all()


# of Keras: of layers without weights, and of NumPy in its own code
@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize`")
@pytest.mark.filterwarnings("ignore:__array__ implementation")
@EVERY
def test_quantized(name):
    keras.utils.set_random_seed(1)  # two paths of a CRF may be equally good, or nearly
    model = make_model(name)
    before = model.predict(IDS, verbose=0)
    with pytest.raises(NotImplementedError, match=f"Layer {name} does not have"):
        own_layer(model, name).quantize("int8")
    model.quantize("int8")
    assert "int8" in model.layers[0].dtype_policy.name
    assert own_layer(model, name).dtype_policy.name == "float32"
    np.testing.assert_allclose(model.predict(IDS, verbose=0), before, atol=0.05)
