"""kill -9 between any two files that belong together."""

import io
import json
import os
import signal
import subprocess
import sys

import h5py
import keras
import numpy as np
import pytest
from conftest import TINY as SIZES
from hostile.kills import content, kill_points
from hostile.programs import TINY, program
from hostile.saved_models import members

import keras_tagging
from keras_tagging import Sentence, load_corpus
from keras_tagging.data.records import CorpusError
from keras_tagging.models.files import export as exporting
from keras_tagging.models.files.run_folder import lock_run
from preparing.script import write_splits

pytestmark = pytest.mark.usefixtures("eagerly")

FINISHED = {"model.keras", "metadata.json", "training.csv"}


def names(folder):
    return {path.name for path in folder.iterdir()}


def metadata(folder):
    return json.loads((folder / "metadata.json").read_text())


def weights(path):
    """The arrays of a `.keras` file by their names."""
    arrays = {}

    def add(name, item):
        if hasattr(item, "shape"):
            arrays[name] = item[()]

    with h5py.File(io.BytesIO(members(path.read_bytes())["model.weights.h5"])) as file:
        file.visititems(add)
    return arrays


@pytest.fixture
def quick(monkeypatch):
    """An epoch adds 1 to all weights; the accuracy falls from epoch to epoch."""

    def fit(self, data, *, epochs, initial_epoch, callbacks, **_):
        history = keras.callbacks.History()
        every = keras.callbacks.CallbackList([history, *callbacks], model=self)
        every.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            every.on_epoch_begin(epoch)
            for variable in self.trainable_variables:
                variable.assign_add(keras.ops.ones_like(variable))
            every.on_epoch_end(epoch, {"loss": 1.0})
        every.on_train_end()
        return history

    def evaluator(self, sentences, *_):
        first = self.trainable_variables[0]
        return lambda: {"accuracy": -float(keras.ops.mean(first))}

    monkeypatch.setattr(keras.Model, "fit", fit)
    monkeypatch.setattr(keras_tagging.Tagger, "evaluator", evaluator)


def test_the_same_command_finishes_a_run_whatever_the_moment(corpus, tmp_path, quick):
    out = tmp_path / "run"
    command = ["train", "bigru", "--corpus", corpus, *TINY, "--epochs", 2, "--out"]
    with kill_points(out, tmp_path / "killed") as killed:
        assert program(*command, out)[0] == 0
    assert names(out) == FINISHED
    expected = weights(out / "model.keras")
    told = {*FINISHED, "resume.npz", "best.keras"}
    states = [names(folder) & told for folder in killed]
    assert told - FINISHED | {"training.csv"} in states  # in the middle of training
    assert told - {"metadata.json"} in states and told in states
    for folder in killed:
        before = names(folder)
        code, printed, err = program(*command, folder)
        if code:
            assert "holds a finished model: choose another --out" in err
            assert before >= FINISHED
        assert names(folder) == FINISHED, (before, printed)
        np.testing.assert_equal(weights(folder / "model.keras"), expected)
        assert metadata(folder) == metadata(out)
        trained = (folder / "training.csv").read_text()
        assert trained == (out / "training.csv").read_text()


def test_a_model_never_stands_beside_the_metadata_of_another(tmp_path):
    models = []
    for seed in (1, 2):
        models.append(keras_tagging.build("bigru", **{**SIZES, "seed": seed}))
        models[-1].adapt([Sentence(["a", "b"], ["X", "Y"])])
    out = tmp_path / "out"
    models[0].save(out / "model.keras")
    with kill_points(out, tmp_path / "killed") as killed:
        models[1].save(out / "model.keras")
    seen = []
    for folder in killed:
        saved = members((folder / "model.keras").read_bytes())
        config = json.loads(saved["config.json"])
        seen.append(config["config"]["seed"])
        if (folder / "metadata.json").exists():
            assert metadata(folder)["seed"] == seen[-1]
    assert seen == sorted(seen) and set(seen) == {1, 2}
    assert names(killed[-1]) == {"model.keras", "metadata.json"}


LOCKING = """
import sys
from pathlib import Path
sys.argv[0] = "keras-tagging"  # which does not import Keras at once
from keras_tagging.models.files.run_folder import lock_run

with lock_run(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    told = (
        f"keras-tagging: error: another process trains in {tmp_path}: wait until it "
        "ends, or choose another --out\n"
    )
    options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    path = os.pathsep.join(filter(None, sys.path))
    options["env"] = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-c", LOCKING, tmp_path]
    with subprocess.Popen(command, **options) as process:
        assert process.stdout.readline() == b"locked\n"
        command = ["train", "bigru", "--corpus", "demo", "--out", tmp_path]
        code, _, err = program(*command)
        assert (code, err) == (2, told)
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    assert names(tmp_path) == {".lock"}
    with lock_run(tmp_path):  # what a killed process has left does not lock
        pass
    assert not names(tmp_path)


def fake_saved_model(model, path, top_k, verbose):
    (path / "variables").mkdir(parents=True)
    for name in ("saved_model.pb", "variables/variables.index"):
        (path / name).write_text(str(model.seed))


def test_an_exported_folder_is_the_old_or_the_new_one(tmp_path, tagger, monkeypatch):
    monkeypatch.setattr(exporting, "_write", fake_saved_model)
    out = tmp_path / "parent" / "served"
    exporting.export(tagger, out)
    for path in out.rglob("*"):  # it is told from the new one
        if path.is_file():
            path.write_text("old")
    old = content(out)
    with kill_points(out.parent, tmp_path / "killed") as killed:
        exporting.export(tagger, out)
    new = content(out)
    assert len(new) == 4 and new != old
    states = [content(f / "served") for f in killed]
    assert all(state in (old, new, {}) for state in states)
    assert states[0] == old and states[-1] == new
    for folder in killed:
        exporting.export(tagger, folder / "served")
        assert content(folder / "served") == new
    assert [path.name for path in out.parent.iterdir()] == ["served"]


def sentences(word, count):
    return [Sentence([word, "x"], ["A", "B"])] * count


@pytest.mark.parametrize("before", ["nothing", "folder", "corpus"])
def test_prepared_splits_are_not_mixed(tmp_path, before):
    out = tmp_path / "parent" / "out"
    out.parent.mkdir()
    splits = ("train", "dev", "test")
    if before != "nothing":
        out.mkdir()
    if before == "corpus":
        write_splits(out, {name: sentences("old", 2) for name in splits})
    new = {name: sentences("new", 3) for name in splits}
    with kill_points(out.parent, tmp_path / "killed") as killed:
        write_splits(out, new, overwrite=before == "corpus")
    assert names(out) == {f"{name}.conll" for name in splits}
    for folder in killed:
        corpus = folder / "out"
        try:
            found = load_corpus(str(corpus))
        except CorpusError:
            found = None  # it has no training sentences, or is not there
        if found:
            words = {s.tokens[0] for _, part in found.splits() for s in part}
            assert len(words) == 1 and found.dev and found.test
        # the same command replaces what the kill has left
        partly = any(path.suffix == ".conll" for path in corpus.glob("*"))
        write_splits(corpus, new, overwrite=partly)
        assert content(corpus) == content(out)
        if before != "nothing":
            assert names(folder) == {"out"}
