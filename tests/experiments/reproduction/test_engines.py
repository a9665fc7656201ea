"""Engines, with programs that take the place of a job; `test_killed` has real ones."""

import os
import signal
import time
from concurrent.futures import Future, wait

import pytest

from keras_tagging.experiments.reproduction import engines
from keras_tagging.experiments.reproduction.engines import (
    LocalEngine,
    environment,
    failure_reason,
)
from keras_tagging.experiments.reproduction.jobs import Job

A, B = Job("A", 1, "a"), Job("B", 2, "b")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Takes the place of the program that does jobs."""

    def is_now(code):
        (tmp_path / "stand_in.py").write_text(f"import os, sys, time\n{code}\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(engines, "MODULE", "stand_in")

    return is_now


def test_what_a_job_gets_and_gives(program, store):
    program("print(sys.argv[1:], os.environ['TF_NUM_INTRAOP_THREADS'])")
    engine = LocalEngine(store, 10_000)
    assert engine.start(A).result(60) == 0
    expected = [str(store.folder), "a", "1"]
    assert store.log(A).read_text() == f"{expected} 1\n"
    engine.close()


def test_why_jobs_failed(program, store):
    program(
        "print('what happened', file=sys.stderr)\n"
        "if sys.argv[2] == 'a': sys.exit('the  reason')\n"
        "os.kill(os.getpid(), 9)"
    )
    engine = LocalEngine(store, 2)
    wait(ended := [engine.start(A), engine.start(B)], 60)
    found = [failure_reason(store, *pair) for pair in zip((A, B), ended, strict=True)]
    assert found[0] == "the  reason"
    assert found[1].startswith("its process was ended by SIGKILL; out of memory?")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (0, "its process ended without a result"),
        (3, "its process ended with code 3"),
        (-signal.SIGTERM, "its process was ended by SIGTERM"),
    ],
)
def test_reasons(store, code, reason):
    ended = Future()
    ended.set_result(code)
    assert failure_reason(store, A, ended) == reason
    store.write(A, {})
    assert failure_reason(store, A, ended) == (reason if code else None)


def test_closing_ends_what_runs(program, store):
    program("print(os.getpid(), flush=True)\ntime.sleep(600)")
    engine = LocalEngine(store, 1)
    ended = engine.start(A)
    while not (text := store.log(A).read_text()).endswith("\n"):
        time.sleep(0.02)
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(text), 0)
    assert ended.result(0) == -signal.SIGKILL


def test_the_users_own_threads_stay():
    given = {"TF_NUM_INTRAOP_THREADS": "7", "PATH": "x"}
    found = environment(2, given)
    assert found["TF_NUM_INTRAOP_THREADS"] == "7"
    assert found["TF_NUM_INTEROP_THREADS"] == found["OMP_NUM_THREADS"] == "2"
    assert "PATH" not in found


@pytest.mark.parametrize(
    ("workers", "threads"), [(1, 8), (2, 4), (3, 2), (8, 1), (20, 1)]
)
def test_jobs_share_the_cores(store, monkeypatch, workers, threads):
    monkeypatch.setattr(engines, "cores", lambda: 8)
    for name in environment(1):
        monkeypatch.delenv(name, raising=False)
    engine = LocalEngine(store, workers)
    assert engine.environment["OMP_NUM_THREADS"] == str(threads)


def test_output_of_a_second_attempt_follows_the_first(program, store):
    program("print('x')")
    for _ in range(2):
        engine = LocalEngine(store, 1)
        assert engine.start(A).result(60) == 0
    assert store.log(A).read_text() == "x\nx\n"
