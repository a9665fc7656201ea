"""A segmenter on the command line."""

import json

import pytest
from treebanks import FOLDER

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")

TINY = ["units=4", "character_dim=3", "window=8", "context=8", "min_batches=0"]
TINY += ["batch_size=999"]
SETTINGS = [part for pair in TINY for part in ("--set", pair)]


@pytest.fixture(scope="module")
def run(tmp_path_factory, silently):
    folder = tmp_path_factory.mktemp("runs") / "segmenter"
    files = ["--corpus", FOLDER / "english.conllu", "--dev", FOLDER / "french.conllu"]
    out = ["--out", folder, "--epochs", 1, *SETTINGS]
    return folder, silently("train", "segmenter", *files, *out)


def test_train(run):
    folder, printed = run
    found = {path.name for path in folder.iterdir()}
    assert found == {"model.keras", "metadata.json", "training.csv"}
    scores = json.loads((folder / "metadata.json").read_text())["scores"]["dev"]
    assert set(scores) == {"loss", "token_f1", "word_f1", "sentence_f1", "f1"}
    assert "characters, 7 multiword tokens" in printed
    assert f"keras-tagging annotate {folder} FILE" in printed
    assert "export" not in printed


def test_evaluate(run, program):
    given = ["evaluate", run[0], "--corpus", FOLDER / "french.conllu", "--json"]
    code, out, err = program(*given)
    assert (code, err) == (0, "")
    found = json.loads(out)
    rows = {row["unit"]: row for row in found["segmentation"]}
    assert rows["tokens"]["gold"] == 37 and rows["multiwords"]["gold"] == 5
    assert found["figures"]["token_f1"] == pytest.approx(rows["tokens"]["f1"])


def test_other_corpora_have_no_text(failing, tmp_path):
    rows = tmp_path / "train.conll"
    rows.write_text("a\tB\nb\tC\n\n")
    given = ["--corpus", rows, "--out", tmp_path / "out"]
    assert "option of format 'conll' 'surface'" in failing("train", "segmenter", *given)


def test_what_others_do_a_segmenter_does_not(run, failing, tmp_path):
    corpus = ["--corpus", FOLDER / "french.conllu"]
    assert "an ONNX file" in failing("export", run[0], tmp_path / "served")
    given = (tmp_path / "x.onnx", "--top-k", "2")
    assert "a segmenter, which has no --top-k" in failing("export", run[0], *given)
    assert "no analysis of a segmenter" in failing("analyse", run[0], *corpus)
    assert "holds a segmenter" in failing("tag", run[0], FOLDER / "french.conllu")
    assert "no --per-tag" in failing("evaluate", run[0], *corpus, "--per-tag")
