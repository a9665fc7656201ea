"""Pretrained word vectors: reading every common format, and training one's own.

gensim reads and trains. This module tells the formats apart by their content, and
checks a file first where gensim would read it wrongly or fail without a word about
the line. gensim is imported when it is needed: a tagger that is only served has its
vectors already.
"""

import gzip
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

import numpy as np

from keras_tagging.data.sentence import Sentence

# What a file that cannot be read starts with, and what to do about it.
_UNREADABLE = {
    b"\x1f\x8b": "is compressed: give it a name that ends in .gz",
    b"PK\x03\x04": "is a zip archive: unzip it first",
    b"\xba\x16\x4f\x2f": "is a fastText model: use the .vec file beside it",
}
_PICKLE = b"\x80"
# More than any line of text vectors has; other files may have no line ends at all.
_MAX_LINE = 2**20
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r"))
_GENSIM_ERRORS = (ValueError, EOFError, AssertionError, MemoryError)
# gensim drops what a sentence has beyond this many tokens.
_MAX_SENTENCE = 10_000


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors.

    Args:
        words: the words, each once.
        matrix: `(words, dimension)`, float32; row `i` is the vector of `words[i]`.
    """

    words: list[str]
    matrix: np.ndarray

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    def mean(self) -> np.ndarray:
        """The mean of all vectors, `(dimension,)`.

        It stands for unknown words where the file has no row for them, as
        GoogleNews has none for the UNKNOWN of Kadari et al. (2018); the paper does
        not say what it does then.
        """
        return self.matrix.mean(axis=0, dtype=np.float64).astype(np.float32)

    def lookup(
        self,
        words: Sequence[str],
        normalise: Callable[[str], str | Iterable[str]] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of some words, and which of them have one.

        Args:
            words: the words to look up.
            normalise: gives the form of a word to look up, or several forms to try
                in order; by default the word itself.

        Returns:
            `(words, dimension)` float32, zeros where there is no vector, and
            `(words,)` bool, whether there is one.
        """
        rows = np.full(len(words), -1)
        for i, word in enumerate(words):
            forms = normalise(word) if normalise else word
            for form in [forms] if isinstance(forms, str) else forms:
                if form in self.index:
                    rows[i] = self.index[form]
                    break
        found = rows >= 0
        vectors = np.zeros((len(words), self.matrix.shape[1]), np.float32)
        vectors[found] = self.matrix[rows[found]]
        return vectors, found


def load_vectors(
    path: str | Path, *, limit: int | None = None, encoding: str = "utf-8"
) -> WordVectors:
    """Reads word vectors: GloVe, word2vec, fastText or gensim's own.

    The format is told from the content: text with or without a first line of
    `COUNT DIMENSION` (word2vec and fastText `.vec`; GloVe), word2vec's binary, or
    what gensim saved (`.kv`, `.model`). A file whose name ends in `.gz` is
    uncompressed. Of a word that occurs twice the first vector is kept; a word cut
    inside a character, as word2vec leaves some, ends in U+FFFD.

    Memory: the words and the matrix. Files saved by gensim are pickles, which can
    run code: open only those that you trust.

    Args:
        path: the file.
        limit: read only the first so many vectors; files are usually sorted by
            frequency.
        encoding: of the words.

    Raises:
        ValueError: if the file is malformed, holds a value that is not a finite
            number, or has no vectors; the message names the file, the line if it
            is text, and the remedy.
        OSError: if the file cannot be opened.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1, or None for all")
    path = str(path)
    first, sample = _peek(path)
    if first.startswith(_PICKLE):
        return _load_native(path, limit)
    sizes = _header(path, first)
    binary = sizes is not None and len(sample.translate(None, _CONTROL)) < len(sample)
    if not binary:
        _check_text(path, sizes, limit)
    try:
        loaded = _load_word2vec(
            path,
            binary=binary,
            no_header=sizes is None,
            limit=limit,
            encoding=encoding,
        )
    except _GENSIM_ERRORS as error:
        if not binary:
            _check_text(path, sizes, limit, numbers=True)
        raise ValueError(
            f"{path}: not the vectors that its first line announces ({error}): "
            "fetch or write the file again"
        ) from error
    return _word_vectors(path, loaded, limit)


def train_vectors(
    sentences: Iterable[Sequence[str] | Sentence],
    size: int = 100,
    window: int = 5,
    min_count: int = 1,
    epochs: int = 5,
    seed: int = 0,
    skip_gram: bool = False,
) -> WordVectors:
    """Trains word2vec vectors on sentences, by gensim's `Word2Vec`.

    One worker thread, so that the same sentences and seed give the same vectors.

    Args:
        sentences: token lists, or `Sentence` objects.
        size: dimension of a vector.
        window: how many words to each side are context.
        min_count: leave out words that occur less often.
        epochs: passes over the sentences.
        seed: of all random numbers.
        skip_gram: skip-gram instead of continuous bag of words.

    Raises:
        ValueError: if a sentence is a string, or no word occurs often enough.
    """
    from gensim.models import Word2Vec

    pieces = []
    for number, sentence in enumerate(sentences, 1):
        if isinstance(sentence, str):
            raise ValueError(f"sentence {number} is a string: split it into words")
        tokens = getattr(sentence, "tokens", sentence)
        for start in range(0, len(tokens), _MAX_SENTENCE):
            pieces.append(tokens[start : start + _MAX_SENTENCE])
    model = Word2Vec(
        vector_size=size,
        window=window,
        min_count=min_count,
        seed=seed,
        sg=int(skip_gram),
        workers=1,
    )
    model.build_vocab(pieces)
    if not len(model.wv):
        raise ValueError(
            f"no word occurs {min_count} times in the sentences: "
            "give more of them, or a lower min_count"
        )
    model.train(pieces, total_examples=len(pieces), epochs=epochs)
    return WordVectors(list(model.wv.index_to_key), model.wv.vectors)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The file as bytes, uncompressed as gensim does it: if the name says so."""
    from gensim.utils import open as open_by_name

    try:
        with open_by_name(path, "rb") as file:
            yield file
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise ValueError(
            f"{path}: cannot be uncompressed as its name says ({error}): "
            "rename it, or fetch it again"
        ) from error


def _peek(path: str) -> tuple[bytes, bytes]:
    """The first line, and a sample of what follows, at least one line if any."""
    with _opened(path) as file:
        first = file.readline(_MAX_LINE)
        sample = file.readline(_MAX_LINE) + file.read(4096)
    for start, problem in _UNREADABLE.items():
        if first.startswith(start):
            raise ValueError(f"{path}: {problem}")
    if not first:
        raise ValueError(f"{path}: is empty")
    return first, sample


def _header(path: str, first: bytes) -> tuple[int, int] | None:
    """COUNT and DIMENSION if the first line holds just these."""
    fields = first.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields):
        return None
    count, dimension = map(int, fields)
    if not (count and dimension):
        raise ValueError(
            f"{path}:1: announces {count} vectors of {dimension} values: "
            "write the file again"
        )
    return count, dimension


def _check_text(
    path: str,
    sizes: tuple[int, int] | None,
    limit: int | None,
    numbers: bool = False,
) -> None:
    """Checks that text vectors are as many and as long as they should be.

    gensim would spread a single value over a whole row and drop the rows beyond
    the announced number.

    Args:
        sizes: COUNT and DIMENSION, or None: then the first line is a vector.
        limit: look at the first so many vectors only.
        numbers: also check that each value is a number; slow, and gensim does.

    Raises:
        ValueError: if a line is wrong; the message names it.
    """
    count, dimension = sizes or (None, None)
    rows = 0
    with _opened(path) as file:
        if sizes:
            file.readline()
        for number, line in enumerate(file, 2 if sizes else 1):
            if limit and rows == limit:
                return
            line = line.rstrip()
            if not line and rows == count:
                continue
            values = line.count(b" ")
            first = dimension is None
            dimension = values if first else dimension
            if (numbers or first) and not (values and _are_numbers(line)):
                raise ValueError(
                    f"{path}:{number}: is not a word and its values, with "
                    "single spaces between them: correct or remove it"
                )
            if values != dimension:
                raise ValueError(
                    f"{path}:{number}: has {values} values where {dimension} "
                    f"are expected: correct or remove it (awk 'NF == {dimension + 1}' "
                    "keeps the lines that are right)"
                )
            rows += 1
    if count is not None and rows != count and not (limit and rows == limit):
        raise ValueError(
            f"{path}:1: announces {count} vectors but {rows} follow: "
            "fetch the file again, or correct the number"
        )


def _are_numbers(line: bytes) -> bool:
    try:
        for value in line.split(b" ")[1:]:
            float(value)
    except ValueError:
        return False
    return True


def _load_word2vec(path: str, **options):
    """The `KeyedVectors` of a word2vec file, read by gensim."""
    from gensim.models import KeyedVectors

    with warnings.catch_warnings():
        # Without a header gensim opens the file twice and never closes it; it is
        # closed when gensim's frame is gone, so drop that from an error too.
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            return KeyedVectors.load_word2vec_format(
                path, unicode_errors="replace", datatype=np.float32, **options
            )
        except _GENSIM_ERRORS as error:
            raise error.with_traceback(None) from None


def _load_native(path: str, limit: int | None) -> WordVectors:
    """Vectors, or the model that holds them, as gensim saved it."""
    from gensim.models import KeyedVectors

    try:
        loaded = KeyedVectors.load(path)
    # A pickle that is damaged or from elsewhere can raise anything.
    except Exception as error:
        raise ValueError(
            f"{path}: gensim cannot load it ({error}): save it again, and keep the "
            ".npy files that gensim writes beside it"
        ) from error
    loaded = getattr(loaded, "wv", loaded)
    if not isinstance(loaded, KeyedVectors):
        raise ValueError(
            f"{path}: holds a {type(loaded).__name__}, not word vectors: save "
            "gensim's KeyedVectors"
        )
    return _word_vectors(path, loaded, limit)


def _word_vectors(path: str, loaded, limit: int | None) -> WordVectors:
    """Of gensim's `KeyedVectors`, once they are found to be sound."""
    # gensim leaves empty places at the end for words that occurred before.
    count = len(loaded.key_to_index)
    words, matrix = loaded.index_to_key[:count], loaded.vectors[:count]
    if limit and limit < len(words):
        # A copy, so that the rows left out are freed.
        words, matrix = words[:limit], matrix[:limit].copy()
    if not words:
        raise ValueError(f"{path}: has no vectors")
    with np.errstate(invalid="ignore"):
        wrong = ~np.isfinite(matrix.sum(axis=1, dtype=np.float64))
    if wrong.any():
        raise ValueError(
            f"{path}: the vector of {words[wrong.argmax()]!r} holds a value that is "
            "not a finite number: correct or remove it"
        )
    return WordVectors(words, matrix.astype(np.float32, copy=False))
