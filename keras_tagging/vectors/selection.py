"""The vectors of some words, in one pass over a file of any size.

gensim reads a file as a whole, whatever words are wanted. These passes keep the wanted
rows and nothing else: a matrix is allocated for as many as there may be, and gives back
what was not filled.
"""

import struct
from collections.abc import Iterable

import numpy as np

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.vectors.files import (
    FASTTEXT,
    no_row,
    not_finite,
    opened,
    text_rows,
)
from keras_tagging.vectors.word_vectors import WordVectors

_CHUNK = 2**20
# Bytes before the next space or zero byte: more than any word has.
_MAX_WORD = 2**16


class Selection:
    """Words and rows as they are found, the first of equal words only.

    Args:
        path: for messages.
        words: the wanted ones, in NFC.
        dimension: of a vector.
        most: rows there can be.
    """

    def __init__(self, path: str, words: frozenset[str], dimension: int, most: int):
        self.path = path
        self.wanted = words
        self.found: dict[str, int] = {}
        # not touched, and so not in memory, before rows are written to it
        self.matrix = np.empty((most, dimension), np.float32)

    def take(self, word: str) -> str | None:
        """The word in NFC, if it is wanted and not there yet."""
        word = to_nfc(word)
        return word if word in self.wanted and word not in self.found else None

    def add(self, word: str, vector) -> None:
        self.matrix[self.found.setdefault(word, len(self.found))] = vector

    def lacks(self, forms: Iterable[str]) -> bool:
        """Whether none of the forms of a word has been found."""
        return self.found.keys().isdisjoint(forms)

    def vectors(self) -> WordVectors:
        """What was found.

        Raises:
            ValueError: if that is nothing, or a value is not a finite number.
        """
        words = list(self.found)
        if not words:
            raise ValueError(
                f"{self.path}: has none of the {len(self.wanted):,} words that are "
                "looked for: check language, case and encoding"
            )
        self.matrix.resize((len(words), self.matrix.shape[1]), refcheck=False)
        for start in range(0, len(words), 4096):  # no second matrix, not even of bools
            finite = np.isfinite(self.matrix[start : start + 4096]).all(axis=1)
            if not finite.all():
                word = words[start + int(finite.argmin())]
                raise ValueError(not_finite(self.path, word))
        return WordVectors(words, self.matrix)


def select_text(
    path: str,
    sizes: tuple[int, int] | None,
    words: frozenset[str],
    limit: int | None,
    encoding: str,
) -> WordVectors:
    """Of text vectors those of some words.

    Arguments are those of `text_rows`; what is not kept is not parsed.
    """
    selection = None
    for number, line in text_rows(path, sizes, limit):
        name, _, values = line.partition(b" ")
        if selection is None:
            count, dimension = sizes or (len(words), line.count(b" "))
            selection = Selection(path, words, dimension, min(count, len(words)))
        if word := selection.take(name.decode(encoding, "replace")):
            try:
                vector = np.array(values.split(b" "), np.float32)
            except ValueError:
                raise ValueError(no_row(path, number)) from None
            if not np.isfinite(vector).all():
                raise ValueError(not_finite(f"{path}:{number}", word))
            selection.add(word, vector)
    return selection.vectors()


def select_binary(
    path: str,
    sizes: tuple[int, int],
    words: frozenset[str],
    limit: int | None,
    encoding: str,
) -> WordVectors:
    """Of word2vec's binary the vectors of some words."""
    count, dimension = sizes
    count = min(count, limit or count)
    selection = Selection(path, words, dimension, min(count, len(words)))
    with opened(path) as file:
        stream = Stream(file)
        stream.until(b"\n")
        for row in range(count):
            try:
                name = stream.until(b" ").lstrip(b"\n")
                word = selection.take(name.decode(encoding, "replace"))
                if word is None:
                    stream.skip(4 * dimension)
                else:
                    vector = np.frombuffer(stream.take(4 * dimension), "<f4")
                    selection.add(word, vector)
            except Ended:
                raise ValueError(
                    f"{path}: not the vectors that its first line announces (number "
                    f"{row + 1} of {sizes[0]} is not whole): fetch or write it again"
                ) from None
    return selection.vectors()


def select_fasttext(
    path: str,
    words: frozenset[str],
    unseen: dict[str, tuple[str, ...]],
    limit: int | None,
    encoding: str,
) -> WordVectors:
    """Of a fastText model, `.bin`, the vectors of some words, seen by it or not.

    A word's vector is the mean of its own row and those of its pieces; gensim tells
    which these are.

    Args:
        path: the file.
        words: to look for among those that the model has seen, in NFC.
        unseen: words to make of their pieces if none of their forms was seen: the
            forms by word.
        limit: look at the first so many words of the model only.
        encoding: of the words.
    """
    from gensim.models.fasttext import ft_ngram_hashes

    with opened(path) as file:
        stream = Stream(file)
        try:
            stream.take(len(FASTTEXT))
            _, dimension, *_, bucket, least, most, _, _ = stream.unpack("<13id")
            size, seen, labels, _, pruned = stream.unpack("<3i2q")
            selection = Selection(path, words, dimension, len(words))
            sources = []  # for every row: the rows of the file whose mean it is
            for row in range(size):
                name = stream.until(b"\0")
                _, is_label = stream.unpack("<qb")
                if is_label or row >= (limit or size):
                    continue
                if word := selection.take(name.decode(encoding, "replace")):
                    selection.add(word, 0)
                    sources.append([row])
            for word, forms in unseen.items():
                if selection.lacks(forms):
                    selection.add(word, 0)
                    sources.append([])
            for word, rows in zip(selection.found, sources, strict=True):
                if bucket:
                    pieces = ft_ngram_hashes(word, least, most, bucket)
                    rows += [seen + int(piece) for piece in pieces]
            is_quantised, rows, width = stream.unpack("<?2q")
            if is_quantised or pruned > 0 or labels or width != dimension:
                raise ValueError(
                    f"{path}: is not a model of word vectors as fastText writes it to "
                    ".bin: neither one of labels nor a quantised one (.ftz) is read"
                )
            _add_means(stream, selection, sources, width)
        except Ended:
            raise ValueError(
                f"{path}: ends before its last vector: fetch it again"
            ) from None
    # words without a piece are not in the model at all
    made = [i for i, rows in enumerate(sources) if rows]
    if len(made) < len(sources):
        names = list(selection.found)
        selection.found = {names[i]: row for row, i in enumerate(made)}
        selection.matrix[: len(made)] = selection.matrix[made]
    return selection.vectors()


def _add_means(stream, selection, sources, dimension) -> None:
    """Adds up the rows of a matrix that is read from its beginning."""
    targets = np.repeat(np.arange(len(sources)), list(map(len, sources)))
    rows = np.array([row for group in sources for row in group], np.int64)
    order = np.argsort(rows, kind="stable")
    targets, rows = targets[order], rows[order]
    start, block = 0, max(1, _CHUNK // (4 * dimension))
    while len(rows):
        end = min(start + block, int(rows[-1]) + 1)
        content = stream.take(4 * dimension * (end - start))
        values = np.frombuffer(content, "<f4").reshape(-1, dimension)
        here = np.searchsorted(rows, end)
        np.add.at(selection.matrix, targets[:here], values[rows[:here] - start])
        targets, rows, start = targets[here:], rows[here:], end
    for row, group in enumerate(sources):
        selection.matrix[row] /= len(group) or 1


class Ended(Exception):
    """A file ended too early."""


class Stream:
    """Bytes of a file, by number or up to a mark."""

    def __init__(self, file):
        self.file = file
        self.buffer, self.position = b"", 0

    def take(self, size: int) -> bytes:
        """The next bytes.

        Raises:
            Ended: if there are not so many.
        """
        self.skip(size)
        return self.buffer[self.position - size : self.position]

    def skip(self, size: int) -> None:
        """Goes on to what follows the next bytes.

        Raises:
            Ended: if there are not so many.
        """
        if self.position + size > len(self.buffer):
            self._read(size)
            if size > len(self.buffer):
                raise Ended
        self.position += size

    def until(self, mark: bytes) -> bytes:
        """The bytes before a mark of one byte, which is skipped.

        Raises:
            Ended: if there is none, or none near.
        """
        end = self.buffer.find(mark, self.position)
        if end < 0:
            self._read(_MAX_WORD)
            end = self.buffer.find(mark)
            if end < 0:
                raise Ended
        found = self.buffer[self.position : end]
        self.position = end + 1
        return found

    def unpack(self, format: str) -> tuple:
        return struct.unpack(format, self.take(struct.calcsize(format)))

    def _read(self, size: int) -> None:
        """Brings the next bytes to the beginning: so many, if there are, or more."""
        parts = [self.buffer[self.position :]]
        missing = max(_CHUNK, size - len(parts[0]))
        while missing > 0 and (part := self.file.read(missing)):
            parts.append(part)
            missing -= len(part)
        self.buffer, self.position = b"".join(parts), 0
