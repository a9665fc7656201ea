import time

import pytest

from keras_tagging.utils.estimate import Estimate, duration, time_left


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_no_estimate_before_anything_is_done(clock):
    estimate = Estimate()
    assert estimate.seconds({"A": 10, "B": 20}) is None
    estimate.reach("A", 0)
    clock[0] += 30
    estimate.reach("A", 0)
    assert estimate.seconds({"A": 10, "B": 20}) is None


def test_running_work_tells_the_cost_of_its_kind(clock):
    estimate = Estimate()
    estimate.reach("A", 3, piece=1)  # of an earlier process
    clock[0] += 30
    estimate.reach("A", 3, piece=1)
    assert estimate.seconds({"A": 7, "B": 20}) is None
    estimate.reach("A", 5, piece=1)
    # 15 s a unit: 5 of A are left, and 20 of B, for which there is no other figure
    assert estimate.seconds({"A": 5, "B": 20}) == 15 * 25
    # of a second piece of A that runs beside it, a unit takes 5 s: 40 s for four
    estimate.reach("A", 0, piece=2)
    clock[0] += 10
    estimate.reach("A", 2, piece=2)
    assert estimate.seconds({"A": 1}) == 10
    estimate.forget(1)
    estimate.forget(2)
    assert estimate.seconds({"A": 5, "B": 20}) is None


def test_finished_work_tells_the_cost_of_its_kind(clock):
    estimate = Estimate()
    estimate.learn("A", 10, 20.0)
    assert estimate.seconds({"A": 10}) == 20
    estimate.learn("A", 10, 60.0)
    estimate.learn("B", 20, 20.0)
    # 4 s a unit of A, 1 s of B
    assert estimate.seconds({"A": 10, "B": 20}, workers=2) == (40 + 20) / 2
    # C is as an average kind
    assert estimate.seconds({"C": 2}) == 2 * (4 + 1) / 2
    # what runs counts less than what is finished
    estimate.reach("A", 0)
    clock[0] += 1000
    estimate.reach("A", 1)
    assert estimate.seconds({"A": 10}) == 40
    assert estimate.seconds({}) == 0


def test_weights_tell_the_cost_of_what_has_not_begun(clock):
    estimate = Estimate({"tagger": 1.0, "parser": 1.5})
    estimate.reach("tagger", 2.0)  # by an earlier process
    clock[0] += 10
    estimate.reach("tagger", 3.0)
    # an epoch of the tagger, and two of the parser, which take half as much again
    assert estimate.seconds({"tagger": 1, "parser": 2}) == 10 + 2 * 15
    clock[0] += 10
    estimate.reach("tagger", 4.0)
    estimate.reach("parser", 0.0)
    clock[0] += 40
    estimate.reach("parser", 1.0)
    assert estimate.seconds({"parser": 1}) == 40
    # and nothing is known of the segmenter but that others took 10 and 40 / 1.5
    assert estimate.seconds({"segmenter": 2}) == pytest.approx(10 + 40 / 1.5)


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


def test_time_left_in_words():
    assert time_left(None) == time_left(0) == ""
    assert time_left(59) == "; less than a minute left"
    assert time_left(61) == "; about 61 s left"
