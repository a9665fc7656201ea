"""Clients that say nothing, are slow, or are many; and the end of a service."""

import asyncio
import json

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route

from keras_tagging.service.app import _refused
from keras_tagging.service.connections import Connection, Connections, Server
from keras_tagging.service.gate import Gate, Hosts
from keras_tagging.utils import limits

pytestmark = pytest.mark.one_backend
HEAD = b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
HEALTH = b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Client:
    """Of asyncio's streams."""

    every = []

    async def to(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.every.append(self.writer)
        await asyncio.sleep(0.02)
        return self

    async def hear(self):
        """The status, whether the connection ends, and the body of the next answer."""
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length: ")[2].split()[0])
            body = await self.reader.readexactly(size)
        return int(head.split()[1]), "connection: close" in head, body

    async def ask(self, request):
        self.writer.write(request)
        return await self.hear()

    async def ended(self):
        """Whether there is an end, and not an answer."""
        async with asyncio.timeout(10):
            return await self.reader.read(1) == b""


def served(test, monkeypatch, **patched):
    """Runs a test with a service whose `/tag` answers when `go` is set."""
    for name, value in patched.items():
        monkeypatch.setattr(limits, name, value)

    async def run():
        connections, go = Connections(), asyncio.Event()

        async def tag(request):
            await request.body()
            await go.wait()
            return JSONResponse({"error": None})

        async def live(request):
            return JSONResponse({"live": True})

        app = Starlette(
            routes=[
                Route("/tag", tag, methods=["POST"]),
                Route("/v2/health/live", live),
            ],
            middleware=[
                Middleware(Gate, connections, Hosts("::1"), frozenset(), _refused)
            ],
        )
        config = uvicorn.Config(
            app,
            port=0,
            http=lambda **options: Connection(connections, **options),
            log_level="error",
            timeout_graceful_shutdown=5,
        )
        server = Server(config, connections)
        serving = asyncio.create_task(server._serve())  # without its signals
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            await test(port, connections, server, go)
        finally:
            go.set()
            server.should_exit = True
            await asyncio.wait_for(serving, 20)
            for writer in Client.every:
                writer.transport.abort()
            await asyncio.sleep(0)
            Client.every.clear()
        assert len(connections) == 0

    asyncio.run(run())


async def clients(port, count):
    return [await Client().to(port) for _ in range(count)]


def test_who_says_nothing_makes_room(monkeypatch):
    async def test(port, connections, server, go):
        go.set()
        silent = await clients(port, 4)
        silent[3].writer.write(b"POST /tag HTTP/1.1\r\nX: ")  # no whole head either
        [half] = await clients(port, 1)
        half.writer.write(HEAD + b"{")  # no whole body either
        asking = await clients(port, 5)
        for client in asking:
            assert (await client.ask(HEAD + b"null"))[0] == 200
        assert all([await client.ended() for client in silent])
        assert len(connections) <= 5

    served(test, monkeypatch, SERVICE_CLIENT_CONNECTIONS=5)


def test_those_with_requests_stay_and_health_is_answered(monkeypatch):
    async def test(port, connections, server, go):
        busy = await clients(port, 3)
        for client in busy:
            client.writer.write(HEAD + b"null")
        await asyncio.sleep(0.1)
        [health, other] = await clients(port, 2)
        assert await other.ask(HEAD + b"null") == (
            503,
            True,
            json.dumps(
                {"error": "too many connections: try again in a second"},
                separators=(",", ":"),
            ).encode(),
        )
        [health] = await clients(port, 1)
        assert (await health.ask(HEALTH))[0] == 200
        go.set()
        assert [(await client.hear())[0] for client in busy] == [200] * 3

    served(test, monkeypatch, SERVICE_CONNECTIONS=3)


def test_the_address_with_the_most_connections_loses_one(monkeypatch):
    monkeypatch.setattr(limits, "SERVICE_CONNECTIONS", 5)
    ended, connections = [], Connections()

    class Fake:
        has_asked = in_request = False

        def __init__(self, address):
            self.address = address

        def end(self, answer=b""):
            ended.append(self)
            connections.remove(self)

    few, many = Fake("a"), [Fake("b") for _ in range(4)]
    assert all(map(connections.add, [few, *many])) and not ended
    assert connections.add(Fake("c")) and ended == [many[0]]
    connections.runs(many[1])
    many[2].has_asked = True
    assert connections.add(Fake("c")) and ended == [many[0], many[3]]


def test_heads_have_a_time(monkeypatch):
    async def test(port, connections, server, go):
        go.set()
        [nothing, slow, asking] = await clients(port, 3)
        slow.writer.write(b"POST /tag HTTP/1.1\r\nX: ")
        await asyncio.sleep(0.15)
        [new] = await clients(port, 1)
        assert (await asking.ask(HEAD + b"null"))[0] == 200  # anew from here
        connections.end_late()
        assert await nothing.ended()
        assert b"408 Request Timeout" in await slow.reader.read()
        for client in (new, asking):
            assert (await client.ask(HEALTH))[0] == 200

    served(test, monkeypatch, SERVICE_HEAD_SECONDS=0.1)


def test_who_does_not_take_the_answer_loses_it(monkeypatch):
    async def test(port, connections, server, go):
        [client] = await clients(port, 1)
        client.writer.write(HEAD + b"null")
        await asyncio.sleep(0.1)
        connections.end_late()
        assert await client.ended()

    served(test, monkeypatch, SERVICE_ANSWER_SECONDS=0.05)


def test_after_a_signal_clients_are_told_and_nobody_is_reset(monkeypatch):
    async def test(port, connections, server, go):
        [asked, kept, parted, idle] = await clients(port, 4)
        for client in (kept, parted, idle):
            assert (await client.ask(HEALTH))[:2] == (200, False)
        asked.writer.write(HEAD + b"null")
        await asyncio.sleep(0.1)
        server.should_exit = True
        while not connections.stopping:
            await asyncio.sleep(0.01)
        [new] = await clients(port, 1)
        parted.writer.write(HEAD)
        await asyncio.sleep(0.1)
        for client, request in (
            (kept, HEAD + b"null"),
            (parted, b"null"),
            (new, HEAD + b"null"),
        ):
            status, closes, body = await client.ask(request)
            assert (status, closes) == (503, True) and b"the service stops" in body
            assert await client.ended()
        go.set()  # what came before is answered
        assert (await asked.hear())[:2] == (200, True)
        assert await idle.ended()

    served(test, monkeypatch)
