import time

import pytest
from reproduction.made_up import result

from keras_tagging.experiments.reproduction.estimate import Estimate, duration
from keras_tagging.experiments.reproduction.jobs import Job

A1, A2, B1 = Job("A", 1, "a"), Job("A", 2, "a"), Job("B", 1, "b")


def finish(store, job, epochs):
    path = store.training(job.name) / "training.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("epoch\n" + "".join(f"{i}\n" for i in range(epochs)))


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_no_estimate_before_the_first_epoch(store, clock):
    estimate = Estimate(store, [A1, B1], {"A": 10, "B": 20}, workers=1)
    assert estimate.seconds_left([A1, B1]) is None
    assert estimate.start(A1) == 0
    clock[0] += 30
    assert estimate.seconds_left([A1, B1]) is None


def test_a_running_job_tells_the_cost_of_its_row(store, clock):
    estimate = Estimate(store, [A1, B1], {"A": 10, "B": 20}, workers=1)
    finish(store, A1, 3)
    assert estimate.start(A1) == 3  # of an earlier process
    clock[0] += 30
    assert estimate.seconds_left([A1, B1]) is None
    finish(store, A1, 5)
    # 15 s an epoch: 5 of A are left, and 20 of B, for which there is no other figure
    assert estimate.seconds_left([A1, B1]) == 15 * 25
    estimate.end(A1)
    assert estimate.seconds_left([A1, B1]) is None


def test_done_jobs_tell_the_cost_of_their_row(store):
    store.write(A1, result("A", 1, 8) | {"seconds": 20.0, "epochs": 10})
    estimate = Estimate(store, [A1, A2, B1], {"A": 10, "B": 20}, workers=4)
    assert estimate.seconds_left([A2]) == 20
    estimate.learn(A2, {"seconds": 60.0, "epochs": 10})
    estimate.learn(B1, {"seconds": 20.0, "epochs": 20})
    # 4 s an epoch of A, 1 s of B; two of four workers have something to do
    assert estimate.seconds_left([A1, B1]) == (40 + 20) / 2
    assert estimate.seconds_left([]) == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.4, "4 s"),
        (89, "89 s"),
        (100, "2 min"),
        (5340, "89 min"),
        (5400, "1 h 30 min"),
        (47 * 3600, "47 h 0 min"),
        (51 * 3600 + 1800, "2 days 3 h"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text
