"""Checks of a `.keras` file before Keras reads it: undamaged, small enough and ours."""

import json
import zipfile
from typing import BinaryIO

import h5py
import keras

from keras_tagging import kinds
from keras_tagging.models.files.saved_config import (
    check_compile_config,
    checked_config,
    least_weights,
)
from keras_tagging.utils import limits
from keras_tagging.utils.registration import find_class

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
MEMBERS = {"metadata.json", CONFIG, WEIGHTS}


def check_model_file(stream: BinaryIO) -> None:
    """Refuse a file that cannot come from `save` of a model.

    Every byte is read, and compared with the checksums of the archive, which Keras does
    not always do.

    Raises:
        ValueError: if the file is damaged, too large or not a model.
        Exception: any other kind, from the readers of zip, JSON and HDF5.
    """
    with zipfile.ZipFile(stream) as archive:
        check_members(archive.infolist())
        if damaged := archive.testzip():
            raise ValueError(f"{damaged} is damaged: its checksum is wrong")
        content = json.loads(archive.read(CONFIG))
        config = check_content(content)
        check_weights(archive, config)


def check_members(members: list[zipfile.ZipInfo], known=frozenset(MEMBERS)) -> None:
    """Refuse any members but those of a model, and members that expand too much."""
    names = [member.filename for member in members]
    if len(names) != len(known) or set(names) != known:
        listed = ", ".join(names[:5])[:100]
        raise ValueError(f"holds {listed} instead of {', '.join(sorted(known))}")
    for member in members:
        size, most = member.file_size, limits.MODEL_EXPANSION * member.compress_size
        if size > limits.MODEL_SMALL_BYTES and size > most:
            raise ValueError(f"{member.filename} expands to {size:,} bytes")
        if member.filename != WEIGHTS and size > limits.MODEL_CONFIG_BYTES:
            raise ValueError(
                f"{member.filename} has {size:,} bytes, but at most "
                f"{limits.MODEL_CONFIG_BYTES:,} are allowed"
            )


def check_content(content) -> dict:
    """The configuration of the model that config.json describes."""
    content = content if isinstance(content, dict) else {}
    name = content.get("registered_name")
    for _, own in kinds.each("model"):  # whose import registers it with Keras
        cls = find_class(keras, name) if isinstance(name, str) else None
        if isinstance(cls, type) and issubclass(cls, own):
            break
    else:
        held = str(content.get("class_name"))[:50]
        text = f"holds a {held}, not a {kinds.named()}"
        package, found, _ = str(name).partition(">")
        if found and package not in ("keras", "keras_tagging"):
            text += f": install the package that registers {name[:80]!r}"
        raise ValueError(text)
    check_compile_config(content.get("compile_config"))
    return checked_config(cls, content.get("config"))


def check_weights(archive: zipfile.ZipFile, config: dict) -> None:
    """Refuse weights that claim more bytes than the file has, or that are too few."""
    size = archive.getinfo(WEIGHTS).file_size
    claimed = []
    with archive.open(WEIGHTS) as stream, h5py.File(stream, "r") as file:
        file.visititems(lambda _, item: claimed.append(getattr(item, "nbytes", 0)))
    if sum(claimed) > size:
        raise ValueError(f"{WEIGHTS} claims {sum(claimed):,} bytes and has {size:,}")
    # two bytes a weight, because a model may have half precision
    if 2 * (count := least_weights(config)) > size:
        raise ValueError(
            f"the settings ask for {count:,} weights or more, which {WEIGHTS} with its "
            f"{size:,} bytes cannot hold"
        )
