"""Which requests are let in, and what is written down and counted of each.

A page of anybody can have a browser send requests to this machine. It can neither hide
its own address, the Origin, nor the name by which it found the service, the Host: so a
name of the page's own, which it has made to mean this machine (DNS rebinding), and the
Origin of a page from elsewhere are refused.
"""

import logging
import socket
import time
from fnmatch import fnmatchcase
from functools import partial
from ipaddress import ip_address
from logging.handlers import WatchedFileHandler
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import Request

from keras_tagging.service.problems import GONE, Problem, refusal, shown

log = logging.getLogger(__name__)
access_log = logging.getLogger("keras_tagging.access")
#: what tells orchestrators that the service is there, whatever they call it
HEALTH = ("/health", "/v2/health/live", "/v2/health/ready")
#: the page runs its own scripts, asks its own service, and loads nothing else
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
#: of every answer
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", POLICY.encode()),
    (b"cache-control", b"no-cache"),  # another version may be served next
]


class Hosts:
    """The names by which the service may be asked.

    On the loopback these are its names; else any address, which nobody can have mean
    another machine, and the name of this machine.

    Args:
        host: where it listens.
        more: other names, which may have `*` in them.
    """

    def __init__(self, host: str, more: list[str] = ()):
        self._names = {"localhost", *(name.lower().strip("[]") for name in more)}
        address = _address(host)
        local = address.is_loopback if address else host.lower() == "localhost"
        self._anywhere = not local
        if self._anywhere:
            self._names |= {host.lower(), socket.gethostname().lower()}

    def allow(self, host: str | None) -> bool:
        """Whether a request may be for a host, with or without a port.

        One without any, of HTTP/1.0, comes from no browser.
        """
        if host is None:
            return True
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if any(fnmatchcase(name, pattern) for pattern in self._names):
            return True
        address = _address(name)
        return address is not None and (self._anywhere or address.is_loopback)


def _address(name):
    try:
        return ip_address(name)
    except ValueError:
        return None


def begin_log(path: Path | None) -> None:
    """Has a line for each request written to the end of a file, or standard error.

    None has words of users: neither bodies, nor what stands behind the `?` of an
    address. A file that is moved away is begun anew.

    Raises:
        OSError: if the file cannot be opened.
    """
    handler = logging.StreamHandler()
    if path is not None:
        handler = WatchedFileHandler(path, encoding="utf-8")
    form = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(message)s", "%Y-%m-%dT%H:%M:%S"
    )
    form.converter = time.gmtime
    handler.setFormatter(form)
    access_log.handlers, access_log.propagate = [handler], False
    access_log.setLevel(logging.INFO)


SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters, histograms and gauges of one service."""

    def __init__(self):
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        of = {"namespace": "keras_tagging", "registry": registry}
        counter, gauge = partial(Counter, **of), partial(Gauge, **of)
        histogram = partial(Histogram, labelnames=["model"], **of)
        about = "Requests for a model, by route and status."
        self._requests = counter("requests", about, ["model", "route", "status"])
        about = "From the request to its answer."
        self._seconds = histogram("request_seconds", about, buckets=SECONDS)
        self.tokens = counter("tokens", "Tokens answered.", ["model"])
        about = "Sentences of a batch."
        self.batches = histogram("batch_sentences", about, buckets=SENTENCES)
        about = "Workers that have ended and were replaced."
        self.replaced = counter("workers_replaced", about)
        self.waiting = gauge("waiting_requests", "Requests that no worker has yet.")
        self.ready = gauge("ready_workers", "Workers that can answer.")

    def count(self, labels: dict[str, str], status: int, seconds: float) -> None:
        """Count a request for a model.

        Args:
            labels: the route, and the model or "" if there is none of its name.
            status: of its answer.
            seconds: that it took.
        """
        self._requests.labels(**labels, status=str(status)).inc()
        if labels["model"]:
            self._seconds.labels(labels["model"]).observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class Gate:
    """Refuses requests before anything of them is read; logs and counts all.

    Args:
        app: of ASGI. It names the route and the model that it asked, if it did, in the
            `labels` of the request's state.
        hosts: by which it may be asked.
        origins: of pages that may ask it, beside its own.
        metrics: that are counted.
    """

    def __init__(self, app, hosts: Hosts, origins: frozenset[str], metrics: Metrics):
        self._app, self._metrics = app, metrics
        self._hosts, self._origins = hosts, origins

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, size = time.perf_counter(), GONE, 0
        request, app = Request(scope), self._app

        async def sent(message):
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                took = f"total;dur={1000 * (time.perf_counter() - start):.2f}"
                timing = (b"server-timing", took.encode())
                message["headers"] = [*message["headers"], *HEADERS, timing]
            else:
                size += len(message.get("body", b""))
            await send(message)

        try:
            self._check(request)
        except Problem as problem:
            app = refusal(request, problem)
        try:
            await app(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - start
            if labels := getattr(request.state, "labels", None):
                self._metrics.count(labels, status, seconds)
            if access_log.handlers:
                client = scope["client"][0] if scope["client"] else "-"
                # as it was sent: ASCII without blanks or controls
                path = scope["raw_path"][:200].decode("ascii", "replace")
                asked = f"{client} {scope['method'][:20]} {path}"
                access_log.info(f"{asked} {status} {size} {1000 * seconds:.1f}")

    def _check(self, request):
        if {"content-length", "transfer-encoding"} <= {*request.headers.keys()}:
            # a proxy may take the end of its body for another request
            message = "Content-Length beside Transfer-Encoding: send one of them"
            raise Problem(400, message, {"Connection": "close"})
        if request.scope["path"] in HEALTH:
            return
        host, origin = request.headers.get("host"), request.headers.get("origin")
        if not self._hosts.allow(host):
            message = (
                f"the service is not called {shown(host)}: start it with "
                "--allowed-host and that name"
            )
            log.warning(message)
            raise Problem(403, message)
        if origin is not None and not self._may_ask(request, host, origin.lower()):
            raise Problem(
                403,
                f"pages of {shown(origin)} may not use the service: start it with "
                "--cors-origin and that origin",
            )

    def _may_ask(self, request, host, origin):
        """Whether a page is the service's own, or may ask all the same."""
        return (
            origin in self._origins
            or "*" in self._origins
            # set by browsers only: true also behind a proxy that changes the host
            or request.headers.get("sec-fetch-site") == "same-origin"
            or host is not None
            and origin.partition("://")[2] == host.lower()
        )
