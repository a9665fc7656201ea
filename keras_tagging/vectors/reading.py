"""Readers of files of word vectors: text, word2vec's binary, fastText's models.

gensim reads them too, but trusts the first line: it allocates the announced size,
ignores further vectors, fills a whole row with a single value, cannot read only the
words of a vocabulary, and loops for ever on a damaged list of words.
"""

import codecs
import io
import os
import re
import struct
import sys
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from keras_tagging.data.lines import BZIP2, GZIP, Decompressed
from keras_tagging.data.normalisation import to_nfc
from keras_tagging.utils import limits
from keras_tagging.vectors.word_vectors import UNKNOWN_ROWS, WordVectors, not_finite

_CHUNK = 2**17
_COMPRESSED = {".gz": GZIP, ".bz2": BZIP2}
_FASTTEXT = b"\xba\x16\x4f\x2f"
# The first bytes of files that cannot be read, and the remedies.
_UNREADABLE = {
    b"\x1f\x8b": "is compressed: give it a name that ends in .gz",
    b"BZh": "is compressed: give it a name that ends in .bz2",
    b"PK\x03\x04": "is a zip archive: unzip it first",
}
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r"))
_SAMPLE = 2**14
_BLOCK = 2**20  # bytes of rows of a fastText model
_DAMAGED = "is damaged, or not a .bin model of fastText: download it again"
_OTHER = (
    "is not a .bin model of word vectors of fastText: classifiers and quantised models "
    "(.ftz) cannot be read; name a model of word vectors"
)
# A decomposed character has at most four characters.
_DECOMPOSED = 4
# One word in this many may be damaged. In the wrong encoding, far more are.
_RARE = 100


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
                what = f"has more than {limits.VECTOR_LINE:,} bytes in one line"
                raise ValueError(f"{self.path}:{number}: {what}: name word vectors")
            block = self.file.read(_CHUNK)
        if rest:
            yield rest

    def finish(self) -> None:
        """Read the rest of a compressed file: its checksum is at the end."""
        while self.compressed and self.file.read(_CHUNK):
            pass

    def ended(self) -> ValueError:
        what = "ends before the last vector that it announces, or is damaged"
        return ValueError(f"{self.path}: {what}: download or write it again")

    def _fill(self, size: int) -> None:
        """Fill the buffer with at least the next `size` bytes, if there are so many."""
        parts = [self.buffer[self.position :]]
        missing = size - len(parts[0])
        while missing > 0 and (part := self.file.read(max(_CHUNK, missing))):
            parts.append(part)
            missing -= len(part)
        self.buffer, self.position = b"".join(parts), 0


@contextmanager
def opened(path: str) -> Iterator[Stream]:
    """The file, decompressed if its name says so.

    Raises:
        ValueError: while it is read, if it is damaged, or expands too much.
        OSError: if it cannot be opened.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"{path}: there is no such file; check the path")
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


class Selection:
    """Collector of words and their vectors; of equal words it keeps the first.

    Memory grows with the added vectors: the size that a file announces is not trusted.

    Args:
        path: path of the file, for messages.
        wanted: the words to keep, in NFC; None for all, as written.
        encoding: the encoding of the words.

    Attributes:
        rows: the row of each word that has been added.
        composed: those of them whose vector is made of their pieces.
        values: of all vectors, end to end; float32.
    """

    def __init__(self, path: str, wanted: frozenset[str] | None, encoding: str):
        self.path, self.wanted, self.encoding = path, wanted, encoding
        self.longest = _DECOMPOSED * max(map(len, wanted or [""]))
        self.rows: dict[str, int] = {}
        self.composed: set[str] = set()
        self.values: array | np.ndarray = array("f")
        self.words = self.damaged = 0
        self.example = ""

    def take(self, name: bytes, line: int | None = None) -> str | None:
        """Decode a word; return the form to add, or None if it is not wanted.

        Args:
            name: the word as in the file.
            line: the number of its line, for messages.

        Raises:
            ValueError: if it is too long for a word.
        """
        self.words += 1
        if len(name) > limits.VECTOR_WORD:
            what = f"a word of {len(name):,} bytes, over {limits.VECTOR_WORD:,}"
            raise ValueError(f"{self._place(line)}: has {what}: remove it")
        try:
            word = name.decode(self.encoding)
        except UnicodeDecodeError as error:
            # word2vec cuts long words, even inside a character
            if error.reason != "unexpected end of data":
                self.damaged += 1
                self.example = self.example or f"{self._place(line)}: {name[:40]!r}"
            word = name.decode(self.encoding, "replace")
        return self.wanted_form(word)

    def wanted_form(self, word: str) -> str | None:
        """The form of a word to add; None if it is not wanted or already there."""
        if self.wanted is not None:
            if len(word) > self.longest:  # NFC of long runs of marks takes very long
                return None
            word = to_nfc(word)
            if word not in self.wanted:
                return None
        return None if word in self.rows else word

    def lacks(self, forms: Iterable[str]) -> bool:
        """Whether none of the forms of a word has been added."""
        return self.rows.keys().isdisjoint(forms)

    def add(self, word: str, vector) -> None:
        """Add a word and its vector."""
        self.rows[word] = len(self.rows)
        self.values.frombytes(np.asarray(vector, np.float32).tobytes())

    def _place(self, line: int | None) -> str:
        return self.path if line is None else f"{self.path}:{line}"

    def vectors(self) -> WordVectors:
        """The collected vectors.

        Raises:
            ValueError: if there are none, or many words are not in the encoding.
        """
        if self.damaged * _RARE > self.words:
            count = f"{self.damaged:,} of {self.words:,} words"
            what = f"{self.example} is not in {self.encoding}, nor are {count}"
            raise ValueError(f"{what}: name it, such as encoding='latin-1'")
        if not self.rows and self.wanted:
            word = min(self.wanted.difference(UNKNOWN_ROWS), default="")
            what = f"has none of the wanted words, such as {word[:40]!r}"
            raise ValueError(f"{self.path}: {what}: check language, case and encoding")
        matrix = np.asarray(self.values).reshape(len(self.rows) or 1, -1)
        composed = frozenset(self.composed & self.rows.keys())
        return WordVectors(list(self.rows), matrix, composed)


def recognised(stream: Stream) -> tuple[str, tuple[int, int] | None]:
    """Recognise the format of a file by its beginning.

    Nothing is consumed except a byte order mark of UTF-8.

    Returns:
        "pickle", "fasttext", "binary" or "text"; and COUNT and DIMENSION if the first
        line of the latter two announces them, else None.

    Raises:
        ValueError: if the file is empty, or of a kind that cannot be read.
    """
    path, head = stream.path, stream.head(2 * _SAMPLE)
    if b"\n" not in head[:_SAMPLE]:
        head = stream.head(limits.VECTOR_LINE + _SAMPLE)
    for start, problem in _UNREADABLE.items():
        if head.startswith(start):
            raise ValueError(f"{path}: {problem}")
    if not head:
        raise ValueError(f"{path}: is empty: give a file with vectors")
    if head[0] == 0x80 and head[1:2] < b" ":  # a pickle, then its protocol's number
        return "pickle", None
    if head.startswith(_FASTTEXT):
        return "fasttext", None
    if head.startswith(codecs.BOM_UTF8):
        stream.skip(len(codecs.BOM_UTF8))
        head = head.removeprefix(codecs.BOM_UTF8)
    first, _, sample = head.partition(b"\n")
    sample = sample[:_SAMPLE]
    sizes = _header(path, first)
    if sizes is None and b"\0" in first + sample:
        raise ValueError(f"{path}: is binary data of another kind: name word vectors")
    is_text = sizes is None or _is_text(sample, sizes[1])
    return "text" if is_text else "binary", sizes


def _is_text(sample: bytes, dimension: int) -> bool:
    """Whether what follows COUNT and DIMENSION is lines of words and values."""
    line, end, _ = sample.partition(b"\n")
    fields = line.split()
    if end and len(fields) > dimension:
        try:  # a control character may be in a word of text
            return bool([float(field) for field in fields[-dimension:]])
        except ValueError:
            pass
    return len(sample.translate(None, _CONTROL)) == len(sample)


def _header(path: str, first: bytes) -> tuple[int, int] | None:
    """COUNT and DIMENSION, if the first line is these two numbers."""
    fields = first.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    # of longer numbers the beginning is too large, too
    count, dimension = (int(field[:18]) for field in fields)
    if not (count and 0 < dimension <= limits.VECTOR_DIMENSION):
        what = f"announces {count} vectors of {dimension} values"
        allowed = f"(1 to {limits.VECTOR_DIMENSION} are allowed)"
        raise ValueError(f"{path}:1: {what} {allowed}: download the file again")
    return count, dimension


def read_text(
    stream: Stream,
    selection: Selection,
    sizes: tuple[int, int] | None,
    limit: int | None,
) -> None:
    """Read text vectors; values are parsed for the wanted words only.

    A word may have blanks, but in the first line that tells the number of values.

    Args:
        stream: the file from its beginning.
        selection: collects the vectors.
        sizes: COUNT and DIMENSION; None if the first line is a vector.
        limit: read only this many vectors.

    Raises:
        ValueError: if a line is malformed, or there are fewer or more than announced.
    """
    path, rows = stream.path, 0
    count, dimension = sizes or (None, None)
    lines = enumerate(stream.lines(), 1)
    if sizes:
        next(lines)
    for number, line in lines:
        if rows == limit:
            break
        line = line.rstrip().replace(b"\t", b" ")
        if not line and rows == count:
            continue
        width = line.count(b" ")
        name, _, values = line.partition(b" ")
        if dimension and width > dimension:
            whole, *parts = line.rsplit(b" ", dimension)
            if not any(map(_NUMBER.fullmatch, whole.split(b" ")[1:])):
                name, width, values = whole, dimension, b" ".join(parts)
        if rows == 0:
            dimension = dimension or width
            if dimension > limits.VECTOR_DIMENSION:
                what = f"{dimension:,} values, over {limits.VECTOR_DIMENSION:,}"
                raise ValueError(f"{path}:{number}: has {what}: name word vectors")
            vector = _parsed(path, number, values)
        if width != dimension:
            what = f"has {width} values where {dimension} are expected"
            raise ValueError(f"{path}:{number}: {what}: correct or remove it")
        if (word := selection.take(name, number)) is not None:
            if rows:
                vector = _parsed(path, number, values)
            if not np.isfinite(vector).all():
                raise ValueError(not_finite(f"{path}:{number}", word))
            selection.add(word, vector)
        rows += 1
    if count is not None and rows != count and rows != limit:
        what = f"announces {count} vectors but {rows} follow"
        raise ValueError(f"{path}:1: {what}: correct it")


#: what is no part of a word with blanks, but a value too much
_NUMBER = re.compile(rb"|[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?|nan|-?inf", re.IGNORECASE)


def _parsed(path: str, number: int, values: bytes) -> np.ndarray:
    try:
        return np.array(list(map(float, values.split(b" "))), np.float32)
    except ValueError:
        what = "is not a word and its values, with single spaces between them"
        remedy = "correct or remove it, or name a file of word vectors"
        raise ValueError(f"{path}:{number}: {what}: {remedy}") from None


def read_binary(
    stream: Stream, selection: Selection, sizes: tuple[int, int], limit: int | None
) -> None:
    """Read word2vec's binary.

    A word ends at a blank, and may hold others, which gensim writes but cannot read:
    see `_rest_of_word`.

    Arguments and errors are those of `read_text`.
    """
    count, dimension = sizes
    size = 4 * dimension
    stream.until(b"\n")
    for _ in range(min(count, limit or count)):
        name, row = stream.until(b" ").lstrip(b"\n"), stream.take(size)
        if more := _rest_of_word(row, stream):
            name += b" " + row[: more - 1]
            row = row[more:] + stream.take(more)
        if (word := selection.take(name)) is not None:
            selection.add(word, np.frombuffer(row, "<f4"))
    if limit is None and stream.head(_SAMPLE).strip():
        what = f"continues after the {count} vectors that its first line announces"
        remedy = f"download it again, or give limit={count} to read only these"
        raise ValueError(f"{stream.path}: {what}: {remedy}")


#: a word behind its first blank
_REST = re.compile(rb"(?:[^\0-\x20\x7f]{0,99}+ ){1,20}")
_FAR = 24  # powers of 2


def _rest_of_word(row: bytes, stream: Stream) -> int:
    """How many of the bytes behind the first blank belong to the word, with a blank.

    Nothing marks its last blank. But characters, or the ends and beginnings of values,
    read as values, are very large or very small: the row begins where none is.
    """
    if (text := _REST.match(row)) is None:
        return 0
    places = [i for i, sign in enumerate(text[0], 1) if sign == ord(" ")]
    more = stream.head(places[-1])
    sizes = {0: _furthest(row)}
    sizes |= {i: _furthest(row[i:] + more[:i]) for i in places if i <= len(more)}
    best = min(sizes, key=sizes.get)
    return best if sizes[best] + _FAR < sizes[0] else 0


def _furthest(row: bytes) -> float:
    """By how many powers of 2 a value differs from 1 or -1, at most."""
    values = np.abs(np.frombuffer(row, "<f4").astype(float))
    powers = np.abs(np.log2(values[values != 0]))
    return np.nan_to_num(powers, nan=np.inf).max(initial=0)


def read_fasttext(
    stream: Stream,
    selection: Selection,
    unseen: dict[str, tuple[str, ...]],
    limit: int | None,
) -> None:
    """Read the vectors of the words of a model, and compose those of other words.

    The vector of a word is the mean of its own row and the rows of its pieces, which
    gensim computes.

    Args:
        stream: the file from its beginning.
        selection: collects the vectors.
        unseen: the forms of further words, by word. A word gets a vector composed of
            its pieces if the model has none of its forms.
        limit: read only this many words of the model, the first ones.

    Raises:
        ValueError: if the file is damaged, or is another kind of model.
    """
    from gensim.models.fasttext import ft_ngram_hashes

    stream.skip(len(_FASTTEXT))
    _, dimension, *_, bucket, least, most, _, _ = stream.unpack("<13id")
    size, seen, labels, _, pruned = stream.unpack("<3i2q")
    _check(stream, labels == 0 and pruned <= 0, _OTHER)
    _check(stream, 0 < dimension <= limits.VECTOR_DIMENSION and 0 < size == seen)
    _check(stream, 0 <= bucket and 0 <= least and 0 <= most <= limits.VECTOR_PIECE)
    # pairs: a row of the file, and the row of the vector that it is a part of
    parts, wholes = array("q"), array("q")

    def add(word: str, rows: list[int]) -> None:
        pieces = ft_ngram_hashes(word, least, most, bucket) if bucket else []
        if rows or pieces:
            row = selection.rows[word] = len(selection.rows)
            parts.extend(rows + [size + piece for piece in pieces])
            wholes.extend([row] * (len(rows) + len(pieces)))

    for row in range(size):
        name = stream.until(b"\0")
        stream.skip(9)  # its count and kind
        if row < (limit or size) and (word := selection.take(name)) is not None:
            add(word, [row])
    for word, forms in unseen.items():
        if selection.lacks(forms):
            add(word, [])
            selection.composed.add(word)
    is_quantised, height, width = stream.unpack("<?2q")
    _check(stream, not is_quantised, _OTHER)
    _check(stream, (height, width) == (size + bucket, dimension))
    if 4 * height * width > stream.most:  # before a matrix is allocated
        raise stream.ended()
    matrix = np.zeros((len(selection.rows), dimension), np.float32)
    _add_parts(stream, matrix, np.asarray(parts), np.asarray(wholes))
    matrix /= np.bincount(wholes, minlength=len(matrix))[:, None]
    selection.values = matrix


def _add_parts(stream, matrix, parts, wholes) -> None:
    """Add rows of the file to rows of a matrix, in one pass over the file."""
    order = np.argsort(parts, kind="stable")
    parts, wholes = parts[order], wholes[order]
    size = 4 * matrix.shape[1]
    start, block, done = 0, max(1, _BLOCK // size), 0
    while done < len(parts):
        end = min(start + block, int(parts[-1]) + 1)
        content = stream.take(size * (end - start))
        values = np.frombuffer(content, "<f4").reshape(end - start, -1)
        here = slice(done, int(np.searchsorted(parts, end)))
        # faster than NumPy's add.at and reduceat
        pairs = zip(wholes[here].tolist(), parts[here].tolist(), strict=True)
        for whole, part in pairs:
            matrix[whole] += values[part - start]
        start, done = end, here.stop


def _check(stream: Stream, is_right: bool, problem: str = _DAMAGED) -> None:
    if not is_right:
        raise ValueError(f"{stream.path}: {problem}")
