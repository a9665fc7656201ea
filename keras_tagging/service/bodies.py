"""Reading the bodies of requests, within limits."""

import asyncio
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from keras_tagging.service.problems import GONE, Problem, shown
from keras_tagging.utils import limits

#: the ends of what JSON is declared as; the last is what `curl -d` says of any body
KINDS = ("json", "application/octet-stream", "application/x-www-form-urlencoded")
DRAINED = 16  # times the limit: what is read of a body that is too large


class Bodies:
    """Reads bodies, and holds them until their requests are answered.

    Together they may not take more than `SERVICE_WAITING_BYTES`.

    Args:
        max_tokens: of a request.
    """

    def __init__(self, max_tokens: int):
        self._bytes = self._requests = 0
        self.max_bytes = max(
            limits.SERVICE_BYTES, limits.SERVICE_TOKEN_BYTES * max_tokens
        )

    @asynccontextmanager
    async def read(self, request: Request):
        """The body, whose bytes count until the block ends.

        Raises:
            Problem: if it is too large, comes too slowly, is compressed or no JSON, or
                if too much waits already.
        """
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Problem(415, "send the body as it is, not compressed")
        kind = request.headers.get("content-type", "json").partition(";")[0].strip()
        if not kind.lower().endswith(KINDS):
            raise Problem(415, f"{shown(kind)} is not read: send application/json")
        parts = []
        self._requests += 1
        try:
            await self._receive(request, parts)
            yield b"".join(parts)
        finally:
            self._requests -= 1
            self._bytes -= sum(map(len, parts))

    async def _receive(self, request, parts):
        seen = 0
        try:
            async with asyncio.timeout(limits.SERVICE_READ_SECONDS):
                async for part in request.stream():
                    seen += len(part)
                    if seen <= self.max_bytes:
                        parts.append(part)
                        self._bytes += len(part)
                        full = self._bytes > limits.SERVICE_WAITING_BYTES
                        if full or self._requests > limits.SERVICE_CONNECTIONS:
                            raise Problem(503, "too many requests wait: try again")
                    elif seen > DRAINED * self.max_bytes:
                        break
        except TimeoutError:
            raise Problem(408, "the body did not arrive in time: try again") from None
        except ClientDisconnect:
            raise Problem(GONE, "the client has gone") from None
        if seen > self.max_bytes:
            # told at the end, because a client that still sends hears nothing
            raise Problem(
                413, f"the body is larger than {self.max_bytes:,} bytes: send less"
            )
