"""Normal form of words, before they are looked up."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from keras_tagging.data.sentence import Sentence
from keras_tagging.utils import limits

_LETTERS = "ff fi fl ffi ffl st st".split()
#: marks that a text has in one of two ways, as its writer's program made them
STRAIGHT = dict(zip("\u2019\u2018\u201c\u201d\u2013\u2014", "''\"\"--", strict=True))
LIGATURES = dict(zip(map(chr, range(0xFB00, 0xFB07)), _LETTERS, strict=True))
#: what nobody sees: soft hyphens, blanks of no width, directions, word joiners, byte
#: order marks; and joiners, which say something inside of a word or an emoji
INVISIBLE, JOINERS = "\xad\u200b\u200e\u200f\u2060\ufeff", "\u200c\u200d"
#: a table for `str.translate` that drops what nobody sees
PLAIN = str.maketrans(LIGATURES | dict.fromkeys(INVISIBLE, ""))
#: the same for graphs, as RE2 reads it: what a word may have, and what stands for it
HIDING = f"{INVISIBLE}{JOINERS}{''.join(LIGATURES)}"
SHOWN = {
    **LIGATURES,
    f"^[{INVISIBLE}{JOINERS}]+|[{INVISIBLE}{JOINERS}]+$|[{INVISIBLE}]": "",
}


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
    # three Tibetan vowels are marks only once they are decomposed
    decomposed = {letter: unicodedata.normalize("NFD", letter) for letter in set(text)}
    marks = {x for x, parts in decomposed.items() if unicodedata.combining(parts[0])}
    for is_marks, run in groupby(text, marks.__contains__):
        if is_marks and (count := len(list(run))) > limits.COMBINING_MARKS:
            what = f"{shown(text)} has {count:,} combining marks in a row"
            raise LimitError(what, f"leave at most {limits.COMBINING_MARKS}", text)


def shown(text: str) -> str:
    """The beginning of a text, for a message."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


def straightened(counts: Mapping[str, int]) -> str:
    """The marks of `STRAIGHT` to be read as straight ones, which are more frequent.

    Args:
        counts: of characters in training.
    """
    pairs = STRAIGHT.items()
    return "".join(a for a, b in pairs if counts.get(a, 0) < counts.get(b, 0))


def straight_table(marks: str) -> dict[int, str]:
    """A table for `str.translate` that makes these marks straight."""
    return str.maketrans({mark: STRAIGHT[mark] for mark in marks})


def looked_up(word: str, table: Mapping[int, str] = PLAIN) -> str:
    """A word as it is looked up: in NFC, without ligatures and what nobody sees.

    Args:
        word: any string. One of which nobody sees anything stays.
        table: `PLAIN`, perhaps with a `straight_table`.

    Raises:
        LimitError: as `to_nfc`.
    """
    if word.isascii():
        return word
    form = to_nfc(word.translate(table)).strip(JOINERS)
    return form or to_nfc(word)


def flat_strings(
    sentences: Sequence[Sentence], columns: Iterable[str] = (), marks: str = ""
) -> dict[str, list[str]]:
    """All tokens of the sentences end to end, as `TokenFeatures` reads them.

    Args:
        sentences: the sentences.
        columns: names of the further columns that are features.
        marks: those that become straight: see `straightened`.

    Returns:
        A dict of flat lists: the tokens as they are `looked_up` under "tokens", each
        column in NFC under its name.

    Raises:
        ValueError: if a sentence has no such column, or a value has too many combining
            marks (`to_nfc`).
    """
    table = PLAIN | straight_table(marks)
    words = (w for s in sentences for w in s.tokens)
    words = [w if w.isascii() else looked_up(w, table) for w in words]
    strings = {"tokens": words}
    for name in columns:
        for number, sentence in enumerate(sentences, 1):
            if sentence.tokens and name not in sentence.columns:
                what = f"sentence {number} has no column {name!r}, a feature"
                option = f"--option 'columns={{\"{name}\": 1}}'"
                raise ValueError(f"{what}; in a file of columns, name it: {option}")
        values = (v for s in sentences for v in s.columns.get(name, ()))
        strings[name] = [v if v.isascii() else to_nfc(v) for v in values]
    return strings
