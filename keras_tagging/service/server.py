"""From files to a service that listens."""

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from keras_tagging.runtime.folder import PIPELINE, is_onnx
from keras_tagging.service.app import Service
from keras_tagging.service.batches import Batcher
from keras_tagging.service.gate import Hosts, Metrics, begin_log
from keras_tagging.service.worker import stamp
from keras_tagging.service.workers import Worker, WorkerDied
from keras_tagging.utils import limits
from keras_tagging.utils.named_models import find_model

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Connection(H11Protocol):
    """A connection as uvicorn has it, which ends when its client is late.

    uvicorn counts one that says nothing as any other, and waits for its first request
    for ever. Here the client of a connection owes a request until all of it has come.
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


async def serve(
    arguments: list[str],
    *,
    host: str,
    port: int,
    workers: int,
    max_tokens: int,
    max_batch: int,
    max_wait_ms: float,
    allowed_hosts: list[str] = (),
    cors_origins: list[str] = (),
    access: Path | bool = False,
) -> None:
    """Serves models until a signal ends it.

    SIGTERM and SIGINT end it once the requests in flight are answered.

    Args:
        arguments: see `named`.
        host, port: where it listens; port 0 is a free one.
        workers: processes that run the models.
        max_tokens: of a request, and of a batch.
        max_batch: sentences of a batch.
        max_wait_ms: that a request waits for others while a worker is free.
        allowed_hosts: names by which it may be asked, beside those of `gate.Hosts`.
        cors_origins: of pages that may ask it, beside its own.
        access: file to which a line for each request is added; True is standard error.

    Raises:
        ValueError: for models that cannot be served, an address that is taken, or a
            file that cannot be written.
        OSError: if it may not listen there.
    """
    paths = named(arguments)
    if access:
        begin_log(None if access is True else access)
    # until it listens, it ends as SIGINT ends it, and nothing temporary stays
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        listening(host, port) as listener,
        tempfile.TemporaryDirectory(prefix="keras-tagging-") as folder,
    ):
        made = {n: str(as_onnx(n, path, Path(folder))) for n, path in paths.items()}
        files = {n: (path, stamp(path)) for n, path in made.items()}
        metrics = Metrics()
        usual = [Worker(files, metrics.replaced.inc) for _ in range(workers)]
        # others need not wait for it, neither in a queue nor for a core
        patient = Worker(files, metrics.replaced.inc, niceness=10)
        try:
            await _start(usual)
            batcher = Batcher(
                usual,
                patient,
                max_batch=max_batch,
                max_tokens=max_tokens,
                max_wait=max_wait_ms / 1000,
                ran=lambda model, n: metrics.batches.labels(model).observe(n),
            )
            service = Service(usual[0].models, usual, batcher, metrics, max_tokens)
            pages = frozenset(map(str.lower, cors_origins))
            app = service.app(Hosts(host, allowed_hosts), pages)
            await _listen(app, listener, f"Serving {', '.join(made)}")
        finally:
            for worker in (*usual, patient):
                await worker.stop()


async def _listen(app, listener, what):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # of systems that allow fewer than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    config = uvicorn.Config(
        app,
        log_level="error",  # strangers who send no HTTP are not to fill the log
        access_log=False,
        # of h11, which unlike httptools limits the size of headers
        http=Connection,
        ws="none",
        server_header=False,
        proxy_headers=False,
        # also how many asyncio lets in before it goes on
        backlog=limits.SERVICE_CONNECTIONS,
        timeout_graceful_shutdown=limits.SERVICE_STOP_SECONDS,
    )
    server = uvicorn.Server(config)
    for number in SIGNALS:
        # uvicorn has both while it serves, and at the end sends them once more
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    print(f"{what} at {address(listener)}", flush=True)
    await server.serve([listener])


async def _start(workers):
    try:
        await asyncio.gather(*(worker.start() for worker in workers))
    except WorkerDied:
        raise ValueError(
            "the process that loads the models ended: is there enough memory?"
        ) from None


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ValueError: if the address is taken, or there is none of that name.
    """
    try:
        [(family, *_, where), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listener = socket.create_server(where[:2], family=family, backlog=1024)
        # asyncio does so only for sockets that name their protocol; without it, an
        # answer in two parts waits 40 ms for the client to confirm the first
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(
            f"{host}, port {port}: {reason}; give another --host or --port"
        ) from error
    return listener


def named(arguments: list[str]) -> dict[str, Path]:
    """Paths by the name of the model.

    Args:
        arguments: each a path or the name of an installed model, or NAME=PATH. The
            name of a path alone is its stem.

    Raises:
        ValueError: for a name that is given twice or taken, or what does not exist.
    """
    paths = {}
    for argument in arguments:
        name, separator, path = argument.partition("=")
        if not separator or os.path.exists(argument):
            path = Path(argument)
            name = path.stem if path.suffix in (".onnx", ".keras") else path.name
            name = name or path.resolve().name
        path = Path(path)
        if name == "stats":  # Triton's address of the statistics of all models
            raise ValueError(f"{path} is not to be called stats: give NAME=PATH")
        if name in paths:
            raise ValueError(
                f"{paths[name]} and {path} would both be called {name}: give one of "
                "them another name, NAME=PATH"
            )
        if not (path := find_model(path, to_run=True)).exists():
            raise ValueError(f"{path}: no such file or folder")
        paths[name] = path
    return paths


def as_onnx(name: str, path: Path, folder: Path) -> Path:
    """The ONNX file of a model, or folder of a pipeline, exported if it is none.

    Only that needs TensorFlow, in a process of its own.

    Raises:
        ValueError: if it cannot be exported; with the remedy.
    """
    if is_onnx(path):
        return path
    whole = (path / PIPELINE).is_file()
    made = folder / (name if whole else f"{name}.onnx")
    command = [sys.executable, "-m", "keras_tagging", "export", str(path), str(made)]
    command += ["--onnx"] * whole
    print(f"exporting {path} as ONNX, which takes a minute", flush=True)
    if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:  # it says why
        raise ValueError(f"{path} could not be exported as ONNX, which is served")
    return made


def address(listener: socket.socket) -> str:
    """The address of a page."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
