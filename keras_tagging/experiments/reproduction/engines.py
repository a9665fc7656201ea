"""Engines that run jobs in processes of this machine.

An engine starts jobs, each as a future of `concurrent.futures`; `RayEngine` does the
same on a cluster. Each job is a process of its own, so a job that runs out of memory,
or that the user kills, takes no other job with it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
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

    def start(self, job: Job) -> Future:
        """Start a job; the future gives the exit code of its process."""

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
        self.processes: list[subprocess.Popen] = []
        self.waiting = ThreadPoolExecutor(workers)
        threads = max(1, cores() // workers)
        self.environment = {**os.environ, **environment(threads)}

    def start(self, job: Job) -> Future:
        command = [sys.executable, "-m", MODULE, *arguments(self.store, job)]
        log = self.store.log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # the job ends when this process is gone
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
            )
        self.processes.append(process)
        return self.waiting.submit(_exit_code, process)

    def close(self) -> None:
        for process in self.processes:
            process.kill()  # files are written as a whole, so none is half done
        self.waiting.shutdown()


def _exit_code(process: subprocess.Popen) -> int:
    with process:  # closes its standard input at the end
        return process.wait()


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


def failure_reason(store: Store, job: Job, ended: Future) -> str | None:
    """In one line, why a job failed that has ended; None if it succeeded."""
    try:
        code = ended.result()
    except Exception as error:  # of Ray: a machine or a worker was lost
        first, *_ = str(error).strip().split("\n")
        return f"{type(error).__name__}: {first}"
    if code == 0:
        return None if store.done(job) else "its process ended without a result"
    if code < 0:
        name = signal.Signals(-code).name
        hint = "; out of memory? Then use fewer --jobs" * (name == "SIGKILL")
        return f"its process was ended by {name}{hint}"
    printed = [line for line in store.log_tail(job) if line.strip()]
    return printed[-1].strip() if printed else f"its process ended with code {code}"
