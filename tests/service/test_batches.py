"""Which requests are run together, with workers that are made up."""

import asyncio

from keras_tagging.data.sentence import Sentence
from keras_tagging.service.batches import Batcher
from keras_tagging.service.problems import Problem
from keras_tagging.service.workers import WorkerDied


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


def run(worker, asked, left=0, **options):
    """Answers to requests `(model, words)`, all at once; so many are never run."""
    settings = {"max_batch": 4, "max_tokens": 20, "max_wait": 0.02} | options

    async def all_of_them():
        batcher = Batcher([worker], Worker(), **settings)
        batcher.start()
        sentences = [(model, [Sentence(words)]) for model, words in asked]
        answers = await asyncio.gather(
            *(batcher.answer(model, given, ["tags"]) for model, given in sentences),
            return_exceptions=True,
        )
        await batcher.stop()
        assert batcher.waiting == left
        return answers

    return asyncio.run(all_of_them())


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
    assert isinstance(bad, Problem) and (bad.status, bad.message) == (400, "bad")


def test_a_request_that_kills_its_worker_takes_no_other_with_it():
    worker = Worker()
    first, deadly, last = run(worker, [("a", ["x"]), ("a", ["die"]), ("a", ["y"])])
    assert (first, last) == (["x"], ["y"])
    assert deadly.status == 503 and "twice" in deadly.message
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
    assert isinstance(answers[1], asyncio.CancelledError) and problem.status == 503
    assert worker.batches[:2] == [("m", [["a"]]), ("m", [["c"]])]


def test_a_request_that_waits_too_long(monkeypatch):
    monkeypatch.setattr("keras_tagging.utils.limits.SERVICE_SECONDS", 0.05)
    worker = Worker(seconds=0.2)
    first, second = run(worker, [("a", ["x"]), ("b", ["y"])], left=1)
    assert first.status == second.status == 503 and "too busy" in second.message
