"""From files to a service that listens."""

import asyncio
import resource
import signal
import socket
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from keras_tagging.service.app import Service
from keras_tagging.service.batches import Batcher
from keras_tagging.service.connections import Connection
from keras_tagging.service.gate import Hosts, begin_log
from keras_tagging.service.metrics import Metrics
from keras_tagging.service.model_files import as_onnx, named
from keras_tagging.service.worker import stamp
from keras_tagging.service.workers import Worker, WorkerDied
from keras_tagging.utils import limits

SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
        arguments: see `model_files.named`.
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
    except ImportError as error:
        raise ValueError(str(error)) from error
    except WorkerDied:
        raise ValueError(
            "the process that loads the models ended: is there enough memory? One "
            "alone is tried by keras-tagging tag FILE.onnx, or annotate FOLDER"
        ) from None


@contextmanager
def listening(host: str, port: int):
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
    with listener:
        yield listener


def address(listener: socket.socket) -> str:
    """The address of a page."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
