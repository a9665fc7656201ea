"""Vectors kept on disk, so that a file is searched once."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.cache import cache_folder
from keras_tagging.utils.stored import StoredArrays
from keras_tagging.vectors.word_vectors import WordVectors

# Of what is kept: a change of it, or of how files are read, gets another number.
_VERSION = 2
# What is raised at a damaged file: of JSON also, that its lists are too deep.
_UNREADABLE = (OSError, TypeError, ValueError, RecursionError)


def folder_of(cache: str | Path | bool | None) -> Path | None:
    """Where vectors are kept, or None: nowhere.

    Args:
        cache: a folder; False for none; None or True for `vectors` beside the corpora
            that are downloaded.
    """
    if cache is False:
        return None
    return cache_folder() / "vectors" if cache in (None, True) else Path(cache)


def cached(
    path: str, options: list, folder: Path | None, read: Callable[[], WordVectors]
) -> WordVectors:
    """What `read` gives, from the folder if it is there, else kept in it.

    Two processes may do so at once: a file is whole as soon as it has its name. One
    that is damaged is written anew.

    Args:
        path: the file that is read; it is told by its place, size and time.
        options: what else the vectors depend on, as JSON has it.
        folder: None for no cache.
        read: reads them.
    """
    if folder is None or not os.path.isfile(path):
        return read()
    state = os.stat(path)
    key = [_VERSION, os.path.realpath(path), state.st_size, state.st_mtime_ns, options]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    kept = folder / f"{digest[:32]}.npz"
    try:
        return _read(kept)
    except _UNREADABLE:  # or there is none
        pass
    vectors = read()
    words = np.frombuffer(json.dumps(vectors.words).encode(), np.uint8)
    try:
        with replacing(kept) as partial:
            np.savez(partial, words=words, matrix=vectors.matrix)
    except OSError as error:
        warnings.warn(
            f"{folder}: vectors cannot be kept there ({error}): name another folder "
            "with KERAS_TAGGING_CACHE or cache=, or switch it off with cache=False",
            stacklevel=3,
        )
    return vectors


def _read(kept: Path) -> WordVectors:
    """The vectors that are kept in a file."""
    with StoredArrays(kept) as arrays:
        words = json.loads(arrays["words"].tobytes())
        vectors = WordVectors(words, arrays["matrix"])
    if not isinstance(words, list) or vectors.matrix.shape[:-1] != (len(words),):
        raise ValueError("words and matrix differ in number")
    return vectors
