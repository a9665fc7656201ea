"""The bytes of a file of word vectors, read in order and within limits."""

import io
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keras_tagging.data.compressed import BZIP2, GZIP, Decompressed
from keras_tagging.utils import limits

_CHUNK = 2**17


class Stream:
    """The bytes of a file: by number, up to a mark, or by lines.

    It holds little more than one block of the file and the requested bytes in memory.

    Args:
        path: the path of the file, for messages.
        file: the file to read.
        most: the number of bytes that the content can have.
        compressed: whether the file is decompressed while it is read.

    Raises:
        ValueError: in all methods, if the file ends too early, or cannot be
            decompressed.
    """

    def __init__(self, path: str, file, most: int, compressed: bool):
        self.path, self.file = path, file
        self.most, self.compressed = most, compressed
        self.buffer, self.position = b"", 0

    def head(self, size: int) -> bytes:
        """The next bytes, without consuming them; fewer at the end of the file."""
        self._fill(size)
        return self.buffer[self.position : self.position + size]

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        self.skip(size)
        return self.buffer[self.position - size : self.position]

    def skip(self, size: int) -> None:
        """Skip the next `size` bytes."""
        if self.position + size > len(self.buffer):
            self._fill(size)
            if size > len(self.buffer):
                raise self.ended()
        self.position += size

    def until(self, mark: bytes) -> bytes:
        """The bytes before a mark of one byte, which is skipped; at most one word."""
        end = self.buffer.find(mark, self.position)
        if end < 0:
            self._fill(limits.VECTOR_WORD)
            end = self.buffer.find(mark)
            if end < 0:
                raise self.ended()
        value = self.buffer[self.position : end]
        self.position = end + 1
        return value

    def unpack(self, format: str) -> tuple:
        return struct.unpack(format, self.take(struct.calcsize(format)))

    def lines(self) -> Iterator[bytes]:
        """The remaining lines, without their ends."""
        rest, number, block = b"", 1, self.buffer[self.position :]
        self.buffer, self.position = b"", 0
        while block:
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
            number += len(lines)
            if len(rest) > limits.VECTOR_LINE:
                raise ValueError(
                    f"{self.path}:{number}: has more than {limits.VECTOR_LINE:,} bytes "
                    "in one line: name a file with one word a line"
                )
            block = self.file.read(_CHUNK)
        if rest:
            yield rest

    def finish(self) -> None:
        """Read the rest of a compressed file: its checksum is at the end."""
        while self.compressed and self.file.read(_CHUNK):
            pass

    def ended(self) -> ValueError:
        return ValueError(
            f"{self.path}: ends before the last vector that it announces, or is "
            "damaged: download or write it again"
        )

    def _fill(self, size: int) -> None:
        """Fill the buffer with at least the next `size` bytes, if there are so many."""
        parts = [self.buffer[self.position :]]
        missing = size - len(parts[0])
        while missing > 0 and (part := self.file.read(max(_CHUNK, missing))):
            parts.append(part)
            missing -= len(part)
        self.buffer, self.position = b"".join(parts), 0


_COMPRESSED = {".gz": GZIP, ".bz2": BZIP2}


@contextmanager
def opened(path: str) -> Iterator[Stream]:
    """The file, decompressed if its name says so.

    Raises:
        ValueError: while it is read, if it is damaged, or expands too much.
        OSError: if it cannot be opened.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the file in it")
    # a pipe has no size
    size = os.path.getsize(path) if Path(path).is_file() else sys.maxsize
    magic = _COMPRESSED.get(Path(path).suffix.lower())
    with open(path, "rb") as file:
        if magic is None:
            yield Stream(path, file, size, False)
            return
        base, expansion = limits.VECTOR_CONTENT, limits.VECTOR_EXPANSION
        content = Decompressed(path, file, magic, base, expansion)
        content = io.BufferedReader(content, _CHUNK)
        yield Stream(path, content, base + expansion * size, True)
