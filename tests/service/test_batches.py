"""Which requests are run together, with workers that are made up."""

import asyncio

import pytest

from keras_tagging.data.sentence import Sentence
from keras_tagging.service.batches import LARGE, SMALL, Batcher, parts
from keras_tagging.service.problems import Problem
from keras_tagging.service.workers import WorkerDied

pytestmark = pytest.mark.one_backend


class Worker:
    """Answers with the tokens; keeps the batches; dies of the word "die"."""

    def __init__(self, seconds=0.0):
        self.seconds, self.batches = seconds, []

    async def up(self):
        await asyncio.sleep(0)

    async def answer(self, name, jobs):
        words = [[token for s in part for token in s.tokens] for part, _ in jobs]
        self.batches.append((name, words))
        await asyncio.sleep(self.seconds)
        if any("die" in found for found in words):
            raise WorkerDied
        return [(400, "bad") if "bad" in found else found for found in words]


def in_order(worker, asked, patient=None, early=0, **options):
    """Answers to requests `(model, sentences)`, their order, and how many still wait.

    The first ones are asked before the others.
    """
    settings = {"max_batch": 4, "max_tokens": 20, "max_wait": 0.02} | options

    async def all_of_them():
        batcher = Batcher([worker], patient or Worker(), **settings)
        order, tasks = [], []
        batcher.start()

        async def ask(i, model, given):
            try:
                return await batcher.answer(model, given, ["tags"])
            except Problem as problem:
                return problem
            finally:
                order.append(i)

        for i, (model, given) in enumerate(asked):
            tasks.append(asyncio.create_task(ask(i, model, given)))
            if i < early:
                await asyncio.sleep(0.05)
        answers = await asyncio.gather(*tasks)
        await batcher.stop()
        return answers, order, batcher.waiting

    return asyncio.run(all_of_them())


def run(worker, asked, left=0, **options):
    """Answers to requests `(model, words)`, all at once; so many are never run."""
    asked = [(model, [Sentence(words)]) for model, words in asked]
    answers, _, waiting = in_order(worker, asked, **options)
    assert waiting == left
    return answers


def test_requests_that_come_together_run_together():
    worker = Worker()
    asked = [("a", ["x"]), ("b", ["y"]), ("a", ["z"]), ("b", ["v"])]
    assert run(worker, asked) == [["x"], ["y"], ["z"], ["v"]]
    assert worker.batches == [("a", [["x"], ["z"]]), ("b", [["y"], ["v"]])]


def test_limits_of_a_batch():
    worker = Worker()
    run(worker, [("a", [str(i)]) for i in range(9)])
    assert [len(words) for _, words in worker.batches] == [4, 4, 1]
    worker = Worker()
    run(worker, [("a", ["x"] * n) for n in (15, 6, 5, 30, 1)])
    sizes = [[len(words) for words in batch] for _, batch in worker.batches]
    assert sizes == [[15, 5], [6, 1], [30]]


def test_without_waiting_what_came_meanwhile_runs_next():
    worker = Worker(seconds=0.02)
    run(worker, [("a", ["x"]) for _ in range(4)], max_wait=0)
    assert [len(words) for _, words in worker.batches] in ([1, 3], [4])


def test_a_problem_of_one_is_not_that_of_others():
    first, bad, last = run(Worker(), [("a", ["x"]), ("a", ["bad"]), ("a", ["y"])])
    assert (first, last) == (["x"], ["y"])
    assert isinstance(bad, Problem) and (bad.status_code, bad.detail) == (400, "bad")


def test_a_request_that_kills_its_worker_takes_no_other_with_it():
    worker = Worker()
    first, deadly, last = run(worker, [("a", ["x"]), ("a", ["die"]), ("a", ["y"])])
    assert (first, last) == (["x"], ["y"])
    assert deadly.status_code == 503 and "twice" in deadly.detail
    together, *alone = [words for _, words in worker.batches]
    assert len(together) == 3 and sorted(alone) == [[["die"]], [["x"]], [["y"]]]


def test_a_request_whose_client_goes_is_not_run():
    worker = Worker(seconds=0.05)

    async def asked():
        batcher = Batcher([worker], Worker(), max_batch=1, max_tokens=9, max_wait=0)
        batcher.start()
        words = [["a"], ["b"], ["c"]]
        asking = [
            asyncio.create_task(batcher.answer("m", [Sentence(x)], [])) for x in words
        ]
        await asyncio.sleep(0.02)  # the first one runs
        asking[1].cancel()
        answers = await asyncio.gather(*asking, return_exceptions=True)
        late = batcher.answer("m", [Sentence(["d"])], [], until=0)
        [problem] = await asyncio.gather(late, return_exceptions=True)
        await batcher.stop()
        return answers, problem

    answers, problem = asyncio.run(asked())
    assert answers[0] == ["a"] and answers[2] == ["c"]
    assert isinstance(answers[1], asyncio.CancelledError) and problem.status_code == 503
    assert worker.batches[:2] == [("m", [["a"]]), ("m", [["c"]])]


def test_a_request_that_waits_too_long(monkeypatch):
    monkeypatch.setattr("keras_tagging.utils.limits.SERVICE_SECONDS", 0.05)
    worker = Worker(seconds=0.2)
    first, second = run(worker, [("a", ["x"]), ("b", ["y"])], left=1)
    assert (
        first.status_code == second.status_code == 503 and "too busy" in second.detail
    )


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
    assert [(lane, [*map(len, part)]) for lane, part in found] == expected
    assert [s.tokens for _, part in found for s in part] == [
        s.tokens for s in of(*sizes)
    ]


def test_parts_of_texts():
    """A text is whole until its sentences are known; many are not one part."""
    long, short = "a" * 5000, "a" * 625
    for one in ([long], [short] * 2, [""] * 9):
        assert [*parts(one)] == [(SMALL, one)]
    several = [[short, short], [short], [long], [""]]
    given = [text for part in several for text in part]
    assert [*parts(given)] == [(LARGE, part) for part in several]


class Rows(Worker):
    """Answers with the number of tokens of each sentence."""

    async def answer(self, name, jobs):
        rows = [[len(s) for s in part] for part, _ in jobs]
        self.batches.append(rows)
        await asyncio.sleep(self.seconds)
        return [(400, "bad") if 13 in row else row for row in rows]


def in_parts(asked, worker, patient, early=0):
    large = {"max_batch": 64, "max_tokens": 2000, "max_wait": 0}
    asked = [("m", sentences) for sentences in asked]
    return in_order(worker, asked, patient, early, **large)[:2]


def test_a_long_sentence_delays_nobody():
    """But those as long; it comes back in its place."""
    worker, patient = Rows(), Rows(seconds=0.3)
    long, short = of(3, 1990, 4), of(20)
    answers, order = in_parts([long, short, short], worker, patient, early=1)
    assert answers == [[3, 1990, 4], [20], [20]] and order == [1, 2, 0]
    assert patient.batches == [[[1990]]]


def test_a_large_request_and_a_small_one_take_turns():
    worker = Rows(seconds=0.05)
    large, small = of(*[100] * 20), of(20)
    answers, order = in_parts([large, large, small], worker, Rows(), early=1)
    assert answers == [[100] * 20] * 2 + [[20]] and order == [2, 0, 1]
    assert [[20]] in worker.batches[1:3]


def test_a_problem_of_a_part_is_that_of_the_request():
    worker = Rows(seconds=0.01)
    bad, good = of(*[100] * 5, 13, *[100] * 5), of(20)
    answers, _ = in_parts([bad, good], worker, Rows())
    assert answers[0].detail == "bad" and answers[1] == [20]
