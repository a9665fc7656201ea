"""Tokens, words and sentences found in raw text, as the CoNLL 2018 scorer counts them.

Zeman et al. (2018), section 5, :cite:`zeman2018`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics.chunks import ChunkCounts

Span = tuple[int, int]


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
    gold, predicted = _Segmentation(gold), _Segmentation(predicted)
    _check_texts(gold.text, predicted.text)
    return SegmentationScores(
        tokens=_counts(gold.tokens, predicted.tokens),
        sentences=_counts(gold.sentences, predicted.sentences),
        words=ChunkCounts(
            len(gold.words), len(predicted.words), _right_words(gold, predicted)
        ),
        multiwords=_counts(
            [(*token, *words) for token, words in gold.multiwords],
            [(*token, *words) for token, words in predicted.multiwords],
        ),
    )


def _counts(gold: Sequence, predicted: Sequence) -> ChunkCounts:
    return ChunkCounts(len(gold), len(predicted), len(set(gold) & set(predicted)))


class _Segmentation:
    """The units of a text, by their places among the characters but white space.

    Attributes:
        text: all characters but white space.
        tokens, sentences: the span of each.
        words: for each word the span of its token, and its form in small letters.
        multiwords: the tokens with several words, and these in small letters.
    """

    def __init__(self, sentences: Iterable[Sentence]):
        self.tokens: list[Span] = []
        self.sentences: list[Span] = []
        self.words: list[tuple[Span, str]] = []
        self.multiwords: list[tuple[Span, list[str]]] = []
        parts, end = [], 0
        for sentence in sentences:
            if (surface := sentence.surface) is None:  # there are no tokens
                continue
            first, word = end, 0
            for token, size in zip(surface.tokens, surface.words, strict=True):
                token = "".join(token.split())
                parts.append(token)
                span, end = (end, end + len(token)), end + len(token)
                forms = [w.lower() for w in sentence.tokens[word : word + size]]
                word += size
                self.tokens.append(span)
                self.words += [(span, form) for form in forms]
                if size > 1:
                    self.multiwords.append((span, forms))
            self.sentences.append((first, end))
        self.text = "".join(parts)


def _check_texts(gold: str, predicted: str) -> None:
    if gold == predicted:
        return
    pairs = zip(chain(gold, [""]), chain(predicted, [""]), strict=False)
    place = next(i for i, (a, b) in enumerate(pairs) if a != b)
    raise ValueError(
        f"two different texts: after {place:,} characters, white space left out, one "
        f"goes on {gold[place : place + 20]!r}, the other "
        f"{predicted[place : place + 20]!r}"
    )


def _right_words(gold: _Segmentation, predicted: _Segmentation) -> int:
    """The number of words that both have.

    Multiword tokens of either that overlap form a region. Its words, and the words
    inside it that are tokens, are right as far as they are in the longest common
    subsequence of forms. All other words are right if they are the same span.
    """
    regions: list[list[int]] = []
    multiwords = (*gold.multiwords, *predicted.multiwords)
    for begin, end in sorted(span for span, _ in multiwords):
        if regions and begin < regions[-1][1]:
            regions[-1][1] = max(end, regions[-1][1])
        else:
            regions.append([begin, end])
    (own, outside), (other, also) = (
        _by_region(side.words, regions) for side in (gold, predicted)
    )
    common = (longest_common(own[i], other[i]) for i in range(len(regions)))
    return sum(common) + len(outside & also)


def _by_region(words, regions) -> tuple[list[list[str]], set[Span]]:
    """The forms of the words inside each region, and the spans of all others."""
    begins = [begin for begin, _ in regions]
    inside, outside = [[] for _ in regions], set()
    places = np.searchsorted(begins, [span[0] for span, _ in words], "right") - 1
    for (span, form), place in zip(words, places.tolist(), strict=True):
        if place >= 0 and span[1] <= regions[place][1]:
            inside[place].append(form)
        else:
            outside.add(span)
    return inside, outside


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for a in first:
        diagonal = 0
        for i, b in enumerate(second, 1):
            above = row[i]
            row[i] = diagonal + 1 if a == b else max(above, row[i - 1])
            diagonal = above
    return row[-1]
