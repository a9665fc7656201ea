"""The command that serves models over HTTP."""

import os
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging.cli.messages import is_quiet
from keras_tagging.utils import limits

INSTALL = "pip install 'keras-tagging[serve]'"


def serve(
    models: Annotated[list[str], typer.Argument(metavar="[NAME=]MODEL...")],
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256)] = 1,
    max_tokens: Annotated[int, typer.Option(min=1, max=limits.SENTENCE_TOKENS)] = 2000,
    max_batch: Annotated[int, typer.Option(min=1, max=100000)] = 64,
    max_wait_ms: Annotated[float, typer.Option(min=0, max=1000)] = 0,
    allowed_host: Annotated[list[str], typer.Option(metavar="NAME")] = (),
    cors_origin: Annotated[list[str], typer.Option(metavar="ORIGIN")] = (),
    access_log: Annotated[Path | None, typer.Option(metavar="FILE")] = None,
) -> None:
    """Serve taggers, parsers and pipelines over HTTP, with a page to try them.

    It speaks JSON of its own and the Open Inference Protocol (KServe V2), and has a
    page at its address. It needs neither TensorFlow nor Keras for ONNX files.
    Ctrl+C or SIGTERM ends it, once the requests in flight are answered. Anyone who
    reaches its address can use it, but web pages of others cannot: there are no
    passwords.

    Examples:
        keras-tagging serve tagger.onnx
        keras-tagging serve runs/demo
        keras-tagging serve en
        keras-tagging serve en=english.onnx fr=french.onnx --port 9000 --workers 2

    Args:
        models: An .onnx file, a pipeline's folder of them, or the name of an installed
            model; or the --out of train or a .keras file, which are exported first. The
            name is that of the file unless it is given.
        host: Where to listen; 0.0.0.0 lets other machines in.
        port: 0 is a free one.
        workers: Processes that run the models.
        max_tokens: Of a request, and of a batch.
        max_batch: Sentences to run together.
        max_wait_ms: That a request waits for others while a worker is free. Those that
            come while all are busy run together anyway.
        allowed_host: A further name by which the service may be asked, such as that
            which a proxy gives it; "*" is any. Once for each.
        cors_origin: A web page that may use the service, such as
            https://www.example.org; "*" is any. Once for each.
        access_log: Where a line for each request is added: time, client, method, path,
            status, bytes and milliseconds. It is standard error by default, unless
            --quiet is given.
    """
    import asyncio  # a while, which other commands need not take

    # of the workers, which compute with one thread: numpy would start others
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from keras_tagging.service import server
    except ImportError as error:
        raise ValueError(f"serving needs {error.name}: {INSTALL}") from error
    serving = server.serve(
        models,
        host=host,
        port=port,
        workers=workers,
        max_tokens=max_tokens,
        max_batch=max_batch,
        max_wait_ms=max_wait_ms,
        allowed_hosts=allowed_host,
        cors_origins=cors_origin,
        access=access_log or not is_quiet(),
    )
    asyncio.run(serving)
