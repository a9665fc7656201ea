from itertools import pairwise

import keras
import numpy as np
from conftest import randomize
from reference import bigru

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.vectors import WordVectors

SENTENCES = [
    Sentence(["The", "dog", "barks", "loudly"], ["D", "N", "V", "R"]),
    Sentence(["Yes"], ["U"]),
    Sentence(["A", "dog"], ["D", "N"]),
    Sentence(["Wife\\/mother", "of", "1984"], ["N", "P", "M"]),
]
VECTORS = WordVectors(
    ["dog", "cat", "0", "mother"],
    np.arange(12, dtype="float32").reshape(4, 3) ** 1.5 - 5,
)
UNITS, WORD_DIM, AFFIX_DIM = 5, 4, 2


def paper_model(**overrides):
    """K18's network with its four features, small."""
    sizes = {"units": UNITS, "word_dim": WORD_DIM, "affix_dim": AFFIX_DIM}
    overrides = {"vectors": VECTORS, **sizes, **overrides}
    model = keras_tagging.build("bigru", recipe="paper", seed=5, **overrides)
    model.adapt(SENTENCES)
    return model


def reference_logits(model, ids):
    network = model.network
    tables = [
        network.get_layer(f"{name}_embedding").get_weights()[0]
        for name in model.features.names
    ]
    stack = network.get_layer("stack")
    pairs = zip(stack.forward_layers, stack.backward_layers, strict=True)
    layers = [tuple(rnn.get_weights() for rnn in pair) for pair in pairs]
    return bigru.logits(ids, tables, layers, *network.get_layer("logits").get_weights())


def test_paper_recipe_has_the_papers_settings():
    model = keras_tagging.build("bigru", recipe="paper")
    settings = model.settings
    expected = {
        "units": 300,
        "num_layers": 2,
        "merge": "layer",
        "update": "new",
        "dropout": 0.2,
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "momentum": 0.0,
        "clipnorm": None,
        "decay": None,
        "batch_size": 1,
        "token_budget": None,
        "epochs": 90,
        "unknown_rate": 0.0,
        "min_count": 1,
        "word_min_count": 1,
        "word_dim": 100,
        "affix_dim": 5,
    }
    assert {name: settings[name] for name in expected} == expected
    assert model.features.names == ("word", "suffix2", "capital")
    assert isinstance(model.optimizer, keras.optimizers.SGD)
    # what other papers add is off
    off = {"layer_dropout": 0, "window": 0, "window_dropout": 0, "input_layer": None}
    assert {name: settings[name] for name in off} == off
    assert (settings["decoder"], settings["initializer"]) == ("softmax", "glorot")


def test_network_equals_the_reference_on_a_ragged_batch():
    model = randomize(paper_model())
    assert model.features.names == ("word", "vector", "suffix2", "capital")
    encoded = model.encode(SENTENCES)
    ids, _, mask = encoded.batch(np.arange(len(SENTENCES)))
    found = np.asarray(model.predict_on_batch(ids))
    assert found.shape == (4, 4, len(model.tags))
    for row, (start, end) in zip(found, pairwise(encoded.offsets), strict=True):
        expected = reference_logits(model, encoded.ids[start:end])
        np.testing.assert_allclose(row[: end - start], expected, atol=2e-5)
    # and as a user gets it
    for row, (start, end) in zip(
        model.predict(SENTENCES), pairwise(encoded.offsets), strict=True
    ):
        scores = np.exp(reference_logits(model, encoded.ids[start:end]))
        np.testing.assert_allclose(
            row, scores / scores.sum(-1, keepdims=True), atol=1e-5
        )


def test_number_of_parameters_is_the_formulas():
    # the dog barks loudly yes a mother of 0; he og ks ly es A er of 84
    rows = [2 + 9, 2 + len(VECTORS.words), 2 + 9, 3]
    dims = [WORD_DIM, 3, AFFIX_DIM, AFFIX_DIM]
    expected = bigru.parameters(rows, dims, UNITS, 2, num_tags=7)
    assert paper_model().count_params() == expected


def test_a_training_step_changes_every_weight():
    model = randomize(paper_model(learning_rate=1.0))
    model.run_eagerly = True
    before = [w.copy() for w in model.network.get_weights()]
    model.fit(SENTENCES, batch_size=4, epochs=1, restore_best=False, verbose=0)
    variables = model.network.trainable_variables
    assert len(before) == len(variables) == 4 + 2 * 2 * 3 + 2
    for old, variable in zip(before, variables, strict=True):
        new = keras.ops.convert_to_numpy(variable)
        assert np.abs(new - old).max() > 1e-6, variable.path
        if "embedding" in variable.path:
            np.testing.assert_array_equal(new[0], old[0])  # padding learns nothing
        else:
            assert (np.abs(new - old).max(axis=0) > 0).all()  # every unit and gate
