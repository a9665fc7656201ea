"""Where jobs run: in processes of this machine.

An engine starts jobs and tells which have ended; `RayEngine` does the same on a
cluster. Each job is a process of its own: one that is killed, for want of memory or by
the user, takes nothing else with it.
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
    """What runs jobs.

    Attributes:
        workers: how many at once.
    """

    workers: int

    def has_room(self) -> bool:
        """Whether a further job could start at once."""

    def start(self, job: Job) -> None:
        """Starts a job."""

    def ended(self) -> list[tuple[Job, str | None]]:
        """The jobs that have ended since the last call; with each None, or why it
        failed in one line."""

    def close(self) -> None:
        """Ends the jobs that still run."""


class LocalEngine:
    """Runs jobs in processes of this machine.

    Args:
        store: the folder of the reproduction.
        workers: how many at once; they share the cores.
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
                stdin=subprocess.PIPE,  # the job ends when this process has gone
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
            )

    def ended(self) -> list[tuple[Job, str | None]]:
        found = []
        for job, process in list(self.running.items()):
            if (code := process.poll()) is not None:
                process.stdin.close()
                del self.running[job]
                found.append((job, why(self.store, job, code)))
        return found

    def close(self) -> None:
        for process in self.running.values():
            process.kill()  # all that is kept is written at once, as a whole
        for process in self.running.values():
            process.wait()
            process.stdin.close()
        self.running.clear()


def arguments(store: Store, job: Job) -> list[str]:
    """Of the program that does a job."""
    return [str(store.folder.absolute()), job.slug, str(job.seed)]


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment(threads: int, given: Mapping = os.environ) -> dict[str, str]:
    """Variables of a job's process; those that the user has set stay."""
    wanted = {
        "TF_NUM_INTRAOP_THREADS": str(threads),
        "TF_NUM_INTEROP_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one job takes all memory
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    return {name: given.get(name, value) for name, value in wanted.items()}


def why(store: Store, job: Job, code: int) -> str | None:
    """Why a process that ended with this code failed, or None if it did not."""
    if code == 0:
        return None
    if code < 0:
        name = signal.Signals(-code).name
        hint = "; for want of memory? then fewer --jobs help" * (name == "SIGKILL")
        return f"its process was ended by {name}{hint}"
    printed = [line for line in store.log_tail(job) if line.strip()]
    return printed[-1].strip() if printed else f"its process ended with code {code}"
