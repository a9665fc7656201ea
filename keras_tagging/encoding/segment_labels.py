"""The labels of a segmenter: which characters end tokens and sentences."""

import unicodedata
from collections.abc import Sequence

import numpy as np

from keras_tagging.data.surface import Surface
from keras_tagging.encoding.symbols import BLANK, PARAGRAPH, Symbols

#: in the order of the network's outputs
LABELS = ("inside", "token", "sentence", "multiword", "multiword-sentence")
#: no end, or the end of: a token, and of its sentence; the same for multiword tokens
INSIDE, TOKEN, SENTENCE, MULTIWORD, MULTIWORD_SENTENCE = range(len(LABELS))
ENDS = (TOKEN, SENTENCE, MULTIWORD, MULTIWORD_SENTENCE)
SENTENCE_ENDS = (SENTENCE, MULTIWORD_SENTENCE)
#: of each label that of a token inside of a sentence
WITHIN = np.array([INSIDE, TOKEN, TOKEN, MULTIWORD, MULTIWORD])
#: between characters that are one picture: U+200D
JOINER = 0x200D
#: tones of skin, which are no marks
_TONES = range(0x1F3FB, 0x1F400)


def _are_joining(codes: np.ndarray) -> np.ndarray:
    """Which code points belong to the character before them."""
    others = np.unique(codes[codes > 127]).tolist()
    joining = [
        c
        for c in others
        if c == JOINER or c in _TONES or unicodedata.category(chr(c))[0] == "M"
    ]
    return np.isin(codes, joining)


def ends_of(
    symbols: Symbols, surfaces: Sequence[Surface]
) -> tuple[np.ndarray, np.ndarray]:
    """The symbol in which each token ends, and its label.

    Args:
        symbols: those of a document.
        surfaces: of its sentences, with their `start` in it.

    Returns:
        `(tokens,)` indices and `(tokens,)` labels.
    """
    offsets, labels = [], []
    for surface in surfaces:
        offsets += [end - 1 for _, end in surface.offsets]
        labels += [MULTIWORD if words > 1 else TOKEN for words in surface.words]
        labels[-1] += SENTENCE - TOKEN
    places = np.searchsorted(symbols.offsets, np.array(offsets, int), "right") - 1
    return places, np.array(labels, "int32")


def targets_of(symbols: Symbols, surfaces: Sequence[Surface]) -> np.ndarray:
    """The label of each symbol, `(symbols,)` int32; -1 for white space.

    Args:
        symbols, surfaces: as in `ends_of`.
    """
    targets = np.full(len(symbols), INSIDE, "int32")
    places, labels = ends_of(symbols, surfaces)
    targets[places] = labels
    # white space ends nothing: what it looks like is the `class` of the symbol
    targets[symbols.are_white] = -1
    return targets


def best_labels(
    scores: np.ndarray,
    codes: np.ndarray,
    following: np.ndarray,
    spaces: bool,
    paragraphs: bool = False,
) -> np.ndarray:
    """The best labels that fit the text.

    White space ends nothing, and no token ends before a mark that belongs to the
    character before it, or inside of a joined emoji. A sentence ends before the end of
    a paragraph, and, unless tokens may have `spaces`, a token before any white space.

    Args:
        scores: `(symbols, labels)`.
        codes: `(symbols,)` code points.
        following: `(symbols,)`, the code points of the symbols that follow; behind the
            last one of a text stands the end of a paragraph.
        spaces: whether training had tokens with white space inside.
        paragraphs: whether a sentence ends nowhere else.

    Returns:
        `(symbols,)` labels.
    """
    best = scores.argmax(-1)
    best[_are_joining(following) | (codes == JOINER)] = INSIDE
    for places, allowed in (
        (following == (PARAGRAPH if spaces else BLANK), ENDS),
        (following == PARAGRAPH, SENTENCE_ENDS),
    ):
        best[places] = np.take(allowed, scores[places][:, allowed].argmax(-1))
    if paragraphs:
        inside = following != PARAGRAPH
        best[inside] = WITHIN[best[inside]]
    best[(codes == BLANK) | (codes == PARAGRAPH)] = INSIDE
    return best
