"""Which words have a vector, and in which form."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from keras_tagging.data.normalisation import to_nfc
from keras_tagging.data.sentence import Sentence
from keras_tagging.utils.startup import start_keras
from keras_tagging.vectors.word_vectors import WordVectors

#: Words, sentences or token lists, or words with their counts.
Words = Iterable[str | Sentence | list[str]] | Mapping[str, int]
#: A name that `TokenFeatures` knows, or a function of a word.
Normalise = str | Callable[[str], str] | None
KINDS = ("exact", "lower", "normalised", "missing")


@dataclass(frozen=True)
class Coverage:
    """The words of a text by the form in which they have a vector.

    Args:
        exact: words that have one as they are written, with the number of times they
            occur, most frequent first.
        lower: others that have one in lower case.
        normalised: others that have one in their normal form.
        missing: all other words.
    """

    exact: dict[str, int]
    lower: dict[str, int]
    normalised: dict[str, int]
    missing: dict[str, int]

    @property
    def tokens(self) -> float:
        """The share of the tokens whose word has a vector; nan if there are none."""
        return _share(*(sum(getattr(self, kind).values()) for kind in KINDS))

    @property
    def types(self) -> float:
        """The share of the different words that have a vector."""
        return _share(*(len(getattr(self, kind)) for kind in KINDS))

    def __str__(self):
        found = [(kind, getattr(self, kind)) for kind in KINDS]
        types = sum(len(words) for _, words in found)
        tokens = sum(sum(words.values()) for _, words in found)
        lines = [f"{'':<10}  {'words':>9}  {'share':>6}  {'tokens':>10}  {'share':>6}"]
        for kind, words in found:
            occurrences = sum(words.values())
            lines.append(
                f"{kind:<10}  {len(words):>9,}  {len(words) / (types or 1):>6.1%}  "
                f"{occurrences:>10,}  {occurrences / (tokens or 1):>6.1%}"
            )
        if self.missing:
            shown = list(self.missing)[:10]
            more = ", ..." if len(self.missing) > len(shown) else ""
            lines.append(f"most frequent of the missing: {', '.join(shown)}{more}")
        return "\n".join(lines)


def _share(exact, lower, normalised, missing) -> float:
    found = exact + lower + normalised
    return found / (found + missing) if found + missing else float("nan")


def coverage(
    words: Words, vectors: WordVectors, normalise: Normalise = None
) -> Coverage:
    """Which words have a vector: as written, in lower case, in normal form, or none.

    The forms are tried in this order, which is that of `lookup="cascade"`. Words are
    compared in NFC.

    Args:
        words: words, sentences or token lists, or words with their counts.
        vectors: the vectors.
        normalise: "kadari", "wu" or "lower", as in `TokenFeatures`, or a function that
            gives the normal form of a word; by default there is none.
    """
    counts = count_words(words)
    known = set(map(to_nfc, vectors.words))
    found = {kind: {} for kind in KINDS}
    names = sorted(counts, key=lambda word: (-counts[word], word))
    forms = zip(names, *lookup_forms(names, normalise), strict=True)
    for word, lower, normalised in forms:
        kind = "missing"
        for name, form in zip(KINDS, (word, lower, normalised), strict=False):
            if form in known:
                kind = name
                break
        found[kind][word] = counts[word]
    return Coverage(**found)


def lookup_forms(words: list[str], normalise: Normalise) -> tuple[list, list]:
    """Of each word the lower case and the normal form, in NFC.

    Raises:
        ValueError: if there is no such normal form, or it is not that of a word alone.
    """
    lower = [to_nfc(word.lower()) for word in words]
    if normalise is None:
        return lower, lower
    if callable(normalise):
        return lower, [to_nfc(normalise(word)) for word in words]
    if normalise == "dinarelli":
        raise ValueError(
            "normalise='dinarelli' depends on the training sentences: give the "
            "normal_forms of the TokenFeatures that have seen them"
        )
    start_keras()
    from keras_tagging.encoding.token_features import TokenFeatures

    return lower, TokenFeatures(normalise=normalise).normal_forms(words)


def count_words(words: Words) -> Counter:
    """How often each word occurs, in NFC.

    Raises:
        ValueError: if what is given is one string.
    """
    if isinstance(words, str):
        raise ValueError(f"{words[:30]!r} is a string: give a list of words")
    counts = Counter()
    if isinstance(words, Mapping):
        for word, count in words.items():
            counts[to_nfc(word)] += count
        return counts
    for item in words:
        if isinstance(item, str):
            counts[to_nfc(item)] += 1
        else:
            counts.update(map(to_nfc, getattr(item, "tokens", item)))
    return counts
