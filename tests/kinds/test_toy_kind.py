"""A kind that is registered once walks every road: see docs/architecture.rst."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import tensorflow as tf
from kinds.conftest import INSTALLED
from service.conftest import serving

import keras_tagging
from keras_tagging import Pipeline, Sentence, cli, kinds, runtime
from keras_tagging.utils import installed as installed_packages

pytestmark = pytest.mark.usefixtures("installed")
WORDS = "the dog barks quickly and a cat sees two houses".split()


def counted(words):
    """A sentence with the number of vowels of each word."""
    vowels = [str(sum(letter in "aeiou" for letter in word)) for word in words]
    return Sentence(words, None, {"vowels": vowels})


GOLD = [counted(WORDS[i:j]) for i in range(10) for j in range(i + 1, 11)]


def test_the_toy_is_small():
    """That a kind is short to write is what the registry is for."""
    files = [*INSTALLED.glob("counter_kind/*.py")]
    assert sum(len(file.read_text().splitlines()) for file in files) <= 120


@pytest.fixture(scope="module")
def model(installed):
    model = keras_tagging.build("counter", seed=1)
    model.fit(GOLD, epochs=20, verbose=0)
    return model


@pytest.fixture(scope="module")
def onnx_file(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("counter") / "counter.onnx"
    model.export(path, format="onnx")
    return path


def test_it_learns(model):
    assert "counter" in keras_tagging.available()
    assert model.evaluate(GOLD, return_dict=True) == {"accuracy": 1.0}
    plain = [sentence.tokens for sentence in GOLD]
    assert model.annotate(plain) == list(model.annotate(iter(plain))) == GOLD
    assert (
        model.predict(plain) == GOLD and not model.annotate([[]])[0].columns["vowels"]
    )


def test_it_is_saved(model, tmp_path):
    model.save(tmp_path / "counter.keras")
    again = keras_tagging.load(tmp_path / "counter.keras")
    assert type(again) is type(model) and again.annotate([WORDS]) == [counted(WORDS)]


def test_it_is_a_saved_model(model, tmp_path):
    model.export(tmp_path / "served")
    serve = tf.saved_model.load(tmp_path / "served").signatures["serving_default"]
    given = tf.constant([WORDS[:3], ["dog", "padding", "padding"]])
    found = serve(tokens=given, lengths=tf.constant([3, 1]))["counts"]
    np.testing.assert_array_equal(found, [[1, 1, 1], [1, -1, -1]])


def test_it_runs_without_keras(onnx_file):
    found = runtime.load(onnx_file)
    assert found.kind == "counter" and found.annotate([WORDS, []]) == [
        counted(WORDS),
        counted([]),
    ]
    code = "import sys, keras_tagging.runtime as r; r.load(sys.argv[1]); "
    code += "assert not {'keras', 'tensorflow'} & {*sys.modules}"
    subprocess.run([sys.executable, "-c", code, onnx_file], check=True)


def test_it_is_a_stage(model, onnx_file, tmp_path):
    pipeline = Pipeline(counter=model)
    assert [*pipeline.annotate(" ".join(WORDS))][0].columns == counted(WORDS).columns
    assert pipeline.columns == ("vowels",)
    pipeline.save(tmp_path / "keras")
    pipeline.export(tmp_path / "onnx", format="onnx")
    for load in (keras_tagging.load, runtime.load):
        folder = tmp_path / ("onnx" if load is runtime.load else "keras")
        assert [*load(folder).annotate([WORDS])] == [counted(WORDS)]


def test_it_is_served(onnx_file):
    with serving(onnx_file) as service:
        body = {"sentences": [WORDS[:2]]}
        [row] = service.post("/count", body).json()["sentences"]
        assert row == {"tokens": WORDS[:2], "counts": [1, 1]}
        tokens = {"name": "tokens", "datatype": "BYTES", "shape": [2, 2]}
        lengths = {"name": "lengths", "datatype": "INT32", "shape": [2]}
        tokens["data"], lengths["data"] = [WORDS[:2], ["a", ""]], [2, 1]
        body = {"inputs": [tokens, lengths]}
        [found] = service.post("/v2/models/counter/infer", body).json()["outputs"]
        assert found["data"] == [1, 1, 1, -1]
        assert service.get("/v2/models/counter").json()["outputs"] == [
            {"name": "counts", "datatype": "INT32", "shape": [-1, -1]}
        ]


def test_the_command_line_knows_it(tmp_path, capsys):
    rows = [json.dumps({"tokens": s.tokens, **s.columns}) for s in GOLD]
    (tmp_path / "train.jsonl").write_text("\n".join(rows), encoding="utf-8")
    run = tmp_path / "run"

    def program(*args):
        with pytest.raises(SystemExit) as end:
            cli.main([*map(str, args)])
        told = capsys.readouterr()
        assert not end.value.code, told.err
        return told.out

    assert "counter" in program("list") and "units" in program("list", "counter")
    corpus = ["--corpus", tmp_path / "train.jsonl"]
    program("train", "counter", *corpus, "--out", run, "--epochs", 20)
    told = program("evaluate", run, *corpus, "--json")
    assert json.loads(told)["figures"] == {"accuracy": 1.0}
    (tmp_path / "text.txt").write_text("the dog\n", encoding="utf-8")
    told = program("annotate", run, tmp_path / "text.txt", "--output", "jsonl")
    [token, _] = json.loads(told)["tokens"]
    assert token["words"][0]["vowels"] == "1"


def test_unknown_kinds_are_told(installed, onnx_file, tmp_path, model):
    with pytest.raises(ValueError, match="no kind 'cook': there are tagger, .*counter"):
        kinds.find("cook")
    with pytest.raises(ValueError, match="no kind .*list.*: there are tagger"):
        kinds.find(["tagger"])
    with pytest.raises(ValueError, match="another kind 'counter': choose"):
        kinds.register(kinds.Kind(name="counter", model="builtins:eval"))
    with pytest.raises(ValueError, match="chef= is a Counter, not a tagger: give it"):
        Pipeline(counter=model, chef=model)


def test_a_broken_kind_of_another_package_is_told(monkeypatch):
    broken = EntryPoint("cook", "kitchen:KIND", kinds.kind.GROUP)
    monkeypatch.setattr(installed_packages, "entry_points", lambda group: [broken])
    kinds.kind._register_installed.cache_clear()
    with pytest.warns(UserWarning, match="kind 'cook' of kitchen:KIND cannot be used"):
        assert kinds.find("tagger") in kinds.known().values()
    kinds.kind._register_installed.cache_clear()
