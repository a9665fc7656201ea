"""What files of word vectors look like: compression, first line, rows of text."""

import bz2
import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# What a file that cannot be read starts with, and what to do about it.
_UNREADABLE = {
    b"\x1f\x8b": "is compressed: give it a name that ends in .gz",
    b"BZh": "is compressed: give it a name that ends in .bz2",
    b"PK\x03\x04": "is a zip archive: unzip it first",
}
FASTTEXT = b"\xba\x16\x4f\x2f"
PICKLE = b"\x80"
# More than any line of text vectors has; other files may have no line ends at all.
_MAX_LINE = 2**20
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r"))
_OPENERS = {".gz": gzip.open, ".bz2": bz2.open}


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The file as bytes, uncompressed as gensim does it: if the name says so."""
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the file of vectors in it")
    opener = _OPENERS.get(Path(path).suffix, open)
    try:
        with opener(path, "rb") as file:
            yield file
    except OSError as error:
        if opener is open or error.errno is not None:
            raise
        raise _damaged(path, error) from error
    except (zlib.error, EOFError) as error:
        raise _damaged(path, error) from error


def _damaged(path: str, error: Exception) -> ValueError:
    return ValueError(
        f"{path}: cannot be uncompressed as its name says ({error}): "
        "rename it, or fetch it again"
    )


def peek(path: str) -> tuple[bytes, bytes]:
    """The first line, and a sample of what follows, at least one line if any.

    Raises:
        ValueError: if the file is empty, or of a kind that cannot be read.
        OSError: if it cannot be opened.
    """
    with opened(path) as file:
        first = file.readline(_MAX_LINE)
        sample = file.readline(_MAX_LINE) + file.read(4096)
    for start, problem in _UNREADABLE.items():
        if first.startswith(start):
            raise ValueError(f"{path}: {problem}")
    if not first:
        raise ValueError(f"{path}: is empty")
    return first, sample


def is_binary(sample: bytes) -> bool:
    """Whether what follows a header is word2vec's binary."""
    return len(sample.translate(None, _CONTROL)) < len(sample)


def header(path: str, first: bytes) -> tuple[int, int] | None:
    """COUNT and DIMENSION if the first line holds just these."""
    fields = first.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    count, dimension = map(int, fields)
    if not (count and dimension):
        raise ValueError(
            f"{path}:1: announces {count} vectors of {dimension} values: "
            "write the file again"
        )
    return count, dimension


def text_rows(
    path: str,
    sizes: tuple[int, int] | None,
    limit: int | None,
    numbers: bool = False,
) -> Iterator[tuple[int, bytes]]:
    """The rows of text vectors, which are as many and as long as they should be.

    Args:
        sizes: COUNT and DIMENSION, or None: then the first line is a vector.
        limit: the first so many vectors only.
        numbers: also check that each value is a finite number, which is slow.

    Yields:
        The number of the line and the line without its end.

    Raises:
        ValueError: if a line is wrong; the message names it.
    """
    count, dimension = sizes or (None, None)
    rows = 0
    with opened(path) as file:
        if sizes:
            file.readline()
        for number, line in enumerate(file, 2 if sizes else 1):
            if limit and rows == limit:
                return
            line = line.rstrip()
            if not line and rows == count:
                continue
            values = line.count(b" ")
            first = dimension is None
            dimension = values if first else dimension
            if (numbers or first) and not (values and _are_numbers(line)):
                raise ValueError(no_row(path, number))
            if numbers and not _are_finite(line):
                word = line.partition(b" ")[0].decode("utf-8", "replace")
                raise ValueError(not_finite(f"{path}:{number}", word))
            if values != dimension:
                raise ValueError(
                    f"{path}:{number}: has {values} values where {dimension} "
                    f"are expected: correct or remove it (awk 'NF == {dimension + 1}' "
                    "keeps the lines that are right)"
                )
            rows += 1
            yield number, line
    if count is not None and rows != count and not (limit and rows == limit):
        raise ValueError(
            f"{path}:1: announces {count} vectors but {rows} follow: "
            "fetch the file again, or correct the number"
        )


def no_row(path: str, number: int) -> str:
    """The message about a line that is no vector."""
    whole = ", or name a file of vectors if this is none" if number == 1 else ""
    return (
        f"{path}:{number}: is not a word and its values, with "
        f"single spaces between them: correct or remove it{whole}"
    )


def not_finite(place: str, word: str) -> str:
    """The message about a vector that cannot be used, of a file or a line of it."""
    return (
        f"{place}: the vector of {word!r} holds a value that is not a finite number: "
        "correct or remove it"
    )


def _are_finite(line: bytes) -> bool:
    return all(math.isfinite(float(value)) for value in line.split(b" ")[1:])


def _are_numbers(line: bytes) -> bool:
    try:
        for value in line.split(b" ")[1:]:
            float(value)
    except ValueError:
        return False
    return True
