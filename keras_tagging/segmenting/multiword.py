"""Multiword tokens and their words, as training showed them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from os.path import commonprefix

from keras_tagging.data.surface import Surface

#: between a token and its words in the vocabulary of a model
SEPARATOR = "\t"
#: different tokens that make a rule
LEAST_TOKENS = 2
#: occurrences of a token that tell how it is usually analysed
LEAST_OCCURRENCES = 2
WordsOfToken = tuple[str, ...]


class MultiwordSplitter:
    """The words of multiword tokens: the most frequent analysis of training.

    A token is looked up as it is written, then in lower case, then by rules, which
    concern all but a part that the token has in common with one of its words:

    * behind such a beginning, *'s* is nothing and *'s*: *John's* is *John* and *'s*;
    * before such an end, *w* is *w* and nothing: Arabic *wktb* is *w* and *ktb*.

    A rule is one that different tokens of training follow. Of the rules for ends, and
    of those for beginnings, the longest is taken; of the two the one that more tokens
    follow. A token that no rule fits is one word. There is none for an end that more
    tokens have with an apostrophe: *thats* is misspelt, and *cats* no *cat's*.

    Case: if the words of a token, end to end, are the token itself, the words are cut
    out of it as it is written (*DON'T* is *DO* and *N'T*). Otherwise (*du* is *de* and
    *le*) they are as in training, but all in capitals if the token has several letters
    and no small one, and with an initial capital if it has one.

    Args:
        analyses: tokens with their words, `SEPARATOR` between, the most frequent first.
        usual: tokens in small letters that have several words wherever they stand.

    Raises:
        ValueError: if one has no word, or an empty one.

    Example:
        >>> analyses = ["du\\tde\\tle", "it's\\tit\\t's", "he's\\the\\t's"]
        >>> split = MultiwordSplitter(analyses)
        >>> split("Du"), split("SHE'S"), split("pain")
        (['De', 'le'], ['SHE', "'S"], ['pain'])
    """

    def __init__(self, analyses: Iterable[str], usual: Iterable[str] = ()):
        self.usual = frozenset(usual)
        self.as_written: dict[str, WordsOfToken] = {}
        self.lowered: dict[str, WordsOfToken] = {}
        suffixes: dict[tuple[str, WordsOfToken], set] = defaultdict(set)
        prefixes: dict[tuple[str, WordsOfToken], set] = defaultdict(set)
        for analysis in analyses:
            token, *words = analysis.split(SEPARATOR)
            words = tuple(words)
            if not (token and words and all(words)):
                raise ValueError(f"{analysis[:60]!r} is no token with its words")
            self.as_written.setdefault(token, words)
            token, words = token.lower(), tuple(word.lower() for word in words)
            self.lowered.setdefault(token, words)
            size = len(commonprefix([token, words[0]]))
            if 0 < size < len(token):
                rest = (words[0][size:], *words[1:])
                suffixes[token[size:], rest].add(token)
            size = len(commonprefix([token[::-1], words[-1][::-1]]))
            if 0 < size < len(token):
                rest = (*words[:-1], words[-1][:-size])
                prefixes[token[:-size], rest].add(token)
        self.suffixes, self.prefixes = best_rules(suffixes), best_rules(prefixes)
        for affix in [*self.suffixes]:
            if self.suffixes.get(f"'{affix}", (0,)) > self.suffixes[affix]:
                del self.suffixes[affix]
        affixes = [*self.suffixes, *self.prefixes]
        self.longest = max(map(len, affixes), default=0)

    def __call__(self, token: str, is_multiword: bool = True) -> list[str]:
        """The words of a token; the token alone if they are not known.

        Args:
            token: as it is written.
            is_multiword: whether it is one where it stands; the `usual` ones are.
        """
        if not is_multiword and token.lower() not in self.usual:
            return [token]
        if token in self.as_written:
            return list(self.as_written[token])
        lower = token.lower()
        words = self.lowered.get(lower) or self._by_rule(lower)
        return with_case(token, words) if words else [token]

    def _by_rule(self, token: str) -> WordsOfToken | None:
        analyses = []
        sizes = range(min(self.longest, len(token) - 1), 0, -1)
        for size in sizes:
            if rule := self.suffixes.get(token[-size:]):
                count, (first, *others) = rule
                analyses.append((count, (token[:-size] + first, *others)))
                break
        for size in sizes:
            if rule := self.prefixes.get(token[:size]):
                count, (*others, last) = rule
                analyses.append((count, (*others, last + token[size:])))
                break
        return max(analyses)[1] if analyses else None


def best_rules(
    rules: Mapping[tuple[str, WordsOfToken], set],
) -> dict[str, tuple[int, WordsOfToken]]:
    """For each affix the number of tokens that follow its best rule, and the rule.

    Args:
        rules: the tokens that follow each rule, by its affix and what it stands for.
    """
    best: dict[str, tuple[int, WordsOfToken]] = {}
    for (affix, words), tokens in rules.items():
        if len(tokens) >= LEAST_TOKENS:
            best[affix] = max(best.get(affix, (0, ())), (len(tokens), words))
    return best


def with_case(token: str, words: WordsOfToken) -> list[str]:
    """Words in small letters, with the case of their token."""
    lower = token.lower()
    if "".join(words) == lower and len(lower) == len(token):
        cut, begin = [], 0
        for word in words:
            cut.append(token[begin : begin + len(word)])
            begin += len(word)
        return cut
    if token.isupper() and sum(map(str.isalpha, token)) > 1:
        return [word.upper() for word in words]
    if token[:1].isupper():
        return [words[0][:1].upper() + words[0][1:], *words[1:]]
    return list(words)


def analyses_of(sentences: Iterable) -> list[str]:
    """The multiword tokens of sentences with their words, for `MultiwordSplitter`.

    Each token is counted as it is written. Analyses that no file could hold, with a tab
    or without a letter, do not occur in CoNLL-U and are left out.

    Args:
        sentences: with surfaces.
    """
    counts: Counter[str] = Counter()
    for token, words in _tokens(sentences):
        parts = [token, *words]
        if words[1:] and all(parts) and not any(SEPARATOR in p for p in parts):
            counts[SEPARATOR.join(parts)] += 1
    return sorted(counts, key=lambda analysis: (-counts[analysis], analysis))


def usual_of(sentences: Iterable) -> list[str]:
    """The tokens, in small letters, that mostly have several words.

    They occur at least `LEAST_OCCURRENCES` times, so that *dont* is one, and *its*,
    which only now and then is written for *it's*, is not.

    Args:
        sentences: with surfaces.
    """
    every: Counter[str] = Counter()
    multiword: Counter[str] = Counter()
    for token, words in _tokens(sentences):
        every[token.lower()] += 1
        multiword[token.lower()] += len(words) > 1
    return sorted(
        token
        for token, count in multiword.items()
        if token and count >= LEAST_OCCURRENCES and 2 * count > every[token]
    )


def _tokens(sentences: Iterable) -> Iterator[tuple[str, list[str]]]:
    """The tokens of sentences as they are written, each with its words."""
    for sentence in sentences:
        surface: Surface = sentence.surface
        word = 0
        for token, size in zip(surface.tokens, surface.words, strict=True):
            yield token, sentence.tokens[word : word + size]
            word += size
