"""Worker processes, each of which has all models, from the side of HTTP.

Two workers share no queue and no lock: one that is killed disturbs no other. The loop
that speaks HTTP speaks with each over a socket, without threads in between, which would
take more time than the rest of a small request.
"""

import asyncio
import logging
import multiprocessing
import os
import pickle
import socket
import struct
from collections import deque

from keras_tagging.service import worker
from keras_tagging.utils import limits

log = logging.getLogger(__name__)
LONGEST_PAUSE = 30  # seconds between two attempts to replace a worker
SIZE = struct.Struct("!i")  # of a message, as `multiprocessing.Connection` sends it


class WorkerDied(Exception):
    """The process has ended, or was ended because it took too long."""


class Worker:
    """One process, which is replaced when it ends.

    Args:
        files: see `worker.load`.
        replaced: called when there is a new process.
        niceness: that the system is to add to the process'.

    Attributes:
        models: by name.
        pid: of the process.
    """

    def __init__(self, files: dict, replaced=lambda: None, niceness: int = 0):
        self._files, self._replaced, self._niceness = files, replaced, niceness
        self._up = asyncio.Event()
        self._process = self._writer = self._reading = self._replacing = None
        self._asked = deque()  # what is not answered, the oldest first
        self.models, self.pid = {}, None

    @property
    def ready(self) -> bool:
        return self._up.is_set()

    async def start(self) -> None:
        """Starts the process and loads the models.

        Raises:
            ValueError: if one of them cannot be loaded.
            WorkerDied: if the process ends meanwhile.
        """
        # no fork: it would have the locks of this process' threads
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        args = there, self._niceness
        process = context.Process(target=worker.run, args=args, daemon=True)
        with here, there:
            process.start()
            self._process = process
            connection = socket.socket(fileno=os.dup(here.fileno()))
        reader, self._writer = await asyncio.open_connection(sock=connection)
        self._reading = asyncio.create_task(self._read(reader, process))
        try:
            self.pid, self.models = await self._ask("load", self._files)
        except BaseException:
            self._writer.close()
            raise
        self._up.set()

    def _ask(self, function: str, *args) -> asyncio.Future:
        """The result of a function of `worker`; `WorkerDied` if it ends."""
        content = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
        future = asyncio.get_running_loop().create_future()
        if self._reading.done():
            future.set_exception(WorkerDied())
        else:
            self._asked.append(future)
            self._writer.write(SIZE.pack(len(content)) + content)
        return future

    async def _read(self, reader, process):
        """Hands out answers, in the order of the questions, until the process ends."""
        try:
            while True:
                [size] = SIZE.unpack(await reader.readexactly(SIZE.size))
                content = await reader.readexactly(size)
                right, result = pickle.loads(content)
                if (future := self._asked.popleft()).done():
                    continue
                if right:
                    future.set_result(result)
                else:
                    future.set_exception(ValueError(result))
        except (OSError, asyncio.IncompleteReadError):
            self._dead(process)

    def _dead(self, process):
        if process is not self._process:
            return  # another one has replaced it
        while self._asked:
            if not (future := self._asked.popleft()).done():
                future.set_exception(WorkerDied())
        if self.ready:  # else it starts or stops
            self._up.clear()
            self._reading.cancel()
            self._writer.close()
            process.kill()
            log.warning("worker %s has ended and is replaced", self.pid)
            self._replacing = asyncio.create_task(self._replace(self._replaced))

    async def _replace(self, done=lambda: None):
        pause = 0.5
        while True:
            await self._joined()
            try:
                await self.start()
            except (WorkerDied, ValueError, OSError) as error:
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
        if self._process is None and self._replacing is None:
            self._replacing = asyncio.create_task(self._replace())
        await self._up.wait()

    async def answer(self, name: str, jobs: list) -> list:
        """The answers to a batch, from the process: see `worker.answer`.

        Raises:
            WorkerDied: if the process has ended; there will be another one.
        """
        await self.up()
        process = self._process
        try:
            async with asyncio.timeout(limits.SERVICE_SECONDS):
                return await self._ask("answer", name, jobs)
        except TimeoutError:
            log.error("worker %s takes too long", self.pid)
            self._dead(process)
            raise WorkerDied from None

    async def stop(self) -> None:
        """Ends the process, once it has done what it does."""
        if self._replacing is not None:
            self._replacing.cancel()
        self._up.clear()
        if self._writer is not None:
            self._writer.close()
        await self._joined()

    async def _joined(self):
        """Waits for the end of the process, which is told or has begun already."""
        if self._process is not None:
            await asyncio.to_thread(self._process.join)
