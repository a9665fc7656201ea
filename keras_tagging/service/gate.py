"""Which requests are let in: what browsers must not be made to send is kept out.

A page of anybody can have a browser send requests to this machine. It can neither hide
its own address, the Origin, nor the name by which it found the service, the Host: so a
name of the page's own, which it has made to mean this machine (DNS rebinding), and the
Origin of a page from elsewhere are refused.
"""

import asyncio
import logging
import re
import socket
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import ip_address

from starlette.requests import ClientDisconnect, Request

from keras_tagging.service.connections import Connections
from keras_tagging.service.problems import Problem, shown, stopping
from keras_tagging.utils import limits

log = logging.getLogger(__name__)
HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^][:/@]+?))\.?(?::\d*)?")
PLAIN = re.compile(r"[^][/@\s]+")
ORIGIN = re.compile(r"\*|[a-z][a-z0-9+.-]*://[^/@?#\s]+")
#: what tells orchestrators that the service is there, whatever they call it
HEALTH = ("/health", "/v2/health/live", "/v2/health/ready")
#: of every answer: a browser is to take it for what it says it is
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]
#: what `curl -d` says of JSON if it is not told otherwise
FORM = "application/x-www-form-urlencoded"


class Hosts:
    """The names by which the service may be asked.

    On the loopback these are its names; else any address, which nobody can have mean
    another machine, and the name of this machine.

    Args:
        host: where it listens.
        more: other names, which may have `*` in them.

    Raises:
        ValueError: for what is no name.
    """

    def __init__(self, host: str, more: list[str] = ()):
        names = [name.lower().strip("[]") for name in more]
        for name in names:
            if ":" in name and not _address(name) or not PLAIN.fullmatch(name):
                raise ValueError(
                    f"--allowed-host {name}: give a name or address alone, such as "
                    "tagger.example.org"
                )
        self._names = {"localhost", *names}
        self._patterns = [name for name in self._names if "*" in name]
        self.anywhere = not _is_local(host)
        if self.anywhere:
            self._names |= {host.lower(), socket.gethostname().lower()}
        #: see `_allow`, of the names of the last requests
        self.allow = lru_cache(64)(self._allow)

    def _allow(self, host: str | None) -> bool:
        """Whether a request may be for a host, with or without a port.

        One without any, of HTTP/1.0, comes from no browser.
        """
        if host is None:
            return True
        if not (found := HOST.fullmatch(host.lower())):
            return False
        name = found[1] or found[2]
        if name in self._names or _is_local(name):
            return True
        if self.anywhere and _address(name):
            return True
        return any(fnmatchcase(name, pattern) for pattern in self._patterns)

    def __str__(self):
        named = ", ".join(sorted(self._names - {"localhost"}))
        return f"any address, localhost, {named}" if self.anywhere else "localhost"


def _address(name):
    try:
        return ip_address(name)
    except ValueError:
        return None


def _is_local(name):
    address = _address(name)
    return name.lower() == "localhost" or bool(address and address.is_loopback)


def origins(given: list[str]) -> frozenset[str]:
    """Origins of pages that may send requests.

    Raises:
        ValueError: for what is none.
    """
    for origin in given:
        if not ORIGIN.fullmatch(origin.lower()):
            raise ValueError(
                f"--cors-origin {origin}: give the scheme, name and port of a page, "
                "such as https://www.example.org, or *"
            )
    return frozenset(origin.lower() for origin in given)


class Gate:
    """Refuses requests before anything of them is read; all answers have `HEADERS`.

    Args:
        app: of ASGI.
        connections: of the service.
        hosts: by which it may be asked.
        origins: of pages that may ask it, beside its own.
        refused: function of a request and a `Problem`: the answer.
    """

    def __init__(self, app, connections: Connections, hosts, origins, refused):
        self._app, self._connections, self._refused = app, connections, refused
        self._hosts, self._origins = hosts, origins
        self._told = False

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, answer, ends = Request(scope, receive), self._app, False

        async def sent(message):
            if message["type"] == "http.response.start":
                headers = [*message["headers"], *HEADERS]
                if ends or self._connections.stopping:
                    headers = [h for h in headers if h[0] != b"connection"]
                    headers.append((b"connection", b"close"))
                message["headers"] = headers
            await send(message)

        try:
            if scope["path"] not in HEALTH:
                self._check(request)
        except Problem as problem:
            answer = self._refused(request, problem)
            if ends := problem.status == 503:
                await _drained(request)
        await answer(scope, receive, sent)

    def _check(self, request):
        if self._connections.stopping:
            raise stopping()
        if getattr(request.state, "full", False):
            raise Problem(503, "too many connections: try again in a second")
        host = request.headers.get("host")
        if not self._hosts.allow(host):
            remedy = "start it with --allowed-host and that name"
            if not self._told:  # those who send many are not to fill the log
                log.warning("refused a request for %s: %s", shown(host), remedy)
                self._told = True
            raise Problem(403, f"the service is not called {shown(host)}: {remedy}")
        origin = request.headers.get("origin")
        if origin is not None and not self._own(request, host, origin.lower()):
            raise Problem(
                403,
                f"pages of {shown(origin)} may not use the service: start it with "
                "--cors-origin and that origin",
            )
        kind = request.headers.get("content-type", FORM).partition(";")[0].lower()
        if request.method == "POST" and not _may_be_json(kind.strip()):
            raise Problem(415, f"{shown(kind)} is not read: send application/json")

    def _own(self, request, host, origin):
        """Whether a page is the service's own, or may ask all the same."""
        if origin in self._origins or "*" in self._origins:
            return True
        # set by browsers only: true also behind a proxy that changes the host
        if request.headers.get("sec-fetch-site") == "same-origin":
            return True
        return host is not None and origin.partition("://")[2] == host.lower()


def _may_be_json(kind):
    return kind in (FORM, "application/octet-stream") or kind.endswith("json")


async def _drained(request):
    """Reads the body: who closes a connection with some unread resets it."""
    size = 0
    try:
        async with asyncio.timeout(limits.SERVICE_REFUSING_SECONDS):
            async for part in request.stream():
                size += len(part)
                if size > limits.SERVICE_BYTES:
                    return
    except (TimeoutError, ClientDisconnect):
        pass
