"""Tokens, words and sentences found in raw text, as the CoNLL 2018 scorer counts them.

Zeman et al. (2018), section 5, :cite:`zeman2018`.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics.chunks import ChunkCounts
from keras_tagging.metrics.raw_text import unit_scores


@dataclass(frozen=True)
class SegmentationScores:
    """The scores of a segmentation.

    Args:
        tokens: a token is right if it has the same characters.
        sentences: a sentence is right if it has the same characters.
        words: a word is right if it has the same characters; inside of multiword tokens
            the words are compared by their forms, in small letters.
        multiwords: the tokens of several words; one is right if it has the same
            characters and the same words. The scorer does not give this figure.
    """

    tokens: ChunkCounts
    sentences: ChunkCounts
    words: ChunkCounts
    multiwords: ChunkCounts


def segmentation_scores(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> SegmentationScores:
    """Compare two segmentations of a text, which may differ in white space.

    Args:
        gold, predicted: sentences with surfaces.

    Raises:
        ValueError: if they are not of the same text; the message says where they
            differ.
    """
    gold, predicted = ([s for s in x if s.tokens] for x in (gold, predicted))
    found, words, _ = unit_scores(gold, predicted)
    own, other = map(_multiwords, words)
    multiwords = ChunkCounts(len(own), len(other), len(own & other))
    return SegmentationScores(**found, multiwords=multiwords)


def _multiwords(words) -> set[tuple]:
    """The stretches of tokens of several words, each with the forms of its words."""
    forms = defaultdict(list)
    for word in words:
        if word.several:
            forms[word.start, word.end].append(word.form)
    return {(*span, *own) for span, own in forms.items()}
