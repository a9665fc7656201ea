"""A line for each request: who asked for what, and how it was answered.

None has words of users: neither bodies, nor what stands behind the `?` of an address.
"""

import logging
import sys
import time
from logging.handlers import WatchedFileHandler
from pathlib import Path

from keras_tagging.service.problems import GONE

log = logging.getLogger("keras_tagging.access")


class _File(WatchedFileHandler):
    """Says once that lines are lost, such as those for a full disk."""

    _told = False

    def handleError(self, record):
        if not self._told:
            error = sys.exception()
            print(f"--access-log: lines are lost: {error}", file=sys.stderr, flush=True)
        self._told = True


def begin(path: Path | None) -> None:
    """Has lines written to the end of a file, or to standard error.

    A file that is moved away is begun anew, so programs that keep logs small can do so.

    Raises:
        ValueError: if the file cannot be opened.
    """
    try:
        handler = _File(path, encoding="utf-8") if path else None
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"--access-log {path}: {reason}; give a new file") from error
    handler = handler or logging.StreamHandler()
    form = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    form.converter = time.gmtime
    handler.setFormatter(form)
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)


class AccessLog:
    """Writes the line of each request, once it is answered.

    Args:
        app: of ASGI.
    """

    def __init__(self, app):
        self._app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, size = time.perf_counter(), GONE, 0

        async def sent(message):
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            client = scope["client"][0] if scope["client"] else "-"
            # as it was sent: ASCII without blanks or controls, which the parser refuses
            path = scope["raw_path"][:200].decode("ascii", "replace")
            took = 1000 * (time.perf_counter() - start)
            method = scope["method"][:20]
            log.info(f"{client} {method} {path} {status} {size} {took:.1f}")
