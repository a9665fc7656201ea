"""How words are written before they are looked up."""

import unicodedata
from collections.abc import Iterable, Sequence

from keras_tagging.data.sentence import Sentence


def to_nfc(text: str) -> str:
    """The text in Unicode normal form C, the form all words are compared in."""
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", text)


def flat_strings(
    sentences: Sequence[Sentence], columns: Iterable[str] = ()
) -> dict[str, list[str]]:
    """All tokens of the sentences end to end, in NFC, as `TokenFeatures` reads them.

    Args:
        sentences: any.
        columns: names of the further columns that are features.

    Returns:
        The tokens under "tokens", the columns under their names.

    Raises:
        ValueError: if a sentence has no such column.
    """
    strings = {"tokens": [to_nfc(w) for s in sentences for w in s.tokens]}
    for name in columns:
        for number, sentence in enumerate(sentences, 1):
            if sentence.tokens and name not in sentence.columns:
                there = ", ".join(sentence.columns) or "none"
                raise ValueError(
                    f"sentence {number} has no column {name!r}, which this model "
                    f"reads as a feature (it has: {there}); of a file in columns, read "
                    f"it with --option 'columns={{\"{name}\": 1}}'"
                )
        strings[name] = [to_nfc(v) for s in sentences for v in s.columns.get(name, ())]
    return strings
