"""Characters of text to ids: the features that a segmenter reads."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

import numpy as np

from keras_tagging.data.normalisation import STRAIGHT, straight_table, straightened
from keras_tagging.encoding.lexicon import LONGEST, NAMES, Lexicon
from keras_tagging.encoding.symbols import BLANK, PARAGRAPH, Symbols
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, count_vocabulary

#: the classes of characters, each with the general categories of Unicode that it has
CLASSES = {
    "upper": ("Lu", "Lt"),
    "lower": ("Ll",),
    "letter": ("Lo", "Lm"),
    "mark": ("Mn", "Mc", "Me"),
    "digit": ("Nd", "Nl", "No"),
    "opening": ("Ps", "Pi"),
    "closing": ("Pe", "Pf"),
    "dash": ("Pd", "Pc"),
    "punctuation": ("Po",),
    "symbol": ("Sm", "Sc", "Sk", "So"),
    "other": ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"),
}
_CLASS = {category: i for i, names in enumerate(CLASSES.values()) for category in names}
#: after these the classes of white space, and of the end of a paragraph
_SPECIAL = {BLANK: len(CLASSES), PARAGRAPH: len(CLASSES) + 1}
CODES = 0x110000


class CharacterFeatures:
    """The function from symbols of a text to ids, with NumPy alone.

    ============  ==============================================================
    `character`   the character as it is written; one unseen in training is unknown;
                  curly quotes and dashes are straight, if these are more frequent
    `class`       one of `CLASSES`, a blank, or the end of a paragraph
    `begins`      with a lexicon: characters of the longest word of it that begins
                  here, plus one
    `ends`        the same of the word that ends here
    `inside`      the same of the word that has this character and the next one
    ============  ==============================================================

    As in `TokenFeatures`, 0 is padding, and 1 is unknown. The vocabulary `lexicon` has
    words; without one a symbol has the first two ids.
    """

    table_names = frozenset({"character", "lexicon"})
    columns = ()
    letters = 0

    def __init__(self):
        self.vocabularies: dict[str, list[str]] = {}
        self._rows = np.zeros((0, 2), "int32")

    @property
    def names(self) -> tuple[str, ...]:
        has_words = self.vocabularies.get("lexicon")
        return ("character", "class", *(NAMES if has_words else ()))

    def adapt(self, symbols: Symbols, words: Iterable[str] = ()) -> None:
        """Count the characters of training.

        Args:
            symbols: of the text.
            words: the lexicon.
        """
        codes, counts = np.unique(symbols.codes, return_counts=True)
        # half of a surrogate pair, which no file can hold, stays unknown
        counted = {
            chr(code): count
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
            if not 0xD800 <= code <= 0xDFFF
        }
        characters = count_vocabulary(Counter(counted))
        words = [word for word in dict.fromkeys(words) if len(word) <= LONGEST]
        self.set_vocabularies({"character": characters, "lexicon": words})

    def set_vocabularies(self, vocabularies: dict[str, list[str]]) -> None:
        """Set vocabularies that were counted earlier, such as a saved model's."""
        self.vocabularies = vocabularies
        known = vocabularies["character"]
        self._ids = {character: i for i, character in enumerate(known, FIRST_ID)}
        # they are sorted by frequency
        counts = {character: -i for character, i in self._ids.items()}
        rare = -len(known) - FIRST_ID
        counts |= {mark: counts.get(mark, rare) for mark in STRAIGHT}
        self._straight = straight_table(straightened(counts))
        self._rows = np.zeros((CODES, 2), "int32")
        self.lexicon = Lexicon(vocabularies.get("lexicon", ()))

    @property
    def sizes(self) -> dict[str, int]:
        """The number of ids of each column, including padding and unknown."""
        return {
            "character": FIRST_ID + len(self.vocabularies["character"]),
            "class": FIRST_ID + len(CLASSES) + len(_SPECIAL),
            **dict.fromkeys(self.names[2:], LONGEST + 2),
        }

    def encode(self, codes: np.ndarray, lexicon: Lexicon | None = None) -> np.ndarray:
        """The ids of symbols: from `(symbols,)` code points `(symbols, names)` int32.

        Args:
            codes: the code points.
            lexicon: in the place of its own.
        """
        rows = self._encoded(codes)
        if len(self.names) == rows.shape[1]:
            return rows
        found = (lexicon or self.lexicon).columns(codes)
        return np.concatenate([rows, 1 + found], 1)

    def _encoded(self, codes):
        rows = self._rows[codes]
        # each character is looked up when it first occurs
        if len(new := codes[rows[:, 0] == 0]):
            for code in np.unique(new).tolist():
                self._rows[code] = self._row(code)
            rows = self._rows[codes]
        return rows

    def _row(self, code: int) -> tuple[int, int]:
        character = chr(code).translate(self._straight)
        code = ord(character)
        kind = _SPECIAL.get(code)
        if kind is None:
            kind = _CLASS[unicodedata.category(character)]
        return self._ids.get(character, UNKNOWN_ID), FIRST_ID + kind
