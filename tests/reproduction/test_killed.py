"""Jobs that are killed in the middle of training, with kill -9, and run again.

Their figures, and the answers these are counted from, must be those of jobs that
nothing interrupts.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

from keras_tagging.experiments import papers
from keras_tagging.experiments.reproduction import read_results
from keras_tagging.experiments.reproduction.engines import LocalEngine
from keras_tagging.experiments.reproduction.jobs import choose_rows, make_jobs
from keras_tagging.experiments.reproduction.progress import Progress
from keras_tagging.experiments.reproduction.schedule import run_jobs
from keras_tagging.experiments.reproduction.store import Store

EPOCHS = 25
# each seed holds out other sentences here, and the embeddings are pretrained; dropout,
# unknown words and the rate that falls make an epoch depend on those before
TABLE = papers.table("dinarelli2016", 4)
ROW = "I-RNN, forward"
SCALE = {"units": 6, "word_dim": 5, "label_dim": 3, "token_budget": 60}
JOBS, _ = make_jobs(TABLE, choose_rows(TABLE, [ROW]), [1, 2])
SAME = ("row", "seed", "settings", "figures", "evidence", "best_epoch", "epochs")


@pytest.fixture(scope="module")
def info(describe):
    return describe(TABLE, settings=SCALE, epochs=EPOCHS)


def run(store, jobs):
    epochs = {job.row: EPOCHS for job in jobs}
    with store.locked(), Progress(jobs, store, epochs, 2) as progress:
        return run_jobs(jobs, store, LocalEngine(store, 2), progress)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory, info):
    store = Store(tmp_path_factory.mktemp("uninterrupted"))
    store.open(info)
    assert not run(store, JOBS)
    return store


def in_the_middle(store, job):
    """Waits for the end of the first epoch."""
    state = store.training(job.name) / "resume.npz"
    deadline = time.monotonic() + 300
    while not state.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert 1 <= store.epochs(job) < EPOCHS


def same(store, other, job):
    found, expected = store.read(job), other.read(job)
    assert {k: found[k] for k in SAME} == {k: expected[k] for k in SAME}
    assert (found["epochs"], found["parameters"]) == (EPOCHS, expected["parameters"])
    log = store.log(job).read_text()
    told = [line for line in log.splitlines() if line.startswith("Epoch ")]
    assert f"Epoch 1/{EPOCHS}" in told and f"Epoch {EPOCHS}/{EPOCHS}" in told
    # no epoch but the one that was cut short is trained twice
    assert EPOCHS <= len(told) <= EPOCHS + 1
    assert not (store.training(job.name) / "resume.npz").exists()


def test_seeds_differ(uninterrupted):
    """Else equal figures would not tell that a state was restored."""
    first, second = (uninterrupted.read(job) for job in JOBS)
    assert first["evidence"] != second["evidence"]
    assert first["best_epoch"] > 1


def test_a_killed_job_goes_on(uninterrupted, info, store, processes):
    store.open(info)
    engine = LocalEngine(store, 2)
    engine.start(JOBS[0])
    in_the_middle(store, JOBS[0])
    [process] = processes(store)
    os.kill(process, signal.SIGKILL)
    while not (ended := engine.ended()):
        time.sleep(0.01)
    [(job, reason)] = ended
    assert job == JOBS[0] and "SIGKILL" in reason
    assert not store.done(job)
    before = store.epochs(job)
    assert 1 <= before < EPOCHS
    assert not run(store, [job])
    same(store, uninterrupted, job)
    text = (store.training(job.name) / "training.csv").read_text()
    expected = uninterrupted.training(job.name) / "training.csv"
    assert text == expected.read_text()


def test_a_killed_program_goes_on(uninterrupted, small_corpus, store, processes):
    scale = ",".join(f"{k}={v}" for k, v in SCALE.items())
    program = [sys.executable, "-m", "keras_tagging", "reproduce", "dinarelli2016"]
    program += ["--table", "4", "--rows", ROW, "--seeds", "2", "--scale", scale]
    program += ["--corpus", small_corpus, "--recipe", "fast", "--epochs", str(EPOCHS)]
    program += ["--jobs", "2", "--out", store.folder]
    process = subprocess.Popen(program, stderr=subprocess.PIPE)
    in_the_middle(store, JOBS[0])
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 60
    while processes(store):  # they do not outlive the program
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not store.done(JOBS[0])
    again = subprocess.run(program, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "goes on after epoch" in again.stderr
    assert "2 jobs: 1 row x 2 seeds, 2 still to run, 2 at once" in again.stderr
    for job in JOBS:
        same(store, uninterrupted, job)
    info, results = read_results(store.folder)
    assert info["sentences"] == {"train": 24, "dev": 8, "test": 8}
    assert [result["seed"] for result in results] == [1, 2]
    assert ROW in again.stdout
    assert ROW in (store.folder / "report.md").read_text()
    third = subprocess.run(program, capture_output=True, text=True)
    assert "0 still to run" in third.stderr
    assert third.stdout == again.stdout
