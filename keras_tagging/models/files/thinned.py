"""Saved models without the words that several parts of a pipeline read.

The `.keras` file of such a part has a fourth member, `shared.json`, and lacks words and
vectors. It becomes a whole file in memory, and is then checked and read as any other.
"""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import h5py
import numpy as np

from keras_tagging.models.files.checks import (
    CONFIG,
    MEMBERS,
    WEIGHTS,
    check_members,
)
from keras_tagging.runtime.folder import REMEDY, WORDS
from keras_tagging.runtime.shared_words import (
    VECTOR,
    WordTables,
    features_in,
    tables_in,
)

SHARED = "shared.json"
#: the place of a table of embeddings among the weights
PLACE = re.compile(r"[a-z0-9_]{1,100}(/[a-z0-9_]{1,100}){1,20}")
DTYPES = ("float16", "float32")


def thin(
    path: Path, files: dict, features: Iterable[str], tables: WordTables, part: str
) -> None:
    """Take the words that a pipeline holds out of the file of one of its parts.

    Args:
        path: of the file, as `save` or `half_precision.halve` has written it.
        files: the name of the file that holds them, with its checksum.
        features: those of the part that are shared.
        tables: what that file has.
        part: the name of the model there.
    """
    with zipfile.ZipFile(path) as old:
        members = {each.filename: old.read(each) for each in old.infolist()}
    config = json.loads(members[CONFIG])
    for feature in features:
        config["config"]["vocabularies"][feature] = None
    members[CONFIG] = json.dumps(config).encode()
    shared: dict = {"files": files} | {feature: {} for feature in features}
    if VECTOR in features:
        rows = tables.rows_of(part)
        members[WEIGHTS], place, dtype = _without(members[WEIGHTS], rows)
        shared[VECTOR] = {"place": place, "dtype": dtype}
        if part in tables.changed:
            shared["part"] = part
    members[SHARED] = json.dumps(shared).encode()
    with zipfile.ZipFile(path, "w") as new:
        for name, content in members.items():
            # without the time, equal models are equal files
            new.writestr(zipfile.ZipInfo(name), content)


def _without(content: bytes, rows: np.ndarray) -> tuple[bytes, str, str]:
    """An HDF5 file of weights without a table, the place of this and its dtype."""
    made, place, dtype = io.BytesIO(), None, None
    with h5py.File(io.BytesIO(content)) as old, h5py.File(made, "w") as new:
        new.attrs.update(old.attrs)

        def copy(name, item):
            nonlocal place, dtype
            if isinstance(item, h5py.Group):
                copied = new.require_group(name)
            elif place is None and _is_table(item, rows):
                place, dtype = name, str(item.dtype)
                return
            else:
                copied = new.create_dataset(name, data=item[()])
            copied.attrs.update(item.attrs)

        old.visititems(copy)
    if place is None:
        raise ValueError(f"a file has no {VECTOR}_embedding with these vectors")
    return made.getvalue(), place, dtype


def _is_table(item, rows) -> bool:
    named = item.parent.attrs.get("name") == f"{VECTOR}_embedding"
    return named and item.shape == rows.shape and np.array_equal(item[()], rows)


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
        fits = type(place) is str and PLACE.fullmatch(place) and dtype in [*DTYPES]
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
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {name: old.read(name) for name in sorted(MEMBERS)}
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
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as new:
        for name, member in members.items():
            new.writestr(zipfile.ZipInfo(name), member)
    return made.getvalue()


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


def tables_beside(path: Path, shared: dict) -> WordTables:
    """The words of a part that is loaded alone, from its folder.

    Args:
        path: of the part.
        shared: the output of `shared_in`.

    Raises:
        ValueError: if they are missing, damaged or others.
        OSError: if they cannot be read.
    """
    remedy = (
        f"load {path.name} where {WORDS} is, in its pipeline's folder, or save the "
        "model alone"
    )
    return tables_in(path.parent, shared["files"], path.name, remedy)


def words_of_folder(folder: Path, files: dict) -> Callable[[dict], WordTables]:
    """The function that gives the words of a pipeline to its parts; it reads them once.

    Args:
        folder: of the pipeline.
        files: the checksums that its list has.
    """
    tables = cache(partial(tables_in, folder, files))

    def words(shared: dict) -> WordTables:
        if shared["files"] != files:
            raise ValueError(
                f"{folder}: a model was saved with other words than the {WORDS} beside "
                f"it: {REMEDY}"
            )
        return tables()

    return words
