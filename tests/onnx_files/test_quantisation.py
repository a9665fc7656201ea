"""Recurrent layers with weights of 8 bits."""

import json

import numpy as np
import onnx
import pytest
from onnx_files.odd import sentences, session_of, tagger

from keras_tagging import runtime
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.onnx.layers import LARGEST, LARGEST_WEIGHT, int8_product


def product(x, weights):
    """What ONNX Runtime gives for a product in 8 bits."""
    xp = Arrays(Builder())
    axes = [str(i) for i in range(x.ndim)]
    xp.output("y", int8_product(xp, xp.input("x", "float32", axes), weights), axes)
    return session_of(xp).run(None, {"x": x})[0]


@pytest.mark.parametrize("shape", [(5,), (1,), (3, 4), (0, 2)])
def test_products_of_rounded_factors(shape):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(*shape, 70)).astype("float32")
    x *= 10.0 ** rng.integers(-6, 6, (*shape, 1))  # each row has its own scale
    x.reshape(-1, 70)[:1] = 0
    weights = rng.normal(size=(70, 9)).astype("float32")
    weights[:, 3] *= 1e4
    weights[:, 5] = 0
    of_rows = np.maximum(abs(x).max(-1, keepdims=True), 1e-9) / LARGEST
    of_columns = np.maximum(abs(weights).max(0), 1e-9) / LARGEST_WEIGHT
    rounded = (np.round(x / of_rows) * of_rows).astype("float64")
    expected = rounded @ (np.round(weights / of_columns) * of_columns)
    # a factor half way between two integers may be rounded to either
    step = of_rows * abs(weights).max(0)
    found = product(x, weights)
    assert found.shape == expected.shape
    assert (abs(found - expected) <= 1.01 * step + 1e-9).all()
    error = abs(found - x.astype("float64") @ weights)
    assert (error <= 0.1 * abs(x).max(-1, keepdims=True) * abs(weights).max(0)).all()


@pytest.mark.parametrize("name", ["bigru", "skip-bilstm"])
def test_taggers(name, train_sentences, tmp_path):
    model = tagger(name, train_sentences, character_network="gru")
    model.run_eagerly = True  # two batches are less work than a graph
    path = tmp_path / "tagger.onnx"
    model.export(path, format="onnx", int8=True)
    [prop] = onnx.load(path).metadata_props
    assert json.loads(prop.value)["int8"] is True
    found = runtime.load(path)
    given = [s for s in sentences(30) if len(s) < 20]
    rows = found.predict(given)
    gaps = abs(np.concatenate(rows) - np.concatenate(model.predict(given)))
    assert 0 < gaps.mean() < 0.02
    # what a sentence gets does not depend on the others
    [alone] = found.predict([given[5]])
    np.testing.assert_allclose(alone, rows[5], atol=1e-5)


def test_what_cannot_be_in_8_bits(train_sentences, tmp_path):
    model = tagger("i-rnn", train_sentences)
    with pytest.raises(ValueError, match="this tagger has no recurrent layer to be"):
        model.export(tmp_path / "tagger.onnx", format="onnx", int8=True)
    with pytest.raises(ValueError, match='int8 is for format="onnx"'):
        model.export(tmp_path / "served", int8=True)
    assert not list(tmp_path.iterdir())
