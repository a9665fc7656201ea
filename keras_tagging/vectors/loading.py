"""Word vectors from a file of any common format, all of them or some."""

import hashlib
import json
import warnings
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from keras_tagging.vectors.cache import cached, folder_of
from keras_tagging.vectors.coverage import (
    Normalise,
    Words,
    count_words,
    lookup_forms,
)
from keras_tagging.vectors.files import (
    FASTTEXT,
    PICKLE,
    header,
    is_binary,
    not_finite,
    peek,
    text_rows,
)
from keras_tagging.vectors.selection import (
    Selection,
    select_binary,
    select_fasttext,
    select_text,
)
from keras_tagging.vectors.word_vectors import (
    UNKNOWN_ROWS,
    WordVectors,
    can_compose,
    composed,
)

_GENSIM_ERRORS = (ValueError, EOFError, AssertionError, MemoryError)


def load_vectors(
    path: str | Path,
    *,
    vocabulary: Words | None = None,
    normalise: Normalise = None,
    limit: int | None = None,
    encoding: str = "utf-8",
    cache: str | Path | bool | None = None,
) -> WordVectors:
    """Reads word vectors: GloVe, word2vec, fastText or gensim's own.

    The format is told from the content: text with or without a first line of
    `COUNT DIMENSION` (word2vec and fastText `.vec`; GloVe), word2vec's binary, a model
    of fastText (`.bin`), or what gensim saved (`.kv`, `.model`). A file whose name ends
    in `.gz` or `.bz2` is uncompressed. Of a word that occurs twice the first vector is
    kept; a word cut inside a character, as word2vec leaves some, ends in U+FFFD.

    With a vocabulary the file is read once, from beginning to end, and only those
    vectors are kept by which its words are looked up: of the words as they are written,
    of their lower case and, with `normalise`, of their normal form; and that of the
    unknown word. Memory is that of the matrix returned, however large the file. Of text
    the values of other lines are not parsed. A fastText `.bin` gives words it has not
    seen a vector too, made of their pieces, if no form of theirs was seen. Without a
    vocabulary gensim reads all: memory is that of the words and the matrix, for a
    fastText `.bin` several times that.

    What took a search is kept on disk, and read from there the next time: a file for
    every combination of the file (its place, size and time) and the arguments here, as
    large as the matrix. Remove the folder as you like. Files saved by gensim, and
    word2vec's binary as a whole, are as quick and are not kept.

    Files saved by gensim are pickles, which can run code: open only those that you
    trust.

    Args:
        path: the file.
        vocabulary: keep only the vectors of these words; words, sentences or token
            lists.
        normalise: with a vocabulary the normal form of a word: "kadari", "wu" or
            "lower", as in `TokenFeatures`, or a function.
        limit: look at the first so many vectors only; files are usually sorted by
            frequency.
        encoding: of the words.
        cache: a folder to keep vectors in, or False for none. By default it is
            `vectors` in the folder that the environment variable KERAS_TAGGING_CACHE
            names, else in the user's cache folder, where corpora are kept too.

    Raises:
        ValueError: if the file is malformed, holds a value that is not a finite
            number, or has no vectors; the message names the file, the line if it
            is text, and the remedy.
        OSError: if the file cannot be opened.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1, or None for all")
    path = str(path)
    forms = None if vocabulary is None else _forms(vocabulary, normalise)
    first, sample = peek(path)
    if first.startswith(PICKLE):
        return _load_native(path, forms, limit)
    options = [_digest(forms), limit, encoding]
    if first.startswith(FASTTEXT):
        read = partial(_load_fasttext, path, forms, limit, encoding)
        return cached(path, options, folder_of(cache), read)
    sizes = header(path, first)
    if sizes is None and b"\0" in first + sample:
        raise ValueError(
            f"{path}: is binary data of another kind: name a file of word vectors "
            "(GloVe, word2vec, fastText or gensim's)"
        )
    binary = sizes is not None and is_binary(sample)
    if forms is None:
        folder = None if binary else folder_of(cache)
        read = partial(_load_word2vec, path, sizes, binary, limit, encoding)
    else:
        folder = folder_of(cache)
        select = select_binary if binary else select_text
        read = partial(select, path, sizes, _wanted(forms), limit, encoding)
        del forms  # of a large vocabulary they are large too
    return cached(path, options, folder, read)


def as_vectors(source) -> WordVectors:
    """Word vectors from a file's name, gensim's `KeyedVectors` or a model of gensim's.

    Raises:
        ValueError: if it is something else, and as `load_vectors`.
        OSError: if there is no such file.
    """
    if isinstance(source, WordVectors):
        return source
    if isinstance(source, str | Path):
        return load_vectors(source)
    keyed = getattr(source, "wv", source)
    if not hasattr(keyed, "key_to_index"):
        raise ValueError(
            f"a {type(source).__name__} holds no word vectors: give the name of a "
            "file, WordVectors, or gensim's KeyedVectors"
        )
    return _sound("the vectors given", composed(keyed))


def _forms(vocabulary: Words, normalise: Normalise) -> dict[str, tuple[str, ...]]:
    """The forms that each word is looked up by."""
    names = sorted(count_words(vocabulary))
    if not names:
        raise ValueError("the vocabulary has no word: give None for all vectors")
    forms = zip(names, *lookup_forms(names, normalise), strict=True)
    return {each[0]: tuple(dict.fromkeys(each)) for each in forms}


def _digest(forms: dict[str, tuple[str, ...]] | None) -> str | None:
    if forms is None:
        return None
    digest = hashlib.sha256()
    for each in forms.values():  # of which the first is the word
        digest.update(json.dumps(each).encode())
    return digest.hexdigest()


def _wanted(forms: dict[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset(UNKNOWN_ROWS).union(*forms.values())


def _load_word2vec(path, sizes, binary, limit, encoding) -> WordVectors:
    """A whole word2vec or GloVe file, read by gensim.

    Text is checked first: gensim would spread a single value over a whole row and drop
    the rows beyond the announced number.
    """
    from gensim.models import KeyedVectors

    def check(**options):
        if not binary:
            for _ in text_rows(path, sizes, limit, **options):
                pass

    check()
    try:
        with warnings.catch_warnings():
            # Without a header gensim opens the file twice and never closes it; it is
            # closed when gensim's frame is gone, so drop that from an error too.
            warnings.simplefilter("ignore", ResourceWarning)
            try:
                keyed = KeyedVectors.load_word2vec_format(
                    path,
                    binary=binary,
                    no_header=sizes is None,
                    limit=limit,
                    encoding=encoding,
                    unicode_errors="replace",
                    datatype=np.float32,
                )
            except _GENSIM_ERRORS as error:
                raise error.with_traceback(None) from None
    except _GENSIM_ERRORS as error:
        check(numbers=True)
        raise ValueError(
            f"{path}: not the vectors that its first line announces ({error}): "
            "fetch or write the file again"
        ) from error
    try:
        return _sound(path, composed(keyed))
    except ValueError:
        check(numbers=True)  # which names the line
        raise


def _load_fasttext(path, forms, limit, encoding) -> WordVectors:
    """A model of fastText's: some words by a pass of ours, all by gensim."""
    if forms is not None:
        return select_fasttext(path, _wanted(forms), forms, limit, encoding)
    from gensim.models.fasttext import load_facebook_vectors

    try:
        keyed = load_facebook_vectors(path, encoding=encoding)
    # A file that is damaged or of another kind can raise anything.
    except Exception as error:
        raise ValueError(
            f"{path}: gensim cannot read it as fastText's model ({error}): fetch it "
            "again; models of labels and quantised ones (.ftz) are not read"
        ) from error
    return _sound(path, _first(composed(keyed), limit))


def _load_native(path, forms, limit) -> WordVectors:
    """Vectors, or the model that holds them, as gensim saved it."""
    from gensim.models import KeyedVectors

    try:
        # of some words: only their rows are read, where the matrix has its own file
        loaded = KeyedVectors.load(path, mmap=None if forms is None else "r")
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
    if forms is None:
        return _sound(path, _first(composed(loaded), limit))
    return _sound(path, _select(path, loaded, forms, limit))


def _select(path, keyed, forms, limit) -> WordVectors:
    """Of gensim's `KeyedVectors` those of some words."""
    words = _wanted(forms)
    selection = Selection(path, words, keyed.vector_size, len(words))
    for word, row in islice(keyed.key_to_index.items(), limit):
        if form := selection.take(word):
            selection.add(form, keyed.vectors[row])
    for word, others in forms.items():
        if selection.lacks(others) and can_compose(keyed, word):
            selection.add(word, keyed.get_vector(word))
    return selection.vectors()


def _first(vectors: WordVectors, limit: int | None) -> WordVectors:
    if limit is None or limit >= len(vectors.words):
        return vectors
    # a copy, so that the rows left out are freed
    return WordVectors(vectors.words[:limit], vectors.matrix[:limit].copy())


def _sound(source: str, vectors: WordVectors) -> WordVectors:
    """The vectors, once they are found to be numbers.

    Raises:
        ValueError: if there are none, or a value is not finite.
    """
    words, matrix = vectors.words, vectors.matrix
    if not words:
        raise ValueError(f"{source}: has no vectors")
    with np.errstate(invalid="ignore"):
        wrong = ~np.isfinite(matrix.sum(axis=1, dtype=np.float64))
    if wrong.any():
        raise ValueError(not_finite(source, words[wrong.argmax()]))
    return WordVectors(words, matrix.astype(np.float32, copy=False))
