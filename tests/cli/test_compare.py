"""Two models compared from the command line."""

import json
import shutil

import pytest
from conftest import WORDS_ONLY, randomize

import keras_tagging
from keras_tagging import load, load_corpus

pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture(scope="module")
def models(trained, tmp_path_factory):
    """Two seeds of two taggers: a.1.keras to b.2.keras."""
    folder = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(("a.1", "a.2", "b.1", "b.2"), 1):
        model = load(trained[0])
        if seed > 1:
            randomize(model, seed)
        model.save(folder / f"{name}.keras")
    return folder


def test_two_models(program, run_dir, models, corpus_dir):
    other = models / "b.1.keras"
    code, printed, err = program("compare", run_dir, other, "--corpus", corpus_dir)
    assert (code, err) == (0, "")
    sentences = load_corpus(corpus_dir).test
    found = keras_tagging.compare(run_dir, other, sentences)
    assert printed == f"{found}\n"
    assert found.difference > 0 and "one model each" in printed


def test_options_and_patterns(program, models, corpus_dir):
    args = ["compare", f"{models}/a.*", models / "b.?.keras", "--corpus", corpus_dir]
    args += ["--split", "dev", "--figure", "word", "--beta", "0.5", "--seed", "3"]
    args += ["--units", "sentences", "--resamples", "200", "--json"]
    code, printed, _ = program(*args)
    assert code == 0
    pairs = [[models / f"{side}.{seed}.keras" for seed in (1, 2)] for side in "ab"]
    options = {"beta": 0.5, "units": "sentences", "resamples": 200, "seed": 3}
    dev = load_corpus(corpus_dir).dev
    found = keras_tagging.compare(*pairs, dev, "word", **options)
    assert json.loads(printed) == vars(found)
    assert (found.seeds, found.units, found.count) == (2, "sentences", len(dev))


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
    assert "accuracy has no levels" in compared(a, b, "--beta", "0.5")
    assert "sent is tested by sentences, not by tokens" in compared(
        a, b, "--figure", "sent", "--beta", "0.5", "--units", "tokens"
    )
    assert "word needs a level: beta=0.075" in compared(a, b, "--figure", "word")
    err = compared(a, b, "--figure", "acuracy")
    assert "a tagger has no 'acuracy'; it has accuracy, f1" in err


def test_a_file_may_have_the_name_of_a_pattern(program, models, corpus_dir, tmp_path):
    odd = tmp_path / "a[1].keras"
    shutil.copy(models / "a.1.keras", odd)
    code, printed, _ = program("compare", odd, odd, "--corpus", corpus_dir)
    assert code == 0 and "difference +0.00, p = 1.0000" in printed


def test_columns_have_names(program, failing, corpus_dir, tmp_path):
    corpus = keras_tagging.load_corpus("demo")
    options = {"units": 4, "num_layers": 1, **WORDS_ONLY}
    model = keras_tagging.build("bigru", tags=["pos", "deprel"], **options)
    model.adapt(corpus.train[:50])
    model.save(tmp_path / "two.keras")
    args = ["compare", tmp_path / "two.keras", tmp_path / "two.keras"]
    args += ["--corpus", "demo"]
    assert "pos, deprel: give the figure of one, such as pos_accuracy" in failing(*args)
    code, printed, _ = program(*args, "--figure", "deprel_accuracy")
    assert code == 0 and printed.startswith("deprel_accuracy ")
