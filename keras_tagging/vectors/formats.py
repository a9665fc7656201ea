"""The format of a file of vectors, and the readers of text and of word2vec's binary.

gensim reads both, but trusts the first line: it allocates the announced size, ignores
further vectors, and fills a whole row with a single value.
"""

import codecs

import numpy as np

from keras_tagging.utils import limits
from keras_tagging.vectors.files import Stream
from keras_tagging.vectors.selection import Selection
from keras_tagging.vectors.word_vectors import not_finite

FASTTEXT = b"\xba\x16\x4f\x2f"
# The first bytes of files that cannot be read, and the remedies.
_UNREADABLE = {
    b"\x1f\x8b": "is compressed: give it a name that ends in .gz",
    b"BZh": "is compressed: give it a name that ends in .bz2",
    b"PK\x03\x04": "is a zip archive: unzip it first",
}
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r"))
_SAMPLE = 2**14


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
    if head.startswith(FASTTEXT):
        return "fasttext", None
    if head.startswith(codecs.BOM_UTF8):
        stream.skip(len(codecs.BOM_UTF8))
        head = head.removeprefix(codecs.BOM_UTF8)
    first, _, sample = head.partition(b"\n")
    sample = sample[:_SAMPLE]
    sizes = _header(path, first)
    if sizes is None and b"\0" in first + sample:
        raise ValueError(
            f"{path}: is binary data of another kind: name a file of word vectors "
            "(GloVe, word2vec, fastText or gensim's)"
        )
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
    if max(map(len, fields)) > 18:
        raise ValueError(
            f"{path}:1: announces a number of {max(map(len, fields)):,} digits: "
            "download or write the file again"
        )
    count, dimension = map(int, fields)
    if not (count and 0 < dimension <= limits.VECTOR_DIMENSION):
        raise ValueError(
            f"{path}:1: announces {count} vectors of {dimension} values (1 to "
            f"{limits.VECTOR_DIMENSION} are allowed): download or write the file again"
        )
    return count, dimension


def read_text(
    stream: Stream,
    selection: Selection,
    sizes: tuple[int, int] | None,
    limit: int | None,
) -> None:
    """Read text vectors; values are parsed for the wanted words only.

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
        line = line.rstrip()
        if not line and rows == count:
            continue
        width = line.count(b" ")
        name, _, values = line.partition(b" ")
        if rows == 0:
            dimension = dimension or width
            if dimension > limits.VECTOR_DIMENSION:
                raise ValueError(
                    f"{path}:{number}: has {dimension:,} values (at most "
                    f"{limits.VECTOR_DIMENSION:,} are read): name a file of word "
                    "vectors, with one word a line"
                )
            vector = _parsed(path, number, values)
        if width != dimension:
            raise ValueError(
                f"{path}:{number}: has {width} values where {dimension} "
                f"are expected: correct or remove it (awk 'NF == {dimension + 1}' "
                "keeps the lines that are right)"
            )
        if (word := selection.take(name, number)) is not None:
            if rows:
                vector = _parsed(path, number, values)
            if not np.isfinite(vector).all():
                raise ValueError(not_finite(f"{path}:{number}", word))
            selection.add(word, vector)
        rows += 1
    stream.finish()
    if count is not None and rows != count and rows != limit:
        raise ValueError(
            f"{path}:1: announces {count} vectors but {rows} follow: "
            "download the file again, or correct the number"
        )


def _parsed(path: str, number: int, values: bytes) -> np.ndarray:
    try:
        return np.array(list(map(float, values.split(b" "))), np.float32)
    except ValueError:
        hint = ", or name a file of word vectors" if number == 1 else ""
        raise ValueError(
            f"{path}:{number}: is not a word and its values, with "
            f"single spaces between them: correct or remove it{hint}"
        ) from None


def read_binary(
    stream: Stream, selection: Selection, sizes: tuple[int, int], limit: int | None
) -> None:
    """Read word2vec's binary.

    Arguments and errors are those of `read_text`.
    """
    count, dimension = sizes
    size = 4 * dimension
    stream.until(b"\n")
    for _ in range(min(count, limit or count)):
        name = stream.until(b" ").lstrip(b"\n")
        if (word := selection.take(name)) is not None:
            selection.add(word, np.frombuffer(stream.take(size), "<f4"))
        else:
            stream.skip(size)
    if limit is None and stream.head(_SAMPLE).strip():
        raise ValueError(
            f"{stream.path}: continues after the {count} vectors of {dimension} values "
            "that its first line announces: download or write it again, or give "
            f"limit={count} to read only these"
        )
    stream.finish()
