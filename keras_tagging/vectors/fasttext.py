"""fastText's own models, `.bin`.

gensim reads them as a whole, which takes several times their size in memory, and loops
for ever on a damaged list of words. The vector of a word is the mean of its own row and
the rows of its pieces; gensim computes the pieces.
"""

from array import array

import numpy as np

from keras_tagging.utils import limits
from keras_tagging.vectors.files import Stream
from keras_tagging.vectors.formats import FASTTEXT
from keras_tagging.vectors.selection import Selection

_BLOCK = 2**20
_DAMAGED = "is damaged, or not a .bin model of fastText: download it again"
_OTHER = (
    "is not a .bin model of word vectors of fastText: classifiers and quantised models "
    "(.ftz) cannot be read; name a model of word vectors"
)


def read_fasttext(
    stream: Stream,
    selection: Selection,
    unseen: dict[str, tuple[str, ...]],
    limit: int | None,
) -> None:
    """Read the vectors of the words of a model, and compose those of other words.

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

    stream.skip(len(FASTTEXT))
    _, dimension, *_, bucket, least, most, _, _ = stream.unpack("<13id")
    size, seen, labels, _, pruned = stream.unpack("<3i2q")
    _check(stream, labels == 0 and pruned <= 0, _OTHER)
    _check(stream, 0 < dimension <= limits.VECTOR_DIMENSION and 0 < size == seen)
    _check(stream, 0 <= bucket and 0 <= least and 0 <= most <= limits.VECTOR_PIECE)
    # pairs: a row of the file, and the row of the vector that it is a part of
    parts, wholes = array("q"), array("q")

    def add(word: str, own: list[int]) -> None:
        pieces = ft_ngram_hashes(word, least, most, bucket) if bucket else []
        if own or pieces:
            row = selection.rows[word] = len(selection.rows)
            parts.extend(own + [size + piece for piece in pieces])
            wholes.extend([row] * (len(own) + len(pieces)))

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
    selection.matrix = np.zeros((len(selection.rows), dimension), np.float32)
    _add_parts(stream, selection.matrix, np.asarray(parts), np.asarray(wholes))
    selection.matrix /= np.bincount(wholes, minlength=len(selection.matrix))[:, None]
    stream.finish()


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
