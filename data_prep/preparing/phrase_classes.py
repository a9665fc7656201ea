"""Word classes such as city or airline, from a lexicon of phrases."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from keras_tagging.corpora.word_classes import NO_CLASS
from keras_tagging.data import CorpusError, Sentence
from keras_tagging.data.lines import numbered_lines, source_name
from keras_tagging.data.records import is_blank, message, unread
from keras_tagging.data.sentence import as_sentences

# `boston massachusetts :- NP : boston:ci`; the class, `ci`, follows its value
_ENTRY = re.compile(r"\s*(?P<phrase>\S.*?)\s*:-\s*NP\s*:[^:]*:(?P<kind>\w+)\s*")
# joins the classes of a phrase with several: Boston is a city and an airport
_AND = "+"


@dataclass(frozen=True, slots=True)
class PhraseClasses:
    """The classes of the longest phrases of a lexicon, independent of labels.

    Phrases are matched from the left. The longest phrase that begins at a word gives
    `B-ci` to its first word and `I-ci` to the others; a word outside phrases is `O`.
    Case does not matter.

    Source: the classes of D16 Table 4, "city names, airports and time expressions",
    from the database of ATIS. Departures: the paper does not say how its classes were
    made; these do not depend on the sentences and their labels.

    Args:
        phrases: the class of each phrase, its words in lower case.
    """

    phrases: Mapping[tuple[str, ...], str]

    @classmethod
    def read(cls, path: str | Path) -> "PhraseClasses":
        """Read a lexicon with lines such as `boston :- NP : boston:ci`.

        A phrase with several classes has all of them, as in `ap+ci`.

        Raises:
            CorpusError: for a line that is not an entry, or without any entries.
        """
        kinds = defaultdict(set)
        name = source_name(path)
        for number, line in numbered_lines(path, name, None):
            if isinstance(line, Exception):
                raise CorpusError(message(name, unread(number, line))) from line
            if is_blank(line):
                continue
            if not (entry := _ENTRY.fullmatch(line)):
                what = "no entry of a lexicon, such as 'boston :- NP : boston:ci'"
                raise CorpusError(f"{name}:{number}: {what}")
            kinds[tuple(entry["phrase"].lower().split())].add(entry["kind"])
        if not kinds:
            raise CorpusError(
                f"{name}: holds no entry, such as 'boston :- NP : bos:ci'"
            )
        return cls({words: _AND.join(sorted(kinds[words])) for words in kinds})

    def annotate(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """Add a column `word_class` to the sentences; everything else stays."""
        return [
            replace(
                sentence,
                columns={
                    **sentence.columns,
                    "word_class": self.classes_of(sentence.tokens),
                },
            )
            for sentence in as_sentences(sentences)
        ]

    def classes_of(self, tokens: Sequence[str]) -> list[str]:
        """A class for each token."""
        words = [token.lower() for token in tokens]
        longest = max(map(len, self.phrases), default=0)
        classes = []
        while (start := len(classes)) < len(words):
            for size in range(longest, 0, -1):
                phrase = tuple(words[start : start + size])
                if len(phrase) == size and phrase in self.phrases:
                    kind = self.phrases[phrase]
                    classes += [f"B-{kind}", *[f"I-{kind}"] * (size - 1)]
                    break
            else:
                classes.append(NO_CLASS)
        return classes
