"""From an ONNX file to the model that runs it."""

import json
import os
from functools import partial
from pathlib import Path
from typing import Any, overload

from keras_tagging import kinds
from keras_tagging.runtime.file_check import check
from keras_tagging.runtime.folder import (
    WORD_FORMS,
    content_of,
    listed_bytes,
    read_pipeline,
)
from keras_tagging.runtime.pipeline import TextPipeline
from keras_tagging.runtime.words import Words, read_vocabularies
from keras_tagging.utils import limits
from keras_tagging.utils.named_models import Shipped, find_model

KEY = "keras_tagging"  # of what a file says of itself
FORMAT = 1


@overload
def load(path: Shipped, *, threads: int | None = ...) -> TextPipeline: ...
@overload
def load(path: str | Path, *, threads: int | None = ...) -> Any: ...
def load(path: str | Path, *, threads: int | None = None) -> Any:
    """A model of any kind, or a pipeline, that `export` has written as ONNX.

    A file from a stranger is checked first: it may have no operations other than those
    of an export, and nothing outside of itself. It opens no other file, but that of a
    pipeline's part `words.npz` and `words.onnx` beside it. If it gives what cannot be,
    or cannot be run, the call of the model raises an `OSError`.

    Args:
        path: of the file, or of the folder of a pipeline; or the name of an installed
            model that has ONNX files.
        threads: batches that are run at the same time; None for as many as there are
            cores. One batch is run by one thread.

    Raises:
        ValueError: if the file does not exist, is damaged or is no such export.
        ImportError: if ONNX Runtime or its extensions are not installed.
        OSError: if it may not be read.
    """
    path = find_model(path, to_run=True)
    if path.is_dir():
        content = content_of(path)
        if content["files"] != "onnx":
            raise ValueError(
                f"{path} holds a pipeline for Keras: keras-tagging export {path} NAME "
                "--onnx makes the folder that is read here"
            )
        return read_parts(path, content, threads=threads)
    if not path.is_file():
        raise ValueError(
            f"{path}: no such file; keras-tagging export RUN {path} writes one"
        )
    if (size := path.stat().st_size) > limits.ONNX_BYTES:
        raise ValueError(f"{path} has {size:,} bytes, more than any ONNX file")
    return read(path, path.read_bytes(), threads=threads)


def read(path: Path, content: bytes, *, threads: int | None = None, words=None):
    """The model in the bytes of an ONNX file: see `load`.

    Args:
        path: of the file; errors name it.
        content: the bytes.
        threads: as there.
        words: the `Words` of the pipeline that it is of; by default those beside the
            file.
    """
    model = _checked(path, content, partial(model_of, threads=threads))
    if reads := getattr(model, "words_read", None):
        # a part of another model has the words of that
        is_same = words is not None and words.files == reads["files"]
        model.words = words if is_same else read_words(path.parent, reads["files"])
        model.words.check(reads, model.session)
    return model


def read_again(path: Path, sha256: str, threads: int, words):
    """The model of a pickle: see `read`.

    Raises:
        ValueError: if the file is gone, or another one, too.
    """
    content = listed_bytes(path, {"sha256": sha256})
    return read(path, content, threads=threads, words=words)


def forms_session(path: Path, content: bytes):
    """The session of `words.onnx`, whose inputs and outputs are strings `(tokens,)`."""

    def checked(session):
        inputs, outputs = map(_tensors, (session.get_inputs(), session.get_outputs()))
        strings = {*inputs.values(), *outputs.values()} == {("tensor(string)", 1)}
        if [*inputs] != ["tokens"] or not strings:
            raise ValueError("does not make forms of tokens")
        return session

    return _checked(path, content, checked)


def _checked(path: Path, content: bytes, make):
    """Make a model of the session of a file; errors name the path."""
    from keras_tagging.runtime.session import Session, check_strings

    check_strings()
    try:
        check(content)
        return make(Session(path, content))
    except ValueError as error:
        raise ValueError(f"{path} {error}; export the model again") from error


def read_words(folder: Path, files: dict) -> Words:
    """The words in a folder.

    Args:
        folder: of `words.npz` and `words.onnx`.
        files: their checksums.

    Raises:
        ValueError: if one of the files is missing, damaged or another one.
        OSError: if it cannot be opened.
    """
    vocabularies, path = read_vocabularies(folder, files), folder / WORD_FORMS
    content = listed_bytes(path, files.get(WORD_FORMS))
    return Words(vocabularies, forms_session(path, content), files)


def model_of(session, threads: int | None = None):
    """The model of a session, after a check of what its file says of itself.

    Raises:
        ValueError: if that cannot be, or is not what the file has.
    """
    try:
        described = json.loads(session.get_modelmeta().custom_metadata_map[KEY])
        kind = kinds.registered()[described["kind"]]
    except (ValueError, RecursionError, TypeError, KeyError):
        kind = None
    if kind is None or kind.runtime is None:
        raise ValueError(f"holds no {kinds.named()} of keras_tagging")
    if described.get("format") != FORMAT:
        raise ValueError(f"is not of format {FORMAT}, which this version reads")
    runs = kind.at("runtime")
    for key, values in runs.lists(described).items():
        if not (isinstance(values, list) and all(isinstance(v, str) for v in values)):
            raise ValueError(f"does not list its {key}")
    if _tensors(session.get_inputs()) != runs.inputs(described):
        raise ValueError("has other inputs than it says")
    outputs = runs.outputs(described)
    tensors = {k: (f"tensor({x.type})", x.rank) for k, x in outputs.items()}
    needed = {
        name
        for name, output in outputs.items()
        if not output.optional and (output.served or session.has_all)
    }
    there = _tensors(session.get_outputs())
    if not needed <= there.keys() or not there.items() <= tensors.items():
        raise ValueError(f"has other outputs than a {kind}")
    return runs(session, described, threads or os.cpu_count() or 1)


def read_parts(folder: Path, content: dict, kind=TextPipeline, threads=None):
    """The pipeline of a folder of ONNX files: see `read_pipeline`."""
    files = content.get("words")
    words = read_words(folder, files) if files else None
    load = partial(read, threads=threads, words=words)
    return read_pipeline(folder, content, load, kind)


def _tensors(values) -> dict[str, tuple[str, int]]:
    """The type and the number of axes of each input or output."""
    return {value.name: (value.type, len(value.shape)) for value in values}
