"""The bytes of a file of word vectors, read in order and within limits."""

import bz2
import gzip
import io
import os
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keras_tagging.utils import limits

_CHUNK = 2**17


class Stream:
    """The bytes of a file: by number, up to a mark, or by lines.

    It holds little more than one block of the file and the requested bytes in memory.

    Args:
        path: the path of the file, for messages.
        file: the file to read.
        most: the number of bytes that the file can have; if it is compressed, more are
            an error.
        compressed: whether the file is decompressed while it is read.

    Raises:
        ValueError: in all methods, if the file ends too early or is too large.
    """

    def __init__(self, path: str, file, most: int, compressed: bool):
        self.path, self.file = path, file
        self.most, self.compressed = most, compressed
        self.total = 0
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
                    "in one line: name a file with one vector a line"
                )
            block = self._block(_CHUNK)
        if rest:
            yield rest

    def finish(self) -> None:
        """Read the rest of a compressed file: its checksum is at the end."""
        while self.compressed and self._block(_CHUNK):
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
        while missing > 0 and (part := self._block(max(_CHUNK, missing))):
            parts.append(part)
            missing -= len(part)
        self.buffer, self.position = b"".join(parts), 0

    def _block(self, size: int) -> bytes:
        block = self.file.read(size)
        self.total += len(block)
        if self.compressed and self.total > self.most:
            raise ValueError(
                f"{self.path}: holds more than {self.most:,} bytes, over "
                f"{limits.VECTOR_EXPANSION} times its size, which no vectors do: "
                "decompress it yourself if you trust it"
            )
        return block


class _Bzip2(io.RawIOBase):
    """bzip2 streams end to end; `bz2.open` ignores a damaged one behind another."""

    def __init__(self, path: str, mode: str):
        self.raw, self.stream = open(path, mode), bz2.BZ2Decompressor()

    def read(self, size: int) -> bytes:
        while True:
            data = b""
            if self.stream.eof:
                data = self.stream.unused_data or self.raw.read(_CHUNK)
                if not data:
                    return b""
                self.stream = bz2.BZ2Decompressor()
            elif self.stream.needs_input:
                data = self.raw.read(_CHUNK)
                if not data:
                    raise EOFError("it ends before its last block")
            if block := self.stream.decompress(data, size):
                return block

    def close(self) -> None:
        self.raw.close()
        super().close()


_OPENERS = {".gz": gzip.open, ".bz2": _Bzip2}


@contextmanager
def opened(path: str) -> Iterator[Stream]:
    """The file, uncompressed if its name says so.

    Raises:
        ValueError: if it is damaged, or compressed and too large.
        OSError: if it cannot be opened.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise IsADirectoryError(f"{path}: is a folder; name the file of vectors in it")
    # a pipe has no size
    most = os.path.getsize(path) if Path(path).is_file() else sys.maxsize
    if opener := _OPENERS.get(Path(path).suffix):
        most = limits.VECTOR_CONTENT + limits.VECTOR_EXPANSION * most
    try:
        with (opener or open)(path, "rb") as file:
            yield Stream(path, file, most, opener is not None)
    except OSError as error:
        if opener is None or error.errno is not None:
            raise
        raise _damaged(path, error) from error
    except (zlib.error, EOFError) as error:
        raise _damaged(path, error) from error


def _damaged(path: str, error: Exception) -> ValueError:
    return ValueError(
        f"{path}: cannot be uncompressed as its name says ({error}): "
        "rename it, or fetch it again"
    )
