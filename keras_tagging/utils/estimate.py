"""How long the rest of some work will take."""

import time
from collections.abc import Hashable, Mapping
from statistics import fmean


class Estimate:
    """The time that is left, from the time of what is done.

    Work is of kinds, such as the rows of a table or the parts of a pipeline, and is
    counted in units, such as epochs. A unit takes as long as those of its kind did in
    finished work, or else in running work. Where none of a kind is done, it takes as
    long as an average one, by weight.

    Args:
        weights: the time of a unit of each kind in relation to the others, where it is
            known beforehand.
    """

    def __init__(self, weights: Mapping[str, float] | None = None):
        self.weights = weights or {}
        self.finished: dict[str, tuple[float, float]] = {}  # units, seconds
        self.running: dict[Hashable, tuple[str, float, float, float, float]] = {}

    def learn(self, kind: str, units: float, seconds: float) -> None:
        """Add work that is finished."""
        _add(self.finished, kind, units, seconds)

    def reach(self, kind: str, units: float, piece: Hashable = None) -> None:
        """Record that so many units of a piece of work are done now.

        What was done at the first call was done by an earlier process, and counts as
        no time.

        Args:
            piece: tells it from others of its kind; None if there is only one.
        """
        now, piece = time.monotonic(), piece or kind
        _, first, since, *_ = self.running.get(piece, (kind, units, now))
        self.running[piece] = kind, first, since, units, now

    def forget(self, piece: Hashable) -> None:
        """Record that a piece of work no longer runs."""
        self.running.pop(piece, None)

    def seconds(self, left: Mapping[str, float], workers: int = 1) -> float | None:
        """Estimate the time of the work that is left.

        Args:
            left: the units of each kind.
            workers: the number of pieces that run at once.

        Returns:
            Seconds; None as long as nothing is done.
        """
        done: dict[str, tuple[float, float]] = {}
        for kind, first, since, units, now in self.running.values():
            _add(done, kind, units - first, now - since)
        done |= self.finished
        costs = {k: seconds / units for k, (units, seconds) in done.items() if units}
        if not costs:
            return None
        mean = fmean(cost / self.weights.get(kind, 1) for kind, cost in costs.items())
        for kind in left:
            costs.setdefault(kind, mean * self.weights.get(kind, 1))
        return sum(costs[kind] * units for kind, units in left.items()) / workers


def _add(done: dict, kind: str, units: float, seconds: float) -> None:
    before = done.get(kind, (0, 0.0))
    done[kind] = before[0] + units, before[1] + seconds


def time_left(seconds: float | None) -> str:
    """An estimate in words, to follow others; empty without one."""
    if not seconds:
        return ""
    if seconds < 60:
        return "; less than a minute left"
    return f"; about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """A duration in words, with at most two units."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"
