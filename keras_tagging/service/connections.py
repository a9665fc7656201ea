"""Connections: how many there are, and how long each may say nothing.

uvicorn counts one that says nothing as any other, and waits for its first request for
ever. Here the client of a connection owes a request until all of it has come; who owes
one the longest makes room for others.
"""

from collections import Counter

from uvicorn.protocols.http.h11_impl import H11Protocol

from keras_tagging.utils import limits


class Connection(H11Protocol):
    """A connection as uvicorn has it, which ends when its client is late.

    Beyond `limits.SERVICE_CONNECTIONS` one of those ends that owe a request: the oldest
    of the address that has the most.

    Attributes:
        owes_since: when its client began to owe a request, or None if it owes none.
    """

    owes_since = _timer = None

    @property
    def address(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def in_request(self) -> bool:
        """Whether there is a request that is not answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport):
        super().connection_made(transport)
        if len(self.connections) > limits.SERVICE_CONNECTIONS:
            self._make_room()
        self._owe()

    def _make_room(self):
        owing = [c for c in self.connections if c.owes_since is not None]
        for most, _ in Counter(c.address for c in owing).most_common(1):
            same = (c for c in owing if c.address == most)
            min(same, key=lambda c: c.owes_since).end()

    def _owe(self):
        self.owes_since = self.loop.time()
        self._call_after(limits.SERVICE_HEAD_SECONDS, self._head_is_late)

    def _call_after(self, seconds, function):
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, function)

    def _head_is_late(self):
        if self.in_request:  # no longer: it has come
            self._call_after(limits.SERVICE_ANSWER_SECONDS, self.end)
        else:
            self.end()

    def end(self) -> None:
        """Close it at once."""
        self.owes_since = None
        self.transport.abort()

    # Those of asyncio and uvicorn

    def connection_lost(self, exc):
        self._timer.cancel()
        super().connection_lost(exc)

    def handle_events(self):
        super().handle_events()
        if self.in_request and not self.cycle.more_body:
            self.owes_since = None

    def on_response_complete(self):
        self._owe()
        super().on_response_complete()
