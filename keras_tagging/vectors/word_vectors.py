"""Word vectors in memory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

#: The names of the unknown word in common vector files.
UNKNOWN_ROWS = ("UNKNOWN", "*UNKNOWN*", "<unk>", "<UNK>", "UNK", "unk")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Args:
        words: the words, each once.
        matrix: `(words, dimension)`, float32; row `i` is the vector of `words[i]`.
        composed: those of the words whose vector is made of their pieces.
    """

    words: list[str]
    matrix: np.ndarray
    composed: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        some = ", ".join(word[:20] for word in self.words[:3])
        more = ", ..." if len(self.words) > 3 else ""
        count, dimension = self.matrix.shape
        size = f"{count:,} words, {dimension} numbers each"
        return f"<WordVectors of {size}: {some}{more}>"

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether the word, as it is, has a vector."""
        return word in self.index

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def mean(self) -> np.ndarray:
        """The mean of all vectors, `(dimension,)`."""
        return self.matrix.mean(axis=0, dtype=np.float64).astype(np.float32)

    def unknown(self) -> np.ndarray:
        """The vector of an unknown word, `(dimension,)`: the file's own, or the mean.

        GoogleNews has no row for the UNKNOWN of Kadari et al. (2018); the paper does
        not say which vector it uses instead.
        """
        for name in UNKNOWN_ROWS:
            if name in self.index:
                return self.matrix[self.index[name]]
        return self.mean()

    def scaled(self, std: float = 0.1) -> "WordVectors":
        """The same vectors times a number, so that their values have this deviation.

        Values of GloVe deviate by 0.68 from their mean, while random rows of a table
        start within a few hundredths. An optimizer such as Adam takes steps of its
        learning rate whatever the size of a value, and so needs many more of them to
        change large ones.

        Args:
            std: the standard deviation of all values, above 0; that of Turian et al.
                (2010), Eq. 1.

        Returns:
            Other `WordVectors`; the matrix is a copy.

        Raises:
            ValueError: if `std` is no number above 0, or all values are the same.
        """
        before = self.std()
        if not (0 < std < float("inf") and before > 0):
            raise ValueError(f"std={std!r}, where it is {before}: both must be above 0")
        return replace(self, matrix=self.matrix * np.float32(std / before))

    def std(self) -> float:
        """The standard deviation of all values around their mean."""
        if not self.matrix.size:
            return 0.0
        # NumPy's own would make two further matrices of float64
        square = np.einsum("ij,ij->", self.matrix, self.matrix, dtype=np.float64)
        square, mean = square / self.matrix.size, self.matrix.mean(dtype=np.float64)
        variance = square - mean**2
        # of equal values rounding alone is left
        return float(np.sqrt(variance)) if variance > 1e-12 * square else 0.0

    def lookup(
        self,
        words: Sequence[str],
        normalise: Callable[[str], str | Iterable[str]] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of some words, and which of them have one.

        Args:
            words: the words to look up.
            normalise: function from a word to the form to look up, or to several forms
                to try in order; by default the word itself.

        Returns:
            The vectors, `(words, dimension)` float32, zeros for words without one; and
            whether each word has a vector, `(words,)` bool.
        """
        rows = np.full(len(words), -1)
        for i, word in enumerate(words):
            forms = normalise(word) if normalise else word
            for form in [forms] if isinstance(forms, str) else forms:
                if form in self.index:
                    rows[i] = self.index[form]
                    break
        is_present = rows >= 0
        vectors = np.zeros((len(words), self.matrix.shape[1]), np.float32)
        vectors[is_present] = self.matrix[rows[is_present]]
        return vectors, is_present


def composed(keyed, words: Iterable[str] = ()) -> WordVectors:
    """All vectors of gensim's `KeyedVectors`.

    If they are fastText's, `words` get vectors composed of their pieces.
    """
    # gensim leaves empty rows at the end for words that occurred before.
    count = len(keyed.key_to_index)
    names, matrix = list(keyed.index_to_key[:count]), keyed.vectors[:count]
    others = [word for word in words if can_compose(keyed, word)]
    if others:
        rows = np.stack([keyed.get_vector(word) for word in others])
        matrix = np.concatenate([matrix, rows], dtype=np.float32)
    return WordVectors(names + others, matrix, frozenset(others))


def can_compose(keyed, word: str) -> bool:
    """Whether these are fastText's vectors, and have pieces of the word."""
    if word in keyed.key_to_index or not getattr(keyed, "bucket", 0):
        return False
    from gensim.models.fasttext import ft_ngram_hashes

    return bool(ft_ngram_hashes(word, keyed.min_n, keyed.max_n, keyed.bucket))


def not_finite(where: str, word: str) -> str:
    """The message about an unusable vector; `where` is a file, or a line of it."""
    return (
        f"{where}: the vector of {word!r} holds a value that is not a finite number: "
        "correct or remove it"
    )
