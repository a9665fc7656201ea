"""Parsers in files, and parsers that TensorFlow serves."""

import json

import numpy as np
import pytest
import tensorflow as tf
from conftest import reloaded
from models.parsers import DEV, EMPTY, TRAIN, build, equal, gold, random_parser, weights

import keras_tagging
from keras_tagging.models.files.checks import CONFIG
from keras_tagging.models.files.saving import archived, members_of


@pytest.fixture(scope="module")
def model():
    """Of all that a network may have; its weights are random."""
    letters = {"character_units": 3, "character_embedding_dim": 4, "max_characters": 8}
    options = {"encoder": "bilstm", "encoder_units": 3, "character_network": "lstm"}
    options["encoder_layers"] = 1
    return random_parser(beam_width=3, **options, **letters)


@pytest.fixture(scope="module")
def expected(model):
    return model.predict([*DEV, EMPTY])


def test_save_and_load(model, expected, tmp_path):
    again = reloaded(model, tmp_path)
    assert type(again) is keras_tagging.Parser
    assert again.settings == model.settings
    assert again.settings["system"] == again.scorer.system.name == "arc-standard"
    assert again.labels == model.labels and again.metadata == model.metadata
    assert again.arc_labels == model.arc_labels
    assert equal(weights(again), weights(model))
    assert gold(again.parse(DEV)) == expected[:-1]
    assert [tree for s in DEV[:6] for tree in again.predict([s])] == expected[:6]
    content = json.loads((tmp_path / "metadata.json").read_text())
    assert content["settings"]["tags"] == "pos"


@pytest.mark.parametrize("name", ["arc-standard-core", "swap"])
def test_a_system_that_is_gone(model, tmp_path, name):
    path = tmp_path / "model.keras"
    model.save(path)
    members = members_of(path.read_bytes())
    members[CONFIG] = members[CONFIG].replace(b"arc-standard", name.encode())
    path.write_bytes(archived(members))
    with pytest.raises(ValueError) as error:
        keras_tagging.load(path)
    assert str(error.value) == (
        f"{path}: the transition system {name!r} is no longer part of keras-tagging: "
        "train a biaffine-parser, which is more accurate"
    )


@pytest.mark.filterwarnings("ignore:You are saving a model that has not yet been b")
def test_without_vocabularies(tmp_path):
    model = build()
    again = reloaded(model, tmp_path)
    for each in (model, again):
        each.adapt(TRAIN)
    assert equal(weights(again), weights(model))


def test_a_saved_model_equals_parse(model, expected, tmp_path):
    model.export(tmp_path / "served")
    loaded = keras_tagging.load(tmp_path / "served", safe_mode=False)
    assert gold(loaded.parse([*DEV, EMPTY])) == expected
    serve = loaded.session._serve  # the signature of the SavedModel

    def trees(sentences, width=None, garbage=""):
        """What is served for the sentences, padded to a width with garbage."""
        lengths = [len(s) for s in sentences]
        width = max(lengths, default=0) if width is None else width
        strings = {}
        for name in ("tokens", "pos"):
            rows = np.full((len(sentences), width), garbage, object)
            for row, s in zip(rows, sentences, strict=True):
                row[: len(s)] = s.tokens if name == "tokens" else s.columns["pos"]
            strings[name] = tf.constant(rows, tf.string)
        found = serve(lengths=tf.constant(lengths, tf.int32), **strings)
        heads, deprels = found["heads"].numpy(), found["deprels"].numpy()
        assert heads.shape == deprels.shape == (len(sentences), width)
        real = np.arange(width) < np.array(lengths, int)[:, None]
        assert (heads[~real] == -1).all() and not any(deprels[~real])
        return [
            (some_heads[:n].tolist(), [deprel.decode() for deprel in some_deprels[:n]])
            for some_heads, some_deprels, n in zip(heads, deprels, lengths, strict=True)
        ]

    assert trees([*DEV, EMPTY]) == expected
    assert trees([*DEV, EMPTY], 40, "She") == expected
    assert trees(DEV[:1]) == expected[:1]
    assert trees([]) == [] and trees([], 3) == []
    assert trees([EMPTY, EMPTY]) == [([], [])] * 2
    assert trees([EMPTY], 2) == [([], [])]
    strings = {"tokens": [["She", "reads"]] * 2, "pos": [["PRON", "VERB"]] * 2}
    strings = {name: tf.constant(rows) for name, rows in strings.items()}
    wrong = {"negative": [2, -1], "exceed the width": [3, 2]}
    for message, lengths in wrong.items():
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            serve(lengths=tf.constant(lengths), **strings)
