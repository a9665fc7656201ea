"""Safe reading of the package's own files, which may be damaged or foreign."""

import hashlib
import io
import json
import math
import zipfile
from pathlib import Path

import numpy as np

from keras_tagging.utils import limits

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file.

    Raises:
        OSError: if it cannot be opened.
    """
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_object(path: Path, remedy: str, most: int = limits.JSON_BYTES) -> dict:
    """The JSON object of a file.

    Args:
        path: the file.
        remedy: the remedy in the error message.
        most: bytes that it may have.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: if the file has any other content; the message names it.
    """
    try:
        if path.stat().st_size > most:
            raise ValueError(f"more than {most:,} bytes")
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__} where an object should be")
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is damaged ({error}): {remedy}") from None
    return content


class StoredArrays:
    """The arrays of an `.npz` file of `numpy.savez`, by name; a context manager.

    Nothing is unpickled. The file must not be compressed, so an array takes no more
    memory than the file has bytes, whatever its header says.

    Args:
        source: the file, or its bytes.

    Raises:
        OSError: if the file cannot be opened.
        ValueError: here, or when an array is read, if it is damaged.
    """

    def __init__(self, source: Path | bytes):
        if isinstance(source, bytes):
            size, self._stream = len(source), io.BytesIO(source)
        else:
            size, self._stream = source.stat().st_size, open(source, "rb")
        try:
            self._archive = zipfile.ZipFile(self._stream)
            members = self._archive.infolist()
            if any(m.compress_type != zipfile.ZIP_STORED for m in members):
                raise ValueError("its arrays are compressed")
            if sum(member.file_size for member in members) > size:
                raise ValueError("its arrays are larger than the file")
        except Exception as error:  # zipfile raises a dozen kinds for a damaged file
            self._stream.close()
            raise ValueError(_reason(error)) from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def names(self) -> list[str]:
        """The names of the arrays."""
        return [name.removesuffix(".npy") for name in self._archive.namelist()]

    def size(self, name: str) -> int:
        """The size of an array in bytes; 0 if there is none of this name."""
        member = self._archive.NameToInfo.get(f"{name}.npy")
        return member.file_size if member else 0

    def header(self):
        """The JSON that the array `header` holds as text.

        Raises:
            ValueError: if it has anything else, or is too large.
        """
        if self.size("header") > limits.HEADER_BYTES:
            raise ValueError(f"a header above {limits.HEADER_BYTES:,} bytes")
        # no `str`: NumPy makes characters of numbers that are none, or a SystemError
        return json.loads(self["header"].tobytes())

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._read(f"{name}.npy")
        except Exception as error:  # and so does NumPy
            raise ValueError(f"{name}: {_reason(error)}") from error

    def _read(self, name):
        with self._archive.open(name) as stream:
            version = np.lib.format.read_magic(stream)
            shape, is_fortran, dtype = HEADERS[version](stream)
            count = math.prod(shape)
            size = self._archive.getinfo(name).file_size - stream.tell()
            if dtype.hasobject or min(shape, default=0) < 0:
                raise ValueError("no array of numbers or text")
            if count * dtype.itemsize != size:
                raise ValueError(f"{size} bytes for {count} values")
            values = bytearray(stream.read(size))
        order = "F" if is_fortran else "C"
        return np.ndarray(shape, dtype, buffer=values, order=order)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
