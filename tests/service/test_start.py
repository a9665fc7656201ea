"""Which models are served, and what a service imports."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from hostile.programs import program

from keras_tagging import runtime
from keras_tagging.service import server, worker
from keras_tagging.service.worker import stamp

HEAVY = ("tensorflow", "keras", "gensim", "jax", "torch", "sklearn", "pandas", "scipy")


def test_names(tmp_path, monkeypatch):
    for name in ("tagger.onnx", "fr=en.onnx", "model.keras"):
        (tmp_path / name).write_bytes(b"")
    folder = tmp_path / "run.v2"
    folder.mkdir()
    given = [tmp_path / "tagger.onnx", folder, f"en={tmp_path}/tagger.onnx"]
    assert server.named([*map(str, given)]) == {
        "tagger": given[0],
        "run.v2": folder,
        "en": given[0],
    }
    with pytest.raises(ValueError, match="would both be called tagger: give one of"):
        server.named([str(given[0]), f"tagger={tmp_path}/model.keras"])
    with pytest.raises(ValueError, match="not to be called stats: give NAME=PATH"):
        server.named([f"stats={given[0]}"])
    monkeypatch.setattr(server, "find_model", lambda path, to_run: folder)
    assert server.named(["en"]) == {"en": folder}


@pytest.mark.parametrize(
    "name, message",
    [
        ("nothing.onnx", "no such file or folder"),
        ("bad.onnx", "export the model again"),
    ],
)
def test_files_that_are_no_model(tmp_path, name, message):
    (tmp_path / "bad.onnx").write_bytes(b"not this")
    code, _, error = program("serve", tmp_path / name, "--port", 0)
    assert code == 2 and name in error and message in error
    assert error.count("\n") == 1


def test_no_process_imports_tensorflow(model_files):
    code = (
        "import json, sys; import keras_tagging.cli, keras_tagging.service.server\n"
        "from keras_tagging.service import worker\n"
        "path = sys.argv[1]\n"
        "_, found = worker.load({'x': (path, worker.stamp(path))})\n"
        "found = {n: [m.kind, m.top_k] for n, m in found.items()}\n"
        f"print(json.dumps([found, [m for m in {HEAVY} if m in sys.modules]]))"
    )
    path = str(model_files["tagger"])
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True)
    found, heavy = json.loads(done.stdout)
    assert found == {"x": ["tagger", 5]}
    assert heavy == []


def test_what_has_changed_is_not_loaded(model_files, folder, tmp_path):
    path, stamped = str(model_files["tagger"]), stamp(str(folder))
    (tmp_path / "pipeline.json").write_text("{}")
    for files_here in ({"a": (path, (0, 0, 0))}, {"a": (str(tmp_path), stamped)}):
        with pytest.raises(ValueError, match="has changed since the service was start"):
            worker.load(files_here)


def test_what_cannot_be_served_is_refused(monkeypatch, tmp_path):
    (tmp_path / "m.onnx").write_bytes(b"")
    path = str(tmp_path / "m.onnx")
    tags = {"upos": ["N"], "feats": ["_"]}
    for model in ({"kind": "tagger", "labels": tags}, {"kind": "segmenter"}):
        given = SimpleNamespace(**model)
        monkeypatch.setattr(runtime, "load", lambda path, threads, x=given: x)
        with pytest.raises(ValueError, match="is served in a pipeline only"):
            worker.load({"m": (path, stamp(path))})


def test_other_models_are_exported_first(tmp_path, monkeypatch):
    (tmp_path / "pipeline.json").write_text('{"format": 1, "parts": {"tagger": {}}}')
    asked, code = [], 0

    def run(command, **_):
        assert command[:4] == [sys.executable, "-m", "keras_tagging", "export"]
        asked.append(command[4:])
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(server.subprocess, "run", run)
    path = tmp_path / "small.keras"
    assert server.as_onnx("small", path, tmp_path) == tmp_path / "small.onnx"
    assert server.as_onnx("en", tmp_path, tmp_path / "made") == tmp_path / "made" / "en"
    made = str(tmp_path / "made" / "en")
    assert asked == [
        [str(path), str(tmp_path / "small.onnx")],
        [str(tmp_path), made, "--onnx"],
    ]
    code = 2
    with pytest.raises(ValueError, match="could not be exported as ONNX"):
        server.as_onnx("small", path, tmp_path)
