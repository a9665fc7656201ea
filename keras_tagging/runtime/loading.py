"""From an ONNX file to the model that runs it."""

import json
import os
from functools import partial
from pathlib import Path

from keras_tagging import kinds
from keras_tagging.runtime.extensions import check_strings
from keras_tagging.runtime.folder import content_of, read_pipeline
from keras_tagging.runtime.wire import check
from keras_tagging.utils import limits
from keras_tagging.utils.named_models import find_model

KEY = "keras_tagging"  # of what a file says of itself
FORMAT = 1


def load(path, *, threads: int | None = None):
    """A model of any kind, or a pipeline, that `export` has written as ONNX.

    A file from a stranger is checked first: it may have no operations other than those
    of an export, and nothing outside of itself. It opens no other file. If it gives
    what cannot be, or cannot be run, the call of the model raises an `OSError`.

    Args:
        path: of the file, or of the folder of a pipeline; or the name of an installed
            model that has ONNX files.
        threads: batches that are run at the same time; None for as many as there are
            cores. One batch is run by one thread.

    Raises:
        ValueError: for less than one thread, or if the file does not exist, is damaged
            or is no such export.
        ImportError: if ONNX Runtime or its extensions are not installed.
        OSError: if it may not be read.
    """
    path = find_model(path, to_run=True)
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ValueError(f"threads={threads!r}: at least one is needed")
    if path.is_dir():
        return _pipeline(path, threads)
    if not path.is_file():
        raise ValueError(
            f"{path}: no such file; keras-tagging export RUN {path} writes one"
        )
    if (size := path.stat().st_size) > limits.ONNX_BYTES:
        raise ValueError(f"{path} has {size:,} bytes, more than any ONNX file")
    return read(path, path.read_bytes(), threads=threads)


def read(path: Path, content: bytes, *, threads: int | None = None):
    """The model in the bytes of an ONNX file: see `load`; errors name the path."""
    check_strings()  # which tells if ONNX Runtime is missing
    from keras_tagging.runtime.session import Session

    try:
        check(content)
        session = Session(path, content)
        described = _described(session)
        runs = kinds.find(described["kind"]).at("runtime")
        return runs(session, described, threads or os.cpu_count() or 1)
    except ValueError as error:
        remedy = "" if "install" in str(error) else "; export the model again"
        raise ValueError(f"{path} {error}{remedy}") from error


def _pipeline(folder, threads):
    content = content_of(folder)
    if content["files"] != "onnx":
        raise ValueError(
            f"{folder} holds a pipeline for Keras: keras-tagging export {folder} NAME "
            "--onnx makes the folder that is read here"
        )
    return read_pipeline(folder, content, partial(read, threads=threads))


def _described(session) -> dict:
    """The description that the file holds, if all of it is there."""
    text = session.get_modelmeta().custom_metadata_map.get(KEY)
    if text is None:
        raise ValueError("was not written by keras_tagging")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("does not say in JSON what it is") from None
    found = found if isinstance(found, dict) else {}
    kind = kinds.known().get(str(found.get("kind")))
    if kind is None or kind.runtime is None:
        text, named = f"holds no {kinds.named()}", found.get("kind")
        if kind is None and isinstance(named, str):
            text += f" but a {named[:60]!r}: install the package of that kind"
        raise ValueError(text)
    if found.get("format") != FORMAT:
        raise ValueError(
            f"is of format {str(found.get('format'))[:20]}, which this version of "
            f"keras_tagging cannot read: it reads format {FORMAT}"
        )
    runs = kind.at("runtime")
    for key, values in runs.lists(found).items():
        if not (isinstance(values, list) and all(isinstance(v, str) for v in values)):
            raise ValueError(f"does not list its {key}")
    if _tensors(session.get_inputs()) != runs.inputs(found):
        raise ValueError("has other inputs than it says")
    there, wanted = _tensors(session.get_outputs()), runs.outputs(found)
    needed = {name for name, output in wanted.items() if not output.optional}
    if not needed <= there.keys() <= wanted.keys():
        raise ValueError(f"has other outputs than a {kind}")
    for name, tensor in there.items():
        expected = (f"tensor({wanted[name].type})", wanted[name].rank)
        if tensor != expected:
            is_, should = ("{} of {} axes".format(*some) for some in (tensor, expected))
            raise ValueError(
                f"has {name} of another type than a {kind}: {is_}, not {should}"
            )
    return found


def _tensors(values) -> dict[str, tuple[str, int]]:
    """The type and the number of axes of each input or output."""
    return {value.name: (value.type, len(value.shape)) for value in values}
