"""models/make.py: a CCG parser with the other parts of a model that is there."""

import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, randomize
from derivations import GOLD

import keras_tagging
from keras_tagging import Pipeline, Sentence, runtime
from keras_tagging.runtime import folder
from keras_tagging.vectors import WordVectors

pytestmark = pytest.mark.usefixtures("eagerly")
WORDS = ["the", "dog", "cat", "sees", "old"]
MATRIX = np.random.default_rng(1).normal(size=(5, 4)).astype("float16")
PATH = Path(__file__).parents[2] / "models" / "make.py"


def built(kind, words, sentences, **options):
    """Random weights, beside vectors of the first words."""
    vectors = WordVectors(WORDS[:words], MATRIX[:words].astype("float32"))
    given = TINY | WORDS_ONLY | {"vectors": vectors, "trainable_vectors": False}
    model = keras_tagging.build(kind, **given | options)
    model.adapt(sentences)
    table = model.network.get_layer("vector_embedding").embeddings
    rows = np.array(table)
    randomize(model)
    table.assign(rows)
    return model


@pytest.fixture
def make(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("make", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "HERE", tmp_path)
    return module


@pytest.mark.parametrize("name", ["en", "en-ccg", "fr"])
def test_cards_for_hubs_have_the_figures_of_the_model(name):
    [package] = (PATH.parent / name).glob("keras_tagging_*/card.json")
    card = json.loads(package.read_text("utf-8"))
    _, metadata, text = package.with_name("README.md").read_text("utf-8").split("---\n")
    about = dict(line.split(": ", 1) for line in metadata.splitlines())
    assert f"({about['language']})" in card["language"] and card["limits"] in text
    [model] = json.loads(about["model-index"])
    metrics = model["results"][0]["metrics"]
    shown = {metric["type"]: metric["value"] for metric in metrics}
    assert shown == {k: float(x.split()[0]) for k, x in card["figures"]["test"].items()}


@pytest.mark.slow
def test_a_ccg_parser_gets_the_parts_of_another_model(make, tmp_path, monkeypatch):
    tagged = [Sentence(s.tokens, None, {"pos": [x[0] for x in s.tokens]}) for s in GOLD]
    tagger = built("bigru", 3, tagged, tags="upos")
    en = tmp_path / "en" / "package"
    Pipeline(tagger=tagger).save(en / "model")
    Pipeline(tagger=tagger).export(en / "onnx", format="onnx", int8=True)
    (tmp_path / "en" / "about.json").write_text('{"package": "package"}')
    installed = {"en": SimpleNamespace(part=lambda name: en / name)}
    monkeypatch.setattr(folder, "installed_models", lambda: installed)
    parser = built("ccg-shift-reduce", 5, GOLD, move_units=4, beam_width=2)
    bank = tmp_path / "bank"
    bank.mkdir()
    for split in ("train", "dev", "test"):
        text = "".join(s.derivation.auto() for s in GOLD)
        (bank / f"{split}.auto").write_text(text)
    parser.metadata |= {"corpus": {"name": str(bank)}, "scores": {"dev": {}}}
    parser.save(tmp_path / "run.keras")

    root = tmp_path / "en-ccg"
    (root / "package").mkdir(parents=True)
    about = json.loads((PATH.parent / "en-ccg" / "about.json").read_text("utf-8"))
    about |= {"package": "package", "parts": {"tagger": "en"}}
    (root / "about.json").write_text(json.dumps(about))
    monkeypatch.setattr(make, "seed_of", lambda run: 1)
    run = str(tmp_path / "run.keras")
    monkeypatch.setattr(sys, "argv", ["make", "en-ccg", run, "--corpus", str(bank)])
    make.main()

    made = keras_tagging.load(root / "package" / "model")
    assert [*made.parts] == ["tagger", "ccg-shift-reduce"]
    assert not [*root.rglob("tagger.*")]
    onnx = runtime.load(root / "package" / "onnx")
    assert all(part.words_read for part in onnx.parts.values())
    found = list(onnx.annotate([s.tokens for s in GOLD]))
    for own, other in zip(found, made.annotate([s.tokens for s in GOLD]), strict=True):
        assert own.derivation == other.derivation and own.columns == other.columns
        pos = [leaf.pos for leaf in own.derivation.leaves]
        assert pos == own.columns["pos"]
    card = json.loads((root / "package" / "card.json").read_text("utf-8"))
    whole = parser.evaluate(GOLD, return_dict=True)
    assert card["figures"]["test"]["supertags"] == f"{100 * whole['supertags']:.2f}"
    assert made.metadata["corpus"]["name"] == "bank"
    assert "gold words: one seed" in (root / "README.rst").read_text("utf-8")
    # another version of en, and none
    (en / "onnx" / "tagger.onnx").write_bytes(b"")
    with pytest.raises(ValueError, match="tagger.onnx: is not the file that"):
        runtime.load(root / "package" / "onnx")
    installed.clear()
    with pytest.raises(ValueError, match="parts of the model 'en': install that, too"):
        keras_tagging.load(root / "package" / "model")
