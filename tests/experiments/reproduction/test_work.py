"""Jobs in this process, and the vectors that they start from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import keras_tagging
from keras_tagging.data import Corpus, Sentence
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row
from keras_tagging.experiments.reproduction import run
from keras_tagging.experiments.reproduction.plan import choose_rows, make_jobs
from keras_tagging.experiments.reproduction.run import run_job, vectors
from keras_tagging.experiments.reproduction.store import Store

TABLE = papers.table("dinarelli2016", 7)
SCALE = {"units": 4, "word_dim": 4, "label_dim": 3, "pretrain": None}
[JOB], _ = make_jobs(TABLE, choose_rows(TABLE, ["I-RNN, forward"]), [1])


def test_a_killed_job_goes_on(store, describe, monkeypatch, tmp_path):
    """When it trained: as its process does it, which `main` is; and when it measured.

    `test_killed` has real processes.
    """
    store.open(describe(TABLE, settings=SCALE, epochs=3))
    first = run_job(TABLE, JOB, store)
    assert first["epochs"] == 3 and first["seconds"] > 0
    other = Store(tmp_path / "other")
    other.open(store.read_info())
    begin = run.Stopwatch.on_epoch_begin

    def killed(watch, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt
        begin(watch, epoch)

    monkeypatch.setattr(run, "end_with_parent", lambda: None)
    arguments = (str(other.folder), JOB.slug, str(JOB.seed))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(run.Stopwatch, "on_epoch_begin", killed)
        run.main(*arguments)
    assert other.epochs(JOB) == 2 and not other.done(JOB)
    run.main(*arguments)
    assert other.read(JOB) | {"seconds": 0} == store.read(JOB) | {"seconds": 0}
    logs = [s.training(JOB.name) / "training.csv" for s in (store, other)]
    assert logs[0].read_text() == logs[1].read_text()
    # when it was measured
    store.result(JOB).unlink()
    before = store.model(JOB.name).stat().st_mtime_ns
    assert run_job(TABLE, JOB, store) == first
    assert store.model(JOB.name).stat().st_mtime_ns == before
    # the best epoch is the first best
    log = pd.DataFrame({"val_accuracy": [0.1, 0.3, 0.3]})
    monkeypatch.setattr("pandas.read_csv", lambda path: log)
    assert run_job(TABLE, JOB, store)["best_epoch"] == 2


def test_another_corpus_is_refused(store, describe):
    store.open(describe(TABLE, settings=SCALE, fingerprint="x"))
    with pytest.raises(ValueError, match="small is not the corpus of the other jobs"):
        run_job(TABLE, JOB, store)
    assert not store.done(JOB)


def test_a_model_that_is_missing_is_told(store, describe):
    table = papers.table("elkaref2017", 3)
    rows = choose_rows(table, ["bootstrapped Elman, random"])
    jobs, _ = make_jobs(table, rows, [1])
    sizes = {"units": 4, "word_dim": 4, "label_dim": 3}
    store.open(describe(table, settings=sizes))
    with pytest.raises((ValueError, OSError), match=r"ffn-baseline-random.1.model"):
        run_job(table, jobs[-1], store)


# Pretrained vectors

ROW = Row("x", (1.0,), "bilstm", vectors=True)
CORPUS = Corpus([Sentence(["A", "b"], ["X", "Y"])], [Sentence(["c"], ["X"])])
SETTINGS = {"word_dim": 3, "normalise": "wu", "lookup": "normalised"}


def options(row, embeddings, seed=1):
    return vectors(row, SETTINGS, {"embeddings": embeddings}, CORPUS, seed)


def test_vectors_of_the_training_sentences():
    assert options(ROW, "none") == options(replace(ROW, bootstrap="y"), "train") == {}
    vectors_here = options(ROW, "train")["embeddings"]
    assert sorted(vectors_here.words) == ["A", "b"]
    assert vectors_here.matrix.shape == (2, 3)
    again, other = (options(ROW, "train", seed)["embeddings"] for seed in (1, 2))
    assert np.array_equal(vectors_here.matrix, again.matrix)
    assert not np.array_equal(vectors_here.matrix, other.matrix)


def test_vectors_of_a_file_are_those_of_the_corpus(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\nb 3 4\nc 5 6\nd 7 8\n")
    vectors_here = options(ROW, str(path))["embeddings"]
    assert sorted(vectors_here.words) == ["a", "b", "c"]


def test_vectors_of_the_bigru_are_a_feature(monkeypatch):
    row = replace(ROW, architecture="bigru")
    [(name, vectors_here)] = options(row, "train").items()
    assert (name, sorted(vectors_here.words)) == (
        "vectors",
        ["a", "b"],
    )  # what is looked up
    monkeypatch.setitem(SETTINGS, "lookup", "cascade")
    assert sorted(options(row, "train")["vectors"].words) == ["A", "b"]


def test_vectors_by_name_of_a_table_without_any(store, describe, tiny_vectors):
    changes = {"epochs": 1, "embeddings": "tiny"}
    store.open(describe(TABLE, settings=SCALE, **changes))
    run_job(TABLE, JOB, store)
    model = keras_tagging.load(store.model(JOB.name))
    assert model.network.get_layer("word_embedding").output_dim == 2
    assert set(tiny_vectors.words) <= set(model.vocabularies["word"])
