"""The lexicon of a segmenter in training: which text needs one, and without leaks."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from keras_tagging.data.surface import Surface
from keras_tagging.encoding.characters import CharacterFeatures
from keras_tagging.encoding.lexicon import Lexicon
from keras_tagging.encoding.symbols import Symbols

#: of the text: each is read with the words of the others
PARTS = 10
#: a text needs a lexicon if fewer of its tokens end before white space, the last ones
#: of sentences left out, or more of them have white space inside
ENDS, INSIDE = 0.5, 0.1


def needs_lexicon(surfaces: Sequence[Surface]) -> bool:
    """Whether white space tells little of where tokens end."""
    before = within = inside = tokens = 0
    for surface in surfaces:
        text, start, offsets = surface.text, surface.start, surface.offsets
        tokens += len(offsets)
        within += len(offsets) - 1
        before += sum(text[end - start].isspace() for _, end in offsets[:-1])
        inside += sum(any(map(str.isspace, token)) for token in surface.tokens)
    return before < ENDS * within or inside > INSIDE * tokens


def encoded_apart(
    features: CharacterFeatures, symbols: Symbols, surfaces: Sequence[Surface]
) -> np.ndarray:
    """The ids of the training text, each part with the words of the others.

    Otherwise the lexicon would have each word of a sentence, which it has not of any
    other text.

    Args:
        features: with or without a lexicon.
        symbols: of the text.
        surfaces: of its sentences.

    Returns:
        `(symbols, names)` int32.
    """
    ids = features.encode(symbols.codes)
    if not features.vocabularies["lexicon"]:
        return ids
    counts = [Counter(surface.tokens) for surface in surfaces]
    all_words = sum(counts, Counter())
    for part in np.array_split(np.arange(len(surfaces)), min(PARTS, len(surfaces))):
        own = sum((counts[place] for place in part), Counter())
        first, last = surfaces[part[0]], surfaces[part[-1]]
        bounds = [first.start, last.start + len(last.text)]
        begin, end = np.searchsorted(symbols.offsets, bounds)
        others = Lexicon(all_words - own)
        ids[begin:end] = features.encode(symbols.codes[begin:end], others)
    return ids
