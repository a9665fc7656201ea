"""Requests that are run in parts, so that others need not wait for them."""

import asyncio

import pytest
from service.test_batches import Worker

from keras_tagging.data.sentence import Sentence
from keras_tagging.service.batches import Batcher
from keras_tagging.service.parts import Lane, parts
from keras_tagging.service.problems import Problem

pytestmark = pytest.mark.one_backend
SETTINGS = {"max_batch": 64, "max_tokens": 2000, "max_wait": 0}


def of(*sizes):
    return [Sentence([f"{i}"] * size) for i, size in enumerate(sizes)]


@pytest.mark.parametrize(
    "sizes, expected",
    [
        ([250], [("small", [250])]),
        ([125, 125], [("small", [125, 125])]),
        ([125, 126], [("large", [125]), ("large", [126])]),
        ([250, 251], [("large", [250]), ("long", [251])]),
        ([250, 1], [("large", [250]), ("large", [1])]),
        (
            [0, 300, 400, 5],
            [("large", [0]), ("long", [300]), ("long", [400]), ("large", [5])],
        ),
        ([1] * 251, [("large", [1] * 250), ("large", [1])]),
    ],
)
def test_parts(sizes, expected):
    found = [*parts(of(*sizes))]
    told = [(lane.value, [len(s) for s in part]) for lane, part in found]
    assert told == expected
    assert [s.tokens for _, part in found for s in part] == [
        s.tokens for s in of(*sizes)
    ]


def test_parts_of_texts():
    """A text is whole until its sentences are known; many are not one part."""
    long, short = "a" * 5000, "a" * 625
    for one in ([long], [short] * 2, [""] * 9):
        assert [*parts(one)] == [(Lane.SMALL, one)]
    several = [[short, short], [short], [long], [""]]
    given = [text for part in several for text in part]
    assert [*parts(given)] == [(Lane.LARGE, part) for part in several]


def answered(asked, worker, patient, early=0):
    """Answers to requests, and their order; the first ones are asked before."""

    async def all_of_them():
        batcher, order = Batcher([worker], patient, **SETTINGS), []
        batcher.start()

        async def ask(i, given):
            try:
                answer = await batcher.answer("m", given, ["tags"])
            except Problem as problem:
                answer = problem
            order.append(i)
            return answer

        tasks = []
        for i, given in enumerate(asked):
            tasks.append(asyncio.create_task(ask(i, given)))
            await asyncio.sleep(0.05 if i < early else 0)
        answers = [await task for task in tasks]
        await batcher.stop()
        return answers, order

    return asyncio.run(all_of_them())


class Rows(Worker):
    """Answers with the number of tokens of each sentence."""

    async def answer(self, name, jobs):
        rows = [[len(s) for s in part] for part, _ in jobs]
        self.batches.append(rows)
        await asyncio.sleep(self.seconds)
        return [(400, "bad") if 13 in row else row for row in rows]


def test_a_long_sentence_delays_nobody():
    """But those as long; it comes back in its place."""
    worker, patient = Rows(), Rows(seconds=0.3)
    long, short = of(3, 1990, 4), of(20)
    answers, order = answered([long, short, short], worker, patient, early=1)
    assert answers == [[3, 1990, 4], [20], [20]] and order == [1, 2, 0]
    assert patient.batches == [[[1990]]]


def test_a_large_request_and_a_small_one_take_turns():
    worker = Rows(seconds=0.05)
    large, small = of(*[100] * 20), of(20)
    answers, order = answered([large, large, small], worker, Rows(), early=1)
    assert answers == [[100] * 20] * 2 + [[20]] and order == [2, 0, 1]
    assert worker.batches[:3] == [[[100] * 2], [[20]], [[100] * 2]] or (
        worker.batches[2] == [[20]]
    )


def test_a_problem_of_a_part_is_that_of_the_request():
    worker = Rows(seconds=0.01)
    bad, good = of(*[100] * 5, 13, *[100] * 5), of(20)
    answers, _ = answered([bad, good], worker, Rows())
    assert answers[0].message == "bad" and answers[1] == [20]
