"""The files of a corpus, wherever they lie: in a folder, an archive or on their own.

Archives are read in place. Nothing is ever extracted, so that the name of a member is
only a name: no archive can write to a path, in or outside of any folder.
"""

import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO

from keras_tagging.data.readers import CorpusError

TAR = (".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
IN_MEMORY = 1 << 26  # bytes of a .tar's members; beyond, they go to a nameless file

# What zipfile, tarfile, gzip and the decompressors raise for a damaged file; for an
# encrypted one, a RuntimeError, and for an unknown compression NotImplementedError.
_DAMAGED = (
    EOFError,
    RuntimeError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a corpus.

    Args:
        name: with the source before it, "disc.zip/wsj/00/wsj_0001.mrg": for messages,
            and to see which section it is.
        inside: the same without the source, "wsj/00/wsj_0001.mrg".
        opener: gives its bytes, compressed as they lie there.
    """

    name: str
    inside: str
    opener: Callable[[], BinaryIO]

    def open(self) -> io.BufferedReader:
        """Its bytes, decompressed if the name ends in `.gz`; their stream has the
        member's name, so that `read` names it in messages.

        Raises:
            CorpusError: here or as the stream is read, if it is damaged or encrypted.
        """
        try:
            stream = self.opener()
        except _DAMAGED as error:
            raise _damaged(self.name, error) from None
        is_compressed = self.inside.lower().endswith(".gz")
        return io.BufferedReader(_Checked(self.name, stream, is_compressed))


def members(source: str | Path, suffixes: tuple[str, ...] | str) -> Iterator[Member]:
    """The files of a folder or archive whose names end so, sorted by folder and name.

    Case does not count, and neither does a final `.gz`: with ".mrg", `A.MRG` and
    `a.mrg.gz` are members. A single file is one, whatever its name. Hidden files,
    links inside a `.tar` and the `__MACOSX` folder of a `.zip` are left out.

    Args:
        source: a folder, a file, or an archive: `.zip`, `.tar`, `.tgz`, `.tar.gz`,
            `.tar.bz2`, `.tar.xz`.
        suffixes: one or several, such as ".mrg".

    Raises:
        CorpusError: if there is no such source, the archive is damaged, or nothing in
            it has such a name.
    """
    source = Path(source)
    suffixes = (suffixes,) if isinstance(suffixes, str) else tuple(suffixes)
    if not source.exists():
        raise CorpusError(f"{source}: there is no such file or folder; check the path")
    name = source.name.lower()
    if source.is_dir():
        found = _in_folder(source)
    elif name.endswith(".zip"):
        found = _in_zip(source)
    elif name.endswith(TAR):
        found = _in_tar(source, suffixes)
    else:
        yield Member(str(source), source.name, lambda: open(source, "rb"))
        return
    wanted = [member for member in found if _is_wanted(member.inside, suffixes)]
    if not wanted:
        *others, last = suffixes
        ends = f"{', '.join(others)} or {last}" if others else last
        raise CorpusError(
            f"{source}: holds no file whose name ends in {ends} (also with .gz); "
            "name the folder or archive that does"
        )
    yield from sorted(wanted, key=lambda member: member.inside.split("/"))


def _is_wanted(inside: str, suffixes: tuple[str, ...]) -> bool:
    *folders, name = inside.split("/")
    is_hidden = name.startswith(".") or "__MACOSX" in folders
    name = name.lower().removesuffix(".gz")
    return not is_hidden and name.endswith(tuple(map(str.lower, suffixes)))


def _in_folder(source: Path) -> Iterator[Member]:
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(folder, name)
            inside = path.relative_to(source).as_posix()
            yield Member(str(path), inside, lambda path=path: open(path, "rb"))


def _in_zip(source: Path) -> Iterator[Member]:
    try:
        archive = zipfile.ZipFile(source)  # closed with the last member that holds it
    except (*_DAMAGED, ValueError) as error:
        raise _damaged(source, error) from None
    for info in archive.infolist():
        if not info.is_dir():
            name = f"{source}/{info.filename}"
            opener = lambda info=info: archive.open(info)  # noqa: E731
            yield Member(name, info.filename, opener)


def _in_tar(source: Path, suffixes: tuple[str, ...]) -> Iterator[Member]:
    """Going back in a compressed archive means to decompress it anew, so that its
    members are collected in one pass."""
    spool = _Spool()
    try:
        with tarfile.open(source, tarinfo=_Info) as archive:
            for info in archive:
                if info.isfile() and _is_wanted(info.name, suffixes):
                    start, size = spool.append(archive.extractfile(info))
                    opener = lambda a=start, b=start + size: _Slice(spool, a, b)  # noqa: E731
                    yield Member(f"{source}/{info.name}", info.name, opener)
    except (*_DAMAGED, OSError) as error:
        raise _damaged(source, error) from None


class _Info(tarfile.TarInfo):
    """`tarfile` takes an archive cut off before a header for one that is complete."""

    @classmethod
    def fromtarfile(cls, archive):
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise  # the two blocks of zeros that end every archive
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no end of the archive: {error}") from None


class _Spool:
    """The contents of files, one after the other."""

    def __init__(self):
        self.file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115

    def append(self, stream: BinaryIO) -> tuple[int, int]:
        start = self.file.seek(0, os.SEEK_END) or self.file.tell()
        while block := stream.read(1 << 20):
            self.file.write(block)
        return start, self.file.tell() - start

    def __del__(self):
        self.file.close()


class _Slice(io.RawIOBase):
    """A file of a spool."""

    def __init__(self, spool: _Spool, start: int, end: int):
        self.spool, self.position, self.end = spool, start, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self.spool.file.seek(self.position)
        size = min(len(buffer), self.end - self.position)
        block = self.spool.file.read(size)
        buffer[: len(block)] = block
        self.position += len(block)
        return len(block)


class _Checked(io.RawIOBase):
    """A stream in which damage is a `CorpusError` that names the file."""

    def __init__(self, name: str, stream: BinaryIO, is_compressed: bool):
        self.name = name
        self.inner = stream
        self.stream = gzip.GzipFile(fileobj=stream) if is_compressed else stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            block = self.stream.read(len(buffer))
        except _DAMAGED as error:
            raise _damaged(self.name, error) from None
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
            self.inner.close()
        super().close()


def _damaged(name: str | Path, error: Exception) -> CorpusError:
    what = " ".join(str(error).split()) or type(error).__name__
    is_encrypted = isinstance(error, RuntimeError) and "password" in what
    remedy = "unpack it yourself" if is_encrypted else "check that it is complete"
    return CorpusError(f"{name}: cannot be read: {what}; {remedy}")
