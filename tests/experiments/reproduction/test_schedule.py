"""What runs when, with an engine that runs nothing."""

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from experiments.reproduction.made_up import result

from keras_tagging.experiments.reproduction import schedule
from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.progress import Progress
from keras_tagging.experiments.reproduction.schedule import run_jobs

A, B, C = (Job(name, 1, name.lower()) for name in "ABC")
ON_A = Job("D", 1, "d", needs="a")
RESULT = result("A", 1, 8) | {"figures": {"Dev": 93.456, "Test": None}}
RESULT |= {"seconds": 60.0, "epochs": 2}


class FakeEngine:
    """Ends each job after a moment, as `outcomes` says; None: it has a result."""

    def __init__(self, store, workers=2, **outcomes):
        self.store, self.workers, self.outcomes = store, workers, outcomes
        self.running, self.most, self.order = 0, 0, []
        self.threads = ThreadPoolExecutor(1)  # in order
        self.closed = False

    def start(self, job):
        self.running += 1
        self.order.append(job.row)
        self.most = max(self.most, self.running)
        ended = self.threads.submit(self.ended, job)
        ended.add_done_callback(self.less)
        return ended

    def less(self, _):
        self.running -= 1

    def ended(self, job):
        time.sleep(0.05)
        outcome = self.outcomes.get(job.row)
        if isinstance(outcome, BaseException):
            raise outcome
        if outcome is None:
            self.store.write(job, RESULT)
        elif outcome:
            self.store.log(job).parent.mkdir(parents=True, exist_ok=True)
            self.store.log(job).write_text(f"{outcome}\n")
        return int(bool(outcome))

    def close(self):
        self.threads.shutdown()
        self.closed = True


@pytest.fixture
def run(store, monkeypatch):
    monkeypatch.setattr(schedule, "PAUSE", 0)

    def of(jobs, **options):
        engine = FakeEngine(store, **options)
        epochs = {job.row: 2 for job in jobs}
        with Progress(jobs, store, epochs, engine.workers) as progress:
            return run_jobs(jobs, store, engine, progress), engine

    return of


def test_as_many_as_there_is_room_for(run, store):
    failed, engine = run([A, B, C])
    assert not failed and engine.closed
    assert engine.order == ["A", "B", "C"]
    assert engine.most == 2
    assert all(map(store.done, [A, B, C]))


def test_what_is_done_is_not_run_again(run, store):
    store.write(A, RESULT)
    _, engine = run([A, B])
    assert engine.order == ["B"]


def test_a_job_waits_for_the_one_it_needs(run):
    failed, engine = run([A, ON_A, B, C])
    assert not failed
    assert engine.order == ["A", "B", "D", "C"]  # D stands before C


def test_a_job_starts_at_once_if_the_needed_one_is_done(run, store):
    store.write(A, RESULT)
    _, engine = run([A, ON_A])
    assert engine.order == ["D"]


def test_a_failure_does_not_stop_the_rest(run, store, capfd):
    failed, engine = run([A, ON_A, B], A="no luck")
    assert failed == {
        A: "no luck",
        ON_A: "not run, because a.1, which it needs, failed",
    }
    assert engine.order == ["A", "B"]
    assert store.done(B)
    assert store.failure(A).read_text().startswith("A, seed 1: no luck\n")
    assert "A, seed 1: failed: no luck\n" in capfd.readouterr().err


def test_what_failed_runs_again(run, store):
    run([A, ON_A], A="no luck")
    failed, engine = run([A, ON_A])
    assert not failed
    assert engine.order == ["A", "D"]
    assert not store.failure(A).exists() and not store.failure(ON_A).exists()


def test_an_end_without_a_result_is_a_failure(run):
    failed, _ = run([A], A="")
    assert failed == {A: "its process ended without a result"}


def test_a_machine_that_is_lost_is_a_failure(run):
    failed, _ = run([A, B], A=RuntimeError("no machine\nsince noon"))
    assert failed == {A: "RuntimeError: no machine"}


def test_an_interrupt_ends_what_runs(store, monkeypatch):
    monkeypatch.setattr(schedule, "PAUSE", 0)
    engine = FakeEngine(store, A=KeyboardInterrupt())
    with Progress([A, B], store, {"A": 2, "B": 2}, 2) as progress:
        with pytest.raises(KeyboardInterrupt):
            run_jobs([A, B], store, engine, progress)
    assert engine.closed
    assert not store.done(A)


def test_lines_where_there_is_no_terminal(run, capfd):
    run([A, B, C])
    lines = capfd.readouterr().err.splitlines()
    assert lines[:2] == ["A, seed 1: begins", "B, seed 1: begins"]
    # two epochs of a minute are left of B, and two of C: side by side
    assert "[1/3] A, seed 1: Dev 93.46, Test - (60 s); about 60 s left" in lines
    assert lines[-1] == "[3/3] C, seed 1: Dev 93.46, Test - (60 s)"


def test_what_is_left_is_never_nothing(store, capfd):
    store.write(A, RESULT | {"seconds": 0.2})
    with Progress([A, B], store, {"A": 2, "B": 2}, 1) as progress:
        progress.tick()
    assert capfd.readouterr().err == "less than a minute left\n"


def test_bars_on_a_terminal(run, capfd, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    failed, _ = run([A, B], B="no [bold]luck")
    assert failed
    written = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capfd.readouterr().err)
    assert "B, seed 1: failed: no [bold]luck" in written
    assert "1 of 2 jobs done, 1 failed" in written
    assert "4/4 epochs" in written
