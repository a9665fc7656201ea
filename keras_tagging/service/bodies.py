"""Reading the bodies of requests, within limits."""

import asyncio
import json
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from keras_tagging.service.problems import Problem, bad, gone
from keras_tagging.utils import limits

DRAINED = 16  # times the limit: what is read of a body that is too large


class Bodies:
    """Reads bodies; together they may not take more than `SERVICE_WAITING_BYTES`.

    Args:
        max_tokens: of a request.
    """

    def __init__(self, max_tokens: int):
        self._held = 0
        self.max_bytes = max(
            limits.SERVICE_BYTES, limits.SERVICE_TOKEN_BYTES * max_tokens
        )

    @asynccontextmanager
    async def read(self, request: Request):
        """The body, whose bytes count until the block ends.

        Raises:
            Problem: if it is too large, comes too slowly, or is compressed, or if too
                much waits already.
        """
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Problem(415, "send the body as it is, not compressed")
        parts = []
        try:
            await self._receive(request, parts)
            yield b"".join(parts)
        finally:
            self._held -= sum(map(len, parts))

    async def _receive(self, request, parts):
        seen = 0
        try:
            async with asyncio.timeout(limits.SERVICE_READ_SECONDS):
                async for part in request.stream():
                    seen += len(part)
                    if seen <= self.max_bytes:
                        self._hold(len(part))
                        parts.append(part)
                    elif seen > DRAINED * self.max_bytes:
                        break
        except TimeoutError:
            raise Problem(408, "the body did not arrive in time: try again") from None
        except ClientDisconnect:
            raise gone() from None
        if seen > self.max_bytes:
            # told at the end, because a client that still sends hears nothing
            raise Problem(
                413, f"the body is larger than {self.max_bytes:,} bytes: send less"
            )

    def _hold(self, size):
        if self._held + size > limits.SERVICE_WAITING_BYTES:
            raise Problem(503, "too many requests wait already: try again in a second")
        self._held += size


def parsed(body: bytes):
    """A body as JSON.

    Raises:
        Problem: if it is none, or not UTF-8.
    """
    if not body.strip():
        raise bad("the body is empty: send JSON")
    try:
        return json.loads(body.decode())
    except UnicodeDecodeError as error:
        raise bad(f"the body is not UTF-8, from byte {error.start}") from None
    except RecursionError:
        raise bad("the body has too many lists inside of lists") from None
    except ValueError as error:
        raise bad(f"the body is no JSON: {str(error)[:200]}") from None
