"""The architectures of Wu et al. (2016, 2017): their networks, rows and road."""

from itertools import pairwise

import keras
import numpy as np
import pytest
from cells.cases import named_weights
from conftest import WORDS_ONLY, computing_once, random_sentences, randomize, reloaded
from reference import context_window, shortcut_block, skip_lstm, skip_stack
from selection import slow_but

import keras_tagging
from keras_tagging.architectures import TAGGERS

# bigru and those that read labels have tests of their own
OTHERS = ("bigru", "elman-rnn", "jordan-rnn", "i-rnn", "ie-rnn")
STACKED = [name for name in TAGGERS if name not in OTHERS]
SIZES = {"units": 3, "word_dim": 4, "affix_dim": 2, "character_dim": 2, "seed": 3}
SENTENCES = random_sentences(12, 4, longest=4)


def paper_model(name, **overrides):
    overrides = {**SIZES, "num_layers": 1 if name == "rhn" else 3, **overrides}
    model = keras_tagging.build(name, recipe="paper", **overrides)
    model.adapt(SENTENCES)
    return model


W16 = {
    "word_dim": 200,
    "window": 3,
    "window_over": "words",
    "window_gated": True,
    "window_dropout": 0.25,
    "characters": 5,
    "character_dim": 5,
    "characters_of": "normalised",
    "affix_dim": 5,
    "capitals": True,
    "suffixes": (),
    "prefixes": (),
    "units": 512,
    "num_layers": 7,
    "merge": "top",
    "input_layer": "tanh",
    "layer_dropout": 0.5,
    "dropped_layers": "ends",
    "dropout": 0.0,
    "initializer": "gaussian",
    "optimizer": "sgd",
    "learning_rate": 0.02,
    "decay": None,
    "momentum": 0.0,
    "clipnorm": None,
    "batch_size": 1,
    "token_budget": None,
    "normalise": "wu",
    "lookup": "normalised",
    "unknown_rate": 0.0,
    "weight_average": 0.0,
    "decoder": "softmax",
}
W17 = {
    **W16,
    "word_dim": 100,
    "window_over": "features",
    "window_gated": False,
    "units": 465,
    "num_layers": 9,
    "decay": "halve",
}
JOINT = {"skip": "outputs", "gate": "joint", "mapping": "identity", "forget_bias": 0}
OF_BLOCK = ("self_connection", "internal", "output", "gate", "mapping", "cell_shortcut")
EQUATION_10 = {name: shortcut_block.DEFAULTS[name] for name in OF_BLOCK}
PAPERS = {
    "skip-bilstm": {**W16, **JOINT},
    "shortcut-bilstm": {**W17, **EQUATION_10},
    "highway-bilstm": {**W16, "depth_gate": True, "peepholes": False},
    "rhn": {**W16, "num_layers": 1, "depth": 3, "coupled": False, "output_gate": True},
    "bilstm": {**W16, "forget_bias": 0},
}


@pytest.mark.parametrize("name", PAPERS)
def test_paper_recipe_has_the_papers_settings(name):
    settings = keras_tagging.build(name, recipe="paper").settings
    expected = PAPERS[name]
    assert {key: settings[key] for key in expected} == expected


def embed(network, ids, features):
    """Words, and the other features, of one sentence: (time, size) each."""
    parts = {"word": [], "other": []}
    for column, name in enumerate(features.names):
        table = "character" if name in features.ends else name
        (matrix,) = network.get_layer(f"{table}_embedding").get_weights()
        parts["word" if name == "word" else "other"].append(matrix[ids[:, column]])
    return [np.concatenate(p, axis=1).astype("float64") for p in parts.values()]


@pytest.mark.parametrize(
    "name, cell, settings",
    [
        ("skip-bilstm", skip_lstm, JOINT),
        ("shortcut-bilstm", shortcut_block, EQUATION_10),
    ],
)
def test_network_equals_the_papers_equations(name, cell, settings):
    model = randomize(paper_model(name))
    model.run_eagerly = True
    network, stack = model.network, model.network.get_layer("stack")
    layers = [
        tuple(named_weights(rnn.cell) for rnn in pair)
        for pair in zip(stack.forward_layers, stack.backward_layers, strict=True)
    ]
    kernel, bias = stack.input_layer.get_weights()
    out_kernel, out_bias = network.get_layer("logits").get_weights()
    encoded = model.encode(SENTENCES)
    ids, _, _ = encoded.batch(np.arange(len(SENTENCES)))
    found = np.asarray(model.predict_on_batch(ids))
    for row, (start, end) in zip(found, pairwise(encoded.offsets), strict=True):
        words, others = embed(network, encoded.ids[start:end], model.features)
        if name == "skip-bilstm":  # W16 5.1: a gated window over the words
            gates = network.get_layer("context_window").get_weights()
            words = context_window.run(words, 3, *gates)
            x = np.concatenate([words, others], axis=1)
        else:  # W17 Eq. 19-20
            x = context_window.run(np.concatenate([words, others], axis=1), 3)
        h = skip_stack.stack(
            cell,
            x,
            layers,
            settings,
            "top",
            input_layer=(kernel.astype("float64"), bias, np.tanh),
        )
        np.testing.assert_allclose(
            row[: end - start], h @ out_kernel + out_bias, rtol=1e-4, atol=1e-4
        )


# Graphs are built of these alone; bilstm-crf is in test_crf_tagger.py, and the cells of
# the others are trained in `tests/cells`.
@pytest.mark.parametrize("name", slow_but(("rhn", "shortcut-bilstm"), STACKED))
def test_every_architecture_is_trained_and_saved(name, tmp_path):
    layers = {} if name == "rhn" else {"num_layers": 2}
    sizes = SIZES | WORDS_ONLY | {"units": 8} | layers
    model = keras_tagging.build(name, **sizes)
    model.run_eagerly = True
    history = model.fit(
        SENTENCES, validation_data=SENTENCES[:4], epochs=2, verbose=0
    ).history
    assert history["cross_entropy"][1] < history["cross_entropy"][0]
    again = reloaded(model, tmp_path)
    with computing_once(model), computing_once(again):
        tagged, predicted = model.tag(SENTENCES), model.predict(SENTENCES)
        assert [len(tags) for tags in tagged] == [len(s) for s in SENTENCES]
        assert again.tag(SENTENCES) == tagged
        for one, other in zip(predicted, again.predict(SENTENCES), strict=True):
            np.testing.assert_array_equal(one, other)
    again.run_eagerly = False
    for one, other in zip(predicted, again.predict(SENTENCES), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_dropped_layers():
    stack = paper_model("skip-bilstm", num_layers=4).network.get_layer("stack")
    assert [layer.rate for layer in stack.dropout_layers] == [0.5, 0, 0, 0.5]
    model = paper_model("skip-bilstm", num_layers=2, dropped_layers="all")
    stack = model.network.get_layer("stack")
    assert [layer.rate for layer in stack.dropout_layers] == [0.5, 0.5]


@pytest.mark.parametrize("name", ["skip-bilstm", "shortcut-bilstm"])
def test_initial_weights_are_the_papers(name):
    model = paper_model(name, units=200, num_layers=3, word_dim=80, seed=2)
    kinds = {"recurrent": 0, "table": 0, "other": 0, "bias": 0}
    for variable in model.network.trainable_variables:
        weights = keras.ops.convert_to_numpy(variable)
        if weights.ndim == 1:
            assert not weights.any(), variable.path
            kinds["bias"] += 1
        elif "recurrent" in variable.name:
            for block in np.split(weights, weights.shape[1] // 200, axis=1):
                np.testing.assert_allclose(block @ block.T, np.eye(200), atol=1e-4)
            kinds["recurrent"] += 1
        else:
            table = variable.name == "embeddings"
            spread = weights.std() * (1 if table else np.sqrt(len(weights)))
            error = 5 / np.sqrt(2 * weights.size)
            assert spread == pytest.approx(0.1, rel=error), variable.path
            kinds["table" if table else "other"] += 1
    assert kinds["recurrent"] == 6 and kinds["table"] == 3
    assert kinds["other"] >= 2 + 6 and kinds["bias"] >= 2 + 6


# The other needs a graph; layers train with it in `tests/layers/test_plain_models.py`.
HALF = pytest.param("mixed_float16", "softmax", marks=pytest.mark.slow)


@pytest.mark.parametrize("policy, decoder", [("mixed_bfloat16", "crf"), HALF])
def test_mixed_precision_trains_like_full(policy, decoder):
    def losses(run_eagerly):
        model = keras_tagging.build(
            "skip-bilstm",
            **SIZES | WORDS_ONLY | {"units": 8, "num_layers": 2},
            decoder=decoder,
            weight_average=0.9,
            dropout=0.0,
            layer_dropout=0.0,
            unknown_rate=0.0,
        )
        model.adapt(SENTENCES)
        model.run_eagerly = run_eagerly
        some = SENTENCES[:6]
        history = model.fit(some, validation_data=some, epochs=2, verbose=0)
        assert model.predict(SENTENCES[:1])[0].dtype == "float32"
        return history.history["val_loss"]

    full = losses(run_eagerly=True)
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        mixed = losses(run_eagerly=policy == "mixed_bfloat16")
    finally:
        keras.config.set_dtype_policy(before)
    assert full[1] < full[0]
    np.testing.assert_allclose(mixed, full, rtol=0.05)
