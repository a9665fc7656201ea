"""Estimates of the time that the jobs of a reproduction will still take."""

import time
from collections.abc import Iterable, Mapping
from statistics import fmean

from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.store import Store


class Estimate:
    """An estimate of the time of future epochs, from finished ones.

    Args:
        store: the folder of the reproduction; its finished jobs count.
        jobs: all jobs.
        epochs: number of epochs of each row, by its name.
        workers: number of jobs at once.
    """

    def __init__(
        self,
        store: Store,
        jobs: Iterable[Job],
        epochs: Mapping[str, int],
        workers: int,
    ):
        self.store, self.epochs, self.workers = store, epochs, workers
        self.costs: dict[str, list[float]] = {}  # seconds an epoch, by row
        self.running: dict[Job, tuple[float, int]] = {}  # start time, epochs before it
        for job in jobs:
            if store.done(job):
                self.learn(job, store.read(job))

    def learn(self, job: Job, result: Mapping) -> None:
        """Add the result of a finished job."""
        cost = result["seconds"] / result["epochs"]
        self.costs.setdefault(job.row, []).append(cost)

    def start(self, job: Job) -> int:
        """Record that a job starts; return the number of its finished epochs."""
        before = self.store.epochs(job)
        self.running[job] = time.monotonic(), before
        return before

    def end(self, job: Job) -> None:
        """Record that a job no longer runs."""
        self.running.pop(job, None)

    def seconds_left(self, left: Iterable[Job]) -> float | None:
        """Estimate the time for the unfinished epochs of these jobs.

        An epoch takes as long as the epochs of its row did in finished jobs, or else in
        running ones; without any, as long as an average epoch.

        Returns:
            Seconds; None before the first epoch.
        """
        costs = {row: fmean(seconds) for row, seconds in self.costs.items()}
        finished = {job: self.store.epochs(job) for job in self.running}
        for job, (start, before) in self.running.items():
            if finished[job] > before:
                cost = (time.monotonic() - start) / (finished[job] - before)
                costs.setdefault(job.row, cost)
        if not costs:
            return None
        mean = fmean(costs.values())
        seconds = [
            costs.get(job.row, mean)
            * max(0, self.epochs[job.row] - finished.get(job, 0))
            for job in left
        ]
        return sum(seconds) / min(self.workers, max(1, len(seconds)))


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
