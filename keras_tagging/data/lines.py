"""The lines of files and streams: split, decoded, numbered and limited in length."""

import bz2
import codecs
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import IO, BinaryIO

from keras_tagging.data.records import CorpusError, Line, Malformed
from keras_tagging.utils import limits

CHUNK = 1 << 16
HEAD = 200  # lines by which a format is recognised
# Python takes these for encodings of text, but text files do not use them.
NO_TEXT = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
# In place of a line that cannot be read: what is wrong, and the remedy.
Problem = tuple[str, str]
MIXED: Problem = (
    "a line feed in a file whose first lines end in a carriage return alone",
    "end all its lines alike",
)
SURROGATE: Problem = (
    "the line contains half of a surrogate pair",
    "write the character itself",
)


def source_name(path: str | Path | IO) -> str:
    if not isinstance(path, str | Path):
        return str(getattr(path, "name", "<stream>"))
    if str(path) == "-":
        return "<stdin>"
    if not Path(path).exists():
        raise CorpusError(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise CorpusError(f"{path}: is a directory; use load_corpus, or name a file")
    if str(path).lower().endswith(ARCHIVES):
        raise CorpusError(f"{path}: is an archive; unpack it, and name what is in it")
    return str(path)


def numbered_lines(
    path: str | Path | IO, name: str, encoding: str | None, raw: bool = False
) -> Generator[Line, None, None]:
    """The lines, without their ends and without a byte order mark.

    Args:
        path, encoding: as in `read`, which says where a line ends.
        name: name of the file, for messages.
        raw: whether lines keep their ends and a byte order mark.

    Raises:
        ValueError: at once, if the encoding is unknown or not for text files.
        CorpusError: during the iteration, if the rest of the file cannot be read.
    """
    try:
        "".encode(encoding or "utf-8")
        is_text = codecs.lookup(encoding or "utf-8").name not in NO_TEXT
    except (LookupError, TypeError, ValueError):
        is_text = False
    if not is_text:
        what = "is not known, or not for text files"
        raise ValueError(f"encoding={encoding!r} {what}: try utf-8, latin-1 or cp1252")
    return _lines(path, name, encoding, raw)


def content(line: Line) -> Line:
    """The line without its end and without a byte order mark."""
    number, text = line
    if isinstance(text, str):
        if number == 1:
            text = text.removeprefix("\ufeff")
        text = text.removesuffix("\n").removesuffix("\r")
    return number, text


def first_lines(lines: Iterable[Line]) -> list[Line]:
    """The lines by which a format is recognised."""
    head, size = [], 0
    for number, line in islice(lines, HEAD):
        head.append((number, line))
        size += len(line) if isinstance(line, str) else 0
        if size > limits.SENTENCE_CHARACTERS:
            break
    return head


def _lines(path, name: str, encoding: str | None, raw: bool):
    count = 0
    with _opened(path, encoding) as (stream, encoding):
        try:
            for lines, end, is_plain in _batches(_chunks(stream, encoding), encoding):
                numbered = enumerate(lines, count + 1)
                if count and is_plain and not raw:  # nearly always
                    yield from numbered
                else:
                    for number, line in numbered:
                        if isinstance(line, tuple):
                            line = Malformed(number, *line)
                        elif raw and isinstance(line, str):
                            line += end
                        yield (number, line) if raw else content((number, line))
                count += len(lines)
        # the first three come from streams that somebody else has opened
        except (EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as error:
            raise damaged(f"{name}:{count + 1}", error) from None


@contextmanager
def _opened(path: str | Path | IO, encoding: str | None):
    """The file or stream, of bytes if possible, and its encoding."""
    if str(path) == "-":
        path = getattr(sys.stdin, "buffer", sys.stdin)
    if isinstance(path, str | Path):
        context = open(path, "rb")
        if str(path).lower().endswith(".gz"):
            unpacked = Decompressed(str(path), context, GZIP)
            context = io.BufferedReader(unpacked, BLOCK)
    else:
        # A text stream has its own line ends: read the bytes below it if possible.
        encoding = encoding or getattr(path, "encoding", None)
        context = nullcontext(getattr(path, "buffer", path))
    with context as stream:
        yield stream, encoding or "utf-8"


def _chunks(stream, encoding: str) -> Iterator[bytes | str]:
    """Pieces of a stream as they arrive: bytes to be cut at line ends, or text."""
    # Neither kind waits for more than a line.
    read = getattr(stream, "read1", None) or getattr(stream, "readline", None)
    chunks = iter(lambda: read(CHUNK) or None, None) if read else iter(stream)
    if _is_cut_as_bytes(encoding):
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in chunks:
        yield decoder.decode(chunk) if isinstance(chunk, bytes) else chunk
    yield decoder.decode(b"", final=True)


def _is_cut_as_bytes(encoding: str) -> bool:
    """Whether every ASCII byte stands for that character.

    It does not in UTF-16 and EBCDIC, nor in UTF-7, where other bytes shift its meaning.
    """
    codes = bytes(range(128))
    try:
        is_ascii = codes.decode(encoding) == codes.decode("ascii")
    except UnicodeError:
        return False
    return is_ascii and codecs.lookup(encoding).name != "utf-8-sig"


def _batches(chunks: Iterator, encoding: str):
    """Lists of lines, their line end, and whether all are text without "\\r".

    A list holds as many lines as are available. An error takes the place of a line that
    cannot be decoded, and a `Problem` that of a line that is too long.
    """
    most = limits.SENTENCE_CHARACTERS
    too_long = f"the line has more than {most:,} characters", "cut it"
    head = next(chunks, b"")
    feed, end = (b"\n", b"\r") if isinstance(head, bytes) else ("\n", "\r")
    while feed not in head and len(head) <= most:
        chunk = next(chunks, None)
        if chunk is None:
            break
        head += chunk
    if not ends_in_returns(head, feed, end):
        end = feed
    rest, is_cut = head[:0], False
    for chunk in chain([head], chunks):
        if end not in chunk:
            rest = rest if is_cut else rest + chunk
        else:
            rest += chunk
            size = rest.rfind(end) + 1
            lines, is_plain = _decoded(rest[: size - 1], end, encoding)
            if is_cut or rest.index(end) > most:
                lines[0], is_plain, is_cut = too_long, False, False
            yield lines, "\n" if end == feed else "\r", is_plain
            rest = rest[size:]
        if len(rest) > most:
            rest, is_cut = rest[:0], True
    if is_cut:
        yield [too_long], "", False
    elif rest:
        last = "\n" if end != feed and rest.endswith(feed) else ""
        lines, is_plain = _decoded(rest[: len(rest) - len(last)], end, encoding)
        yield lines, last, is_plain


def ends_in_returns(head: bytes | str, feed="\n", end="\r") -> bool:
    """Whether lines end in a carriage return, by the text before the first line feed.

    One or two there are part of a comment or word.
    """
    before, feed_there, _ = head.partition(feed)
    return before.removesuffix(end).count(end) > 2 if feed_there else end in before


def _decoded(text: bytes | str, end: bytes | str, encoding: str):
    """The lines, and whether they are all text without carriage returns."""
    if isinstance(text, bytes):
        try:
            whole = text.decode(encoding)
        except UnicodeDecodeError:
            return [_line(line, encoding) for line in text.split(end)], False
        if end == b"\n":
            return whole.split("\n"), "\r" not in whole
        text, end = whole, "\r"
    lines = [_checked(line) for line in text.split(end)]
    return lines, all(isinstance(line, str) and "\r" not in line for line in lines)


def _line(line: bytes, encoding: str):
    try:
        return _checked(line.decode(encoding))
    except UnicodeDecodeError as error:
        return error


def _checked(line: str) -> str | Problem:
    if "\n" in line:
        return MIXED
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return SURROGATE  # text streams can hold it, and so can UTF-7
    return line


BLOCK = 1 << 16
GZIP, BZIP2, XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
# The first bytes of a compressed file, and what reads it
READERS = {
    GZIP: lambda file: gzip.GzipFile(fileobj=file),
    BZIP2: bz2.BZ2File,
    XZ: lzma.LZMAFile,
}
TAR = (".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz")
ARCHIVES = (".zip", *TAR)


class Decompressed(io.RawIOBase):
    """The content of a compressed file, which may not be much larger.

    Args:
        name: name of the file, for messages.
        file: its bytes; closed with this one.
        magic: a key of `READERS`.
        size, expansion: the content may have `size` bytes, or `expansion` times the
            compressed bytes if that is more.

    Raises:
        CorpusError: while it is read, if the file is not compressed in this way, ends
            early, does not match its checksum, or expands beyond the limit.
    """

    def __init__(
        self,
        name: str,
        file: BinaryIO,
        magic: bytes,
        size: int = limits.EXPANDED_BYTES,
        expansion: int = limits.EXPANSION,
    ):
        self.name, self.file, self.content = name, file, READERS[magic](file)
        self.size, self.expansion = size, expansion
        self.expanded = 0  # bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            block = self.content.read1(len(buffer))
            if not self.file.tell():
                raise EOFError("it is empty")
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise damaged(self.name, error) from None
        self.expanded += len(block)
        if self.expanded > max(self.size, self.expansion * self.file.tell()):
            what = f"expands to more than {self.expansion} times its size; no text does"
            raise CorpusError(f"{self.name}: {what}: decompress it if you trust it")
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


def damaged(where: str | Path, error: Exception) -> CorpusError:
    """The error for a damaged file, with our own words in the place of a decoder's."""
    # gzip and bz2 raise an OSError without the number that the system's errors have
    of_decoder = isinstance(error, OSError) and error.errno is None
    if isinstance(error, lzma.LZMAError | zlib.error) or of_decoder:
        what = "its compressed data is damaged, or its name is wrong"
        remedy = "copy or download it again"
    else:
        what = " ".join(str(error).split()) or type(error).__name__
        remedy = "check that it is complete"
    return CorpusError(f"{where}: cannot be read: {what}; {remedy}")
