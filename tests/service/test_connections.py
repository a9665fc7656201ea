"""Clients that say nothing, are slow, are many, or go; and the end of a service."""

import asyncio
import resource

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from keras_tagging.service.app import Service
from keras_tagging.service.gate import Metrics
from keras_tagging.service.schemas import TokensAnswer, TokensRequest
from keras_tagging.service.server import Connection
from keras_tagging.utils import limits

pytestmark = pytest.mark.one_backend
HEAD = b"POST /tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"


def test_health_is_answered_beside_1100_half_open_connections(service):
    """Which say nothing, or send a byte of a head from time to time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2500:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2500, hard), hard))
    held = []
    try:
        for i in range(1100):
            held.append(service.connect())
            if i % 2:
                held[-1].sendall(b"GET /health HTTP/1.1\r\nX: ")
        for _ in range(10):
            for client in held[1::200]:
                client.setblocking(False)
                try:
                    client.send(b"x")
                except OSError:
                    pass  # it had to make room
            assert service.get("/health").status_code == 200
            answer = service.post("/tag", {"sentences": ["a"]})
            assert answer.status_code == 200
    finally:
        for client in held:
            client.close()


class Client:
    """Of asyncio's streams."""

    every = []

    async def to(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.every.append(self.writer)
        await asyncio.sleep(0.02)
        return self

    async def hear(self):
        """The status of the next answer."""
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = int(head.partition("content-length: ")[2].split()[0])
            await self.reader.readexactly(size)
        return int(head.split()[1])

    async def ask(self, request):
        self.writer.write(request)
        return await self.hear()

    async def ended(self):
        """Whether there is an end, and not an answer."""
        async with asyncio.timeout(10):
            try:
                return await self.reader.read(1) == b""
            except ConnectionResetError:
                return True


def served(test, monkeypatch, **patched):
    """Runs a test with a service whose `/tag` answers when `go` is set."""
    for name, value in patched.items():
        monkeypatch.setattr(limits, name, value)

    async def run():
        go = asyncio.Event()

        async def tag(request):
            await request.body()
            await go.wait()
            return JSONResponse({"error": None})

        app = Starlette(routes=[Route("/tag", tag, methods=["POST"])])
        options = {"log_level": "error", "timeout_graceful_shutdown": 5}
        config = uvicorn.Config(app, port=0, http=Connection, **options)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve())  # without its signals
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            await test(port, server, go)
        finally:
            go.set()
            server.should_exit = True
            await asyncio.wait_for(serving, 20)
            for writer in Client.every:
                writer.transport.abort()
            await asyncio.sleep(0)
            Client.every.clear()
        assert not server.server_state.connections

    asyncio.run(run())


async def clients(port, count):
    return [await Client().to(port) for _ in range(count)]


def test_who_owes_a_request_makes_room(monkeypatch):
    async def test(port, server, go):
        busy = await clients(port, 2)
        for client in busy:
            client.writer.write(HEAD + b"null")
        silent = await clients(port, 3)
        silent[1].writer.write(b"POST /tag HTTP/1.1\r\nX: ")  # no whole head either
        silent[2].writer.write(HEAD + b"{")  # no whole body either
        asking = await clients(port, 3)
        assert all([await client.ended() for client in silent])
        assert len(server.server_state.connections) == 5
        go.set()
        for client in busy:  # with requests they stay
            assert await client.hear() == 200
        for client in asking:
            assert await client.ask(HEAD + b"null") == 200

    served(test, monkeypatch, SERVICE_CONNECTIONS=5)


def test_heads_have_a_time(monkeypatch):
    async def test(port, server, go):
        go.set()
        [nothing, slow, asking] = await clients(port, 3)
        slow.writer.write(b"POST /tag HTTP/1.1\r\nX: ")
        await asyncio.sleep(0.3)
        assert await asking.ask(HEAD + b"null") == 200  # anew from here
        assert await nothing.ended() and await slow.ended()
        assert await asking.ask(HEAD + b"null") == 200
        assert await asking.ended()

    served(test, monkeypatch, SERVICE_HEAD_SECONDS=0.6)


def test_who_does_not_take_the_answer_loses_it(monkeypatch):
    async def test(port, server, go):
        [client] = await clients(port, 1)
        client.writer.write(HEAD + b"null")
        assert await client.ended()

    short = {"SERVICE_HEAD_SECONDS": 0.1, "SERVICE_ANSWER_SECONDS": 0.1}
    served(test, monkeypatch, **short)


def test_after_a_signal_what_came_before_is_answered(monkeypatch):
    async def test(port, server, go):
        [asked, idle] = await clients(port, 2)
        asked.writer.write(HEAD + b"null")
        await asyncio.sleep(0.1)
        server.should_exit = True
        assert await idle.ended()
        go.set()
        assert await asked.hear() == 200
        assert await asked.ended()

    served(test, monkeypatch)


class Nobody:
    """A batcher that never answers."""

    waiting = 0


def given_up(then):
    """The answer to a request that no worker answers, which is cancelled.

    Args:
        then: what happens after some time: a function of the task that answers the
            request, and of the messages of its client.
    """
    cancelled, messages = [], asyncio.Queue()

    async def never(request, body, labels):
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(body)

    async def run():
        messages.put_nowait({"type": "http.request", "body": b'{"sentences": []}'})
        service = Service({}, [], Nobody(), Metrics(), 10)
        service._post("/tag", "", never, TokensRequest, TokensAnswer)
        request = Request({"type": "http", "headers": []}, messages.get)
        task = asyncio.create_task(service._routes[-1].endpoint(request))
        await asyncio.sleep(0.02)
        then(task, messages)
        try:
            return await asyncio.wait_for(task, 5)
        finally:
            await asyncio.sleep(0)
            assert len(cancelled) == 1

    return asyncio.run(run())


def test_a_client_that_goes():
    def goes(task, messages):
        messages.put_nowait({"type": "http.disconnect"})

    with pytest.raises(HTTPException, match="499: the client has gone"):
        given_up(goes)


def test_the_end_of_the_time_to_stop():
    answer = given_up(lambda task, messages: task.cancel())
    assert answer.status_code == 503 and b"the service stops" in answer.body
