"""The runner of a reproduction: unfinished jobs, some at a time, in own processes.

Each job is a process of its own, so a job that runs out of memory, or that the user
kills, takes no other job with it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import timedelta

from rich.console import Console
from rich.progress import Progress

from keras_tagging.experiments.reproduction.store import Job, Store

MODULE = "keras_tagging.experiments.reproduction.work"
PAUSE = 2.0  # seconds between two looks at the epochs of running jobs


class Runner:
    """Processes of jobs, so many at once.

    Args:
        store: the folder of the reproduction.
        workers: number of jobs at once; they share the cores.
    """

    def __init__(self, store: Store, workers: int):
        self.store = store
        self.pool = ThreadPoolExecutor(workers)  # a thread waits for a process
        self.environment = environment(max(1, cores() // workers)) | os.environ
        self.futures: dict[str, Future] = {}  # by the name of the job
        self.processes: list[subprocess.Popen] = []
        self.closed = False

    def start(self, job: Job) -> Future:
        """Start a job as soon as a worker is free.

        Returns:
            The future of the reason why the job failed, in one line; None if it did
            not.
        """
        self.futures[job.name] = self.pool.submit(self._run, job)
        return self.futures[job.name]

    def _run(self, job: Job) -> str | None:
        # it was started before, so this does not wait for a worker
        if job.needed in self.futures and self.futures[job.needed].result():
            return f"not run, because {job.needed}, which it needs, failed"
        log = self.store.log(job)
        log.parent.mkdir(parents=True, exist_ok=True)
        with (
            log.open("ab") as output,
            subprocess.Popen(
                [sys.executable, "-m", MODULE, *arguments(self.store, job)],
                stdin=subprocess.PIPE,  # the job ends when this process is gone
                stdout=output,
                stderr=output,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for this process, which ends it
            ) as process,
        ):
            self.processes.append(process)
            if self.closed:
                process.kill()
            code = process.wait()
        return self._failure(job, code)

    def _failure(self, job: Job, code: int) -> str | None:
        if code == 0:
            return None if self.store.done(job) else "its process had no result"
        if code < 0:
            name = signal.Signals(-code).name
            hint = "; out of memory? Then use fewer --jobs" * (name == "SIGKILL")
            return f"its process was ended by {name}{hint}"
        printed = [line for line in self.store.log_tail(job) if line.strip()]
        return printed[-1].strip() if printed else f"its process ended with code {code}"

    def close(self) -> None:
        """Kill the jobs that still run, and forget those that wait."""
        self.closed = True
        for process in self.processes:
            process.kill()  # files are written as a whole, so none is half done
        self.pool.shutdown(cancel_futures=True)


def run_jobs(
    jobs: Sequence[Job], store: Store, workers: int, epochs: Mapping[str, int]
) -> dict[Job, str]:
    """Run the jobs that have no result yet; one that fails does not stop the rest.

    Jobs that others need come first. Standard error shows the progress: a bar on a
    terminal, and a line for each job that ends.

    Args:
        jobs: the jobs, each after the one that it needs.
        store: the folder of the reproduction.
        workers: number of jobs at once.
        epochs: number of epochs of each row, by its name.

    Returns:
        The jobs that failed, or could not be run, with the reason in one line.
    """
    waiting = [job for job in jobs if not store.done(job)]
    for job in set(jobs) - set(waiting):
        store.tidy(job)  # a kill may have left files
    runner = Runner(store, workers)
    waiting.sort(key=lambda job: job.needs is not None)
    running = {runner.start(job): job for job in waiting}
    failed: dict[Job, str] = {}
    ended = len(jobs) - len(waiting)
    console, hidden = Console(stderr=True, highlight=False), not sys.stderr.isatty()
    with Progress(console=console, disable=hidden) as progress:
        total = sum(epochs[job.row] for job in jobs)
        bar = progress.add_task("epochs", total=total)
        try:
            while running:
                wait(running, PAUSE, FIRST_COMPLETED)
                for future in [future for future in running if future.done()]:
                    job = running.pop(future)
                    if reason := future.result():
                        failed[job] = reason
                        store.write_failure(job, reason)
                    ended += 1
                    outcome = f"failed: {reason}" if reason else _outcome(store, job)
                    text = f"[{ended}/{len(jobs)}] {job}: {outcome}"
                    console.print(text, markup=False, soft_wrap=True)
                finished = sum(min(store.epochs(j), epochs[j.row]) for j in jobs)
                progress.update(bar, completed=finished)
        finally:
            runner.close()
    return failed


def _outcome(store: Store, job: Job) -> str:
    result = store.read(job)
    figures = result["figures"].items()
    words = [f"{k} -" if v is None else f"{k} {v:.2f}" for k, v in figures]
    return f"{', '.join(words)} ({timedelta(seconds=round(result['seconds']))})"


def arguments(store: Store, job: Job) -> list[str]:
    """The arguments of the program that runs a job."""
    return [str(store.folder.absolute()), job.slug, str(job.seed)]


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment(threads: int) -> dict[str, str]:
    """Environment variables of a job's process, unless the user set them."""
    names = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS")
    return {
        **dict.fromkeys(names, str(threads)),
        "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one job takes all memory
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
