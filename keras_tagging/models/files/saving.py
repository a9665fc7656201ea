"""The files that `save` writes: a `.keras` file, and its metadata beside it."""

import io
import json
import platform
import zipfile
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
        raise ValueError(
            "call fit or adapt first: it makes the pretrained vectors part of the "
            "weights, which are saved"
        )
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


def versions() -> dict[str, str]:
    """The versions of the installed packages that results depend on."""
    return {name: version for name in PACKAGES if (version := _version(name))}


@cache  # a run saves after every epoch
def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# Half the size, for distribution


def halve(source: Path, target: Path) -> None:
    """Copy a `.keras` file with weights of 16 bits, and without the optimizer's state.

    A model that is loaded from it computes with 32 bits, as before.

    Args:
        source: the file, as `save` has written it.
        target: the file to write.

    Raises:
        ValueError: if a weight is too large for half precision.
    """
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == WEIGHTS:
                content = halved(content)
            # without the time, equal models are equal files
            new.writestr(zipfile.ZipInfo(member.filename), content)


def halved(content: bytes) -> bytes:
    """An HDF5 file of weights with those of 32 bits in 16 bits."""
    made = io.BytesIO()
    with h5py.File(io.BytesIO(content)) as old, h5py.File(made, "w") as new:
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
    return made.getvalue()


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
