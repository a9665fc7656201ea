"""The files that `save` writes: a `.keras` file, and its metadata beside it."""

import io
import json
import platform
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import h5py
import keras
import numpy as np

from keras_tagging.models.files.checks import WEIGHTS
from keras_tagging.utils.atomic import replacing_together

PACKAGES = ("keras-tagging", "keras", "tensorflow", "jax", "torch", "numpy", "gensim")
OPTIMIZER = "optimizer"  # its state is for training


def save(model, keras_save, path: Path, overwrite: bool, **options) -> None:
    """Write a `.keras` file, and its metadata beside it: see `SentenceModel.save`.

    Args:
        model: a `SentenceModel`.
        keras_save: the method `keras.Model.save` of the model.
        path: of the file.
        overwrite: whether it may replace one.
        **options: of `keras_save`.
    """
    if path.suffix != ".keras":
        raise ValueError(f"{path}: the name of a model's file must end in .keras")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists; give overwrite=True to replace it")
    if model.given_vectors:
        raise ValueError("call fit or adapt first: it makes weights of the vectors")
    with replacing_together(path, metadata_path(path)) as [partial, metadata]:
        keras_save(partial, **options)
        write_metadata(model, metadata)


def metadata_path(model_path: Path) -> Path:
    """`metadata.json` beside `model.keras`, else `NAME.metadata.json`."""
    if model_path.stem == "model":
        return model_path.with_name("metadata.json")
    return model_path.with_suffix(".metadata.json")


def write_metadata(model, path: Path, **more) -> None:
    """Write versions, settings, training corpus and scores as JSON, and `more`."""
    config = model.get_config()
    content = {
        "architecture": model.architecture,
        "settings": config["settings"],
        "seed": model.seed,
        **model.metadata,
        "parameters": model.count_params() if model.built else None,
        "backend": keras.backend.backend(),
        "python": platform.python_version(),
        "versions": versions(),
        **more,
    }
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@cache  # a run saves after every epoch
def versions() -> dict[str, str]:
    """The versions of the installed packages that results depend on."""
    installed = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed


# Files with less in them, for distribution


def members_of(content: bytes) -> dict[str, bytes]:
    """The contents of a `.keras` file by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(members: Mapping[str, bytes]) -> bytes:
    """The bytes of a `.keras` file: without the time, equal models are equal files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def halve(path: Path) -> None:
    """Give a `.keras` file weights of 16 bits, and no state of an optimizer.

    A model that is loaded from it computes with 32 bits, as before.

    Raises:
        ValueError: if a weight is too large for half precision.
    """
    members, stream = members_of(path.read_bytes()), io.BytesIO()
    with h5py.File(io.BytesIO(members[WEIGHTS])) as old, h5py.File(stream, "w") as new:
        new.attrs.update(old.attrs)

        def copy(name, item):
            if name.split("/")[0] == OPTIMIZER:
                return
            if isinstance(item, h5py.Group):
                copied = new.require_group(name)
            else:
                copied = new.create_dataset(name, data=half(name, item[()]))
            copied.attrs.update(item.attrs)

        old.visititems(copy)
    members[WEIGHTS] = stream.getvalue()
    path.write_bytes(archived(members))


def half(name: str, values):
    """An array in half precision, if it has single precision.

    Raises:
        ValueError: if a finite value would become infinite.
    """
    if values.dtype != np.float32:
        return values
    if np.abs(values).max(initial=0) > np.finfo(np.float16).max:
        raise ValueError(f"{name} has values that are too large for half precision")
    return values.astype(np.float16)
