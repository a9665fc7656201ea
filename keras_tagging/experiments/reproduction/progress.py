"""The progress of running jobs: a bar on a terminal, lines elsewhere."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.store import Store
from keras_tagging.utils.estimate import Estimate, duration, time_left

INTERVAL = 2.0  # seconds between two looks at the epochs of running jobs


class Progress:
    """Reporter of started, finished and remaining jobs on standard error.

    Args:
        jobs: all jobs of the reproduction, including finished ones.
        store: its folder.
        epochs: number of epochs of each row, by its name.
        workers: number of jobs at once.
    """

    def __init__(
        self, jobs: Sequence[Job], store: Store, epochs: Mapping[str, int], workers: int
    ):
        self.jobs, self.store, self.epochs = jobs, store, epochs
        self.workers = workers
        self.estimate = Estimate()
        self.done = {job for job in jobs if store.done(job)}
        for job in self.done:
            self._learn(store.read(job), job)
        self.running: set[Job] = set()
        self.broken: set[Job] = set()
        self.bars = self.total = None
        self.tasks: dict[Job, int] = {}
        self.looked = 0.0
        self.estimated = False

    def __enter__(self):
        if sys.stderr.isatty():
            self.bars = _bars()
            self.bars.start()
            every = sum(self.epochs[job.row] for job in self.jobs)
            self.total = self.bars.add_task("", total=every, note="")
        return self

    def __exit__(self, *_):
        if self.bars:
            self.tick(at_once=True)
            self.bars.stop()

    def say(self, text: str) -> None:
        """Print a line."""
        if self.bars:
            self.bars.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)

    # Called by the scheduler

    def started(self, job: Job) -> None:
        before = self.store.epochs(job)
        self.estimate.reach(job.row, before, job)
        self.running.add(job)
        if self.bars:
            total = self.epochs[job.row]
            self.tasks[job] = self.bars.add_task(f"  {job}", total=total, note="")
        else:
            self.say(
                f"{job}: goes on after epoch {before}" if before else f"{job}: begins"
            )

    def finished(self, job: Job) -> None:
        self._end(job)
        self.done.add(job)
        result = self.store.read(job)
        self._learn(result, job)
        figures = ", ".join(_figures(result["figures"]))
        self.say(
            f"[{len(self.done)}/{len(self.jobs)}] {job}: {figures} "
            f"({duration(result['seconds'])}){self._left()}"
        )

    def failed(self, job: Job, reason: str) -> None:
        self._end(job)
        self.broken.add(job)
        self.say(f"{job}: failed: {reason}")

    def tick(self, at_once: bool = False) -> None:
        """Update the display every few seconds, however often it is called."""
        now = time.monotonic()
        if now - self.looked < INTERVAL and not at_once:
            return
        self.looked = now
        if self.bars:
            self._draw()
        elif not self.estimated and (left := self._left()):
            self.say(left.removeprefix("; "))

    def _draw(self) -> None:
        finished = {job: self.store.epochs(job) for job in self.tasks}
        for job, task in self.tasks.items():
            self.bars.update(task, completed=finished[job])
        counts = [f"{len(self.done)} of {len(self.jobs)} jobs done"]
        counts += [f"{len(self.tasks)} running"] * bool(self.tasks)
        counts += [f"{len(self.broken)} failed"] * bool(self.broken)
        ended = sum(self.epochs[job.row] for job in self.done | self.broken)
        self.bars.update(
            self.total,
            description=", ".join(counts),
            completed=ended + sum(finished.values()),
            note=self._left(),
        )

    def _end(self, job: Job) -> None:
        self.running.discard(job)
        self.estimate.forget(job)
        if job in self.tasks:
            self.bars.remove_task(self.tasks.pop(job))

    def _learn(self, result: Mapping, job: Job) -> None:
        self.estimate.learn(job.row, result["epochs"], result["seconds"])

    def _left(self) -> str:
        jobs = [job for job in self.jobs if job not in self.done | self.broken]
        left: Counter = Counter()
        for job in jobs:
            finished = 0
            if job in self.running:
                finished = self.store.epochs(job)
                self.estimate.reach(job.row, finished, job)
            left[job.row] += max(0, self.epochs[job.row] - finished)
        workers = max(1, min(self.workers, len(jobs)))
        seconds = self.estimate.seconds(left, workers)
        if not jobs or seconds is None:
            return ""
        self.estimated = True
        return time_left(seconds) or "; less than a minute left"


def _figures(figures: Mapping[str, float | None]) -> list[str]:
    return [f"{k} -" if v is None else f"{k} {v:.2f}" for k, v in figures.items()]


def _bars():
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs{task.fields[note]}", markup=False),
        console=Console(stderr=True),
    )
