"""Models from their files, which may come from a stranger."""

import io
import json
import re
import warnings
import zipfile
from contextlib import contextmanager
from pathlib import Path

import h5py
import keras
import numpy as np

from keras_tagging.models.files.checks import (
    CONFIG,
    MEMBERS,
    WEIGHTS,
    check_members,
    check_model_file,
    weights_within,
)
from keras_tagging.models.files.run_folder import METADATA, model_file
from keras_tagging.models.files.saving import (
    SHARED,
    archived,
    members_of,
    write_metadata,
)
from keras_tagging.runtime.folder import WORDS
from keras_tagging.runtime.shared_words import (
    VECTOR,
    WordTables,
    features_in,
    read_tables,
)
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.named_models import find_model

#: the place of a table of embeddings among the weights
PLACE = re.compile(r"[a-z0-9_]{1,100}(/[a-z0-9_]{1,100}){1,20}")


def load(path):
    """Load a model saved by `model.save`, or an installed one by its name.

    A folder stands for its `model.keras`. A path that exists goes before a name.
    `keras_tagging.load` reads the folder of a pipeline too.

    The file is checked before Keras reads it: it cannot run code, open other files, or
    take more memory than some multiple of its size. A part of a pipeline may have its
    words in `words.npz` beside it, which is then read and checked too.

    Raises:
        ValueError: if there is no such file or installed model, or the file is damaged
            or holds another model.
        OSError: if the file cannot be opened.
    """
    path = model_file(find_model(path))
    return read(path, path.read_bytes())


def complete(out: Path) -> None:
    """Write the missing metadata of a model, which contains them, after a kill."""
    model = load(out)
    with replacing(out / METADATA) as partial:
        write_metadata(model, partial)


def read(path, content: bytes):
    """The model in the bytes of a file: see `load`.

    Args:
        path: of the file; errors name it.
        content: the bytes. If the model is a part of a pipeline, the words that it
            shares with others are in the folder of the file.

    Raises:
        ValueError: if they are damaged or hold another model; it names the path.
    """
    # keras.saving takes no bytes, and a path may lead to another file after the check
    from keras.src.saving.saving_lib import load_model

    with _naming(path):
        shared = shared_in(content)
    words = read_tables(path.parent, shared["files"]) if shared else None
    with _naming(path):
        if shared:
            content = whole(content, shared, words)
        stream = io.BytesIO(content)
        size = check_model_file(stream)
        with warnings.catch_warnings(), weights_within(size):
            # a model of half precision has no state of its optimizer
            warnings.filterwarnings("ignore", "Skipping variable loading for opt")
            model = load_model(stream)
        check_numbers(model)
        return model


@contextmanager
def _naming(path):
    """Errors are one line with the path, and the remedy."""
    try:
        yield
    # A damaged or malicious file can raise anything.
    except Exception as error:
        remedy = "; copy the file again from where it was saved, or train the model "
        remedy += "again"
        # the file is whole, and needs another package, or an older one
        if any(words in str(error) for words in ("install", "no longer")):
            remedy = ""
        raise ValueError(f"{path}: {_reason(error)}{remedy}") from error


def check_numbers(model: keras.Model) -> None:
    """Refuse a model whose answers would be nonsense, such as one that has diverged."""
    for variable in model.weights:
        if not np.isfinite(keras.ops.convert_to_numpy(variable)).all():
            raise ValueError("has weights that are no numbers, but NaN or infinite")


def _reason(error: Exception) -> str:
    """An error in one short line, with its type if the text alone says little."""
    text = " ".join(str(error).split())
    text = text if len(text) <= 300 else f"{text[:297]}..."
    if isinstance(error, zipfile.BadZipFile):
        return f"is damaged, cut short or no .keras file ({text})"
    return text if type(error) is ValueError else f"{type(error).__name__}: {text}"


# The words that several parts of a pipeline read


def shared_in(content: bytes) -> dict | None:
    """The shared words of a file, as its bytes describe them; None if it is whole.

    Raises:
        ValueError: if they say what cannot be.
        Exception: any other kind, from the readers of zip and JSON.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if SHARED not in archive.namelist():
            return None
        check_members(archive.infolist(), MEMBERS | {SHARED})
        shared = json.loads(archive.read(SHARED))
    features = features_in(shared)
    fits = bool(features) and all(isinstance(shared[name], dict) for name in features)
    if fits and VECTOR in features:
        place, dtype = (shared[VECTOR].get(key) for key in ("place", "dtype"))
        fits = type(place) is str and PLACE.fullmatch(place)
        fits = fits and dtype in ["float16", "float32"]
    if not fits:
        raise ValueError(f"{SHARED} does not say which words the model reads")
    return shared


def whole(content: bytes, shared: dict, tables: WordTables) -> bytes:
    """The bytes of a whole file.

    Args:
        content: of a file that `thin` has made.
        shared: the output of `shared_in`.
        tables: the words.

    Raises:
        ValueError: if the words are not those that the model reads.
        Exception: any other kind, from the readers of zip, JSON and HDF5.
    """
    members = members_of(content)
    del members[SHARED]
    config = json.loads(members[CONFIG])
    part = shared.get("part")
    if part is not None and part not in tables.changed:
        raise ValueError(f"{WORDS} has no vectors of a part {part[:40]!r}")
    for feature in features_in(shared):
        if feature not in tables.features:
            raise ValueError(f"{WORDS} has no words of {feature}")
        vocabularies = config["config"]["vocabularies"]
        if vocabularies[feature] is not None:
            raise ValueError(f"has words of {feature} and reads those of {WORDS}")
        vocabularies[feature] = tables.entries(feature)
    members[CONFIG] = json.dumps(config).encode()
    if VECTOR in shared:
        weights = io.BytesIO(members[WEIGHTS])
        with h5py.File(weights, "r+") as file:
            rows = tables.rows_of(part).astype(shared[VECTOR]["dtype"])
            _put(file, shared[VECTOR]["place"], rows)
        members[WEIGHTS] = weights.getvalue()
    return archived(members)


def _put(file: h5py.File, place: str, rows: np.ndarray) -> None:
    """Write a table where it was; a link may not lead elsewhere."""
    *groups, name = place.split("/")
    group = file
    for part in groups:
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            raise ValueError(f"{WEIGHTS} has no place for the vectors of {WORDS}")
        group = group[part]
    if group.get(name, getlink=True) is not None:
        raise ValueError(f"{WEIGHTS} has vectors, and reads those of {WORDS}")
    group.create_dataset(name, data=rows)
