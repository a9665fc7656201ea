"""Jobs in this process, and the vectors that they start from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from experiments.papers.cases import TABLES

import keras_tagging
from keras_tagging.data import Corpus, Sentence
from keras_tagging.experiments import papers
from keras_tagging.experiments.papers import Row
from keras_tagging.experiments.reproduction import read_results, run
from keras_tagging.experiments.reproduction.plan import (
    check_scale,
    choose_rows,
    make_jobs,
)
from keras_tagging.experiments.reproduction.report import runs_of
from keras_tagging.experiments.reproduction.run import run_job, vectors
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.metrics.significance import figure_of

pytestmark = pytest.mark.usefixtures("eagerly")

TABLE = papers.table("dinarelli2016", 7)
SCALE = {"units": 4, "word_dim": 4, "label_dim": 3, "pretrain": None}
[JOB], _ = make_jobs(TABLE, choose_rows(TABLE, ["I-RNN, forward"]), [1])


def test_a_killed_job_goes_on(store, describe, shortest_corpus, monkeypatch, tmp_path):
    """When it trained: as its process does it, which `main` is; and when it measured.

    `test_killed` has real processes.
    """
    store.open(describe(TABLE, shortest_corpus, settings=SCALE, epochs=3))
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


# One row of each table of each paper, trained for an epoch on a few sentences. In CI of
# some tables: `make test-slow` runs all. The other rows, and the other seeds, differ
# only in the keywords of `build`, which `test_plan` and the tests of the papers check.

SMALL = {"units": 5, "word_dim": 4, "affix_dim": 3}
STACK = SMALL | {"layers": 2}
LABELS = SMALL | {"label_dim": 3}
#: paper, table, row, what is scaled down
ROWS = [
    ("kadari2018", 2, "GRU", STACK),
    ("kadari2018", 3, "GRU", STACK),
    ("kadari2018", 4, "GRU", STACK),
    ("wu2016", 1, "7-layers + skip output + gating (no d", SMALL),
    ("wu2016", 2, "to the outputs, with gate, b_f = 5", STACK),
    ("wu2016", 3, "3", SMALL),
    ("wu2016", 4, "7", SMALL),
    ("wu2017", 1, "9-stacked: mixed block", STACK),
    ("wu2017", 2, "mixed block, shortcuts for both", STACK | {"layers": 3}),
    ("wu2017", 3, "stochastic sampling, p = 0.5", STACK),
    ("wu2017", 4, "character only", STACK),
    ("dinarelli2016", 4, "J-RNN, backward", LABELS),
    ("dinarelli2016", 5, "I-RNN, bidirectional", LABELS),
    ("dinarelli2016", 6, "E-RNN, forward", LABELS),
    ("dinarelli2016", 7, "I+E-RNN, forward", LABELS),
    ("elkaref2017", 2, "Our bootstrapped model", LABELS),
    ("elkaref2017", 3, "Elman baseline, random", LABELS),
    ("elkaref2017", 4, "bootstrapped j gate, pre", LABELS),
    ("elkaref2017", 5, "GRU baseline, random", LABELS),
]


def test_no_table_is_left_out():
    every = {(table.paper, table.number) for [table] in (x.values for x in TABLES)}
    assert {row[:2] for row in ROWS} == every


#: stacked and label networks, and parsers, of the tables whose networks have most parts
IN_CI = {("wu2017", 2), ("dinarelli2016", 5), ("elkaref2017", 2)}


@pytest.mark.parametrize(
    ("paper", "number", "row", "scale"),
    [
        pytest.param(*row, marks=() if row[:2] in IN_CI else pytest.mark.slow)
        for row in ROWS
    ],
)
def test_one_row_of_each_table(
    store, describe, shortest_corpus, paper, number, row, scale
):
    table = papers.table(paper, number)
    [chosen] = choose_rows(table, [row])
    name, settings = chosen.name, check_scale(table, scale)
    store.open(describe(table, shortest_corpus, settings=settings))
    jobs, _ = make_jobs(table, [chosen], [1])
    for job in jobs:
        result = run_job(table, job, store)
    assert (result["row"], result["seed"], result["epochs"]) == (name, 1, 1)
    assert result["settings"]["units"] == 5
    assert list(result["figures"]) == [column.name for column in table.columns]
    for column in table.columns:
        counts = np.array(result["evidence"][column.name]).sum(1)
        figure = figure_of(column.figure)(counts)
        assert result["figures"][column.name] == figure
        assert 0 <= figure <= 100 and counts[0] > 0
    info, results = read_results(store.folder)
    [found] = [x for x in results if x["row"] == name]
    assert found["evidence"] == result["evidence"]
    assert (found["settings"]["units"], found["classes"]) == (5, None)
    assert set(runs_of(table, results)["row"]) >= {name}
