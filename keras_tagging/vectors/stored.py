"""Vectors as `.npz` files, in half or single precision: quick to read, no pickles."""

import json
from pathlib import Path

import numpy as np

from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.stored import StoredArrays
from keras_tagging.vectors.word_vectors import WordVectors

#: the end of the names of such files
SUFFIX = ".npz"
# errors of a damaged file; RecursionError comes from deeply nested JSON
UNREADABLE = (OSError, TypeError, ValueError, RecursionError)


def save_vectors(
    vectors: WordVectors, path: str | Path, dtype: str = "float16"
) -> None:
    """Write vectors into an `.npz` file, which `load_vectors` reads.

    Args:
        vectors: the vectors.
        path: the file; it appears when it is complete.
        dtype: of the numbers: "float16", three significant digits in half the bytes, or
            "float32", exactly.

    Raises:
        ValueError: if a value is too large for half precision.
        OSError: if the file cannot be written.
    """
    with np.errstate(over="ignore"):
        matrix = vectors.matrix.astype(dtype)
    if not np.isfinite(matrix).all() and np.isfinite(vectors.matrix).all():
        raise ValueError(
            f"{path}: a value is too large for {dtype}: write dtype='float32'"
        )
    words = np.frombuffer(json.dumps(vectors.words).encode(), np.uint8)
    rows = [i for i, word in enumerate(vectors.words) if word in vectors.composed]
    with replacing(Path(path)) as partial:
        np.savez(partial, words=words, matrix=matrix, composed=np.array(rows, "<i4"))


def read_stored(path: Path) -> WordVectors:
    """The vectors in a file of `save_vectors`, as float32.

    Raises:
        OSError, TypeError, ValueError, RecursionError: if it is damaged.
    """
    with StoredArrays(path) as arrays:
        words = json.loads(arrays["words"].tobytes())
        matrix = arrays["matrix"]
        # the first files had none
        rows = arrays["composed"].tolist() if arrays.size("composed") else []
    if not isinstance(words, list) or not all(type(word) is str for word in words):
        raise ValueError("its words are no list of strings")
    if len(set(words)) < len(words):
        raise ValueError("a word occurs twice")
    if matrix.ndim != 2 or len(matrix) != len(words) or matrix.dtype.kind != "f":
        raise ValueError("words and matrix differ in number")
    if matrix.shape[1] > limits.VECTOR_DIMENSION:
        raise ValueError(f"vectors have more than {limits.VECTOR_DIMENSION:,} values")
    if not all(type(row) is int and 0 <= row < len(words) for row in rows):
        raise ValueError("its composed words are not among its words")
    composed = frozenset(words[row] for row in rows)
    return WordVectors(words, matrix.astype(np.float32, copy=False), composed)
