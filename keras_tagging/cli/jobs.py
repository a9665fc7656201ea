"""A task in several processes: `--jobs`.

Each process loads the model and runs it with one thread. The sentences go to them in
slices, the same as in one process, so that the results are the same, and come back in
order; a few slices for each process are on the way, however long the input is.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from keras_tagging.cli.tasks import Work
from keras_tagging.encoding.batching import slices
from keras_tagging.utils.startup import end_with_parent

AHEAD = 2  # slices for each process that wait or are worked on

_work: Work | ValueError | None = None  # in a process of --jobs


@contextmanager
def at_work(task, jobs: int) -> Iterator[Work]:
    """The work of a task, in this process or in several.

    Args:
        task: a function of `cli.tasks` with its arguments but `threads`.
        jobs: the number of processes; 1 for this one.

    Raises:
        ValueError: of the task, or, also during the work, if a process was killed.
    """
    if jobs == 1:
        yield task()
        return
    with _processes(task, jobs) as pool:
        try:
            # with as many questions as processes all of them begin to load
            answers = [pool.submit(_about) for _ in range(jobs)]
            about, error = answers[0].result()
            if error is not None:
                raise error
            yield replace(about, results=partial(_results, pool, jobs, about.entries))
        except BrokenProcessPool as broken:
            raise ValueError(
                f"a process of --jobs {jobs} was killed, so that the output ends "
                "early; if memory was short, give fewer jobs"
            ) from broken


def _results(pool, jobs: int, entries: int, items: Iterable) -> Iterator:
    """The results of the items, in order."""
    parts, running, error = slices(items, entries, growing=True), deque(), None
    part = []
    while part is not None:
        try:
            part = next(parts, None)
        except Exception as raised:  # comes behind the results before it
            part, error = None, raised
        if part is not None:
            running.append(pool.submit(_done, part))
        while running and (part is None or len(running) == AHEAD * jobs):
            done, failed = running.popleft().result()
            yield from done
            if failed is not None:
                raise failed
    if error is not None:
        raise error


@contextmanager
def _processes(task, jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that have the task loaded, and none of which is left behind."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of PyTorch; they inherit it
    others = set(multiprocessing.active_children())
    # TensorFlow does not survive a fork
    spawning = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, spawning, _begin, [task])
    try:
        yield pool
    except BaseException:
        # nobody waits for what they are doing
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


# In the processes


def _begin(task) -> None:
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    end_with_parent()
    try:
        _work = task(threads=1)
    except (ValueError, OSError, ImportError) as error:
        # which every process can read: some of ours are made of several parts
        _work = ValueError(str(error))


def _about() -> tuple[Work | None, ValueError | None]:
    if isinstance(_work, ValueError):
        return None, _work
    return replace(_work, results=None), None


def _done(items: list) -> tuple[list, ValueError | None]:
    """The results of a slice, up to an error."""
    done = []
    if isinstance(_work, ValueError):
        return done, _work
    try:
        done.extend(_work.results(items))
    except (ValueError, OSError) as error:
        return done, ValueError(str(error))
    return done, None
