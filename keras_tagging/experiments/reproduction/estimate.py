"""How long the jobs of a reproduction will still take."""

import time
from collections.abc import Iterable, Mapping
from statistics import fmean

from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.store import Store


class Estimate:
    """Learns from finished epochs what those to come cost.

    Args:
        store: the folder of the reproduction; jobs that are done in it are counted.
        jobs: all jobs.
        epochs: of each row, by its name.
        workers: how many jobs run at once.
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
        self.running: dict[Job, tuple[float, int]] = {}  # when, after how many epochs
        for job in jobs:
            if store.done(job):
                self.learn(job, store.read(job))

    def learn(self, job: Job, result: Mapping) -> None:
        """Takes the result of a job."""
        cost = result["seconds"] / result["epochs"]
        self.costs.setdefault(job.row, []).append(cost)

    def start(self, job: Job) -> int:
        """From now on the job runs. Gives the number of epochs it has already."""
        before = self.store.epochs(job)
        self.running[job] = time.monotonic(), before
        return before

    def end(self, job: Job) -> None:
        """The job runs no more."""
        self.running.pop(job, None)

    def seconds_left(self, left: Iterable[Job]) -> float | None:
        """For the epochs of these jobs that are not finished.

        An epoch costs what those of its row do, of done jobs or else of running ones,
        and where there is none what an epoch costs on average.

        Returns:
            None before the first epoch.
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
    """In words, with two units at most."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    if minutes < 90:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days {hours % 24} h"
