"""Connections: how many there are, and how long each may say nothing.

uvicorn counts one that says nothing as any other, and waits for its first request for
ever. Here the client of a connection owes a request until all of it has come; who owes
one the longest makes room for others.
"""

from uvicorn.protocols.http.h11_impl import H11Protocol

from keras_tagging.utils import limits


class Connection(H11Protocol):
    """A connection as uvicorn has it, which ends when its client is late.

    Beyond `limits.SERVICE_CONNECTIONS` the one ends that owes a request the longest.
    """

    _owing = {}  # the connections of this process that owe a request, the oldest first
    _timer = None

    @property
    def in_request(self) -> bool:
        """Whether there is a request that is not answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _owe(self):
        self._owing.pop(self, None)
        self._owing[self] = True
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
        self._owing.pop(self, None)
        self.transport.abort()

    # Those of asyncio and uvicorn

    def connection_made(self, transport):
        super().connection_made(transport)
        if self._owing and len(self.connections) > limits.SERVICE_CONNECTIONS:
            next(iter(self._owing)).end()
        self._owe()

    def connection_lost(self, exc):
        self._timer.cancel()
        self._owing.pop(self, None)
        super().connection_lost(exc)

    def handle_events(self):
        super().handle_events()
        if self.in_request and not self.cycle.more_body:
            self._owing.pop(self, None)

    def on_response_complete(self):
        self._owe()
        super().on_response_complete()
