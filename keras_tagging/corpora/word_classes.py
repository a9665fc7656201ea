"""Word classes such as city_name, learned from the slots of training sentences."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from keras_tagging.data.sentence import Sentence, as_sentences

NO_CLASS = "O"
NUMBER = "number"
# the class of a slot is the last component of its name: B-fromloc.city_name
_SLOT = re.compile(r"[BIESLU]-(?:.*\.)?([^.]+)")
_NUMBER = re.compile(r"\d+([.,:/-]\d+)*")


@dataclass(frozen=True, slots=True)
class WordClasses:
    """A class for each word, whatever sentence it stands in.

    A slot's class is the last component of its name, so that words of
    `fromloc.city_name` and `toloc.city_name` are `city_name` all. A word belongs to
    the class in whose slots it stands most often in training, if at least half of all
    its occurrences, those outside slots included, stand there; of two classes with
    equally many the first in code-point order. Words made of digits, with single
    separators `. , : / -` between them, are `number`, whatever training has. Any
    other word is `O`: one that training does not have, and one that mostly stands
    outside slots or is divided between classes. Case does not count.

    Source: the classes of D16 Table 4, "city names, airports and time expressions".
    Departures: those came with the task; the paper does not say how they were made.
    These ones tell nothing of words that training lacks, and they are learned from
    the labels of the very sentences a tagger then trains on; so they generalise less.

    Args:
        lexicon: the class of each word that has one, the word in lower case.
    """

    lexicon: dict[str, str]

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> "WordClasses":
        """The classes of the words of training sentences, whose tags alone are read.

        Raises:
            ValueError: if a sentence has no tags, or a tag is neither `O` nor a slot
                label such as `B-toloc.city_name`.
        """
        totals: Counter = Counter()
        in_class: dict[str, Counter] = defaultdict(Counter)
        for sentence in as_sentences(sentences, tagged=True):
            for token, tag in zip(sentence.tokens, sentence.tags, strict=True):
                word = token.lower()
                totals[word] += 1
                if tag != "O" and not _NUMBER.fullmatch(word):
                    in_class[word][_class_of(tag)] += 1
        lexicon = {}
        for word, counts in sorted(in_class.items()):
            name, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
            if 2 * count >= totals[word]:
                lexicon[word] = name
        return cls(lexicon)

    def annotate(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """The sentences with a column `word_class`; other columns and tags stay."""
        return [
            replace(
                sentence,
                columns={
                    **sentence.columns,
                    "word_class": [self.class_of(word) for word in sentence.tokens],
                },
            )
            for sentence in as_sentences(sentences)
        ]

    def class_of(self, word: str) -> str:
        """The class of one word, `number` or `O` if it has none of its own."""
        if _NUMBER.fullmatch(word):
            return NUMBER
        return self.lexicon.get(word.lower(), NO_CLASS)


def _class_of(tag: str) -> str:
    slot = _SLOT.fullmatch(tag)
    if slot is None:
        raise ValueError(
            f"the tag {tag!r} is no slot label, such as 'B-toloc.city_name', nor 'O'"
        )
    return slot[1]
