"""The runner, with stand-ins for jobs; `test_killed` has real ones."""

import os
import re
import signal
from unittest import mock

import pytest
from experiments.reproduction.made_up import result

from keras_tagging.experiments.reproduction import run as running
from keras_tagging.experiments.reproduction.run import Runner, run_jobs
from keras_tagging.experiments.reproduction.store import Job

A, B, C = (Job(name, 1, name.lower()) for name in "ABC")
ON_A = Job("D", 1, "d", needs="a")
RESULT = result("A", 1, 8) | {"figures": {"Dev": 93.456, "Test": None}}
RESULT |= {"seconds": 60.0, "epochs": 2}


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Takes the place of the program that does jobs."""

    def is_now(code):
        (tmp_path / "stand_in.py").write_text(f"import os, sys, time\n{code}\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.setattr(running, "MODULE", "stand_in")

    return is_now


@pytest.fixture
def run(store, monkeypatch):
    """Runs jobs whose processes end at once: with an exit code, or a result.

    Gives the jobs that failed, and the rows in their order.
    """
    started = []

    def of(jobs, workers=2, **codes):
        started.clear()

        def process(command, stdout, **_):
            started.append(command[-2].upper())
            code = codes.get(started[-1], 0)
            job = next(j for j in jobs if j.slug == command[-2])
            if isinstance(code, str):
                stdout.write(f"more\n{code}\n".encode())
                code = 1
            elif code == 0:
                store.write(job, RESULT)
            ended = mock.MagicMock()
            ended.__enter__.return_value.wait.return_value = code
            return ended

        monkeypatch.setattr(running.subprocess, "Popen", process)
        return run_jobs(jobs, store, workers, dict.fromkeys("ABCD", 2)), [*started]

    return of


def test_jobs_run_once(run, store):
    assert run([A, B, C], 1) == ({}, ["A", "B", "C"])
    assert all(map(store.done, [A, B, C]))
    store.result(B).unlink()
    state = store.training(A.name) / "resume.npz"
    state.touch()
    assert run([A, B, C]) == ({}, ["B"])
    assert not state.exists()


def test_a_job_waits_for_the_one_it_needs(run):
    assert run([A, ON_A, B, C], 1) == ({}, ["A", "B", "C", "D"])
    assert run([A, ON_A]) == ({}, [])


def test_a_failure_does_not_stop_the_rest(run, store, capfd):
    failed, started = run([A, ON_A, B], 1, A="no  luck", B=3)
    reason = "not run, because a.1, which it needs, failed"
    expected = {A: "no  luck", B: "its process ended with code 3", ON_A: reason}
    assert (failed, started) == (expected, ["A", "B"])
    assert store.failure(A).read_text().startswith("A, seed 1: no  luck\n\nmore\n")
    assert "] A, seed 1: failed: no  luck\n" in capfd.readouterr().err
    killed = run([A], A=-signal.SIGKILL)[0][A]
    assert killed.startswith("its process was ended by SIGKILL; out of memory? Then")
    assert run([A, ON_A, B], 1) == ({}, ["A", "B", "D"])
    assert not store.failure(A).exists() and not store.failure(ON_A).exists()


def test_lines_and_a_bar(run, capfd, monkeypatch):
    run([A, B], 1)
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "[1/2] A, seed 1: Dev 93.46, Test - (0:01:00)",
        "[2/2] B, seed 1: Dev 93.46, Test - (0:01:00)",
    ]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    run([A, B, C], 1, C="no [bold]luck")
    written = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capfd.readouterr().err)
    assert "[3/3] C, seed 1: failed: no [bold]luck" in written


def test_what_a_job_gets(program, store, monkeypatch):
    program("print(sys.argv[1:], os.environ['TF_NUM_INTRAOP_THREADS'])")
    for _ in range(2):  # the output of a second attempt follows
        runner = Runner(store, 10_000)
        assert runner.start(A).result(60) == "its process had no result"
        runner.close()
    expected = [str(store.folder), "a", "1"]
    assert store.log(A).read_text() == f"{expected} 1\n" * 2


@pytest.mark.parametrize(("workers", "threads"), [(1, 8), (3, 2), (20, 1)])
def test_jobs_share_the_cores(store, monkeypatch, workers, threads):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    for name in running.environment(1):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TF_NUM_INTEROP_THREADS", "7")  # those of the user
    environment = Runner(store, workers).environment
    assert environment["OMP_NUM_THREADS"] == str(threads)
    assert environment["TF_NUM_INTEROP_THREADS"] == "7"


def test_an_interrupt_ends_what_runs(program, store, monkeypatch):
    program("print(os.getpid(), flush=True)\ntime.sleep(600)")
    monkeypatch.setattr(running, "PAUSE", 0.02)

    def epochs(job):  # which the runner asks for while it waits
        if store.log(A).exists() and store.log(A).read_text().endswith("\n"):
            raise KeyboardInterrupt
        return 0

    monkeypatch.setattr(store, "epochs", epochs)
    with pytest.raises(KeyboardInterrupt):
        run_jobs([A, B], store, 1, {"A": 2, "B": 2})
    with pytest.raises(ProcessLookupError):
        os.kill(int(store.log(A).read_text()), 0)
    assert not store.log(B).exists()
