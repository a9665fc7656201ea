import re

import pytest

from keras_tagging import load, load_corpus

pytestmark = pytest.mark.usefixtures("eagerly")


def test_analyse(program, run_dir, corpus_dir, tmp_path):
    out = tmp_path / "report.html"
    code, printed, err = program(
        "analyse", run_dir, "--corpus", corpus_dir, "--out", out
    )
    assert (code, err) == (0, "")
    assert f"Written to {out}" in printed
    sentences = load_corpus(corpus_dir).test
    expected = load(run_dir).evaluate(sentences, return_dict=True)
    for name in ("accuracy", "oov_accuracy", "sentence_accuracy"):
        assert re.search(rf"{name} +{100 * expected[name]:.2f} ", printed)
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert "By word frequency" in out.read_text()


def test_analyse_a_file_without_training_sentences(
    program, run_dir, corpus_dir, tmp_path
):
    # where the report goes by itself
    model = tmp_path / "model.keras"
    model.write_bytes((run_dir / "model.keras").read_bytes())
    file = corpus_dir / "dev.conll"
    code, printed, err = program("analyse", model, "--corpus", file)
    assert (code, err) == (0, "")
    text = (tmp_path / "analysis-test.html").read_text()
    assert "<h2>Confusions</h2>" in text and "By word frequency" not in text


def test_analyse_warns_of_other_training_sentences(
    program, run_dir, corpus_dir, tmp_path
):
    for name, source in (("train", "dev"), ("test", "test")):
        data = (corpus_dir / f"{source}.conll").read_bytes()
        (tmp_path / f"{name}.conll").write_bytes(data)
    args = ["analyse", run_dir, "--corpus", tmp_path, "--out", tmp_path / "x.html"]
    code, _, err = program(*args)
    assert code == 0
    assert "trained on other sentences" in err
    assert "trained on other sentences" in (tmp_path / "x.html").read_text()


def test_analyse_refuses(failing, run_dir, corpus_dir, tmp_path):
    args = ["analyse", run_dir, "--corpus", corpus_dir]
    assert "--out is a file" in failing(*args, "--out", tmp_path)
    assert "has no --punctuation" in failing(*args, "--punctuation", "ptb")
    args[-1] = corpus_dir / "dev.conll"
    assert "has no dev sentences: give --split test" in failing(*args, "--split", "dev")
