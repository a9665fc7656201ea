"""The files of a corpus: in a folder, in an archive, or a single one.

Archives are read in place. Nothing is ever extracted, so no archive can write to a
path: the name of a member is only a name.
"""

import io
import os
import stat
import tarfile
import weakref
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from typing import BinaryIO

from keras_tagging.data import CorpusError
from keras_tagging.data.lines import (
    BLOCK,
    GZIP,
    READERS,
    TAR,
    Decompressed,
    damaged,
)
from keras_tagging.utils.limits import EXPANDED_BYTES, EXPANSION
from preparing import limits

# Members of a `.tar` that describe the next one, and are read into memory
HEADERS = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)
IN_MEMORY = 1 << 26  # bytes; a larger unpacked archive goes to a temporary file


@dataclass(frozen=True, slots=True)
class Member:
    """One file of a corpus.

    Args:
        name: the name with the source before it, "disc.zip/wsj/00/wsj_0001.mrg", for
            messages and to tell the section.
        inside: the name without the source, "wsj/00/wsj_0001.mrg".
        opener: a function that opens its bytes, compressed as they are.
    """

    name: str
    inside: str
    opener: Callable[[], BinaryIO]

    def open(self) -> io.BufferedReader:
        """Open the file, decompressed if its name ends in `.gz`.

        The stream has the member's name, so that `read` uses it in messages.

        Raises:
            CorpusError: here or while the stream is read, if the file is damaged or
                expands beyond the limits.
        """
        with _as_corpus_error(self.name):
            stream = _Checked(self.name, self.opener())
        if self.inside.lower().endswith(".gz"):
            stream = Decompressed(self.name, stream, GZIP)
        return io.BufferedReader(stream, BLOCK)


def members(source: str | Path, suffixes: tuple[str, ...] | str) -> Iterator[Member]:
    """The files of a folder or archive with one of the suffixes, by folder and name.

    Case and a final `.gz` do not matter: with ".mrg", `A.MRG` and `a.mrg.gz` are
    members. A single file is a member whatever its name. Hidden files, links and
    devices inside a `.tar` and the `__MACOSX` folder of a `.zip` are left out.

    Args:
        source: a folder, a file, or an archive: `.zip`, `.tar`, `.tgz`, `.tar.gz`,
            `.tar.bz2`, `.tar.xz`.
        suffixes: one or several suffixes, such as ".mrg".

    Raises:
        CorpusError: if there is no such source, if no name in it has such a suffix, or
            if the archive is damaged, has a file twice or exceeds the limits.
    """
    source = Path(source)
    suffixes = (suffixes,) if isinstance(suffixes, str) else tuple(suffixes)
    if not source.exists():
        raise CorpusError(f"{source}: there is no such file or folder; check the path")
    name = source.name.lower()
    if source.is_dir():
        candidates = _in_folder(source)
    elif name.endswith(".zip"):
        candidates = _in_zip(source, suffixes)
    elif name.endswith(TAR):
        candidates = _in_tar(source, suffixes)
    else:
        yield Member(str(source), source.name, lambda: open(source, "rb"))
        return
    wanted = {}
    for member in candidates:
        if _is_wanted(member.inside, suffixes):
            if wanted.setdefault(member.inside, member) is not member:
                what = "is in the archive twice"
                raise CorpusError(f"{member.name}: {what}; pack it again with one")
    if not wanted:
        *others, last = suffixes
        ends = f"{', '.join(others)} or {last}" if others else last
        raise CorpusError(
            f"{source}: holds no file whose name ends in {ends} (also with .gz); "
            "name the folder or archive that does"
        )
    yield from sorted(wanted.values(), key=lambda member: member.inside.split("/"))


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
            yield Member(str(path), inside, lambda path=path: _opened_file(path))


def _opened_file(path: Path) -> BinaryIO:
    if not path.is_file():  # a pipe, which could block forever, or a broken link
        raise CorpusError(f"{path}: is not a regular file; remove it from the folder")
    return open(path, "rb")


def _in_zip(source: Path, suffixes: tuple[str, ...]) -> Iterator[Member]:
    with _as_corpus_error(source):
        archive = zipfile.ZipFile(source)  # closed with the last member that uses it
        _check_size(source, len(archive.infolist()), 0)
        _check_directory(archive)
    total = 0
    for info in archive.infolist():
        if info.is_dir() or not _is_wanted(info.filename, suffixes):
            continue
        total += info.file_size
        _check_size(source, 0, total)
        name = f"{source}/{_shown(info.filename)}"
        if what := _refused(info):
            raise CorpusError(f"{name}: {what}; unpack the archive yourself")
        yield Member(name, info.filename, lambda info=info: archive.open(info))


def _check_directory(archive: zipfile.ZipFile) -> None:
    """Raise a BadZipFile if the directory of an archive is damaged.

    Its number of members and their names must agree with the rest of the file. The
    directory has no checksum, so a missing member would go unnoticed.
    """
    file = archive.fp
    file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16) - 22))
    end = file.read()
    end = end[end.rindex(b"PK\5\6") :]
    count = int.from_bytes(end[10:12], "little")
    listed = len(archive.infolist()) & 0xFFFF
    if count not in (listed, 0xFFFF):  # 0xFFFF: a larger number, stored elsewhere
        raise zipfile.BadZipFile(f"its directory lacks some of the {count} members")
    for info in archive.infolist():
        file.seek(info.header_offset)
        header = file.read(30)
        name = file.read(int.from_bytes(header[26:28], "little"))
        encoding = "utf-8" if info.flag_bits & 0x800 else "cp437"
        if name.decode(encoding) != info.orig_filename:
            raise zipfile.BadZipFile("its directory and its members differ in names")


def _refused(info: zipfile.ZipInfo) -> str | None:
    """The reason to refuse a member that cannot be read or might fill the memory."""
    if info.flag_bits & 1:
        return "is encrypted"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link to another file"
    # Python limits the size of a decompressed block for these methods only.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed with a method other than deflate"
    packed = info.compress_size
    if info.file_size > max(EXPANDED_BYTES, EXPANSION * packed):
        return f"expands to more than {EXPANSION} times its size"
    return None


def _in_tar(source: Path, suffixes: tuple[str, ...]) -> Iterator[Member]:
    with _as_corpus_error(source):
        archive = _opened_tar(source)
    count = 0
    while True:
        with _as_corpus_error(source):
            if not (info := archive.next()):
                break
        archive.members.clear()  # `tarfile` would keep all of them
        count += 1
        _check_size(source, count, 0)
        if not info.isfile() or not _is_wanted(info.name, suffixes):
            continue
        name = f"{source}/{_shown(info.name)}"
        if info.issparse():
            what = "is a sparse file, with holes instead of text"
            raise CorpusError(f"{name}: {what}; pack it without --sparse")
        yield Member(name, info.name, lambda info=info: archive.extractfile(info))
    while block := archive.fileobj.read(tarfile.BLOCKSIZE):
        if block[257:262] == b"ustar":
            what = "has members after its end, as a damaged or concatenated archive"
            raise CorpusError(f"{source}: {what}; unpack it yourself")


def _opened_tar(source: Path) -> tarfile.TarFile:
    """Open the archive; a compressed one is decompressed first, for random access."""
    with ExitStack() as stack:
        file = stack.enter_context(open(source, "rb"))
        head = file.peek()
        magic = next((magic for magic in READERS if head.startswith(magic)), None)
        if magic:
            packed = Decompressed(str(source), file, magic)
            file = stack.enter_context(SpooledTemporaryFile(IN_MEMORY))
            _decompress(packed, file)
        archive = tarfile.TarFile(fileobj=file, tarinfo=_Info)
        # The file is closed with the last member that uses the archive.
        weakref.finalize(archive, stack.pop_all().close)
    return archive


def _decompress(packed: Decompressed, file: BinaryIO) -> None:
    while block := packed.read(BLOCK):
        _check_size(packed.name, 0, packed.expanded)
        try:
            file.write(block)
        except OSError as error:
            what = f"cannot be decompressed to {gettempdir()}: {error.strerror}"
            remedy = "set TMPDIR to a folder with room"
            raise CorpusError(f"{packed.name}: {what}; {remedy}") from None
    file.seek(0)


class _Info(tarfile.TarInfo):
    """A header of a `.tar` with the checks that `tarfile` lacks.

    `tarfile` takes an archive that is cut off before a header for complete, follows a
    negative size back in the file for ever, and reads a long name into memory.
    """

    @classmethod
    def fromtarfile(cls, archive):
        try:
            info = super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise  # the two blocks of zeros that end every archive
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no end of the archive: {error}") from None
        return _with_size(info)  # attributes before it may have changed it

    @classmethod
    def frombuf(cls, buffer, encoding, errors):
        return _with_size(super().frombuf(buffer, encoding, errors))


def _with_size(info: tarfile.TarInfo) -> tarfile.TarInfo:
    is_large = info.type in HEADERS and info.size > limits.TAR_HEADER_BYTES
    if info.size < 0 or is_large:
        raise tarfile.ReadError(f"a header of {info.size} bytes")
    return info


def _check_size(source: str | Path, count: int, total: int) -> None:
    if count > limits.ARCHIVE_MEMBERS:
        what = f"has more than {limits.ARCHIVE_MEMBERS} members"
    elif total > limits.ARCHIVE_BYTES:
        what = f"has more than {limits.ARCHIVE_BYTES >> 30} GiB when unpacked"
    else:
        return
    raise CorpusError(f"{source}: {what}; unpack it yourself if you trust it")


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name)


class _Checked(io.RawIOBase):
    """A stream that reports damage as a `CorpusError` with the name of the file."""

    def __init__(self, name: str, stream: BinaryIO):
        self.name, self.stream = name, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        with _as_corpus_error(self.name):
            block = self.stream.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def tell(self) -> int:
        return self.stream.tell()

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
        super().close()


@contextmanager
def _as_corpus_error(name: str | Path) -> Iterator[None]:
    """Turn any exception of a damaged archive into a `CorpusError`."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        raise damaged(name, error) from None
