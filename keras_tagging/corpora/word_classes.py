"""Word classes such as city_name, learned from the slots of training sentences."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from keras_tagging.data.named_columns import annotated
from keras_tagging.data.sentence import Sentence, as_sentences

NO_CLASS = "O"
NUMBER = "number"
# the class of a slot is the last component of its name: B-fromloc.city_name
_SLOT = re.compile(r"[BIESLUM]-(?:.*\.)?([^.]+)")
_NUMBER = re.compile(r"\d+([.,:/-]\d+)*")


@dataclass(frozen=True, slots=True)
class WordClasses:
    """A class for each word, independent of its sentence.

    The class of a slot is the last component of its name: words of `fromloc.city_name`
    and `toloc.city_name` are all `city_name`. A word gets the class in whose slots it
    occurs most often in training, if these are at least half of all its occurrences,
    including those outside slots; if two classes tie, it gets the first in code-point
    order. Words made of digits, with single separators `. , : / -` between them, are
    always `number`. All other words are `O`: unseen words, words mostly outside slots,
    and words without a majority class. Case does not matter.

    Source: the classes of D16 Table 4, "city names, airports and time expressions".
    Departures: those came with the task; the paper does not say how they were made. The
    classes here say nothing about unseen words, and they are learned from the labels of
    the sentences on which a tagger is then trained; so they generalise less.

    Args:
        lexicon: the class of each word that has one, by the word in lower case.
    """

    lexicon: dict[str, str]

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> "WordClasses":
        """Learn the classes of words from the tags of training sentences.

        Raises:
            ValueError: if a sentence has no tags, or a tag is neither `O` nor a slot
                label such as `B-toloc.city_name`.
        """
        totals: Counter = Counter()
        in_class: dict[str, Counter] = defaultdict(Counter)
        for sentence in annotated(sentences):
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
        """Add a column `word_class` to the sentences; everything else stays."""
        labelled = []
        for sentence in as_sentences(sentences):
            classes = [self.class_of(word) for word in sentence.tokens]
            columns = {**sentence.columns, "word_class": classes}
            labelled.append(replace(sentence, columns=columns))
        return labelled

    def class_of(self, word: str) -> str:
        """The class of a word; `number` or `O` if it has none of its own."""
        if _NUMBER.fullmatch(word):
            return NUMBER
        return self.lexicon.get(word.lower(), NO_CLASS)


def _class_of(tag: str) -> str:
    slot = _SLOT.fullmatch(tag)
    if slot is None:
        raise ValueError(f"the tag {tag!r} is neither a slot label, as B-city, nor O")
    return slot[1]
