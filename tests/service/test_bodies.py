"""The limits of the bodies of requests, byte by byte."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from starlette.requests import Request

from keras_tagging.service.bodies import DRAINED, Bodies
from keras_tagging.service.problems import Problem
from keras_tagging.utils import limits

pytestmark = pytest.mark.one_backend


def request(*parts, kind="application/json"):
    """A request whose body comes in parts; `left` are those that nobody has read."""
    left = [
        {"type": "http.request", "body": part, "more_body": i < len(parts)}
        for i, part in enumerate(parts, 1)
    ]

    async def receive():
        return left.pop(0)

    headers = [(b"content-type", kind.encode())]
    found = Request({"type": "http", "headers": headers}, receive)
    found.left = left
    return found


async def read(bodies, *parts):
    async with bodies.read(request(*parts)) as body:
        return body


async def refused(bodies, *parts):
    with pytest.raises(Problem) as caught:
        await read(bodies, *parts)
    return caught.value.status_code


def test_kinds_of_bodies():
    async def enter(kind):
        async with Bodies(9).read(request(b"{}", kind=kind)) as body:
            return body

    for kind in ("json; charset=utf-8", "octet-stream", "x-www-form-urlencoded"):
        assert asyncio.run(enter(f"Application/{kind}")) == b"{}"
    for kind in ("text/plain;charset=UTF-8", "multipart/form-data; boundary=x"):
        with pytest.raises(Problem, match="415: .* is not read: send application/json"):
            asyncio.run(enter(kind))


@pytest.mark.parametrize("tokens, most", [(0, 8), (1, 8), (5, 10)])
def test_the_last_byte_that_fits(tokens, most, monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_BYTES", 8)
    monkeypatch.setattr(limits, "SERVICE_TOKEN_BYTES", 2)
    bodies, full = Bodies(tokens), b"x" * most

    async def check():
        for parts in ([full + b"x"], [b"x"] * (most + 1), [full, b"", b"x"]):
            assert (
                await read(bodies, full) == await read(bodies, *[b"x"] * most) == full
            )
            assert await refused(bodies, *parts) == 413
        # what was refused is not held
        assert await read(bodies, full) == full

    asyncio.run(check())


@pytest.mark.parametrize("count, rest", [(DRAINED, 0), (DRAINED + 3, 2)])
def test_a_body_that_is_much_too_large_is_not_read_to_its_end(count, rest, monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_BYTES", 8)
    asked = request(*[b"x" * 8] * count)

    async def enter():
        async with Bodies(0).read(asked):
            pass

    with pytest.raises(Problem):
        asyncio.run(enter())
    assert len(asked.left) == rest


@pytest.mark.parametrize("limit", ["SERVICE_WAITING_BYTES", "SERVICE_CONNECTIONS"])
def test_all_bodies_together_have_a_limit(limit, monkeypatch):
    monkeypatch.setattr(limits, limit, 10 if "BYTES" in limit else 2)
    bodies = Bodies(10)

    async def together():
        async with AsyncExitStack() as held:
            for part in (b"abcd", b"efghij"):  # the last byte too
                body = await held.enter_async_context(bodies.read(request(part)))
                assert body == part
            for parts in ([b"x"], [b"", b"x"]):
                assert await refused(bodies, *parts) == 503
        # what is answered counts no more, however it ended
        return await read(bodies, b"abcdefghij")

    assert asyncio.run(together()) == b"abcdefghij"
