"""Word vectors from a file of any common format, all of them or some; saved, cached."""

import hashlib
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from keras_tagging.utils import limits
from keras_tagging.utils.atomic import replacing
from keras_tagging.utils.download import cache_folder
from keras_tagging.utils.stored import StoredArrays
from keras_tagging.vectors.coverage import Normalise, Words, count_words, lookup_forms
from keras_tagging.vectors.named import VECTORS, find_named
from keras_tagging.vectors.reading import (
    Selection,
    opened,
    read_binary,
    read_fasttext,
    read_text,
    recognised,
)
from keras_tagging.vectors.word_vectors import (
    UNKNOWN_ROWS,
    WordVectors,
    can_compose,
    composed,
    not_finite,
)

#: the end of the names of files of `save_vectors`
SUFFIX = ".npz"
# errors of a damaged file; RecursionError comes from deeply nested JSON
UNREADABLE = (OSError, TypeError, ValueError, RecursionError)
# Increase it when the cached content, or the way files are read, changes.
_VERSION = 3
_READERS = {"text": read_text, "binary": read_binary, "fasttext": read_fasttext}


def load_vectors(
    path: str | Path,
    *,
    vocabulary: Words | None = None,
    normalise: Normalise = None,
    limit: int | None = None,
    encoding: str | None = None,
    cache: str | Path | bool | None = None,
    allow_pickle: bool = False,
) -> WordVectors:
    """Read word vectors: GloVe, word2vec, fastText or gensim's own.

    The format is recognised by the content: text with or without a first line of
    `COUNT DIMENSION` (word2vec and fastText `.vec`; GloVe), word2vec's binary, a model
    of fastText (`.bin`), a file of `save_vectors`, or one saved by gensim (`.kv`,
    `.model`). A file whose name
    ends in `.gz` or `.bz2` is decompressed to its end, so that its checksum is compared
    even with a limit. If a word occurs twice, its first vector is kept. A word cut
    inside a character, as word2vec leaves some, ends in U+FFFD; one in a hundred other
    words may have U+FFFD in the place of bytes that are not in the encoding.

    For files that do not fit in memory, pass `vocabulary=` to load only the words you
    need. `load_vectors` then keeps the vectors of these words as written, in lower case
    and, with `normalise`, in normal form; and that of the unknown word. It reads the
    file once, and needs memory only for the words and the matrix that it returns. From
    a fastText `.bin`, a word also gets a vector if the model has none of its forms: the
    mean of its pieces.

    The result is cached on disk and read from there the next time. The cache has one
    file, as large as the matrix, for each combination of the file (its path, size and
    time) and the arguments. You may delete the folder. Files saved by gensim, and the
    whole of a word2vec binary, are as fast to read and are not cached.

    Files saved by gensim are pickles, and a pickle can run any code: they are refused
    unless you pass `allow_pickle=True`. Nothing else here runs code from a file.

    Args:
        path: the file; or a name that `keras-tagging vectors` lists, of installed
            vectors or of those that gensim downloads.
        vocabulary: keep only the vectors of these words; words, sentences or token
            lists.
        normalise: with a vocabulary, the normal form of a word: "kadari", "wu" or
            "lower", as in `TokenFeatures`, or a function.
        limit: read only this many vectors; files are usually sorted by frequency.
        encoding: the encoding of the words; by default UTF-8.
        cache: a folder for the cache, or False for none. By default it is `vectors` in
            the folder that the environment variable KERAS_TAGGING_CACHE names, else in
            the user's cache folder, beside the downloaded corpora.
        allow_pickle: open a file saved by gensim, and the `.npy` files that it names.
            Only do so if you trust its author.

    Raises:
        ValueError: if the file is malformed, is a pickle, exceeds a limit of
            `keras_tagging.utils.limits`, has a value that is not a finite number, or
            has no vectors; the message names the file, the line if it is text, and the
            remedy.
        OSError: if the file cannot be opened.
    """
    path = find_named(path, VECTORS)
    encoding = "utf-8" if encoding is None else encoding
    forms = None if vocabulary is None else _forms(vocabulary, normalise)
    wanted = forms and frozenset(UNKNOWN_ROWS).union(*forms.values())
    if path.endswith(SUFFIX):
        return _sound(path, _load_stored(path, wanted, limit))
    with opened(path) as stream:
        kind, sizes = recognised(stream)
        if kind != "pickle":
            selection = Selection(path, wanted, encoding)
            # the first form is the word itself
            listed = json.dumps(forms and [*forms.values()]).encode()
            options = [hashlib.sha256(listed).hexdigest(), limit, encoding]
            folder = cache_folder() / "vectors" if cache in (None, True) else cache
            folder = None if kind == "binary" and forms is None else folder
            extra = forms or {} if kind == "fasttext" else sizes
            del forms, listed  # they are large if the vocabulary is

            def read() -> WordVectors:
                with np.errstate(over="ignore", invalid="ignore"):  # `_sound` checks
                    _READERS[kind](stream, selection, extra, limit)
                stream.finish()
                return _sound(path, selection.vectors())

            return cached(path, options, Path(folder), read) if folder else read()
    if not allow_pickle:
        what = "is a pickle, as gensim saves vectors, and a pickle can run any code"
        remedy = "if you trust it, use load_vectors(..., allow_pickle=True)"
        raise ValueError(f"{path}: {what}: {remedy}, and save_vectors")
    return _sound(path, _load_native(path, wanted, forms, limit))


def as_vectors(source: object, allow_pickle: bool = False) -> WordVectors:
    """Word vectors from a file's name, gensim's `KeyedVectors` or a model of gensim's.

    Args:
        source: the vectors; `WordVectors` are returned as they are.
        allow_pickle: as in `load_vectors`, for the name of a file.

    Raises:
        AttributeError: if it is something else.
        ValueError, OSError: as in `load_vectors`.
    """
    if isinstance(source, WordVectors):
        _sound("the given vectors", source)
        return source
    if isinstance(source, str | Path):
        return load_vectors(source, allow_pickle=allow_pickle)
    return _sound("the given vectors", composed(getattr(source, "wv", source)))


def _forms(vocabulary: Words, normalise: Normalise) -> dict[str, tuple[str, ...]]:
    """The forms by which each word is looked up."""
    names = sorted(count_words(vocabulary))
    forms = zip(names, *lookup_forms(names, normalise), strict=True)
    return {each[0]: tuple(dict.fromkeys(each)) for each in forms}


def _load_stored(path, wanted, limit) -> WordVectors:
    """The vectors of a file of `save_vectors`."""
    try:
        whole = read_stored(Path(path))
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise ValueError(f"{path}: is damaged ({error}): write it again") from None
    composed = whole.composed
    whole = replace(whole, words=whole.words[:limit], matrix=whole.matrix[:limit])
    if wanted is None:
        return whole
    selection = _selected(path, whole, wanted)
    selection.composed |= composed
    return selection.vectors()


def _selected(path, whole: WordVectors, wanted: frozenset[str]) -> Selection:
    selection = Selection(path, wanted, "utf-8")
    for word, vector in zip(whole.words, whole.matrix, strict=True):
        if (form := selection.wanted_form(word)) is not None:
            selection.add(form, vector)
    return selection


def _load_native(path, wanted, forms, limit) -> WordVectors:
    """The vectors of a file that gensim saved: its vectors, or a model with them."""
    from gensim.models import KeyedVectors

    try:
        # Only the rows of wanted words are read, if the matrix has its own file.
        loaded = KeyedVectors.load(path, mmap=None if forms is None else "r")
    # A damaged or foreign pickle can raise anything.
    except Exception as error:
        what = f"{path}: gensim cannot load it ({error}): save it again"
        raise ValueError(what) from error
    keyed = getattr(loaded, "wv", loaded)
    whole = composed(keyed)
    whole = WordVectors(whole.words[:limit], whole.matrix[:limit])
    if forms is None:
        return whole
    selection = _selected(path, whole, wanted)
    for word, others in forms.items():
        if selection.lacks(others) and can_compose(keyed, word):
            selection.add(word, keyed.get_vector(word))
            selection.composed.add(word)
    return selection.vectors()


def save_vectors(
    vectors: WordVectors, path: str | Path, dtype: str = "float16"
) -> None:
    """Write vectors into an `.npz` file, which `load_vectors` reads.

    Args:
        vectors: the vectors.
        path: the file; it appears when it is complete.
        dtype: of the numbers: "float16", three significant digits in half the bytes, or
            "float32", exactly.

    Raises:
        ValueError: if a value is too large for half precision.
        OSError: if the file cannot be written.
    """
    with np.errstate(over="ignore"):
        matrix = vectors.matrix.astype(dtype)
    if not np.isfinite(matrix).all() and np.isfinite(vectors.matrix).all():
        what = f"a value is too large for {dtype}"
        raise ValueError(f"{path}: {what}: write dtype='float32'")
    words = np.frombuffer(json.dumps(vectors.words).encode(), np.uint8)
    rows = [i for i, word in enumerate(vectors.words) if word in vectors.composed]
    with replacing(Path(path)) as partial:
        np.savez(partial, words=words, matrix=matrix, composed=np.array(rows, "<i4"))


def read_stored(path: Path) -> WordVectors:
    """The vectors in a file of `save_vectors`, as float32.

    Raises:
        OSError, TypeError, ValueError, RecursionError: if it is damaged.
    """
    with StoredArrays(path) as arrays:
        words = json.loads(arrays["words"].tobytes())
        matrix = arrays["matrix"]
        # the first files had none
        rows = arrays["composed"].tolist() if arrays.size("composed") else []
    is_whole = isinstance(words, list) and all(type(word) is str for word in words)
    is_whole = is_whole and len(words) == len(set(words)) == len(matrix)
    is_whole = is_whole and matrix.ndim == 2 and matrix.dtype.kind == "f"
    if not is_whole or matrix.shape[1] > limits.VECTOR_DIMENSION:
        raise ValueError("it has not one vector, which is not too long, for each word")
    if not all(type(row) is int and 0 <= row < len(words) for row in rows):
        raise ValueError("its composed words are not among its words")
    composed = frozenset(words[row] for row in rows)
    return WordVectors(words, matrix.astype(np.float32, copy=False), composed)


def cached(
    path: str, options: list, folder: Path, read: Callable[[], WordVectors]
) -> WordVectors:
    """The vectors from the cache, or else from `read`, which are then cached.

    Two processes may do this at once: a file gets its name only when it is complete. A
    damaged file is replaced.

    Args:
        path: the file of vectors, identified by its path, size and time.
        options: everything else that the vectors depend on, as JSON values.
        folder: the folder of the cache.
        read: function that reads the vectors.
    """
    if not os.path.isfile(path):
        return read()
    state = os.stat(path)
    key = [_VERSION, os.path.realpath(path), state.st_size, state.st_mtime_ns, options]
    digest = hashlib.sha256(json.dumps(key).encode()).hexdigest()
    cached_file = folder / f"{digest[:32]}.npz"
    try:
        return read_stored(cached_file)
    except UNREADABLE:  # or not there
        pass
    vectors = read()
    try:
        save_vectors(vectors, cached_file, "float32")
    except OSError as error:
        what = f"{folder}: vectors cannot be kept there ({error})"
        remedy = "name another with KERAS_TAGGING_CACHE or cache=, or cache=False"
        warnings.warn(f"{what}: {remedy}", stacklevel=3)
    return vectors


def _sound(source: str, vectors: WordVectors) -> WordVectors:
    """Check that the vectors are finite numbers, and return them.

    Raises:
        ValueError: if there are none, or not one for each word, or a value is not
            finite.
    """
    words, matrix = vectors.words, vectors.matrix
    if not words:
        raise ValueError(f"{source}: has no vectors")
    if len(words) != len(matrix):
        raise ValueError(f"{source}: has {len(words)} words and {len(matrix)} vectors")
    with np.errstate(invalid="ignore"):
        wrong = ~np.isfinite(matrix.sum(axis=1, dtype=np.float64))
    if wrong.any():
        raise ValueError(not_finite(source, words[wrong.argmax()]))
    return replace(vectors, matrix=matrix.astype(np.float32, copy=False))
