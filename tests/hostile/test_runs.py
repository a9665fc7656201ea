"""Run folders that are damaged, foreign or cannot be written."""

import errno
import json
import subprocess
import sys

import keras
import numpy as np
import pytest
from conftest import TINY as SIZES
from conftest import random_sentences
from hostile.programs import TINY, program

import keras_tagging
from keras_tagging.training.resume import Resume
from keras_tagging.utils import limits

pytestmark = pytest.mark.usefixtures("eagerly")

TRAIN, DEV = random_sentences(12, 1), random_sentences(6, 2)
EPOCHS = 3


def built():
    return keras_tagging.build("bigru", **SIZES, decay=None)


def fit(model, folder, epochs=EPOCHS):
    model.fit(TRAIN, validation_data=DEV, epochs=epochs, verbose=0, resume=folder)
    return model


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """The bytes of what two epochs have left, and their arrays by name."""
    folder = tmp_path_factory.mktemp("state")
    fit(built(), folder, epochs=2)
    with np.load(folder / "resume.npz") as arrays:
        return (folder / "resume.npz").read_bytes(), dict(arrays)


@pytest.fixture(scope="module")
def model():
    """Is not trained, as none of these files lets it begin."""
    model = built()
    model.adapt(TRAIN)
    return model


def header_with(arrays, **changes):
    return json.dumps(json.loads(str(arrays["header"])) | changes)


def callbacks_with(arrays, index, **changes):
    callbacks = json.loads(str(arrays["header"]))["callbacks"]
    callbacks[index] |= changes
    return header_with(arrays, callbacks=callbacks)


HEADERS = {
    "list": lambda a: "[]",
    "deep": lambda a: "[" * 10**5,
    "empty": lambda a: "{}",
    "negative": lambda a: header_with(a, epoch=-5),
    "true": lambda a: header_with(a, epoch=True),
    "many": lambda a: header_with(a, epoch=10**9),
    "digits": lambda a: str(a["header"]).replace(
        '"epoch": 2', '"epoch": ' + "9" * 5000
    ),
    "finished": lambda a: header_with(a, finished="yes"),
    "run": lambda a: header_with(a, run=[]),
    "callbacks": lambda a: header_with(a, callbacks={}),
    "states": lambda a: header_with(
        a, callbacks=[None] * len(json.loads(str(a["header"]))["callbacks"])
    ),
    "method": lambda a: callbacks_with(a, -1, on_epoch_end=None),
    "path": lambda a: callbacks_with(a, -1, path="/elsewhere"),
    "text for a number": lambda a: callbacks_with(a, -2, wait="x"),
    "no characters": lambda a: np.frombuffer(b"\xff" * 4, "<U1").reshape(()),
    "no arrays": lambda a: callbacks_with(a, -2, best_weights={"arrays": 99}),
}
# attributes of EarlyStopping, and what they cannot be
WRONG = {
    "best_weights": ["x", {"arrays": "1"}],
    "wait": ["x", [1]],
    "patience": ["x"],
    "monitor_op": ["x"],
    "on_epoch_end": [1, {"arrays": 1}],
    "_model": [2],
    "model": [None],
}
for name, values in WRONG.items():
    for i, value in enumerate(values):
        HEADERS[f"{name} {i}"] = lambda a, name=name, value=value: callbacks_with(
            a, -2, **{name: value}
        )


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_that_is_none_is_told(state, model, tmp_path, kind):
    arrays = state[1]
    header = np.array(HEADERS[kind](arrays))
    np.savez(tmp_path / "resume.npz", **arrays | {"header": header})
    refused(model, tmp_path)


def refused(model, folder):
    with pytest.raises(ValueError) as caught:
        fit(model, folder)
    told = str(caught.value)
    assert told.startswith(f"{folder / 'resume.npz'}: not a file to resume from (")
    assert told.endswith("); remove it to start afresh")
    assert "\n" not in told


@pytest.mark.parametrize("kind", ["shape", "type", "missing", "object", "compressed"])
def test_arrays_of_another_model_are_told(state, model, tmp_path, kind):
    arrays = dict(state[1])
    if kind == "shape":
        arrays["variable0"] = np.zeros((1, 1), arrays["variable0"].dtype)
    elif kind == "type":
        arrays["variable0"] = arrays["variable0"].astype(str)
    elif kind == "object":
        arrays["variable0"] = arrays["variable0"].astype(object)
    elif kind == "missing":
        del arrays["variable1"]
    save = np.savez_compressed if kind == "compressed" else np.savez
    save(tmp_path / "resume.npz", **arrays)
    refused(model, tmp_path)


def test_a_header_without_end_is_told(state, model, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "HEADER_BYTES", 1000)
    (tmp_path / "resume.npz").write_bytes(state[0])
    refused(model, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PK", b"\x80\x04", bytes(4096)], ids=repr)
def test_other_files_are_told(model, tmp_path, content):
    (tmp_path / "resume.npz").write_bytes(content)
    refused(model, tmp_path)


def test_flipped_and_lost_bytes_are_told_or_change_nothing(tmp_path):
    path = tmp_path / "resume.npz"

    def resume(value):
        """The callbacks of a model whose weights are this value."""
        weights = [keras.Variable(np.full(i + 3, value, "float32")) for i in range(4)]
        model = type("Model", (), {"variables": weights, "stop_training": False})()
        model.optimizer = model
        found = Resume(path, [keras.callbacks.EarlyStopping()], {"seed": 1})
        found.set_model(model)
        return found, weights

    resume(0.5)[0].on_epoch_end(0)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    told = 0
    for i, place in enumerate(rng.integers(0, 8 * len(whole), 60).tolist()):
        damaged = bytearray(whole)
        if i % 4:
            damaged[place // 8] ^= 1 << place % 8
        else:
            del damaged[place // 8 :]
        path.write_bytes(damaged)
        try:
            found, weights = resume(0.0)
            found.on_train_begin()
        except ValueError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
            told += 1
        else:
            assert found.epoch == 1 and all((np.array(w) == 0.5).all() for w in weights)
    assert told > 35


# The program


def test_a_full_disk_is_one_line(corpus, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    out = tmp_path / "run"
    run = program("train", "bigru", "--corpus", corpus, "--out", out, *TINY)
    assert run[0] == 2 and run[2].startswith("keras-tagging: error: ")
    assert run[2].count("\n") == 1 and run[2].endswith(
        "No space left on device: free some space and repeat the command; it was "
        f"writing: '{out / 'resume.npz'}'\n"
    )
    assert not (out / ".lock").exists()


def test_standard_output_on_a_full_disk_is_one_line():
    command = [sys.executable, "-m", "keras_tagging", "corpora"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "keras-tagging: error: [Errno 28] No space left on device: standard output\n"
    )
