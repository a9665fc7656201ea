"""Scores of annotated raw text, whose tokens need not be the gold ones.

The rules are those of the CoNLL 2018 shared task, Zeman et al. (2018), section 4,
:cite:`zeman2018`. Positions in the text count the characters that are not white space.

* A token is right if the gold text has one from the same character to the same one; so
  is a sentence.
* Words are aligned. Two tokens of one word each align if they are the same stretch.
  Where one of them has several words, the words of the stretch that such tokens cover
  together align by the longest common subsequence of their lower-cased forms.
* A column is right if the aligned gold word has the same value. Of `feats` the
  universal features count, of `deprel` the part before the colon, and any lemma is
  right where the gold one is `_`. A head is right if it is aligned with the gold head.
* An entity, a chunk of the column `ner`, is right if the gold text has one with its
  label from the same character to the same one. The shared task had none.

Precision is the share of predicted units that are right, recall that of gold units.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import NamedTuple

from keras_tagging.data.lemmas.scripts import common_subsequence
from keras_tagging.data.sentence import NER, Sentence, check_surfaces
from keras_tagging.metrics.chunks import ChunkCounts, chunks

#: figures of columns, and the column that each needs
COLUMNS = {
    "upos": "pos",
    "xpos": "xpos",
    "feats": "feats",
    "lemma": "lemma",
    "uas": "head",
    "las": "deprel",
}
#: https://universaldependencies.org/u/feat/, those of version 2 in 2018
UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite "
    "Degree VerbForm Mood Tense Aspect Voice Evident Polarity Person Polite".split()
)


class _Word(NamedTuple):
    """A word of a text.

    Args:
        start, end: of its token, in characters that are not white space.
        several: whether the token has other words.
        form: in lower case.
    """

    start: int
    end: int
    several: bool
    form: str


def raw_text_scores(
    gold: Iterable[Sentence], predicted: Iterable[Sentence]
) -> dict[str, ChunkCounts]:
    """The counts of a text with gold annotation and with predicted annotation.

    Args:
        gold, predicted: sentences of one text, with their `surface`.

    Returns:
        The counts of `tokens`, `sentences` and `words`, and those of `upos`, `xpos`,
        `feats`, `lemma`, `uas` and `las` for which all sentences of both have the
        columns `pos`, `xpos`, `feats`, `lemma`, `head` and `deprel`. With the column
        `ner` also those of `entities`.

        `f1` is the figure of the shared task if each multiword token of one text begins
        and ends where tokens of the other do, behind the same token in both. Elsewhere
        the program of the task may align a few other words there.

    Raises:
        ValueError: if the two texts differ in more than white space, or a sentence has
            no surface, as CoNLL-U read without ``surface=True``.
    """
    gold, predicted = ([s for s in x if s.tokens] for x in (gold, predicted))
    counts, (words, others), pairs = unit_scores(gold, predicted)
    attached = set()  # pairs with the right heads
    partner = {other: word for word, other in pairs} | {-1: -1}
    for name, column in COLUMNS.items():
        needed = {column, "head"} if name == "las" else {column}
        if not all(needed <= s.columns.keys() for s in (*gold, *predicted)):
            continue
        if name == "uas":
            ours, theirs = _heads(gold), [partner.get(x) for x in _heads(predicted)]
        else:
            ours, theirs = _values(name, gold), _values(name, predicted)
        right = {(i, j) for i, j in pairs if ours[i] == theirs[j]}
        if name == "lemma":
            right |= {(i, j) for i, j in pairs if ours[i] == "_"}
        elif name == "uas":
            attached = right
        elif name == "las":
            right &= attached
        counts[name] = ChunkCounts(len(words), len(others), len(right))
    if all(NER in s.columns for s in (*gold, *predicted)):
        entities = _entities(words, gold), _entities(others, predicted)
        counts["entities"] = _common(*entities)
    return counts


def _values(name: str, sentences: list[Sentence]) -> list:
    """The values of all words of a text that a figure compares."""
    values = [value for s in sentences for value in s.columns[COLUMNS[name]]]
    if name == "feats":
        pairs = (value.split("|") for value in values)
        names = UNIVERSAL_FEATURES
        return [{x for x in row if x.partition("=")[0] in names} for row in pairs]
    return [x.partition(":")[0] for x in values] if name == "las" else values


def _heads(sentences: list[Sentence]) -> list[int]:
    """The number of the head of each word among all words; -1 for the root."""
    heads, first = [], 0
    for sentence in sentences:
        for head in sentence.columns["head"]:
            number = int(head) if head.isdecimal() else len(sentence) + 1
            is_word = 0 < number <= len(sentence)
            heads.append(first + number - 1 if is_word else -1 if not number else -2)
        first += len(sentence)
    return heads


def _entities(words: Sequence[_Word], sentences: list[Sentence]) -> set:
    """The label of each entity, and where it begins and ends."""
    entities, first = set(), 0
    for sentence in sentences:
        for label, start, end in chunks(sentence.columns[NER]):
            where = words[first + start].start, words[first + end - 1].end
            entities.add((label, *where))
        first += len(sentence)
    return entities


def unit_scores(gold: list[Sentence], predicted: list[Sentence]):
    """The counts of tokens, sentences and words, the words of both, and their pairs."""
    for sentences in (gold, predicted):
        check_surfaces(sentences)  # words alone do not tell which are one token
    texts = ("".join(t for s in x for t in s.surface.tokens) for x in (gold, predicted))
    check_same_text(*map(unspaced, texts))
    tokens, spans, words = zip(_units(gold), _units(predicted), strict=True)
    counts = {"tokens": _common(*tokens), "sentences": _common(*spans)}
    pairs = align(*words)
    counts["words"] = ChunkCounts(*map(len, (*words, pairs)))
    return counts, words, pairs


def _common(one: set, other: set) -> ChunkCounts:
    return ChunkCounts(len(one), len(other), len(one & other))


def align(words: Sequence[_Word], others: Sequence[_Word]) -> list[tuple[int, int]]:
    """The pairs of aligned words, as their numbers in both texts."""
    inside, regions = _regions([*words, *others])
    pairs = []
    spans = {}
    members = [([], []) for _ in regions]
    for side, text in enumerate((words, others)):
        for i, word in enumerate(text):
            region = inside(word)
            if region is not None:
                members[region][side].append(i)
            elif side == 0:
                spans[word.start, word.end] = i
            elif (gold_word := spans.get((word.start, word.end))) is not None:
                pairs.append((gold_word, i))
    for gold_word, other in members:
        forms = ([words[i].form for i in gold_word], [others[i].form for i in other])
        pairs += [(gold_word[i], other[j]) for i, j in common_subsequence(*forms)]
    return sorted(pairs)


def _regions(words: Iterable[_Word]):
    """The stretches that overlapping multiword tokens cover together.

    Returns:
        The function from a word to the number of the region that has all of its token,
        or None; and the regions.
    """
    spans = sorted({(word.start, word.end) for word in words if word.several})
    regions: list[tuple[int, int]] = []
    for start, end in spans:
        if regions and start < regions[-1][1]:
            regions[-1] = regions[-1][0], max(end, regions[-1][1])
        else:
            regions.append((start, end))
    starts = [start for start, _ in regions]

    def inside(word: _Word) -> int | None:
        region = bisect_right(starts, word.start) - 1
        return region if region >= 0 and word.end <= regions[region][1] else None

    return inside, regions


def _units(sentences: list[Sentence]):
    """The spans of tokens, those of sentences, and the words."""
    tokens, spans, words, place = set(), set(), [], 0
    for sentence in sentences:
        begin, word, surface = place, 0, sentence.surface
        for text, count in zip(surface.tokens, surface.words, strict=True):
            start, place = place, place + len(unspaced(text))
            tokens.add((start, place))
            for i in range(word, word + count):
                form = sentence.tokens[i].lower()
                words.append(_Word(start, place, count > 1, form))
            word += count
        spans.add((begin, place))
    return tokens, spans, words


def unspaced(text: str) -> str:
    """The text without white space."""
    return "".join(text.split())


def check_same_text(one: str, other: str) -> None:
    """Raise a ValueError that says where two texts without white space differ."""
    if one == other:
        return
    place = len(commonprefix([one, other]))
    around = [text[max(0, place - 10) : place + 20] for text in (one, other)]
    raise ValueError(
        f"the texts differ: at character {place + 1} without white space the gold one "
        f"has {around[0]!r}, and the other one {around[1]!r}; annotate the same text"
    )


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
    counts, words, _ = unit_scores(gold, predicted)
    return SegmentationScores(**counts, multiwords=_common(*map(_multiwords, words)))


def _multiwords(words) -> set[tuple]:
    """The stretches of tokens of several words, each with the forms of its words."""
    forms = defaultdict(list)
    for word in words:
        if word.several:
            forms[word.start, word.end].append(word.form)
    return {(*span, *its_forms) for span, its_forms in forms.items()}
