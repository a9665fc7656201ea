"""LSTM layers, and what reads them, with weights of 8 bits."""

import json

import numpy as np
import onnx
import pytest
from conftest import WORDS_ONLY, random_sentences, randomize
from onnx_files.odd import sentences, session_of, tagger

import keras_tagging
from keras_tagging import runtime
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.onnx.int8 import int8_lstm, int8_product

UNITS, FEATURES = 7, 5


def by_definition(weights, most, x, length, backwards):
    """An LSTM of rounded factors, step by step in NumPy: `(time, units)`."""
    kernel, recurrent, bias = (w.astype("float64") for w in weights)

    def product(matrix, y, largest):
        """Of `(4, units, n)` and n numbers, which have 8 bits."""
        of_rows = np.maximum(abs(matrix).max(-1, keepdims=True), 1e-9) / 64
        scale = np.float32(2 * largest) / np.float32(255)
        zero = np.round(np.float32(largest) / scale)
        whole = np.round((y / scale).astype("float32")) + zero
        whole = np.clip(whole, 0, 255) - zero
        return (np.round(matrix / of_rows) * of_rows) @ (whole * scale)

    h, c, outputs = np.zeros(UNITS), np.zeros(UNITS), np.zeros((len(x), UNITS))
    order = range(length)[::-1] if backwards else range(length)
    for step, place in enumerate(order):
        gates = product(kernel * 1.001 * most, x[place] / (1.001 * most), 1)
        gates += bias[..., 0]
        if step:  # so far the largest state of all is tanh(step)
            gates += product(recurrent, h, np.tanh(np.float32(step)))
        i, o, f = 1 / (1 + np.exp(-gates[:3]))
        c = f * c + i * np.tanh(gates[3])
        outputs[place] = h = o * np.tanh(c)
    return outputs


@pytest.mark.parametrize("backwards", [False, True])
def test_lstm_of_rounded_factors(backwards):
    rng = np.random.default_rng(1)
    most = (10.0 ** rng.integers(-2, 3, FEATURES)).astype("float32")
    weights = [
        rng.normal(size=(4, UNITS, n)).astype("float32") * 2
        for n in (FEATURES, UNITS, 1)
    ]
    weights[0] /= most
    weights[0][0, 1] = 0
    xp = Arrays(Builder(), int8=True)
    x = xp.input("x", "float32", ("rows", "time", FEATURES))
    x.most = most
    lengths = xp.input("lengths", "int32", ("rows",))
    direction = "reverse" if backwards else "forward"
    found = int8_lstm(xp, weights, x, lengths, outputs=2, direction=direction)
    for name, array in zip("yh", found, strict=True):
        xp.output(name, array, "abcd"[: 4 if name == "y" else 3])
    session = session_of(xp)
    size = np.array([3, 12, 1, 0, 9], "int32")
    values = rng.uniform(-1, 1, (5, 12, FEATURES)).astype("float32") * most
    values[1, 4] = most  # as large as can be
    y, last = session.run(None, {"x": values, "lengths": size})
    for row, length in enumerate(size):
        expected = by_definition(weights, most, values[row], length, backwards)
        np.testing.assert_allclose(y[:, 0, row], expected, atol=1e-5)
        end = expected[0 if backwards else length - 1] if length else 0
        np.testing.assert_allclose(last[0, row], end + np.zeros(UNITS), atol=1e-5)
        # to the last bit what it is without the others
        [alone] = session.run(["y"], {"x": values[[row]], "lengths": size[[row]]})
        np.testing.assert_array_equal(alone[:, 0, 0], y[:, 0, row])


@pytest.mark.parametrize("shape", [(5,), (3, 4), (0, 2)])
def test_products_of_rounded_factors(shape):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (*shape, 70)).astype("float32")
    weights = rng.normal(size=(70, 9)).astype("float32")
    weights[:, 3] *= 1e4
    weights[:, 5] = 0
    of_columns = np.maximum(abs(weights).max(0), 1e-9) / 64
    rounded = np.round(weights / of_columns) * of_columns
    expected = (np.round(x * 127.0) / 127) @ rounded
    xp = Arrays(Builder(), int8=True)
    axes = [str(i) for i in range(x.ndim)]
    xp.output("y", int8_product(xp, xp.input("x", "float32", axes), weights), axes)
    found = session_of(xp).run(None, {"x": x})[0]
    # a factor half way between two integers may be rounded to either
    assert (abs(found - expected) <= abs(weights).max(0) / 100 + 1e-9).all()


def nodes_of(path):
    return [node.op_type for node in onnx.load(path).graph.node]


NETWORKS = {
    "layer": {"merge": "layer"},
    "top": {"merge": "top"},
    "letters": {"character_network": "lstm"},
    "window": {"window": 3},
}


@pytest.mark.parametrize("options", NETWORKS.values(), ids=NETWORKS)
def test_taggers(options, train_sentences, tmp_path):
    model = tagger("bilstm", train_sentences, **options)
    model.run_eagerly = True  # two batches are less work than a graph
    path = tmp_path / "tagger.onnx"
    model.export(path, format="onnx", int8=True)
    made = onnx.load(path)
    [prop] = made.metadata_props
    assert json.loads(prop.value)["int8"] is True
    # what is in a window has no bound that is known
    floats = 2 * ("window" in options)
    letters = 2 * ("character_network" in options)
    assert nodes_of(path).count("LSTM") == floats
    assert nodes_of(path).count("DynamicQuantizeLSTM") == 4 - floats + letters
    assert nodes_of(path).count("MatMulIntegerToFloat") == 1
    found = runtime.load(path)
    given = [s for s in sentences(30) if len(s) < 20]
    rows = found.predict(given)
    gaps = abs(np.concatenate(rows) - np.concatenate(model.predict(given)))
    assert 0 < gaps.mean() < 0.02
    for row, sentence in zip(rows, given, strict=True):
        [alone] = found.predict([sentence])
        np.testing.assert_allclose(alone, row, atol=1e-6)


def test_biaffine_parser(tmp_path):
    train = random_sentences(40, 1)
    for sentence in train:
        sentence.columns["head"] = [*range(len(sentence.tokens))]
        sentence.columns["deprel"] = ["root", *["dep"] * (len(sentence.tokens) - 1)]
    options = {"units": 5, "word_dim": 4, "head_units": 3, "label_units": 2}
    model = keras_tagging.build(
        "biaffine-parser", tags=["pos"], feed_dim=3, seed=1, **options, **WORDS_ONLY
    )
    model.adapt(train)
    randomize(model)
    path = tmp_path / "parser.onnx"
    model.export(path, format="onnx", int8=True)
    assert "LSTM" not in nodes_of(path)
    session = runtime.load(path).session
    names = [output.name for output in session.get_outputs()]
    given = [s.tokens for s in random_sentences(64, 2, longest=20)]
    lengths = np.array([*map(len, given)], "int32")
    tokens = np.array([[*s, *[""] * (20 - len(s))] for s in given], object)
    together = session.run(names, {"tokens": tokens, "lengths": lengths})
    for row, length in enumerate(lengths):
        feeds = {"tokens": tokens[[row], :length], "lengths": lengths[[row]]}
        for name, found, alone in zip(
            names, together, session.run(names, feeds), strict=True
        ):
            if found.dtype == np.float32:
                here = found[row, :length]
                np.testing.assert_allclose(here, alone[0], atol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(found[row, :length], alone[0], name)


@pytest.mark.parametrize("name", ["bigru", "i-rnn"])
def test_what_cannot_be_in_8_bits(name, train_sentences, tmp_path):
    model = tagger(name, train_sentences)
    with pytest.raises(ValueError, match="this tagger has no LSTM layer to be"):
        model.export(tmp_path / "tagger.onnx", format="onnx", int8=True)
    with pytest.raises(ValueError, match='int8 is for format="onnx"'):
        model.export(tmp_path / "served", int8=True)
    assert not list(tmp_path.iterdir())
