"""What version 0.2 has saved is loaded, and answers as it did there.

`fixtures/v0_2` has one of each kind of file, trained for seconds on the demo corpus,
and `answers.json` with what version 0.2 answered. `pipeline` has a segmenter, a tagger
of two columns with a character network, and a parser with an encoder and a beam of two;
`onnx-pipeline` is its export. `crf` is a tagger with a CRF, `parser` a parser with a
tagger of its own, `run` the folder of a finished `keras-tagging train`.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import keras_tagging
from keras_tagging import runtime
from keras_tagging.cli import main

SAVED = Path(__file__).parents[1] / "fixtures" / "v0_2"
ANSWERS = json.loads((SAVED / "answers.json").read_text())

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.mark.parametrize("name", ["pipeline", "onnx-pipeline"])
def test_the_pipeline_annotates_as_it_did(name):
    load = runtime.load if "onnx" in name else keras_tagging.load
    expected, text = ANSWERS["annotated"], ANSWERS["text"]
    if "onnx" not in name:  # each letter is a step
        expected, text = expected[:2], text[: text.index(" Have")]
    found = load(SAVED / name).annotate(text)
    assert [{"tokens": s.tokens, "columns": dict(s.columns)} for s in found] == expected


@pytest.mark.parametrize("suffix", ["keras", "onnx"])
def test_a_parser_with_its_own_tagger_parses_as_it_did(suffix):
    load = runtime.load if suffix == "onnx" else keras_tagging.load
    found = load(SAVED / f"parser.{suffix}").parse(ANSWERS["words"])
    assert [dict(s.columns) for s in found] == ANSWERS["parsed"]


@pytest.mark.parametrize("suffix", ["keras", "onnx"])
def test_a_crf_tags_as_it_did(suffix):
    load = runtime.load if suffix == "onnx" else keras_tagging.load
    assert load(SAVED / f"crf.{suffix}").tag(ANSWERS["words"]) == ANSWERS["tagged"]


@pytest.mark.parametrize(
    "name",
    ["crf.keras", "parser.keras", "pipeline/segmenter.keras", "../v0_1/tagger.keras"],
)
def test_a_model_is_saved_and_loaded_as_it_was(name, tmp_path):
    model = keras_tagging.load(SAVED / name)
    model.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path)
    assert again.get_config() == model.get_config()
    assert all(map(np.array_equal, again.get_weights(), model.get_weights()))


def test_a_finished_run_is_a_model(tmp_path, capfd):
    model = keras_tagging.load(SAVED / "run")
    kept = json.loads((SAVED / "run" / "metadata.json").read_text())
    assert model.metadata["epochs"] == 1 and kept["architecture"] == "bigru"
    with pytest.raises(SystemExit) as end:
        main(["evaluate", str(SAVED / "run"), "--corpus", "demo", "--json"])
    assert not end.value.code
    accuracy = json.loads(capfd.readouterr().out)["figures"]["accuracy"]
    assert accuracy == pytest.approx(kept["scores"]["test"]["accuracy"])
