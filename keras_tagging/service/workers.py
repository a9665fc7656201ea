"""Worker processes, each of which has all models, from the side of HTTP.

Each is a pool of Python's own with one process, so that two workers share no queue and
no lock: one that is killed disturbs no other.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress

from keras_tagging.service import worker
from keras_tagging.utils import limits

log = logging.getLogger(__name__)
LONGEST_PAUSE = 30  # seconds between two attempts to replace a worker


class WorkerDied(Exception):
    """The process has ended, or was ended because it took too long."""


class Worker:
    """One process, which is replaced when it ends.

    Args:
        files: see `worker.load`.
        replaced: called when there is a new process.
        niceness: that the system is to add to the process'.

    Attributes:
        models: what `worker.load` says of each model.
        pid: of the process.
    """

    def __init__(self, files: dict, replaced=lambda: None, niceness: int = 0):
        self._files, self._replaced, self._niceness = files, replaced, niceness
        self._up = asyncio.Event()
        self._pool = self._sentinel = self._replacing = None
        self.models, self.pid = {}, None

    @property
    def ready(self) -> bool:
        return self._up.is_set()

    async def start(self) -> None:
        """Starts the process and loads the models.

        Raises:
            ValueError: if one of them cannot be loaded.
            ImportError: if what runs them is not installed.
            WorkerDied: if the process ends meanwhile.
        """
        # no fork: it would have the locks of this process' threads
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(1, context, worker.begin, (self._niceness,))
        self._pool = pool
        try:
            loading = pool.submit(worker.load, self._files)
            self.pid, self.models = await asyncio.wrap_future(loading)
        except BrokenProcessPool as error:
            raise WorkerDied from error
        except BaseException:
            pool.shutdown(wait=False)
            raise
        self._up.set()
        self._watch(pool)

    def _watch(self, pool):
        """Has the end of the process noticed at once, also while it has no work."""
        loop = asyncio.get_running_loop()
        for process in multiprocessing.active_children():
            if process.pid == self.pid:
                self._sentinel = process.sentinel
                loop.add_reader(self._sentinel, self._dead, pool)
                return
        self._dead(pool)

    def _dead(self, pool):
        if pool is not self._pool or not self.ready:
            return  # it is known
        self._unwatch()
        self._up.clear()
        pool.shutdown(wait=False)
        log.warning("worker %s has ended and is replaced", self.pid)
        self._replacing = asyncio.create_task(self._replace(self._replaced))

    def _unwatch(self):
        if self._sentinel is not None:
            asyncio.get_running_loop().remove_reader(self._sentinel)
            self._sentinel = None

    async def _replace(self, done=lambda: None):
        pause = 0.5
        while True:
            try:
                await self.start()
            except (WorkerDied, ValueError, ImportError, OSError) as error:
                log.error("no worker could be started: %s", str(error) or "it ended")
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                done()
                return

    async def up(self) -> None:
        """Waits until there is a process with the models loaded.

        One is started if none ever was.
        """
        if self._pool is None and self._replacing is None:
            self._replacing = asyncio.create_task(self._replace())
        await self._up.wait()

    async def answer(self, name: str, jobs: list) -> list:
        """The answers to a batch, from the process: see `worker.answer`.

        Raises:
            WorkerDied: if the process has ended; there will be another one.
        """
        await self.up()
        pool = self._pool
        try:
            running = asyncio.wrap_future(pool.submit(worker.answer, name, jobs))
            done, _ = await asyncio.wait([running], timeout=limits.SERVICE_SECONDS)
            if not done:
                log.error("worker %s takes too long", self.pid)
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGKILL)
            return await running
        except BrokenProcessPool as error:
            self._dead(pool)
            raise WorkerDied from error

    async def stop(self) -> None:
        """Ends the process, once it has done what it does."""
        if self._replacing is not None:
            self._replacing.cancel()
        self._unwatch()
        if self._pool is not None:
            await asyncio.to_thread(self._pool.shutdown)
