"""Jobs that are killed in the middle of training, with kill -9, and run again.

Their figures, and the answers these are counted from, must be those of jobs that
nothing interrupts.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from hostile.programs import program as run_here

from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import read_results
from keras_tagging.experiments.reproduction.jobs import choose_rows, make_jobs
from keras_tagging.experiments.reproduction.run import MODULE, arguments
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.experiments.reproduction.work import run_job

OPTIMISED = True  # as in the processes: all are to compute the same to the last bit
EPOCHS = 15
# each seed holds out other sentences here, and the embeddings are pretrained; dropout,
# unknown words and the rate that falls make an epoch depend on those before
TABLE = papers.table("dinarelli2016", 4)
ROW = "I-RNN, forward"
SCALE = {"units": 6, "word_dim": 5, "label_dim": 3, "token_budget": 25}
JOBS, _ = make_jobs(TABLE, choose_rows(TABLE, [ROW]), [1, 2])
SAME = ("row", "seed", "settings", "figures", "evidence", "best_epoch", "epochs")


@pytest.fixture(scope="module")
def info(describe):
    return describe(TABLE, settings=SCALE, epochs=EPOCHS)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, info):
    """Does jobs in one go, and gives their store."""
    store = Store(tmp_path_factory.mktemp("uninterrupted"))
    store.open(info)

    def of(*jobs):
        for job in jobs:
            if not store.done(job):
                run_job(TABLE, job, store)
        return store

    return of


@pytest.fixture
def threads(monkeypatch):
    """Processes have as many as there are here."""
    for name in ("INTRAOP", "INTEROP"):
        monkeypatch.setenv(f"TF_NUM_{name}_THREADS", "0")


def until(condition):
    """What the condition gives, once that is true."""
    deadline = time.monotonic() + 300
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def in_the_middle(store):
    """The jobs that have finished an epoch and are not done."""
    states = [(job, store.training(job.name) / "resume.npz") for job in JOBS]
    return [job for job, state in states if state.exists()]


def same(store, other, job):
    found, expected = store.read(job), other.read(job)
    assert {k: found[k] for k in SAME} == {k: expected[k] for k in SAME}
    assert (found["epochs"], found["parameters"]) == (EPOCHS, expected["parameters"])
    figures, others = (s.training(job.name) / "training.csv" for s in (store, other))
    assert figures.read_text() == others.read_text()
    log = store.log(job).read_text()
    told = [line for line in log.splitlines() if line.startswith("Epoch ")]
    assert f"Epoch 1/{EPOCHS}" in told and f"Epoch {EPOCHS}/{EPOCHS}" in told
    # no epoch but the one that was cut short is trained twice
    assert EPOCHS <= len(told) <= EPOCHS + 1
    assert not (store.training(job.name) / "resume.npz").exists()


def test_a_killed_job_goes_on(uninterrupted, store, info, threads):
    job, _ = JOBS
    store.open(info)
    command = [sys.executable, "-m", MODULE, *arguments(store, job)]
    store.log(job).parent.mkdir(parents=True)
    with store.log(job).open("w") as log, contextlib.redirect_stdout(log):
        pipe = subprocess.PIPE  # the process ends when its input does
        with subprocess.Popen(command, stdin=pipe, stdout=log, stderr=log) as process:
            until(lambda: in_the_middle(store))
            process.kill()
        assert 1 <= store.epochs(job) < EPOCHS and not store.done(job)
        log.seek(0, os.SEEK_END)
        run_job(TABLE, job, store)
    same(store, uninterrupted(job), job)
    # else equal figures would not tell that a state was restored
    figures = (store.training(job.name) / "training.csv").read_text().splitlines()
    losses = {line.split(",")[1] for line in figures[1:]}
    assert len(losses) == EPOCHS and store.read(job)["best_epoch"] > 1


@pytest.mark.slow
def test_a_killed_job_and_a_killed_program_go_on(
    uninterrupted, small_corpus, store, processes, threads
):
    expected = uninterrupted(*JOBS)
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
        same(store, expected, job)
    info, results = read_results(store.folder)
    assert info["sentences"] == {"train": 24, "dev": 8, "test": 8}
    assert [result["seed"] for result in results] == [1, 2]
    assert ROW in printed
    assert ROW in (store.folder / "report.md").read_text()
    code, again, told = run_here(*program[3:])
    assert code == 0 and "0 still to run" in told
    assert again == printed
