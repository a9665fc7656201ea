"""Installed models by name, and their weights of half precision."""

import json
import re
import shutil
import zipfile
from pathlib import Path
from unittest import mock

import h5py
import numpy as np
import pytest
from conftest import random_sentences

import keras_tagging
from keras_tagging import Pipeline, runtime
from keras_tagging.cli import main
from keras_tagging.cli.loading import load_model
from keras_tagging.models.files.saving import halve
from keras_tagging.pipelines import any_model
from keras_tagging.utils import limits, named_models
from keras_tagging.utils.named_models import find_model, installed_models

pytestmark = pytest.mark.usefixtures("eagerly")

CARD = {"language": "made-up", "licence": "CC0", "summary": "a tagger for tests"}
SENTENCES = random_sentences(20, 4, longest=3)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model that has been trained a little, and its file."""
    model = keras_tagging.build("bigru", units=4, word_dim=4, epochs=1, seed=1)
    model.fit(SENTENCES, verbose=0)
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    model.save(path)
    return model, path


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages, which has the model `tiny`."""
    package, info = tmp_path / "tiny_model", tmp_path / "tiny_model-1.5.dist-info"
    (package / "model").mkdir(parents=True)
    info.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('code ran')")
    (package / "card.json").write_text(json.dumps(CARD))
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.5\n"
    )
    (info / "entry_points.txt").write_text(
        "[keras_tagging.models]\ntiny = tiny_model\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return package


def test_half_precision_halves_the_file_and_changes_little(saved, site, tmp_path):
    model, path = saved
    halve(Path(shutil.copy(path, site / "model" / "model.keras")))
    again = keras_tagging.load("tiny")
    for weight, other in zip(model.weights, again.weights, strict=True):
        assert other.dtype == weight.dtype
        expected = np.float16(weight).astype("float32")
        np.testing.assert_array_equal(np.asarray(other), expected)
    with zipfile.ZipFile(site / "model" / "model.keras") as archive:
        with archive.open("model.weights.h5") as stream, h5py.File(stream) as file:
            assert "optimizer" not in file
            bias = file["layers/functional/layers/dense/vars/1"]
            assert bias.dtype == np.float16
    again.fit(SENTENCES[:3], epochs=1, verbose=0)  # with a new optimizer


def test_an_installed_model_has_a_name(site):
    model = installed_models()["tiny"]
    entries = model.version, model.entry("licence"), model.entry("corpus")
    assert entries == ("1.5", "CC0", "-")
    assert find_model("tiny") == site / "model"


def test_a_path_goes_before_a_name(site, tmp_path):
    with pytest.raises(ValueError, match="tinny: no such model.* mean 'tiny'"):
        keras_tagging.load("tinny")
    (tmp_path / "tiny").mkdir()
    for path in ("tiny", "x/tiny", "tiny.keras"):
        assert str(find_model(path)) == path


def test_the_folder_of_a_distribution_names_its_model(site, tmp_path, monkeypatch):
    folder = tmp_path / "models" / "other"
    folder.mkdir(parents=True)
    described = folder / "pyproject.toml"
    described.write_text(f'[project.entry-points."{named_models.GROUP}"]\nown = "x"')
    match = r"other: a distribution: pip install .*/models/other, then name other$"
    for load in (keras_tagging.load, runtime.load, find_model):
        for given in ("models/other", folder):
            with pytest.raises(ValueError, match=match):
                load(given)
    monkeypatch.chdir(tmp_path / "models")
    folder.rename("tiny")  # an installed one goes before a folder that is none
    assert find_model("tiny") == site / "model"
    for content in ("", "[project]\nentry-points = 1", "[" * 10**5, "\0"):
        Path("tiny/pyproject.toml").write_text(content)
        assert find_model("tiny") == Path("tiny")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"[" * 10**5, b" " * (limits.CARD_BYTES + 1), b"\xff"]
)
def test_a_damaged_card_is_told(site, content):
    (site / "card.json").write_bytes(content)
    with pytest.raises(ValueError, match="card.json: .*install it again"):
        print(installed_models()["tiny"].card)


def test_the_command_lists_models_and_shows_cards(site, capsys):

    def program(*args):
        with pytest.raises(SystemExit) as end:
            main(["models", *args])
        printed = capsys.readouterr()
        return printed.err if end.value.code else printed.out

    card = {**CARD, "licence": "that of a corpus, " * 20 + "x" * 29}
    (site / "card.json").write_text(json.dumps(card))
    listed = program()
    assert re.search("^tiny +1.5 ", listed, re.M) and CARD["summary"] in listed
    assert max(map(len, listed.splitlines())) < 100
    assert sum(line.endswith("x" * 29) for line in listed.splitlines()) == 1
    [row] = (x for x in json.loads(program("--json")) if x["name"] == "tiny")
    folders = {"folder": str(site / "model"), "onnx": None}
    assert row == {"name": "tiny", "version": "1.5", **folders, "card": card}
    (site / "card.json").write_text("")
    assert "install it again" in json.loads(program("--json", "tiny"))["error"]
    (site / "card.json").write_text(json.dumps(CARD))
    assert "licence: CC0" in program("tiny")
    assert "did you mean 'tiny'?" in program("tinny")


def test_onnx_files_go_first_where_a_model_is_only_run(saved, site, capsys):
    model, path = saved
    shutil.copy(path, site / "model" / "model.keras")
    (site / "onnx").mkdir()
    assert find_model("tiny") == site / "model"
    assert find_model("tiny", to_run=True) == site / "onnx"
    Pipeline(tagger=model).export(site / "onnx", format="onnx")
    [expected] = model.tag([["a", "b"]])
    [sentence] = runtime.load("tiny").annotate([["a", "b"]])
    assert sentence.tags == expected
    # what is trained or changed further is the Keras model
    assert not isinstance(runtime.load("tiny"), Pipeline)
    loaded = load_model("tiny", command="annotate", pipeline=True)
    assert type(loaded) is type(runtime.load("tiny"))
    assert load_model("tiny").settings == model.settings
    # an ONNX file may have its search in it
    other = load_model("tiny", command="annotate", beta=0.1)
    assert other.settings == model.settings
    with mock.patch.object(any_model, "find_spec", lambda name: None):  # no TensorFlow
        found = keras_tagging.load("tiny")
        assert [s.tags for s in found.annotate([["a", "b"]])] == [expected]
        assert type(found.tagger) is runtime.OnnxTagger
    with mock.patch.object(named_models, "RUNTIME", ["no_such_package"]):
        assert find_model("tiny", to_run=True) == site / "model"
