"""The coverage of a text by word vectors."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

from keras_tagging.data.normalisation import looked_up, to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.startup import start_keras
from keras_tagging.utils.tables import aligned
from keras_tagging.vectors.word_vectors import WordVectors

#: Words, sentences or token lists, or words with their counts.
Words = Iterable[str | Sentence | list[str]] | Mapping[str, int]
#: A name that `TokenFeatures` knows, or a function of a word.
Normalise = str | Callable[[str], str] | None
KINDS = ("exact", "lower", "normalised", "subwords", "missing")


@dataclass(frozen=True)
class Coverage:
    """The words of a text by the form in which they have a vector.

    Args:
        exact: words that have one as written, with their number of occurrences, most
            frequent first.
        lower: other words that have one in lower case.
        normalised: other words that have one in their normal form.
        missing: all other words.
        subwords: words with a vector that is made of their pieces, in any form.
    """

    exact: dict[str, int]
    lower: dict[str, int]
    normalised: dict[str, int]
    missing: dict[str, int]
    subwords: dict[str, int] = field(default_factory=dict)

    @property
    def tokens(self) -> float:
        """The share of the tokens whose word has a vector; nan without tokens."""
        return _share(*(sum(getattr(self, kind).values()) for kind in KINDS))

    @property
    def types(self) -> float:
        """The share of the different words that have a vector."""
        return _share(*(len(getattr(self, kind)) for kind in KINDS))

    def __str__(self):
        words = {kind: getattr(self, kind) for kind in KINDS}
        if not self.subwords:
            del words["subwords"]
        types = sum(map(len, words.values())) or 1
        tokens = sum(sum(counts.values()) for counts in words.values()) or 1
        rows = [["", "words", "share", "tokens", "share"]]
        for kind, counts in words.items():
            count = sum(counts.values())
            row = [f"{len(counts):,}", f"{len(counts) / types:.1%}"]
            rows.append([kind, *row, f"{count:,}", f"{count / tokens:.1%}"])
        text = aligned(rows)
        if self.missing:
            more = ", ..." if len(self.missing) > 10 else ""
            shown = ", ".join([*self.missing][:10])
            text += f"\nmost frequent of the missing: {shown}{more}"
        return text


def _share(*counts) -> float:
    """The share of all but the last one, that of the missing."""
    return sum(counts[:-1]) / sum(counts) if any(counts) else float("nan")


def coverage(
    words: Words, vectors: WordVectors, normalise: Normalise = None
) -> Coverage:
    """Count the words that have a vector as written, in lower case or in normal form.

    The forms are tried in this order, as with `lookup="cascade"`. Words are compared in
    NFC.

    Args:
        words: words, sentences or token lists, or words with their counts.
        vectors: the vectors.
        normalise: "kadari", "wu" or "lower", as in `TokenFeatures`, or a function from
            a word to its normal form; by default there is no normal form.

    Raises:
        ValueError: if `words` is a string.
    """
    counts = count_words(words)
    present = set(map(to_nfc, vectors.words))
    composed = set(map(to_nfc, vectors.composed))
    by_kind = {kind: {} for kind in KINDS}
    names = sorted(counts, key=lambda word: (-counts[word], word))
    forms = zip(names, *lookup_forms(names, normalise), strict=True)
    for word, lower, normalised in forms:
        kind = "missing"
        for name, form in zip(KINDS, (word, lower, normalised), strict=False):
            if form in present:
                kind = "subwords" if form in composed else name
                break
        by_kind[kind][word] = counts[word]
    return Coverage(**by_kind)


def lookup_forms(words: list[str], normalise: Normalise) -> tuple[list, list]:
    """The lower case and the normal form of each word, in NFC.

    Raises:
        ValueError: if the normal form is unknown, or depends on more than the word.
    """
    lower = [to_nfc(word.lower()) for word in words]
    if normalise is None:
        return lower, lower
    if callable(normalise):
        return lower, [to_nfc(normalise(word)) for word in words]
    if normalise == "dinarelli":
        raise ValueError("normalise='dinarelli' depends on the training sentences")
    start_keras()
    from keras_tagging.encoding.tokens_to_ids import TokenFeatures

    return lower, TokenFeatures(normalise=normalise).normal_forms(words)


def count_words(words: Words) -> Counter:
    """The number of occurrences of each word as it is `looked_up`.

    Raises:
        ValueError: if `words` is a single string.
    """
    if isinstance(words, str):
        raise ValueError(f"{words[:30]!r} is a string: give a list of words")
    if not isinstance(words, Mapping):
        rows = ([x] if isinstance(x, str) else getattr(x, "tokens", x) for x in words)
        words = Counter(chain.from_iterable(rows))
    counts = Counter()
    for word, count in words.items():
        counts[looked_up(word)] += count
    return counts
