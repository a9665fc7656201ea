"""Dynamic batching: requests that come together are run together.

No server that was tried does it as needed, so this is our own: a
queue for each lane, and for each worker a loop that takes the oldest request of one and
those that fit it, from another lane each time. Large requests are cut into parts, so
that small ones need not wait for the whole. The time to parse a sentence grows with the
square of its length, and the search cannot be interrupted: long ones go to a process of
their own.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from keras_tagging.data.sentence import Sentence
from keras_tagging.service.problems import Problem
from keras_tagging.service.worker import is_large, size
from keras_tagging.service.workers import Worker, WorkerDied
from keras_tagging.utils import limits

log = logging.getLogger(__name__)


#: requests, and parts of them, that wait for each other alone
SMALL, LARGE, LONG = LANES = ("small", "large", "long")


def parts(items: Sequence) -> Iterator[tuple[str, list]]:
    """The parts of a request, in its order.

    Args:
        items: sentences, or texts; each of these is whole until it is cut into
            sentences.
    """
    most = limits.SERVICE_PART_TOKENS
    if items and isinstance(items[0], str):
        groups = [*_groups(items, limits.SERVICE_TOKEN_CHARACTERS * most)]
        lane = LARGE if len(groups) > 1 else SMALL
        yield from ((lane, group) for group in groups)
    elif is_large(items):
        for group in _groups(items, most):
            yield (LONG if len(group[0]) > most else LARGE), group
    else:
        yield SMALL, [*items]


def _groups(items, most):
    """Those that follow each other, in lists; one that is too long is alone."""
    group, total = [], 0
    for item in items:
        if group and total + len(item) > most:
            yield group
            group, total = [], 0
        group.append(item)
        total += len(item)
    if group:
        yield group


@dataclass(eq=False, slots=True)
class Job:
    """A request for one model, or a part of it.

    Attributes:
        lane: where it waits.
        sentences: of the request; for a pipeline its text alone, whose characters
            count as tokens.
        arrived: in seconds of the event loop.
        alone: it was in a batch whose worker has died, and is not put with others.
    """

    lane: str
    model: str
    sentences: list[Sentence] | list[str]
    outputs: list[str]
    arrived: float
    future: asyncio.Future
    tokens: int
    alone: bool = False


class Batcher:
    """Hands requests to workers, in batches of one model.

    Args:
        workers: that have started.
        patient: a worker for long sentences, which starts with the first of them.
        max_batch: sentences of a batch. A request with more is a batch of its own.
        max_tokens: tokens of a batch.
        max_wait: seconds that a request waits for others while a worker is free.
        ran: called with the model and the number of sentences of each batch.
    """

    def __init__(
        self,
        workers: list[Worker],
        patient: Worker,
        *,
        max_batch: int,
        max_tokens: int,
        max_wait: float,
        ran=lambda model, sentences: None,
    ):
        self._ran, self._max_batch, self._max_wait = ran, max_batch, max_wait
        self._served = [(worker, [SMALL, LARGE]) for worker in workers]
        self._served.append((patient, [LONG]))
        part = min(max_tokens, limits.SERVICE_PART_TOKENS)
        self._max_tokens = {SMALL: max_tokens, LARGE: part, LONG: 1}
        self._waiting: dict[str, deque[Job]] = {lane: deque() for lane in LANES}
        # the worker for long sentences is not woken by others
        usual, long = asyncio.Event(), asyncio.Event()
        self._arrived = {SMALL: usual, LARGE: usual, LONG: long}
        self._tasks = []

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._serve(*x)) for x in self._served]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def answer(
        self,
        model: str,
        sentences: list,
        outputs: list[str],
        until: float | None = None,
    ) -> list:
        """The answer to one request: see `worker.answer`.

        What still waits when it is cancelled never runs.

        Args:
            model, sentences, outputs: as in `Job`.
            until: when it is late, in seconds of the event loop.

        Raises:
            Problem: if the model cannot answer it, or not in time.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        until = now + limits.SERVICE_SECONDS if until is None else until
        jobs = [
            Job(lane, model, part, outputs, now, loop.create_future(), size(part))
            for lane, part in parts(sentences)
        ]
        for job in jobs:
            self._waiting[job.lane].append(job)
            self._arrived[job.lane].set()
        futures = [job.future for job in jobs]
        try:
            async with asyncio.timeout_at(until):
                answers = await asyncio.gather(*futures)
        except TimeoutError:
            busy = "the service is too busy for this request: try later"
            raise Problem(503, busy) from None
        finally:
            for future in futures:
                future.cancel()
        return [*chain.from_iterable(answers)]

    async def _serve(self, worker, lanes):
        while True:
            while not any(self._waiting[lane] for lane in lanes):
                await self._arrival(lanes[0])
            await worker.up()
            jobs = await self._next(lanes)
            model = jobs[0].model
            self._ran(model, sum(len(job.sentences) for job in jobs))
            try:
                answers = await worker.answer(
                    model, [(job.sentences, job.outputs) for job in jobs]
                )
            except WorkerDied:
                self._again(jobs)
                continue
            except Exception as error:  # such as an answer that cannot be sent
                log.exception("a batch was not answered")
                answers = [(500, f"no answer: {type(error).__name__}")] * len(jobs)
            for job, answer in zip(jobs, answers, strict=True):
                if job.future.done():
                    continue
                if isinstance(answer, tuple):
                    job.future.set_exception(Problem(*answer))
                else:
                    job.future.set_result(answer)

    def _again(self, jobs):
        """Each request of a dead worker's batch is tried once more, by itself.

        So one that kills its worker takes no other with it.
        """
        for job in reversed(jobs):
            if not job.alone:
                job.alone = True
                self._waiting[job.lane].appendleft(job)
                self._arrived[job.lane].set()
            elif not job.future.done():
                job.future.set_exception(
                    Problem(503, "the process that ran this request ended, twice")
                )

    async def _next(self, lanes) -> list[Job]:
        """The next batch. The lane that it is of comes last the next time."""
        loop = asyncio.get_running_loop()
        while (oldest := self._oldest(lanes)) is None:
            await self._arrival(lanes[0])
        lane, first = oldest
        lanes.remove(lane)
        lanes.append(lane)
        batch, until = [first], first.arrived + self._max_wait
        self._fill(batch, lane)
        while min(self._room(batch, lane)) > 0 and (left := until - loop.time()) > 0:
            await self._arrival(lane, left)
            self._fill(batch, lane)
        return batch

    def _oldest(self, lanes):
        for lane in lanes:
            while self._waiting[lane]:
                job = self._waiting[lane].popleft()
                if not job.future.done():  # else its client has given up
                    return lane, job
        return None

    def _room(self, batch, lane):
        """How many sentences and tokens still fit a batch."""
        if batch[0].alone:
            return 0, 0
        sentences = self._max_batch - sum(len(job.sentences) for job in batch)
        return sentences, self._max_tokens[lane] - sum(job.tokens for job in batch)

    def _fill(self, batch, lane):
        """Adds those that wait and fit."""
        waiting, passed = self._waiting[lane], []
        sentences, tokens = self._room(batch, lane)
        while waiting and min(sentences, tokens) > 0:
            job = waiting.popleft()
            if (
                job.model == batch[0].model
                and not (job.alone or job.future.done())
                and len(job.sentences) <= sentences
                and job.tokens <= tokens
            ):
                batch.append(job)
                sentences -= len(job.sentences)
                tokens -= job.tokens
            else:
                passed.append(job)
        waiting.extendleft(reversed(passed))

    async def _arrival(self, lane, seconds=None):
        self._arrived[lane].clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._arrived[lane].wait()
