"""Models measured from the command line: evaluate, analyse, compare."""

import json
import re
import shutil

import pytest
from conftest import WORDS_ONLY, randomize

import keras_tagging
from keras_tagging import load_corpus
from keras_tagging.data import Sentence, write

pytestmark = pytest.mark.usefixtures("eagerly", "loaded_once")


def test_evaluate(program, silently, run_dir, corpus_dir):
    sentences = load_corpus(corpus_dir).dev
    expected = keras_tagging.load(run_dir).evaluate(sentences, return_dict=True)
    split = ["--corpus", corpus_dir, "--split", "dev"]
    extra = ["--betas", "0.5,0.01", "--per-tag"]
    _, out, _ = program("evaluate", run_dir, *split, *extra, "--json")
    report = json.loads(out)
    assert report["figures"] == pytest.approx(expected)
    assert [row["beta"] for row in report["multi_tagging"]] == [0.5, 0.01]
    assert sum(row["gold"] for row in report["per_tag"]) == sum(map(len, sentences))
    out = silently("evaluate", run_dir, *split, *extra)
    assert f"{100 * expected['accuracy']:.2f}" in out
    assert "categories_per_word" in out
    assert "recall %" in out
    # a file alone is the test data
    file = ["--corpus", corpus_dir / "dev.conll"]
    report = json.loads(program("evaluate", run_dir, *file, "--json")[1])
    assert report["figures"] == pytest.approx(expected)


def test_unknown_gold_tags_are_told(program, run_dir, tmp_path):
    path = tmp_path / "other.conll"
    write([Sentence(["They", "left"], ["PRON", "VERB"])], path)
    code, _, err = program("evaluate", run_dir, "--corpus", path)
    assert code == 0
    assert "2 of 2 gold tags are unknown to the model" in err


def test_analyse(program, run_dir, corpus_dir, tmp_path):
    out = tmp_path / "report.html"
    args = ["analyse", run_dir, "--corpus", corpus_dir, "--out", out]
    code, printed, err = program(*args)
    assert code == 0 and "gold tags are unknown to the model" in err
    assert f"Written to {out}" in printed
    sentences = load_corpus(corpus_dir).test
    expected = keras_tagging.load(run_dir).evaluate(sentences, return_dict=True)
    for name in ("accuracy", "oov_accuracy", "sentence_accuracy"):
        assert re.search(rf"{name} +{100 * expected[name]:.2f} ", printed)
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert "By word frequency" in out.read_text()


def test_analyse_other_training_sentences(program, run_dir, corpus_dir, tmp_path):
    # where the report goes by itself
    model, file = tmp_path / "model.keras", corpus_dir / "dev.conll"
    model.write_bytes((run_dir / "model.keras").read_bytes())
    code, printed, err = program("analyse", model, "--corpus", file)
    assert (code, err) == (0, "")
    text = (tmp_path / "analysis-test.html").read_text()
    assert "<h2>Confusions</h2>" in text and "By word frequency" not in text
    (tmp_path / "corpus").mkdir()
    for name in ("train", "test"):
        (tmp_path / "corpus" / f"{name}.conll").write_bytes(file.read_bytes())
    code, _, err = program("analyse", model, "--corpus", tmp_path / "corpus")
    assert code == 0 and "trained on other sentences" in err
    text = (tmp_path / "analysis-test.html").read_text()
    assert "trained on other sentences" in text


def test_analyse_refuses(failing, run_dir, corpus_dir, tmp_path):
    args = ["analyse", run_dir, "--corpus", corpus_dir]
    assert "has no --punctuation" in failing(*args, "--punctuation", "ptb")
    args[-1] = corpus_dir / "dev.conll"
    assert "has no dev sentences: give --split test" in failing(*args, "--split", "dev")


@pytest.fixture(scope="module")
def models(trained, tmp_path_factory):
    """Two seeds of two taggers: a.1.keras to b.2.keras."""
    folder = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(("a.1", "a.2", "b.1", "b.2"), 1):
        model = keras_tagging.load(trained[0])
        if seed > 1:
            randomize(model, seed)
        model.save(folder / f"{name}.keras")
    return folder


def test_two_models(program, models, corpus_dir, tmp_path):
    first = tmp_path / "a[1].keras"  # no pattern: there is such a file
    shutil.copy(models / "a.1.keras", first)
    second = models / "b.1.keras"
    code, printed, err = program("compare", first, second, "--corpus", corpus_dir)
    assert (code, err) == (0, "")
    result = keras_tagging.compare(first, second, load_corpus(corpus_dir).test)
    assert printed == f"{result}\n"
    assert result.difference > 0 and "one model each" in printed


def test_options_and_patterns(silently, models, corpus_dir):
    args = ["compare", f"{models}/a.*", models / "b.?.keras", "--corpus", corpus_dir]
    args += ["--split", "dev", "--figure", "word", "--beta", "0.5", "--seed", "3"]
    args += ["--units", "sentences", "--resamples", "200", "--json"]
    printed = silently(*args)
    pairs = [[models / f"{side}.{seed}.keras" for seed in (1, 2)] for side in "ab"]
    options = {"beta": 0.5, "units": "sentences", "resamples": 200, "seed": 3}
    dev = load_corpus(corpus_dir).dev
    result = keras_tagging.compare(*pairs, dev, "word", **options)
    assert json.loads(printed) == vars(result)
    assert (result.seeds, result.units, result.count) == (2, "sentences", len(dev))


def test_what_is_refused(failing, models, run_dir, corpus_dir):
    def compared(first, second, *options):
        return failing("compare", first, second, "--corpus", corpus_dir, *options)

    a, b = models / "a.1.keras", models / "b.1.keras"
    assert "2 models and 1" in compared(f"{models}/a.*", b)
    nothing = f"{models}/c.*"
    assert f"{nothing}: no .keras file and no folder fits" in compared(a, nothing)
    assert "no such model" in compared(a, models / "c.keras")
    assert f"{a} holds a tagger, which has no --punctuation" in compared(
        a, b, "--punctuation", "ptb"
    )
    assert "beta= is a level" in compared(a, b, "--beta", "0.5")
    assert "sent is tested by sentences, not by tokens" in compared(
        a, b, "--figure", "sent", "--beta", "0.5", "--units", "tokens"
    )
    err = compared(a, b, "--figure", "acuracy")
    assert "unknown figure 'acuracy'; did you mean 'accuracy'" in err


def test_columns_have_names(program, failing, corpus_dir, tmp_path):
    corpus = keras_tagging.load_corpus("demo")
    options = {"units": 4, "num_layers": 1, **WORDS_ONLY}
    model = keras_tagging.build("bigru", tags=["pos", "deprel"], **options)
    model.adapt(corpus.train[:50])
    model.save(tmp_path / "two.keras")
    args = ["compare", tmp_path / "two.keras", tmp_path / "two.keras"]
    write(corpus.test[:4], tmp_path / "test.jsonl", "jsonl")
    args += ["--corpus", tmp_path / "test.jsonl"]
    assert "pos, deprel: give the figure of one, such as pos_accuracy" in failing(*args)
    code, printed, _ = program(*args, "--figure", "deprel_accuracy")
    assert code == 0 and printed.startswith("deprel_accuracy ")
