"""Configurations of saved models that cannot be, or ask for too much."""

import keras
import pytest
from conftest import TINY
from hostile.saved_models import changed, refused, whole, written
from models.parsers import TRAIN

import keras_tagging
from keras_tagging.architectures import PARSERS, TAGGERS
from keras_tagging.models.files.checks import checked_config, least_weights
from keras_tagging.utils import limits


def put(*keys, value):
    """A change of one entry of the configuration."""

    def change(content):
        place = content["config"]
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    return change


HUGE = 10**9
WRONG = [
    (("architecture",), "bigrus"),
    (("architecture",), "ffn-parser"),  # of a parser
    (("recipe",), "/etc/passwd"),
    (("kwargs",), {"given_vectors": {"embeddings": "v"}}),
    (("given_vectors",), {"embeddings": "v"}),
    (("settings", "u" * 10**7), 5),
    (("settings", "merge"), "x" * 10**7),
    (("settings",), []),
    (("settings", "recipe"), "fast"),
    (("settings", "units"), HUGE),
    (("settings", "units"), "5"),
    (("settings", "units"), 10**4000),
    (("settings", "word_dim"), limits.MODEL_UNITS),  # the file could not hold it
    (("settings", "window"), HUGE + 1),
    (("settings", "suffixes"), [HUGE]),
    (("settings", "suffixes"), list(range(1, 999))),
    (("settings", "columns"), [1]),
    (("settings", "dropout"), float("nan")),
    (("settings", "learning_rate"), float("inf")),
    (("settings", "optimizer"), {"class_name": "SGD"}),
    (("settings", "embeddings"), ["a", "b"]),
    (("settings", "trainable"), False),
    (("seed",), -1),
    (("vector_dim",), HUGE),
    (("vector_dim",), 5),  # of a model without vectors
    (("training_words",), [1]),
    (("metadata",), {"corpus": "x"}),
    (("name",), 5),
    (("vocabularies",), {}),
    (("vocabularies", "word"), None),
    (("vocabularies", "word"), ["a", 1]),
    (("vocabularies", "word"), ["a"] * 7),  # other weights
    (("vocabularies", "tags"), []),
    (("vocabularies", "other"), ["a"]),
    (("tagger",), {}),
]


@pytest.mark.parametrize("keys, value", WRONG, ids=lambda x: repr(x)[:40])
def test_a_wrong_configuration_is_told(tmp_path, keys, value):
    change = put(*keys, value=value)
    refused(tmp_path / "model.keras", changed(whole("tagger"), change))


@pytest.mark.parametrize(
    "keys, value",
    [
        (("tagger",), 3),
        (("tagger", "vocabularies"), None),
        (("tagger", "settings", "units"), HUGE),
        (("tagger", "settings", "word_dim"), limits.MODEL_UNITS),
        (("tagger", "architecture"), "ffn-parser"),
        (("tagger", "tagger"), {}),
        (("settings", "encoder_units"), HUGE),
        (("settings", "encoder"), "bigru"),
        (("settings", "tags"), 5),
        (("settings", "label_dim"), limits.MODEL_UNITS),
        (("vocabularies", "labels"), []),
        (("architecture",), "bigru"),
    ],
    ids=lambda x: repr(x)[:40],
)
def test_a_wrong_configuration_of_a_parser_is_told(tmp_path, keys, value):
    change = put(*keys, value=value)
    refused(tmp_path / "model.keras", changed(whole("parser"), change))


def test_a_setting_that_an_older_version_did_not_know_has_its_default(tmp_path):
    older = changed(whole("tagger"), lambda x: x["config"]["settings"].pop("l2"))
    path = written(tmp_path / "model.keras", older)
    assert keras_tagging.load(path).settings["l2"] == 0.0


# Sizes


def test_keras_itself_finds_no_more_weights_than_are_allowed(tmp_path):
    """It does not know the size of the file, so there is a limit for all."""
    settings = {"word_dim": limits.MODEL_UNITS, "units": limits.MODEL_UNITS}

    def change(content):
        content["config"]["settings"] |= settings

    path = written(tmp_path / "model.keras", changed(whole("tagger"), change))
    with pytest.raises(ValueError, match="the settings ask for .* weights or more"):
        keras.saving.load_model(path)


@pytest.mark.parametrize("name", [*TAGGERS, *PARSERS])
def test_the_estimate_is_below_every_model(name):
    model = keras_tagging.build(name, units=6, seed=1)
    model.adapt(TRAIN[:5])
    least = least_weights(checked_config(type(model), model.get_config()))
    assert least <= model.count_params() < 4 * least


@pytest.mark.parametrize(
    "options",
    [
        {"decoder": "crf"},
        {"decoder": "i-rnn", "label_units": 3},
        {"decoder": "i-rnn", "label_context": 0},
        {"characters": 3, "window": 3, "window_over": "words", "word_dim": 2},
        {"window": 3, "window_over": "features", "merge": "top"},
        {"input_layer": "tanh", "units": 1, "num_layers": 1},
        {"words": False},
        {"character_network": "coupled-lstm", "hidden_layer": "tanh"},
        {"character_network": "cnn"},
    ],
    ids=repr,
)
def test_the_estimate_is_below_every_variant(options):
    model = keras_tagging.build("bigru", **TINY | options)
    model.adapt(TRAIN[:5])
    least = least_weights(checked_config(type(model), model.get_config()))
    assert model.count_params() / 30 < least <= model.count_params()
