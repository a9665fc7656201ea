"""Normal form of words, before they are looked up."""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits


class LimitError(ValueError):
    """A text is beyond a limit of `utils.limits`.

    Args:
        what: what is wrong.
        remedy: how to mend it.
        text: the offending text, by which a reader finds its line.
    """

    def __init__(self, what: str, remedy: str, text: str = ""):
        super().__init__(f"{what}; {remedy}")
        self.what, self.remedy, self.text = what, remedy, text


def to_nfc(text: str) -> str:
    """The text in Unicode normal form C, in which all words are compared.

    Raises:
        LimitError: if it has more than `limits.COMBINING_MARKS` in a row.
    """
    if text.isascii():
        return text
    if len(text) > limits.COMBINING_MARKS:
        _check_marks(text)
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def _check_marks(text: str) -> None:
    marks = {character for character in set(text) if _is_mark(character)}
    for is_marks, run in groupby(text, marks.__contains__):
        if is_marks and (count := len(list(run))) > limits.COMBINING_MARKS:
            what = f"{shown(text)} has {count:,} combining marks in a row"
            remedy = f"leave at most {limits.COMBINING_MARKS} of them"
            raise LimitError(what, remedy, text)


def _is_mark(character: str) -> bool:
    # three Tibetan vowels are marks only once they are decomposed
    return unicodedata.combining(unicodedata.normalize("NFD", character)[0]) > 0


def shown(text: str) -> str:
    """The beginning of a text, for a message."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def flat_strings(
    sentences: Sequence[Sentence], columns: Iterable[str] = ()
) -> dict[str, list[str]]:
    """All tokens of the sentences end to end, in NFC, as `TokenFeatures` reads them.

    Args:
        sentences: the sentences.
        columns: names of the further columns that are features.

    Returns:
        A dict of flat lists: the tokens under "tokens", each column under its name.

    Raises:
        ValueError: if a sentence has no such column, or a value has too many combining
            marks (`to_nfc`).
    """
    strings = {"tokens": [to_nfc(w) for s in sentences for w in s.tokens]}
    for name in columns:
        for number, sentence in enumerate(sentences, 1):
            if sentence.tokens and name not in sentence.columns:
                there = ", ".join(sentence.columns) or "none"
                raise ValueError(
                    f"sentence {number} has no column {name!r}, which this model "
                    f"reads as a feature (it has: {there}); in a file of columns, name "
                    f"it with --option 'columns={{\"{name}\": 1}}'"
                )
        strings[name] = [to_nfc(v) for s in sentences for v in s.columns.get(name, ())]
    return strings
