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


class Link(asyncio.Protocol):
    """The connection to one process, which answers in the order of the questions.

    Args:
        lost: called with it when the process has ended.
    """

    def __init__(self, lost):
        self._lost, self._received, self._asked = lost, bytearray(), deque()

    def ask(self, function: str, *args) -> asyncio.Future:
        """The result or error of a function of `worker`; `WorkerDied` if it ends."""
        content = pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL)
        future = asyncio.get_running_loop().create_future()
        if self._transport.is_closing():
            future.set_exception(WorkerDied())
        else:
            self._asked.append(future)
            self._transport.write(SIZE.pack(len(content)) + content)
        return future

    def close(self) -> None:
        """Lets the process end, once it has done what it does."""
        self._transport.close()

    # Those of asyncio

    def connection_made(self, transport):
        self._transport = transport

    def data_received(self, data):
        self._received += data
        while len(self._received) >= SIZE.size:
            end = SIZE.size + SIZE.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            content = bytes(self._received[SIZE.size : end])
            del self._received[:end]
            if not (future := self._asked.popleft()).done():
                try:
                    right, found = pickle.loads(content)
                # of the class of an error, which may be anybody's
                except Exception as error:
                    right, found = False, error
                (future.set_result if right else future.set_exception)(found)

    def connection_lost(self, error):
        for future in self._asked:
            if not future.done():
                future.set_exception(WorkerDied())
        self._asked.clear()
        self._lost(self)


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
        self._process = self._link = self._replacing = None
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
        here, there = context.Pipe()
        args = there, self._niceness
        process = context.Process(target=worker.run, args=args, daemon=True)
        with here, there:
            process.start()
            self._process = process
            own = socket.socket(fileno=os.dup(here.fileno()))
        loop = asyncio.get_running_loop()
        made = await loop.create_connection(lambda: Link(self._dead), sock=own)
        self._link = made[1]
        try:
            self.pid, self.models = await self._link.ask("load", self._files)
        except BaseException:
            self._link.close()
            raise
        self._up.set()

    def _dead(self, link):
        if link is not self._link or not self.ready:
            return  # it is known
        self._up.clear()
        self._process.kill()
        log.warning("worker %s has ended and is replaced", self.pid)
        self._replacing = asyncio.create_task(self._replace(self._replaced))

    async def _replace(self, done=lambda: None):
        pause = 0.5
        while True:
            await self._joined()
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
        if self._process is None and self._replacing is None:
            self._replacing = asyncio.create_task(self._replace())
        await self._up.wait()

    async def answer(self, name: str, jobs: list) -> list:
        """The answers to a batch, from the process: see `worker.answer`.

        Raises:
            WorkerDied: if the process has ended; there will be another one.
        """
        await self.up()
        link = self._link
        try:
            async with asyncio.timeout(limits.SERVICE_SECONDS):
                return await link.ask("answer", name, jobs)
        except TimeoutError:
            log.error("worker %s takes too long", self.pid)
            self._dead(link)
            raise WorkerDied from None
        except WorkerDied:
            self._dead(link)
            raise

    async def stop(self) -> None:
        """Ends the process, once it has done what it does."""
        if self._replacing is not None:
            self._replacing.cancel()
        self._up.clear()
        if self._link is not None:
            self._link.close()
        await self._joined()

    async def _joined(self):
        """Waits for the end of the process, which is told or has begun already."""
        if self._process is not None:
            await asyncio.to_thread(self._process.join)
