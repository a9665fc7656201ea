"""Connections: how many there are, how long each may say nothing, and how they end.

uvicorn counts one that says nothing as any other, and keeps it for ever. Here the
client of a connection owes a request until all of it has come; who owes one the longest
makes room for others.
"""

import asyncio
import time
from collections import Counter

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keras_tagging.utils import limits

LATE = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Connections:
    """All connections of a service.

    Attributes:
        stopping: whether the service takes no more requests.
    """

    def __init__(self):
        self.stopping = False
        self._of = Counter()  # address: how many are its
        self._owing = {}  # connection: since when it owes a request, the oldest first
        self._running = {}  # connection: since when it has owed nothing

    def __len__(self) -> int:
        return len(self._owing) + len(self._running)

    def add(self, connection: "Connection") -> bool:
        """Counts a new connection, for which another may have to go.

        Returns:
            Whether there is room for it.
        """
        address = connection.address
        self._of[address] += 1
        self.owes(connection)
        if self._has_room(address):
            return True
        most = address
        if len(self) > limits.SERVICE_CONNECTIONS:
            [(most, _)] = self._of.most_common(1)
        owing = [c for c in self._owing if c.address == most and c is not connection]
        # who has asked before may do so again in a moment
        for other in [c for c in owing if not c.has_asked][:1] or owing[:1]:
            other.end()
        return self._has_room(address)

    def _has_room(self, address):
        right = self._of[address] <= limits.SERVICE_CLIENT_CONNECTIONS
        return right and len(self) <= limits.SERVICE_CONNECTIONS

    def owes(self, connection: "Connection") -> None:
        """Its client owes a request."""
        self._running.pop(connection, None)
        self._owing[connection] = time.monotonic()

    def runs(self, connection: "Connection") -> None:
        """Its request is there as a whole."""
        if self._owing.pop(connection, None) is not None:
            self._running[connection] = time.monotonic()

    def remove(self, connection: "Connection") -> None:
        """Counts a connection no more, if it was counted."""
        there = [d.pop(connection, None) for d in (self._owing, self._running)]
        if any(there):
            self._of -= Counter([connection.address])  # and forgets those with none

    async def watch(self) -> None:
        """Ends those that are late, for ever."""
        while True:
            await asyncio.sleep(1)
            self.end_late()

    def end_late(self) -> None:
        """Ends those that owe a request, or do not take their answer."""
        asked = time.monotonic() - limits.SERVICE_HEAD_SECONDS
        answered = time.monotonic() - limits.SERVICE_ANSWER_SECONDS
        late = [c for c, t in self._owing.items() if t < asked and not c.in_request]
        for connection in late:
            connection.end(LATE)
        for connection in [c for c, t in self._running.items() if t < answered]:
            connection.end()


class Connection(H11Protocol):
    """A connection as uvicorn has it, that tells the others what it does.

    Args:
        connections: all of them.
        **options: of uvicorn.
    """

    def __init__(self, connections: Connections, **options):
        super().__init__(**options)
        self._all = connections

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def has_asked(self) -> bool:
        """Whether there was a request before."""
        return self.cycle is not None and not self.in_request

    @property
    def in_request(self) -> bool:
        """Whether there is a request that is not answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def end(self, answer: bytes = b"") -> None:
        """Close it at once, after an answer if it is in the middle of a request."""
        self._all.remove(self)
        if answer and self.conn.trailing_data[0]:
            self.transport.write(answer)
        self.transport.abort()

    # Those of asyncio and uvicorn

    def connection_made(self, transport):
        super().connection_made(transport)
        if not self._all.add(self):
            self.app_state = {**self.app_state, "full": True}

    def connection_lost(self, error):
        self._all.remove(self)
        super().connection_lost(error)

    def handle_events(self):
        super().handle_events()
        if self.in_request and not self.cycle.more_body:
            self._all.runs(self)

    def on_response_complete(self):
        self._all.owes(self)
        super().on_response_complete()


class Server(uvicorn.Server):
    """Stops in two steps: first it refuses requests, then it closes what says nothing.

    A client whose request meets the end of a connection cannot tell whether it was
    read.

    Args:
        config: of uvicorn.
        connections: all of them.
    """

    def __init__(self, config: uvicorn.Config, connections: Connections):
        super().__init__(config)
        self._all = connections

    async def startup(self, sockets=None):
        await super().startup(sockets)
        for listener in sockets or []:
            # uvicorn's backlog is also how many asyncio lets in before it goes on
            listener.listen(limits.SERVICE_CONNECTIONS)

    async def shutdown(self, sockets=None):
        self._all.stopping = True
        until = time.monotonic() + limits.SERVICE_REFUSING_SECONDS
        while self.server_state.connections and time.monotonic() < until:
            await asyncio.sleep(0.05)
        await super().shutdown(sockets)
