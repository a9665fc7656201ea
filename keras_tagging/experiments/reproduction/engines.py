"""Engines that run jobs in processes of this machine.

An engine starts jobs and reports which ones ended; `RayEngine` does the same on a
cluster. Each job is a process of its own, so a job that runs out of memory, or that the
user kills, takes no other job with it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Protocol

from keras_tagging.experiments.reproduction.jobs import Job
from keras_tagging.experiments.reproduction.store import Store

MODULE = "keras_tagging.experiments.reproduction.work"


class Engine(Protocol):
    """An engine that runs jobs.

    Attributes:
        workers: number of jobs at once.
    """

    workers: int

    def has_room(self) -> bool:
        """Whether another job can start now."""

    def start(self, job: Job) -> None:
        """Start a job."""

    def ended(self) -> list[tuple[Job, str | None]]:
        """The jobs that ended since the last call, each with None or, in one line, the
        reason why it failed."""

    def close(self) -> None:
        """Kill the jobs that still run."""


class LocalEngine:
    """An engine that runs jobs in processes of this machine.

    Args:
        store: the folder of the reproduction.
        workers: number of jobs at once; they share the cores.
    """

    def __init__(self, store: Store, workers: int):
        self.store = store
        self.workers = workers
        self.running: dict[Job, subprocess.Popen] = {}
        threads = max(1, cores() // workers)
        self.environment = {**os.environ, **environment(threads)}

    def has_room(self) -> bool:
        return len(self.running) < self.workers

    def start(self, job: Job) -> None:
        command = [sys.executable, "-m", MODULE, *arguments(self.store, job)]
        log = self.store.log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self.running[job] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # the job ends when this process is gone
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
            )

    def ended(self) -> list[tuple[Job, str | None]]:
        ended = []
        for job, process in list(self.running.items()):
            if (code := process.poll()) is not None:
                process.stdin.close()
                del self.running[job]
                ended.append((job, failure_reason(self.store, job, code)))
        return ended

    def close(self) -> None:
        for process in self.running.values():
            process.kill()  # files are written as a whole, so none is half done
        for process in self.running.values():
            process.wait()
            process.stdin.close()
        self.running.clear()


def arguments(store: Store, job: Job) -> list[str]:
    """The arguments of the program that runs a job."""
    return [str(store.folder.absolute()), job.slug, str(job.seed)]


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment(threads: int, own: Mapping = os.environ) -> dict[str, str]:
    """Environment variables of a job's process; the user's own values win."""
    defaults = {
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one job takes all memory
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return {name: own.get(name, value) for name, value in defaults.items()}


def failure_reason(store: Store, job: Job, code: int) -> str | None:
    """The reason for the exit code of a process; None if it succeeded."""
    if code == 0:
        return None
    if code < 0:
        name = signal.Signals(-code).name
        hint = "; out of memory? Then use fewer --jobs" * (name == "SIGKILL")
        return f"its process was ended by {name}{hint}"
    printed = [line for line in store.log_tail(job) if line.strip()]
    return printed[-1].strip() if printed else f"its process ended with code {code}"
