"""Jobs that are killed in the middle of training, with kill -9, and run again.

Their figures, and the answers these are counted from, must be those of jobs that
nothing interrupts.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile.programs import program as run_here

from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import read_results
from keras_tagging.experiments.reproduction.plan import choose_rows, make_jobs
from keras_tagging.experiments.reproduction.run import run_job
from keras_tagging.experiments.reproduction.store import Store

OPTIMISED = True  # as in the processes: all are to compute the same to the last bit
EPOCHS = 15
# each seed holds out other sentences here, and the embeddings are pretrained; dropout,
# unknown words and the rate that falls make an epoch depend on those before
TABLE = papers.table("dinarelli2016", 4)
ROW = "I-RNN, forward"
SCALE = {"units": 6, "word_dim": 5, "label_dim": 3, "token_budget": 25}
JOBS, _ = make_jobs(TABLE, choose_rows(TABLE, [ROW]), [1, 2])
SAME = ("row", "seed", "settings", "figures", "evidence", "best_epoch", "epochs")
SAME += ("parameters",)


@pytest.fixture(scope="module")
def expected(tmp_path_factory, describe):
    """The store of jobs that were done in one go."""
    store = Store(tmp_path_factory.mktemp("uninterrupted"))
    store.open(describe(TABLE, settings=SCALE, epochs=EPOCHS))
    for job in JOBS:
        run_job(TABLE, job, store)
    return store


def until(condition):
    """What the condition gives, once that is true."""
    deadline = time.monotonic() + 300
    while not (answer := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return answer


def in_the_middle(store):
    """The jobs that have finished an epoch and are not done."""
    states = [(job, store.training(job.name) / "resume.npz") for job in JOBS]
    return [job for job, state in states if state.exists()]


def processes(store, job):
    """The numbers of the processes that do a job of a folder."""
    arguments = [os.fsencode(x) for x in (store.folder, job.slug, str(job.seed))]
    numbers = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if command[-4:-1] == arguments:
            numbers.append(int(path.parent.name))
    return numbers


@pytest.mark.slow
def test_a_killed_job_and_a_killed_program_go_on(
    expected, small_corpus, store, monkeypatch
):
    for name in ("INTRAOP", "INTEROP"):  # processes have as many as there are here
        monkeypatch.setenv(f"TF_NUM_{name}_THREADS", "0")
    # else equal figures would not tell that a state was restored
    first, second = map(expected.read, JOBS)
    assert first["evidence"] != second["evidence"] and first["best_epoch"] > 1
    scale = ",".join(f"{k}={v}" for k, v in SCALE.items())
    program = [sys.executable, "-m", "keras_tagging", "reproduce", "dinarelli2016"]
    program += ["--table", "4", "--rows", ROW, "--seeds", "2", "--scale", scale]
    program += ["--corpus", small_corpus, "--recipe", "fast", "--epochs", str(EPOCHS)]
    program += ["--jobs", "2", "--out", store.folder]
    process = subprocess.Popen(program, stderr=subprocess.PIPE)
    job, *_ = until(lambda: in_the_middle(store))
    [other] = {*JOBS} - {job}
    [its_process], [other_process] = (processes(store, j) for j in (job, other))
    os.kill(other_process, signal.SIGSTOP)  # else it might end before the program
    os.kill(its_process, signal.SIGKILL)
    until(store.failure(job).exists)  # the program goes on with the other job
    assert "was ended by SIGKILL" in store.failure(job).read_text()
    assert 1 <= store.epochs(job) < EPOCHS and not store.done(job)
    process.kill()
    process.communicate()
    os.kill(other_process, signal.SIGCONT)
    until(lambda: not processes(store, other))  # it does not outlive the program
    assert not store.done(other)
    # here: the processes of its jobs take seconds enough to start
    code, printed, told = run_here(*program[3:])
    assert code == 0, told
    assert "2 still to run" in told
    for job in JOBS:
        result, of_one_go = store.read(job), expected.read(job)
        assert {k: result[k] for k in SAME} == {k: of_one_go[k] for k in SAME}
        figures = [s.training(job.name) / "training.csv" for s in (store, expected)]
        assert figures[0].read_text() == figures[1].read_text()
        assert not (store.training(job.name) / "resume.npz").exists()
        log = store.log(job).read_text().splitlines()
        # no epoch but the one that was cut short is trained twice
        epochs = [line for line in log if line.startswith("Epoch ")]
        assert EPOCHS <= len(epochs) <= EPOCHS + 1
    info, results = read_results(store.folder)
    assert info["sentences"] == {"train": 24, "dev": 8, "test": 8}
    assert [result["seed"] for result in results] == [1, 2]
    assert ROW in printed
    assert ROW in (store.folder / "report.md").read_text()
    code, again, told = run_here(*program[3:])
    assert code == 0 and "0 still to run" in told
    assert again == printed
