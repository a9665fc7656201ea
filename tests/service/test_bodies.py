"""The limits of the bodies of requests, byte by byte."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from starlette.requests import Request

from keras_tagging.service.bodies import DRAINED, Bodies
from keras_tagging.service.problems import Problem
from keras_tagging.utils import limits

pytestmark = pytest.mark.one_backend


def request(*parts):
    """A request whose body comes in parts; `left` are those that nobody has read."""
    left = [
        {"type": "http.request", "body": part, "more_body": i < len(parts)}
        for i, part in enumerate(parts, 1)
    ]

    async def receive():
        return left.pop(0)

    found = Request({"type": "http", "headers": []}, receive)
    found.left = left
    return found


async def read(bodies, *parts):
    async with bodies.read(request(*parts)) as body:
        return body


def refused(bodies, *parts):
    with pytest.raises(Problem) as caught:
        asyncio.run(read(bodies, *parts))
    return caught.value


@pytest.mark.parametrize("tokens, most", [(0, 8), (1, 8), (5, 10)])
def test_the_last_byte_that_fits(tokens, most, monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_BYTES", 8)
    monkeypatch.setattr(limits, "SERVICE_TOKEN_BYTES", 2)
    bodies = Bodies(tokens)
    assert asyncio.run(read(bodies, b"x" * most)) == b"x" * most
    assert asyncio.run(read(bodies, *[b"x"] * most)) == b"x" * most
    for parts in ([b"x" * (most + 1)], [b"x"] * (most + 1), [b"x" * most, b"", b"x"]):
        problem = refused(bodies, *parts)
        assert problem.status == 413
        assert f"larger than {most} bytes" in problem.message
    # what was refused is not held
    assert asyncio.run(read(bodies, b"x" * most)) == b"x" * most


def test_a_body_that_is_much_too_large_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_BYTES", 8)
    for count, rest in ((DRAINED, 0), (DRAINED + 3, 2)):
        parts = request(*[b"x" * 8] * count)
        with pytest.raises(Problem):
            asyncio.run(_enter(Bodies(0), parts))
        assert len(parts.left) == rest


async def _enter(bodies, given):
    async with bodies.read(given):
        pass


def test_all_bodies_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_WAITING_BYTES", 10)
    bodies = Bodies(10)

    async def together():
        async with AsyncExitStack() as held:
            for part in (b"abcd", b"efghij"):  # the last byte too
                body = await held.enter_async_context(bodies.read(request(part)))
                assert body == part
            for parts in ([b"x"], [b"", b"x"]):
                with pytest.raises(Problem) as caught:
                    await read(bodies, *parts)
                assert caught.value.status == 503
                assert "too many requests wait" in caught.value.message
        # what is answered counts no more, however it ended
        for _ in range(3):
            assert await read(bodies, b"abcdefgh") == b"abcdefgh"
            with pytest.raises(Problem):
                await read(bodies, b"abcdefgh", b"ijk")
        return await read(bodies, b"abcdefghij")

    assert asyncio.run(together()) == b"abcdefghij"
