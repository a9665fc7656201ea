"""Commands that write models for others to run, and that serve them: export, serve."""

import os
from pathlib import Path
from typing import Annotated

import typer

from keras_tagging import kinds
from keras_tagging.cli.loading import load_model, set_beam
from keras_tagging.cli.options import BeamWidth, Run, refuse
from keras_tagging.cli.output import is_quiet, remark, show
from keras_tagging.utils import limits
from keras_tagging.utils.startup import install_line


def export(
    run: Run,
    out: Annotated[Path, typer.Argument()],
    top_k: int | None = None,
    int8: bool = False,
    onnx: bool = False,
    beam_width: BeamWidth = None,
) -> None:
    """Write a SavedModel, or ONNX: strings in, tags and probabilities, or trees, out.

    A name that ends in .onnx is a file for ONNX Runtime, any other one a folder for
    TensorFlow. A pipeline is written into a folder, one SavedModel for each of its
    models, or with --onnx one file, which annotate and serve read. ONNX needs the extra
    onnx.

    Examples:
        keras-tagging export runs/demo served/
        keras-tagging export runs/demo tagger.onnx
        keras-tagging export runs/demo small.onnx --int8
        keras-tagging export en served/ --onnx

    Args:
        out: Folder for the SavedModel, or, with --onnx, for the ONNX files of a
            pipeline; or a file NAME.onnx.
        top_k: For taggers, the number of tags to give for each token; 5 by default.
        int8: For ONNX, integers of 8 bits in LSTM layers: smaller, faster, and a few
            other tags.
        onnx: Of a pipeline, ONNX files, not SavedModels.
    """
    is_file = out.suffix == ".onnx"
    if int8 and not is_file and not onnx:
        raise ValueError(f"--int8 is of ONNX files: name {out}.onnx, or give --onnx")
    options = {} if top_k is None else {"top_k": top_k}
    options |= {"int8": True} if int8 else {}
    options["format"] = "onnx" if onnx or is_file else "tf_saved_model"
    model = load_model(run, pipeline=True)
    kind = kinds.of(model)
    if kind.composed:
        refuse(f"{run} holds a pipeline, which has no", {"beam_width": beam_width})
        if is_file:
            raise ValueError(f"{out}: a pipeline has several files: name a folder")
        left_out = model.export(out, **options)
        for name, reason in left_out.items():
            remark(f"the {name} is left out: {reason}")
        written = ", ".join(name for name in model.parts if name not in left_out)
        show(f"Written to {out}: {written}")
        return
    set_beam(run, model, beam_width)
    if "top_k" not in kind.options:
        refuse(f"{run} holds a {kind}, which has no", {"top_k": top_k})
    model.export(out, **options)
    if is_file:
        show(f"Written to {out}: for keras-tagging {kind.command} and ONNX Runtime")
    else:
        show(f"Written to {out}: serve it with TensorFlow")


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
        remedy = install_line("serve")
        raise ValueError(f"serving needs {error.name}: {remedy}") from error
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
