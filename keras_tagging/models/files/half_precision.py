"""Saved models with weights of half precision: half the size, for distribution."""

import io
import zipfile
from pathlib import Path

import h5py
import numpy as np

from keras_tagging.models.files.model_file import WEIGHTS

OPTIMIZER = "optimizer"  # its state is for training


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
    found = io.BytesIO()
    with h5py.File(io.BytesIO(content)) as old, h5py.File(found, "w") as new:
        new.attrs.update(old.attrs)

        def copy(name, item):
            if name.split("/")[0] == OPTIMIZER:
                return
            if isinstance(item, h5py.Group):
                made = new.require_group(name)
            else:
                made = new.create_dataset(name, data=half(name, item[()]))
            made.attrs.update(item.attrs)

        old.visititems(copy)
    return found.getvalue()


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
