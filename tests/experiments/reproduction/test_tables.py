"""One row of each table of each paper, trained for an epoch on a few sentences.

In CI of some tables: `make test-slow` runs all.

The other rows, and the other seeds, differ only in the keywords of `build`, which
`test_plan` and the tests of the papers check.
"""

import numpy as np
import pytest
from experiments.papers.cases import TABLES

from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import read_results
from keras_tagging.experiments.reproduction.plan import (
    check_scale,
    choose_rows,
    make_jobs,
)
from keras_tagging.experiments.reproduction.report import runs_of
from keras_tagging.experiments.reproduction.run import run_job
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.metrics.significance import figure_of

pytestmark = pytest.mark.usefixtures("eagerly")

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


@pytest.fixture(scope="module")
def measured(tmp_path_factory, describe, shortest_corpus):
    """Runs the jobs of a row with one seed: table, folder and its result."""

    def run(paper, number, name, scale):
        table = papers.table(paper, number)
        store = Store(tmp_path_factory.mktemp("reproduction"))
        settings = check_scale(table, scale)
        store.open(describe(table, shortest_corpus, settings=settings))
        jobs, _ = make_jobs(table, choose_rows(table, [name]), [1])
        for job in jobs:
            result = run_job(table, job, store)
        return table, store, result

    return run


#: stacked and label networks, and parsers, of the tables whose networks have most parts
IN_CI = {("wu2017", 2), ("dinarelli2016", 5), ("elkaref2017", 2)}


@pytest.mark.parametrize(
    ("paper", "number", "row", "scale"),
    [
        pytest.param(*row, marks=() if row[:2] in IN_CI else pytest.mark.slow)
        for row in ROWS
    ],
)
def test_one_row_of_each_table(measured, paper, number, row, scale):
    table, store, result = measured(paper, number, row, scale)
    [name] = [r.name for r in choose_rows(table, [row])]
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
