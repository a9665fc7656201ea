"""Models that were made to do harm: one line of error, and nothing else happens."""

import io
import json
import pickle
import sys
import warnings
import zipfile
from pathlib import Path

import keras
import pytest
from conftest import TINY, WORDS_ONLY
from hostile.saved_models import TAGGED, changed, members, refused, whole
from models.parsers import TINY as SMALL

import keras_tagging
from keras_tagging import cli
from keras_tagging.models.files.model_file import CONFIG

pytestmark = pytest.mark.usefixtures("eagerly")


class Payload:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


# A file that names another one


def naming(path, setting="embeddings", own=False, vocabularies=False):
    """A change that has a configuration name a file of vectors."""

    def change(content):
        config = content["config"]
        config = config["tagger"] if own else config
        config["settings"][setting] = str(path)
        if not vocabularies:
            config["vocabularies"] = None

    return change


@pytest.fixture
def payload(tmp_path):
    """A pickle that would make a file `ran`, and that file."""
    marker = tmp_path / "ran"
    content = pickle.dumps(Payload(marker), protocol=4)
    assert content[0] == 0x80
    return content, marker


def test_the_payload_works(payload):
    """Else the tests below could not fail."""
    content, marker = payload
    pickle.loads(content)
    assert marker.exists()


CRAFTED = [
    ("tagger", "embeddings", False),
    ("tagger", "vectors", False),
    ("parser", "embeddings", False),
    ("parser", "embeddings", True),
    ("parser", "vectors", True),
]


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("kind, setting, own", CRAFTED)
def test_a_model_that_names_a_pickle_does_nothing(
    tmp_path, payload, kind, setting, own, beside
):
    """Beside it, or the archive itself: zip files may begin with anything."""
    content, marker = payload
    path = tmp_path / "model.keras"
    source = tmp_path / "vectors.kv" if beside else path
    model = changed(whole(kind), naming(source, setting, own))
    if beside:
        source.write_bytes(content)
    else:
        model = content + model
    assert zipfile.is_zipfile(io.BytesIO(model))
    message = refused(path, model)
    assert f"{setting}=" in message and "a saved model opens no other file" in message
    with pytest.raises(ValueError, match="a saved model opens no other file") as error:
        keras.saving.load_model(path, safe_mode=True)
    assert "\n" not in str(error.value)
    assert not marker.exists()


COMMANDS = {
    "tag": ["tag", "model.keras"],
    "parse": ["parse", "model.keras"],
    "evaluate": ["evaluate", ".", "--corpus", "demo"],
    "analyse": ["analyse", ".", "--corpus", "demo"],
    "export": ["export", ".", "served"],
    "train": ["train", "lstm-parser", "--corpus", "demo", "--out", "new"]
    + ["--bootstrap", "."],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_does_what_it_says(tmp_path, payload, name, monkeypatch, capfd):
    content, marker = payload
    path = tmp_path / "model.keras"
    path.write_bytes(content + changed(whole("tagger"), naming(path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    with pytest.raises(SystemExit) as end:
        cli.main(COMMANDS[name])
    out, err = capfd.readouterr()
    assert end.value.code == 2 and out == ""
    *_, last = err.splitlines()
    assert last.startswith("keras-tagging: error: model.keras: embeddings=")
    assert "Traceback" not in err and not marker.exists()
    assert [found.name for found in tmp_path.iterdir()] == ["model.keras"]


def test_what_is_compared_and_reproduced_is_loaded_the_same_way(tmp_path, payload):
    content, marker = payload
    path = tmp_path / "model.keras"
    path.write_bytes(content + changed(whole("tagger"), naming(path)))
    with pytest.raises(ValueError, match="opens no other file"):
        keras_tagging.compare(path, path, "demo")
    assert not marker.exists()


@pytest.mark.parametrize("kind", ["tagger", "parser"])
def test_with_vocabularies_the_file_is_only_named(tmp_path, payload, kind):
    content, marker = payload
    path = tmp_path / "model.keras"
    change = naming(path, vocabularies=True)
    path.write_bytes(content + changed(whole(kind), change))
    model = keras_tagging.load(path)
    if kind == "tagger":
        model.fit(TAGGED, epochs=1, verbose=0)
    else:
        keras_tagging.build("lstm-parser", **SMALL).bootstrap(model)
    assert model.settings["embeddings"] == str(path) and not marker.exists()


def test_what_is_adapted_later_opens_no_file_either(tmp_path, payload):
    content, marker = payload
    (tmp_path / "vectors.kv").write_bytes(content)
    config = json.loads(members(whole("tagger"))[CONFIG])["config"]
    config["vocabularies"] = None
    model = keras_tagging.Tagger.from_config(config)
    given = dict.fromkeys(("embeddings", "vectors"), str(tmp_path / "vectors.kv"))
    model.settings = model.settings.replaced(**given)
    model.fit(TAGGED, epochs=1, verbose=0, resume=tmp_path / "run")
    with pytest.raises(ValueError, match="opens no other file"):
        keras_tagging.Tagger("bigru", model.settings)
    assert not marker.exists()


def test_build_opens_what_its_user_names(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path))
    (tmp_path / "v.txt").write_text("dog 1 2\n")
    model = keras_tagging.build("bigru", embeddings=tmp_path / "v.txt")
    assert model.settings["word_dim"] == 2


# Classes


def compiled_with(what):
    return lambda content: content["compile_config"].update(weighted_metrics=[what])


@pytest.mark.parametrize(
    "what",
    [
        {"module": "keras.layers", "class_name": "StringLookup", "config": {}},
        {"module": "keras.layers", "class_name": "TFSMLayer", "config": {}},
        {"module": "os", "class_name": "function", "config": "system"},
        {"class_name": "__lambda__", "config": {"value": "eA=="}},
        {"module": "keras.utils", "class_name": "function", "config": "get_file"},
        {"class_name": "Tagger", "config": {}, "registered_name": "keras_tagging>CRF"},
        {"module": [], "class_name": {}, "config": 3},
        {
            "module": "keras.metrics",
            "class_name": "MeanIoU",
            "config": {"num_classes": 10**9},
        },
    ],
    ids=lambda what: str(what["class_name"]),
)
def test_only_what_trains_is_compiled(tmp_path, what):
    path = tmp_path / "model.keras"
    message = refused(path, changed(whole("tagger"), compiled_with({"inner": [what]})))
    assert "compiled with" in message
    with pytest.raises(ValueError, match="compiled with"):
        keras.saving.load_model(path)


def test_what_keras_compiles_with_is_loaded(tmp_path):
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10**6, 0.9)
    model.compile(
        keras.optimizers.Lion(schedule),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[keras.metrics.SparseTopKCategoricalAccuracy(2)],
    )
    model.adapt(TAGGED)
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    assert again.get_compile_config() == model.get_compile_config()


@pytest.mark.parametrize("name", ["keras>Sequential", "keras_tagging>CRF", 3, None])
def test_other_classes_are_not_even_made(tmp_path, name):
    other = changed(whole("tagger"), lambda found: found.update(registered_name=name))
    message = refused(tmp_path / "model.keras", other)
    kinds = "tagger, parser, ccg-parser, ccg-shift-reduce or segmenter"
    assert f"holds a Tagger, not a {kinds}" in message
