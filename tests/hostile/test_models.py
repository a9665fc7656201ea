"""Models that were made to do harm: one line of error, and nothing else happens."""

import io
import pickle
import sys
import warnings
import zipfile
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
from hostile.harness import within
from hostile.saved_models import (
    KINDS,
    TAGGED,
    archived,
    changed,
    members,
    refused,
    whole,
)
from models.parsers import TINY as SMALL
from pickles import Runs
from vectors.examples import write

import keras_tagging
from keras_tagging import cli
from keras_tagging.models.files.checks import CONFIG, WEIGHTS
from keras_tagging.utils import limits

pytestmark = pytest.mark.usefixtures("eagerly")


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
    content = pickle.dumps(Runs(Path.touch, marker), protocol=4)
    assert content[0] == 0x80
    return content, marker


CRAFTED = [
    ("tagger", "vectors", False),
    ("parser", "embeddings", False),
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
    "evaluate": ["evaluate", ".", "--corpus", "demo"],
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


# Classes


def compiled_with(what):
    return lambda content: content["compile_config"].update(weighted_metrics=[what])


@pytest.mark.parametrize(
    "what",
    [
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


@pytest.mark.parametrize("name", ["keras>Sequential", "keras_tagging>CRF", 3, None])
def test_other_classes_are_not_even_made(tmp_path, name):
    other = changed(whole("tagger"), lambda found: found.update(registered_name=name))
    message = refused(tmp_path / "model.keras", other)
    kinds = "tagger, parser, biaffine-parser, ccg-parser, ccg-shift-reduce or segmenter"
    assert f"holds a Tagger, not a {kinds}" in message
    assert ("keras.saving.load_model opens" in message) == (">" not in str(name))


# Damaged files


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_whole_is_loaded_also_when_recompressed(tmp_path, kind):
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"{compression}.keras"
        path.write_bytes(archived(members(whole(kind)), compression))
        assert keras_tagging.load(path).built


def test_every_flipped_byte_is_found_or_changes_nothing(tmp_path):
    """Bytes of the archive that mean nothing, such as dates, may be any."""
    content = whole("tagger")
    expected = keras_tagging.load(write(tmp_path / "whole.keras", content))
    rng = np.random.default_rng(1)
    ends = range(len(content) - 400, len(content), 23)  # the directory
    found = 0
    for place in [*rng.integers(0, len(content), 12).tolist(), *ends]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        path = write(tmp_path / "model.keras", bytes(flipped))
        try:
            model = keras_tagging.load(path)
        except ValueError:
            found += 1
            refused(path)
        else:
            assert model.get_config() == expected.get_config()
            pairs = zip(model.get_weights(), expected.get_weights(), strict=True)
            assert all(np.array_equal(*pair) for pair in pairs)
    assert found > 10


@pytest.mark.parametrize("share", [0, 0.5, 0.9999])
def test_a_truncated_file_is_told(tmp_path, share):
    content = whole("tagger")
    message = refused(tmp_path / "model.keras", content[: int(share * len(content))])
    assert "zip" in message


@pytest.mark.parametrize(
    "name, part, message",
    [
        (CONFIG, b"", "JSONDecodeError"),
        (
            CONFIG,
            b"null",
            "holds a None, not a tagger, parser, biaffine-parser, ccg-parser, ccg-shift"
            "-reduce or segmenter",
        ),
        (CONFIG, b"\xff\xfe{", "JSONDecodeError|UnicodeDecodeError"),
        (CONFIG, b"[" * 100_000, "RecursionError"),
        (CONFIG, b'{"class_name": 1' + b"0" * 9999 + b"}", "integer string"),
        (WEIGHTS, b"", "OSError"),
        (WEIGHTS, b"\x89HDF\r\n\x1a\n" + b"\0" * 500, "OSError"),
        ("assets/x", b"", "holds metadata.json, config.json"),
        ("../x", b"", "holds metadata.json, config.json"),
    ],
)
def test_wrong_members_are_told(tmp_path, name, part, message):
    content = archived(members(whole("tagger")) | {name: part})
    found = refused(tmp_path / "model.keras", content)
    assert any(each in found for each in message.split("|")), found


# Weights


def with_weights(content, change):
    found = members(content)
    stream = io.BytesIO(found[WEIGHTS])
    with h5py.File(stream, "a") as file:
        change(file)
    return archived(found | {WEIGHTS: stream.getvalue()})


def datasets(file):
    found = []
    file.visititems(lambda name, x: found.append(name) if hasattr(x, "shape") else None)
    return [name for name in found if name.startswith("layers")]


@pytest.mark.parametrize("shape", [(), (0,), (1000, 4)])
def test_weights_of_other_shapes_are_told(tmp_path, shape):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file[name] = np.zeros(shape, "float32")

    refused(tmp_path / "model.keras", with_weights(whole("tagger"), change))


@pytest.mark.parametrize("part, value", [("tagger", np.nan), ("scorer", np.inf)])
def test_weights_that_are_no_numbers_are_told(tmp_path, part, value):
    """With them a model gives the first label to every word."""

    def change(file):
        name = next(name for name in datasets(file) if part in name)
        file[name][0] = value

    content = with_weights(whole("parser"), change)
    told = refused(tmp_path / "model.keras", content)
    assert "has weights that are no numbers" in told


def test_weights_that_claim_more_than_the_file_holds_are_not_read(tmp_path):
    def change(file):
        name = datasets(file)[0]
        del file[name]
        file.create_dataset(name, (30_000, 30_000), "float32", chunks=True)

    content = with_weights(whole("tagger"), change)
    assert "claims 3,6" in refused(tmp_path / "model.keras", content)


# Memory


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    """Of some 50 KB, whose config.json would be 45 MB of nested lists."""
    monkeypatch.setattr(limits, "MODEL_CONFIG_BYTES", 2**25)
    bomb = members(whole("tagger")) | {CONFIG: b"[]," * 15 * 10**6}
    with within(10, 20):
        message = refused(
            tmp_path / "model.keras", archived(bomb, zipfile.ZIP_DEFLATED)
        )
    assert "config.json expands to 45,000,000 bytes" in message
