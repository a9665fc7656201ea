"""Vectors that are learnt epoch by epoch, killed and resumed."""

import json

import numpy as np
import pytest
from gensim.models import FastText, Word2Vec

from keras_tagging.utils import limits
from keras_tagging.vectors.run import STATE, SentenceFiles, VectorOptions, VectorRun

TEXT = [["a", "b", "c", "a"], ["b", "d"], ["a", "d", "b"], ["rare"]] * 20
TEXT += [["once", "a"]]
OPTIONS = {"dim": 6, "epochs": 3, "min_count": 2}


def run_of(folder, text=TEXT, **options):
    return VectorRun(folder, text, VectorOptions(**OPTIONS | options))


@pytest.mark.parametrize("method", ["word2vec", "fasttext"])
def test_a_killed_run_goes_on_as_if_it_had_not_been(tmp_path, method):
    whole = run_of(tmp_path / "whole", method=method)
    assert list(whole.epochs()) == [1, 2, 3]
    (tmp_path / "cut").mkdir()
    for epoch in (1, 2, 3):  # each in a process of its own
        cut = run_of(tmp_path / "cut", method=method)
        assert cut.epoch == epoch - 1
        assert next(cut.epochs()) == epoch
    end = run_of(tmp_path / "cut", method=method)
    assert list(end.epochs()) == []
    found, expected = end.vectors(), whole.vectors()
    assert found.words == expected.words and "once" not in found.words
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert (end.words, end.lines) == (whole.words, whole.lines) == (202, 81)


@pytest.mark.parametrize(
    "method, kind", [("word2vec", Word2Vec), ("fasttext", FastText)]
)
def test_the_first_epoch_is_gensims(tmp_path, method, kind):
    """The vocabulary, the rates and the order of one epoch, beside gensim's own."""
    run = run_of(tmp_path, method=method, epochs=1)
    list(run.epochs())
    more = {"bucket": 100_000} if method == "fasttext" else {}
    options = {"vector_size": 6, "window": 2, "min_count": 2, "workers": 1, "seed": 0}
    model = kind(sg=0, **options, **more)
    model.build_vocab_from_freq({"a": 61, "b": 60, "d": 40, "c": 20, "rare": 20})
    model.random = np.random.RandomState([0, 0])
    model.train(TEXT, total_examples=len(TEXT), epochs=1)
    assert run.vectors().words == model.wv.index_to_key
    np.testing.assert_array_equal(run.vectors().matrix, model.wv.vectors)


def test_the_rate_falls_over_all_epochs(tmp_path, monkeypatch):
    run, rates = run_of(tmp_path), []
    names = ("start_alpha", "end_alpha")
    monkeypatch.setattr(
        run.model, "train", lambda *_, **k: rates.append([k[name] for name in names])
    )
    list(run.epochs())
    np.testing.assert_allclose(np.diff(np.array(rates), axis=1), -0.0249 / 3)
    assert rates[0][0] == 0.025 and rates[-1][1] == pytest.approx(0.0001)
    assert rates[0][1] == rates[1][0]


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no word occurs 999 times in the text"):
        run_of(tmp_path, min_count=999)
    list(run_of(tmp_path).epochs())
    with pytest.raises(ValueError, match="with other dim; repeat .*or begin again"):
        run_of(tmp_path, dim=7)
    state = tmp_path / STATE
    content = state.read_bytes()
    for damaged in (content[:-50], b"", content.replace(b'"epoch": 3', b'"epoch": -')):
        state.write_bytes(damaged)
        with pytest.raises(ValueError, match="is damaged .*--no-resume") as error:
            run_of(tmp_path)
        assert "\n" not in str(error.value)


def test_a_state_that_no_run_wrote(tmp_path):
    list(run_of(tmp_path).epochs())
    with np.load(tmp_path / STATE) as state:
        arrays = dict(state)
    header = json.loads(arrays["header"].tobytes())
    newer = {**header["run"], "further": 1}
    changes = [{"run": None}, {"run": newer}, {"counts": [1, 2]}, {"epoch": 77}]
    nan = {"vectors": np.full_like(arrays["vectors"], np.nan)}
    for changed, others in [*((c, {}) for c in changes), ({}, nan)]:
        text = json.dumps(header | changed).encode()
        own = {**arrays, **others, "header": np.frombuffer(text, np.uint8)}
        np.savez(tmp_path / STATE, **own)
        with pytest.raises(ValueError, match="is damaged .*--no-resume"):
            run_of(tmp_path)


def test_the_rarest_of_too_many_words_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "VECTOR_TYPES", 4)
    run = run_of(tmp_path, [["a", "b"], *([str(i), "a"] for i in range(20)), ["b"]])
    assert run.vectors().words == ["a"] and run.lines == 22


def test_files_are_read_again_and_again(tmp_path):
    path = tmp_path / "sentences"
    long = "\t".join(["w"] * 10_001)
    path.write_text(f"a\t10 000\u2028b\n{long}\nc\n", encoding="utf-8")
    for _ in range(2):
        first, *rest = SentenceFiles([path])
        assert first == ["a", "10 000\u2028b"]
        assert list(map(len, rest)) == [10_000, 1, 1]
