from concurrent.futures import Future
from unittest import mock

import pytest
import tensorflow as tf
from experiments.reproduction import made_up

from keras_tagging.cli import reproduction
from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import run
from keras_tagging.experiments.reproduction.run import Runner
from keras_tagging.experiments.reproduction.store import Store

SMALL = ["--recipe", "fast", "--epochs", 1, "--seeds", 2]
SMALL += ["--scale", "units=4,word_dim=4"]
GRU = ["reproduce", "kadari2018", "--table", 3]


@pytest.fixture(scope="module", autouse=True)
def devices():
    """TensorFlow looks for them once, and says so on standard error."""
    tf.config.list_physical_devices()


@pytest.fixture
def runner(monkeypatch):
    """In place of the processes: gives results, but for seeds that are to fail."""

    class FakeRunner(Runner):
        fails, started = {}, []

        def start(self, job):
            self.started.append(job)
            self.futures[job.name] = Future()
            reason = self.fails.get(job.seed)
            if isinstance(reason, BaseException):
                self.futures[job.name].set_exception(reason)
                return self.futures[job.name]
            if reason is None:
                info = self.store.read_info()
                table = papers.table(info["paper"], info["table"])
                self.store.write(job, result(job, table.columns))
            self.futures[job.name].set_result(reason)
            return self.futures[job.name]

    monkeypatch.setattr(run, "Runner", FakeRunner)
    return FakeRunner


def result(job, columns):
    right = [1, job.seed % 2, 1, 0]
    counts = {"accuracy": [[1] * 4, right], "f1": [[1] * 4, [1] * 4, right]}
    figures = {column.name: 25.0 * sum(right) for column in columns}
    evidence = {column.name: counts[column.figure] for column in columns}
    return made_up.result(job.row, job.seed, 0, figures=figures, evidence=evidence)


def test_lists(program, silently):
    out = silently("reproduce")
    assert "wu2016         1, 2, 3, 4  Wu et al. (2016)" in out
    _, out, _ = program("reproduce", "elkaref2017")
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["table", "rows", "figures"]
    assert lines[2].startswith("3      14    dev uas, dev las ")
    _, out, _ = program("reproduce", "kadari2018")
    assert "dev word, dev sent  CCGbank" in out
    _, out, _ = program("reproduce", "kadari2018", "--table", 1)
    [line] = [line for line in out.splitlines() if "Learning rate" in line]
    assert "0.01" in line and "learning_rate" in line


def test_dry_run(program, tmp_path):
    args = ["--seeds", 3, "--scale", "units=8,layers=2", "--set", "dropout=0.25"]
    _, out, _ = program(
        "reproduce", "wu2016", "--table", 2, *args, "--dry-run", "--out", tmp_path
    )
    assert "30 jobs, 30 still to run, in " in out
    assert "recipe, {'units': 8, 'num_layers': 2, 'dropout': 0.25}, epochs " in out
    assert "can take days" in out
    lines = out.partition("\n\n")[2].splitlines()
    assert lines[0].split() == ["row", "to", "run", "done", "architecture", "settings"]
    assert len(lines) == 11
    [line] = [line for line in lines if line.startswith("to the gates")]
    words = "skip='gates' gate=None num_layers=2 units=8 dropout=0.25 vectors='train'"
    assert line.endswith(words)
    args = ["--rows", "bootstrapped i gate, r", "--seeds", 1, "--dry-run"]
    _, out, _ = program("reproduce", "elkaref2017", "--table", 4, *args)
    assert "so they run too: FFN baseline, random\n\n" in out
    words = "bootstrap='FFN baseline, random' gates=('i',)"
    assert out.splitlines()[-1].endswith(words)
    assert not (tmp_path / "reproduction.json").exists()


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["wu"], "did you mean 'wu2016'"),
        (["--table", 2], "without PAPER there is no --table"),
        (["wu2016", "--corpus", "demo"], "without --table there is no --corpus"),
        (["wu2016", "--table", 9], "Known: 1, 2, 3, 4"),
        (["wu2016", "--table", 2], "--corpus is missing"),
        (["wu2016", "--table", 2, "--rows", "to the"], "fits 7 of the rows"),
        (["wu2016", "--table", 3, "--scale", "layers=2"], "num_layers=2: the rows of"),
        (["wu2016", "--table", 2, "--scale", "units=0"], "units=0"),
        (["wu2016", "--table", 2, "--scale", "units"], "write --scale key=value"),
        (["wu2016", "--table", 2, "--corpus", "no.conll"], "no.conll"),
        (["--report"], "--report needs --out DIR"),
        (["--report", "--out", "nowhere"], "nowhere/reproduction.json"),
        (
            [*GRU[1:], "--corpus", "only.conll"],
            "has no development sentences, on which the best epoch is chosen",
        ),
    ],
)
def test_errors_are_one_line(failing, args, part, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "only.conll").write_text("a\tX\n\nb\tY\n")
    assert part in failing("reproduce", *args)
    assert [path.name for path in tmp_path.iterdir()] == ["only.conll"]


def test_rows_are_checked_before_keras_is_loaded(failing):
    with mock.patch.object(reproduction, "start_program", side_effect=AssertionError):
        failing("reproduce", "wu2016", "--table", 2, "--rows", "to the")


def test_a_folder_is_filled(program, failing, runner, tmp_path):
    """After an interrupt and a failure, the same command goes on."""
    args = [*GRU, *SMALL, "--out", tmp_path]
    measured = [*args, "--corpus", "demo"]
    runner.fails = {1: KeyboardInterrupt()}
    code, _, err = program(*measured)
    assert code == 130
    *_, remedy, last = err.splitlines()
    assert remedy.startswith("The same command continues with the first unfinished ep")
    assert last == "keras-tagging: error: interrupted"
    runner.fails = {1: "no luck"}
    code, out, err = program(*measured)
    assert code == 1
    failure = tmp_path / "failures" / "gru.1.txt"
    assert f"keras-tagging: failed: GRU, seed 1: no luck (see {failure})\n" in err
    assert "no luck" in (tmp_path / "report.md").read_text()
    runner.fails = {}
    code, out, err = program(*measured)
    assert code == 0 and not failure.exists()
    assert "1-best accuracy on the test set" in out and "| GRU" in out
    assert "2 jobs, 1 still to run" in err
    assert "recipe, {'units': 4, 'word_dim': 4}, epochs 1, vectors train\n" in err
    assert f"2 at once, logs: {tmp_path}/jobs/*/log.txt\n" in err
    assert "days" not in err
    written, models = err.splitlines()[-2:]
    assert written.startswith(f"Written to {tmp_path}/report.md, report.csv, report.p")
    assert models == f"models: {tmp_path}/jobs/ROW.SEED/model.keras"
    info = Store(tmp_path).read_info()
    assert info["settings"] == {"units": 4, "word_dim": 4}
    assert info["sentences"] == {"train": 2000, "dev": 400, "test": 400}
    # a dry run reads the folder, and the corpus; other options are refused
    del runner.started[:]
    _, out, _ = program(*args, "--seeds", 3, "--dry-run")
    assert out.splitlines()[-1].split()[:4] == ["GRU", "3", "1", "2"]
    assert "log.txt" not in out and "days" not in out
    _, out, _ = program(*measured, "--dry-run")
    assert "2,000 train, 400 dev, 400 test sentences" in out
    other = [*args, "--dry-run", "--scale", "units=8,word_dim=4"]
    assert "{'units': 4} there, {'units': 8} here" in failing(*other)
    assert "other epochs: 1 there, 2 here" in failing(*measured, "--epochs", 2)
    assert not runner.started
    # more seeds add to what is there
    program(*measured, "--seeds", 3)
    assert [job.name for job in runner.started] == ["gru.3"]
    again = program("reproduce", "--report", "--out", tmp_path)
    assert again[0] == 0 and "| GRU" in again[1]


def test_rows_that_a_corpus_cannot_have(program, failing, runner, tmp_path):
    args = ["reproduce", "dinarelli2016", "--table", 4, "--corpus", "demo"]
    args += [*SMALL, "--out", tmp_path]
    message = failing(*args, "--rows", "I-RNN, forward, classes")
    assert "no column word_class, which these rows need: I-RNN, forward, cl" in message
    assert not (tmp_path / "reproduction.json").exists()
    code, out, err = program(*args)
    assert code == 0
    [note] = [line for line in err.splitlines() if line.startswith("Left out: ")]
    assert note.count("; ") == 11
    assert "24 jobs" in err
    assert "not measured: E-RNN, forward, classes" in out
