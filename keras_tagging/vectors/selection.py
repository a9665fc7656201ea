"""The wanted words of a file, and their vectors."""

from collections.abc import Iterable

import numpy as np

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.utils import limits
from keras_tagging.vectors.word_vectors import UNKNOWN_ROWS, WordVectors

# A decomposed character has at most four characters.
_DECOMPOSED = 4
# One word in this many may be damaged. In the wrong encoding, far more are.
_DAMAGED = 100


class Selection:
    """Collector of words and their vectors; of equal words it keeps the first.

    The matrix grows with the added vectors: the size that a file announces is not
    trusted.

    Args:
        path: path of the file, for messages.
        wanted: the words to keep, in NFC; None for all, as written.
        encoding: the encoding of the words.
        most: the number of bytes that the file can have; a value takes at least two.

    Attributes:
        rows: the row of each word that has been added.
        composed: those of them whose vector is made of their pieces.

    Raises:
        ValueError: if the encoding is unknown, or has no ASCII spaces.
    """

    def __init__(
        self, path: str, wanted: frozenset[str] | None, encoding: str, most: int
    ):
        self.path, self.wanted, self.encoding, self.most = path, wanted, encoding, most
        self.longest = _DECOMPOSED * max(map(len, wanted or [""]))
        self.rows: dict[str, int] = {}
        self.composed: set[str] = set()
        self.matrix = np.empty((0, 0), np.float32)
        self.words = self.damaged = 0
        self.example = ""
        try:
            is_text = b" 09\n".decode(encoding, "replace") == " 09\n"
        except (LookupError, TypeError, UnicodeError):
            is_text = False
        if not is_text:
            raise ValueError(
                f"encoding={encoding!r} does not work for word vectors: give another, "
                "such as 'utf-8' or 'latin-1', or write the file again in UTF-8"
            )

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
            raise ValueError(
                f"{self._place(line)}: has a word of {len(name):,} bytes (at most "
                f"{limits.VECTOR_WORD:,} are read): remove it"
            )
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
        row = self.rows[word] = len(self.rows)
        if row == len(self.matrix):
            self._grow(row, len(vector))
        self.matrix[row] = vector

    def _grow(self, row: int, dimension: int) -> None:
        if row or self.wanted is None:
            shape = max(64, row + row // 8), dimension
            self.matrix.resize(shape, refcheck=False)
        else:
            # pages that are never written to take no memory
            rows = min(len(self.wanted), self.most // (2 * dimension) + 1)
            self.matrix = np.empty((rows, dimension), np.float32)

    def _place(self, line: int | None) -> str:
        return self.path if line is None else f"{self.path}:{line}"

    def vectors(self) -> WordVectors:
        """The collected vectors.

        Raises:
            ValueError: if there are none, or many words are not in the encoding.
        """
        if self.damaged * _DAMAGED > self.words:
            raise ValueError(
                f"{self.example} is not in {self.encoding}, nor are {self.damaged:,} "
                f"of {self.words:,} words: name the encoding, such as "
                "encoding='latin-1', or convert the file with iconv -t utf-8"
            )
        if not self.rows and self.wanted:
            word = min(self.wanted.difference(UNKNOWN_ROWS), default="")
            raise ValueError(
                f"{self.path}: has none of the wanted words, such as {word[:40]!r}: "
                "check language, case and encoding"
            )
        shape = len(self.rows), self.matrix.shape[1]
        self.matrix.resize(shape, refcheck=False)
        composed = frozenset(self.composed & self.rows.keys())
        return WordVectors(list(self.rows), self.matrix, composed)
