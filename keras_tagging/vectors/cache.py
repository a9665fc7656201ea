"""A cache of vectors on disk, so that a large file is read only once."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from keras_tagging.utils.cache import cache_folder
from keras_tagging.vectors.stored import UNREADABLE, read_stored, save_vectors
from keras_tagging.vectors.word_vectors import WordVectors

# Increase it when the cached content, or the way files are read, changes.
_VERSION = 3


def folder_of(cache: str | Path | bool | None) -> Path | None:
    """The folder of the cache, or None for no cache.

    Args:
        cache: a folder; False for no cache; None or True for `vectors` beside the
            downloaded corpora.
    """
    if cache is False:
        return None
    return cache_folder() / "vectors" if cache in (None, True) else Path(cache)


def cached(
    path: str, options: list, folder: Path | None, read: Callable[[], WordVectors]
) -> WordVectors:
    """The vectors from the cache, or else from `read`, which are then cached.

    Two processes may do this at once: a file gets its name only when it is complete. A
    damaged file is replaced.

    Args:
        path: the file of vectors, identified by its path, size and time.
        options: everything else that the vectors depend on, as JSON values.
        folder: the folder of the cache; None for no cache.
        read: function that reads the vectors.
    """
    if folder is None or not os.path.isfile(path):
        return read()
    state = os.stat(path)
    key = [_VERSION, os.path.realpath(path), state.st_size, state.st_mtime_ns, options]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    kept = folder / f"{digest[:32]}.npz"
    try:
        return read_stored(kept)
    except UNREADABLE:  # or not there
        pass
    vectors = read()
    try:
        save_vectors(vectors, kept, "float32")
    except OSError as error:
        warnings.warn(
            f"{folder}: vectors cannot be kept there ({error}): name another folder "
            "with KERAS_TAGGING_CACHE or cache=, or switch it off with cache=False",
            stacklevel=3,
        )
    return vectors
