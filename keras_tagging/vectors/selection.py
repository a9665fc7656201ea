"""The words of a file that are kept, and their vectors."""

from collections.abc import Iterable

import numpy as np

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.utils import limits
from keras_tagging.vectors.word_vectors import WordVectors

# No character becomes more than four when it is decomposed.
_DECOMPOSED = 4
# One word in so many may be damaged. In another encoding it is far more.
_DAMAGED = 100


class Selection:
    """Words and vectors as they are found, the first of equal words only.

    The matrix is made for what is added: what a file announces is not believed.

    Args:
        path: of the file, for messages.
        wanted: the words to keep, in NFC; None for all, as they are written.
        encoding: of the words.
        most: bytes that the file can hold, at least two for a value.

    Raises:
        ValueError: if there is no such encoding, or spaces are no spaces in it.
    """

    def __init__(
        self, path: str, wanted: frozenset[str] | None, encoding: str, most: int
    ):
        self.path, self.wanted, self.encoding, self.most = path, wanted, encoding, most
        self.longest = _DECOMPOSED * max(map(len, wanted or [""]))
        self.rows: dict[str, int] = {}
        self.matrix = np.empty((0, 0), np.float32)
        self.words = self.damaged = 0
        self.example = ""
        try:
            is_text = b" 09\n".decode(encoding, "replace") == " 09\n"
        except (LookupError, UnicodeError):
            is_text = False
        if not is_text:
            raise ValueError(
                f"encoding={encoding!r} is none that word vectors have: give one such "
                "as 'utf-8' or 'latin-1', or write the file again in UTF-8"
            )

    def take(self, name: bytes, line: int | None = None) -> str | None:
        """The word as it is kept, if it is wanted and not there yet.

        Args:
            name: the word as it is in the file.
            line: its number, for messages.

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
            # word2vec cuts long words, wherever that is
            if error.reason != "unexpected end of data":
                self.damaged += 1
                self.example = self.example or f"{self._place(line)}: {name[:40]!r}"
            word = name.decode(self.encoding, "replace")
        return self.wanted_form(word)

    def wanted_form(self, word: str) -> str | None:
        """The word as it is kept, if it is wanted and not there yet."""
        if self.wanted is not None:
            if len(word) > self.longest:  # long runs of marks take NFC very long
                return None
            word = to_nfc(word)
            if word not in self.wanted:
                return None
        return None if word in self.rows else word

    def lacks(self, forms: Iterable[str]) -> bool:
        """Whether none of the forms of a word has been found."""
        return self.rows.keys().isdisjoint(forms)

    def add(self, word: str, vector) -> None:
        """Keep a word and its vector."""
        row = self.rows[word] = len(self.rows)
        if row == len(self.matrix):
            self._grow(row, len(vector))
        self.matrix[row] = vector

    def _grow(self, row: int, dimension: int) -> None:
        if row or self.wanted is None:
            shape = max(64, row + row // 8), dimension
            self.matrix.resize(shape, refcheck=False)
        else:
            # not touched, and so not in memory, before rows are written to it
            rows = min(len(self.wanted), self.most // (2 * dimension) + 1)
            self.matrix = np.empty((rows, dimension), np.float32)

    def _place(self, line: int | None) -> str:
        return self.path if line is None else f"{self.path}:{line}"

    def vectors(self) -> WordVectors:
        """What was found.

        Raises:
            ValueError: if that is nothing, or many words are not in the encoding.
        """
        if self.damaged * _DAMAGED > self.words:
            raise ValueError(
                f"{self.example} is not in {self.encoding}, nor are {self.damaged:,} "
                f"of {self.words:,} words: name the encoding, such as "
                "encoding='latin-1', or convert the file with iconv -t utf-8"
            )
        if not self.rows and self.wanted:
            raise ValueError(
                f"{self.path}: has none of the {len(self.wanted):,} words that are "
                "looked for: check language, case and encoding"
            )
        shape = len(self.rows), self.matrix.shape[1]
        self.matrix.resize(shape, refcheck=False)
        return WordVectors(list(self.rows), self.matrix)
