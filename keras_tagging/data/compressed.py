"""Compressed files, read to the end, so that their checksums are compared.

Python's own file objects for bzip2 and xz ignore whatever follows the first stream if
it is damaged, and the one for gzip accepts an empty file.
"""

import bz2
import io
import lzma
import zlib
from pathlib import Path
from typing import BinaryIO

from keras_tagging.data.records import CorpusError
from keras_tagging.utils import limits

BLOCK = 1 << 16
# The first bytes of a compressed file, and a decoder for one of its streams
DECODERS = {
    b"\x1f\x8b": lambda: zlib.decompressobj(wbits=31),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(
        lzma.FORMAT_XZ, memlimit=limits.XZ_MEMORY
    ),
}
GZIP, BZIP2 = b"\x1f\x8b", b"BZh"
TAR = (".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
ARCHIVES = (".zip", *TAR)


def open_gzip(path: str | Path) -> io.BufferedReader:
    """The content of a `.gz` file; `Decompressed` lists the errors."""
    file = open(path, "rb")  # noqa: SIM115
    return io.BufferedReader(Decompressed(str(path), file, GZIP), BLOCK)


class Decompressed(io.RawIOBase):
    """The content of a compressed file: one stream, or several one after the other.

    Args:
        name: name of the file, for messages.
        file: its bytes; closed with this one.
        magic: a key of `DECODERS`.
        size, expansion: the content may have `size` bytes, or `expansion` times the
            compressed bytes if that is more.

    Raises:
        CorpusError: while it is read, if the file is empty, is not compressed in this
            way, ends early, does not match its checksum, continues after its end, or
            expands beyond the limit.
    """

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        magic: bytes,
        size: int = limits.EXPANDED_BYTES,
        expansion: int = limits.EXPANSION,
    ):
        self.name, self.file, self.magic = name, file, magic
        self.size, self.expansion = size, expansion
        self.decoder = None
        self.pending = b""  # read, and not yet decompressed
        self.taken = self.expanded = 0  # bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            block = self._decompressed(len(buffer))
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise damaged(self.name, error) from None
        self.expanded += len(block)
        if self.expanded > max(self.size, self.expansion * self.taken):
            what = f"expands to more than {self.expansion} times its size"
            remedy = "no text does; decompress it yourself if you trust it"
            raise CorpusError(f"{self.name}: {what}; {remedy}")
        buffer[: len(block)] = block
        return len(block)

    def _decompressed(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while True:
            if (self.decoder is None or self.decoder.eof) and not self._start_stream():
                return b""
            is_over = False
            # zlib returns unused input; the others keep it, and set `needs_input`
            if not self.pending and getattr(self.decoder, "needs_input", True):
                self.pending = self._read()
                is_over = not self.pending
            block = self.decoder.decompress(self.pending, size)
            self.pending = getattr(self.decoder, "unconsumed_tail", b"")
            if block:
                return block
            if is_over and not self.decoder.eof:
                raise EOFError("it ends too early")

    def _start_stream(self) -> bool:
        """Begin a stream, after any zeros that pad the last one.

        Returns:
            False at the end of the file.
        """
        is_first = self.decoder is None
        rest = b"" if is_first else self.decoder.unused_data.lstrip(b"\0")
        while not rest:
            block = self._read()
            if not block and is_first:
                raise EOFError("it is empty")
            if not block:
                return False
            rest = block if is_first else block.lstrip(b"\0")
        if is_first and not rest.startswith(self.magic[: len(rest)]):
            what = "is not compressed as its name says; rename it, or download it again"
            raise CorpusError(f"{self.name}: {what}")
        self.decoder, self.pending = DECODERS[self.magic](), rest
        return True

    def _read(self) -> bytes:
        block = self.file.read(BLOCK)
        self.taken += len(block)
        return block

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


def damaged(where: str | Path, error: Exception) -> CorpusError:
    """The error for a damaged file, with our own words in the place of a decoder's."""
    # gzip and bz2 raise an OSError without the number that the system's errors have
    of_decoder = isinstance(error, OSError) and error.errno is None
    if isinstance(error, lzma.LZMAError | zlib.error) or of_decoder:
        what, remedy = "its compressed data is damaged", "copy or download it again"
    else:
        what = " ".join(str(error).split()) or type(error).__name__
        remedy = "check that it is complete"
    return CorpusError(f"{where}: cannot be read: {what}; {remedy}")
