"""The files that `save` writes: a `.keras` file, and its metadata beside it."""

import io
import json
import platform
import zipfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import h5py
import keras
import numpy as np

from keras_tagging.models.files.checks import CONFIG, WEIGHTS
from keras_tagging.runtime.shared_words import VECTOR, WordTables
from keras_tagging.utils.atomic import replacing_together

PACKAGES = ("keras-tagging", "keras", "tensorflow", "jax", "torch", "numpy", "gensim")
OPTIMIZER = "optimizer"  # its state is for training
#: the member that says which words of a pipeline a model reads
SHARED = "shared.json"


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
    members = members_of(path.read_bytes())
    members[WEIGHTS] = _copied(
        members[WEIGHTS], lambda name, item: half(name, item[()]), without=OPTIMIZER
    )
    path.write_bytes(archived(members))


def _copied(content: bytes, change: Callable, without: str | None = None) -> bytes:
    """An HDF5 file of weights with other values.

    Args:
        content: of the file.
        change: function of the name of a dataset and the dataset: its values, or None
            to leave it out.
        without: the name of a group to leave out.
    """
    stream = io.BytesIO()
    with h5py.File(io.BytesIO(content)) as old, h5py.File(stream, "w") as new:
        new.attrs.update(old.attrs)

        def copy(name, item):
            if name.split("/")[0] == without:
                return
            if isinstance(item, h5py.Group):
                copied = new.require_group(name)
            elif (values := change(name, item)) is not None:
                copied = new.create_dataset(name, data=values)
            else:
                return
            copied.attrs.update(item.attrs)

        old.visititems(copy)
    return stream.getvalue()


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


def thin(
    path: Path, files: dict, features: Iterable[str], tables: WordTables, part: str
) -> None:
    """Take the words that a pipeline holds out of the file of one of its parts.

    It gets a fourth member, `shared.json`, and lacks words and vectors: see
    `models.files.loading.whole`.

    Args:
        path: of the file.
        files: the name of the file that holds them, with its checksum.
        features: those of the part that are shared.
        tables: what that file has.
        part: the name of the model there.
    """
    members = members_of(path.read_bytes())
    config = json.loads(members[CONFIG])
    for feature in features:
        config["config"]["vocabularies"][feature] = None
    members[CONFIG] = json.dumps(config).encode()
    shared: dict = {"files": files} | {feature: {} for feature in features}
    if VECTOR in features:
        rows = tables.rows_of(part)

        def without_rows(name, item):
            named = item.parent.attrs.get("name") == f"{VECTOR}_embedding"
            if not named or shared[VECTOR] or not np.array_equal(item[()], rows):
                return item[()]
            shared[VECTOR] = {"place": name, "dtype": str(item.dtype)}
            return None

        members[WEIGHTS] = _copied(members[WEIGHTS], without_rows)
        if part in tables.changed:
            shared["part"] = part
    members[SHARED] = json.dumps(shared).encode()
    path.write_bytes(archived(members))
