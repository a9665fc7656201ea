"""Configurations of saved models that cannot be, or ask for too much."""

import resource

import keras
import pytest
from hostile.saved_models import changed, refused, whole
from vectors.examples import write

import keras_tagging
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
    (("settings",), []),
    (("settings", "units"), HUGE),
    (("settings", "units"), 10**4000),
    (("settings", "word_dim"), limits.MODEL_UNITS),  # the file could not hold it
    (("settings", "suffixes"), list(range(1, 999))),
    (("settings", "columns"), [1]),
    (("settings", "dropout"), float("nan")),
    (("settings", "learning_rate"), float("inf")),
    (("settings", "optimizer"), {"class_name": "SGD"}),
    (("settings", "embeddings"), ["a", "b"]),
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
]


WRONG_PARSERS = [
    (("tagger",), 3),
    (("tagger", "vocabularies"), None),
    (("tagger", "settings", "word_dim"), limits.MODEL_UNITS),
    (("tagger", "architecture"), "ffn-parser"),
    (("settings", "tags"), 5),
    (("vocabularies", "labels"), []),
    (("architecture",), "bigru"),
]
CASES = [("tagger", *case) for case in WRONG]
CASES += [("parser", *case) for case in WRONG_PARSERS]


@pytest.mark.parametrize("kind, keys, value", CASES, ids=lambda x: repr(x)[:40])
def test_a_wrong_configuration_is_told(tmp_path, kind, keys, value):
    change = put(*keys, value=value)
    refused(tmp_path / "model.keras", changed(whole(kind), change))


# Sizes


LARGE = {
    "tagger": {"word_dim": 20_000, "units": 20_000},
    "parser": {"units": 20_000, "label_dim": 20_000},
    "segmenter": {"units": 20_000, "num_layers": 4},
}


@pytest.mark.parametrize("name", [*LARGE])
def test_weights_that_the_file_does_not_have_take_no_memory(tmp_path, name):
    def change(content):
        content["config"]["settings"] |= LARGE[name]

    path = write(tmp_path / "model.keras", changed(whole(name), change))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for load in (keras_tagging.load, keras.saving.load_model):
        with pytest.raises(ValueError, match="the settings ask for .* weights, but at"):
            load(path)
    keras_tagging.load(write(tmp_path / "sound.keras", whole(name)))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**19  # KB
