"""Characters of text to ids: the features that a segmenter reads.

For text without spaces they include the words of a lexicon that stand in it.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np

from keras_tagging.data.normalisation import STRAIGHT, straight_table, straightened
from keras_tagging.data.surface import Surface
from keras_tagging.encoding.vocabulary import (
    CLUSTER,
    FIRST_ID,
    UNKNOWN_ID,
    count_vocabulary,
    numbered,
)
from keras_tagging.segmenting.symbols import (
    BLANK,
    LINE,
    PARAGRAPH,
    WRAP,
    Symbols,
    codes_of,
    text_of_codes,
)

#: characters of the longest word that is looked up
LONGEST = 12
#: what a character learns: the longest word that begins, ends, or goes on with it
NAMES = ("begins", "ends", "inside")
_PRIME = np.uint64(0x100000001B3)


def lower(codes: np.ndarray) -> np.ndarray:
    """Code points in small letters, one for one."""
    distinct, places = np.unique(codes, return_inverse=True)
    small = [chr(code).lower() for code in distinct.tolist()]
    small = [ord(s) if len(s) == 1 else c for s, c in zip(small, distinct, strict=True)]
    return np.array(small, "uint64")[places.reshape(codes.shape)]


class Lexicon:
    """Finds words in text without spaces, whatever their case.

    A word and its beginnings are kept as hashes of 64 bits, by their length, so that
    NumPy looks up all places of a text at once, and few of them twice.

    Args:
        words: those with more than `LONGEST` characters, and empty ones, are left out.
    """

    def __init__(self, words: Iterable[str]):
        self.words: list[np.ndarray] = []
        self.beginnings: list[np.ndarray] = []
        lowered = [lower(codes_of(word)) for word in words if 0 < len(word) <= LONGEST]
        sizes = np.array([len(word) for word in lowered], int)
        table = np.zeros((len(lowered), LONGEST), "uint64")
        for row, word in zip(table, lowered, strict=True):
            row[: len(word)] = word
        hashes = np.zeros(len(lowered), "uint64")
        for size in range(1, LONGEST + 1):
            hashes = hashes * _PRIME + table[:, size - 1]
            self.words.append(np.unique(hashes[sizes == size]))
            self.beginnings.append(np.unique(hashes[sizes >= size]))

    def columns(self, codes: np.ndarray) -> np.ndarray:
        """The lengths of the longest words at each symbol.

        Args:
            codes: `(symbols,)` code points.

        Returns:
            `(symbols, 3)` int32, 0 where there is none: the longest word that begins
            with the symbol, that ends with it, and that has it and the next one.
        """
        codes = lower(codes)
        lengths = np.zeros((len(codes), len(NAMES)), "int32")
        places = np.arange(len(codes))
        hashes = np.zeros(len(codes), "uint64")
        for size in range(1, LONGEST + 1):
            real = places + size <= len(codes)
            places, hashes = places[real], hashes[real]
            hashes = hashes * _PRIME + codes[places + size - 1]
            starts = places[_among(hashes, self.words[size - 1])]
            lengths[starts, 0] = size
            lengths[starts + size - 1, 1] = size
            for reach in range(size - 1):
                lengths[starts + reach, 2] = size
            going_on = _among(hashes, self.beginnings[size - 1])
            places, hashes = places[going_on], hashes[going_on]
        return lengths


def _among(values: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Which values are among those that are known and sorted."""
    if not len(members):
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(members, values), len(members) - 1)
    return members[places] == values


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
#: of these the first ones, of which words are
LETTERS = 3
#: after these the classes of white space
_SPECIAL = {c: len(CLASSES) + i for i, c in enumerate((BLANK, PARAGRAPH, LINE, WRAP))}
CODES = 0x110000


def _without_lines(codes: np.ndarray) -> np.ndarray:
    return np.where((codes == LINE) | (codes == WRAP), np.uint32(BLANK), codes)


class CharacterFeatures:
    """The function from symbols of a text to ids, with NumPy alone.

    ============  ==============================================================
    `character`   the character as it is written; one unseen in training is unknown;
                  curly quotes and dashes are straight, if these are more frequent
    `class`       one of `CLASSES`, or a symbol of white space
    `begins`      with a lexicon: characters of the longest word of it that begins
                  here, plus one
    `ends`        the same of the word that ends here
    `inside`      the same of the word that has this character and the next one
    `cluster`     with word classes: that of the letters' word, in small letters
    ============  ==============================================================

    As in `TokenFeatures`, 0 is padding, and what has no word, and 1 is unknown. The
    vocabulary `lexicon` has words, and `CLUSTER` classes; without them a symbol has the
    first two ids.
    """

    table_names = frozenset({"character", "lexicon", CLUSTER})
    columns = ()
    letters = 0

    def __init__(self):
        self.vocabularies: dict[str, list[str]] = {}
        self._rows = np.zeros((0, 2), "int32")

    @property
    def names(self) -> tuple[str, ...]:
        words = NAMES if self.vocabularies.get("lexicon") else ()
        classes = (CLUSTER,) if self.vocabularies.get(CLUSTER) else ()
        return ("character", "class", *words, *classes)

    def adapt(
        self,
        symbols: Symbols,
        words: Iterable[str] = (),
        lines: bool = False,
        classes: Iterable[str] = (),
    ) -> None:
        """Count the characters of training.

        Args:
            symbols: of the text.
            words: the lexicon.
            lines: whether the ends of lines are read; otherwise they are blanks.
            classes: of words, as `encoding.vocabulary` groups them.
        """
        codes = symbols.codes if lines else _without_lines(symbols.codes)
        codes, counts = np.unique(codes, return_counts=True)
        # half of a surrogate pair, which no file can hold, stays unknown
        counted = {
            chr(code): count
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True)
            if not 0xD800 <= code <= 0xDFFF
        }
        characters = count_vocabulary(Counter(counted))
        words = [word for word in dict.fromkeys(words) if len(word) <= LONGEST]
        vocabularies = {"character": characters, "lexicon": words}
        self.set_vocabularies(vocabularies | {CLUSTER: list(classes)})

    def set_vocabularies(self, vocabularies: dict[str, list[str]]) -> None:
        """Set vocabularies that were counted earlier, such as a saved model's."""
        self.vocabularies = vocabularies
        characters = vocabularies["character"]
        self._ids = {character: i for i, character in enumerate(characters, FIRST_ID)}
        self._reads_lines = {chr(LINE), chr(WRAP)} <= self._ids.keys()
        # they are sorted by frequency
        counts = {character: -i for character, i in self._ids.items()}
        rare = -len(characters) - FIRST_ID
        counts |= {mark: counts.get(mark, rare) for mark in STRAIGHT}
        self._straight = straight_table(straightened(counts))
        self._rows = np.zeros((CODES, 2), "int32")
        self.lexicon = Lexicon(vocabularies.get("lexicon", ()))
        classes = dict(numbered(CLUSTER, vocabularies.get(CLUSTER, ())))
        self._classes = {word.lower(): i for word, i in classes.items()} | classes

    @property
    def sizes(self) -> dict[str, int]:
        """The number of ids of each column, including padding and unknown."""
        sizes = {
            "character": FIRST_ID + len(self.vocabularies["character"]),
            "class": FIRST_ID + len(CLASSES) + (4 if self._reads_lines else 2),
            CLUSTER: FIRST_ID + len(self.vocabularies.get(CLUSTER, ())),
        }
        return {name: sizes.get(name, LONGEST + 2) for name in self.names}

    def encode(self, codes: np.ndarray, lexicon: Lexicon | None = None) -> np.ndarray:
        """The ids of symbols: from `(symbols,)` code points `(symbols, names)` int32.

        Args:
            codes: the code points.
            lexicon: in the place of its own.
        """
        if not self._reads_lines:
            codes = _without_lines(codes)
        rows = self._rows[codes]
        # each character is looked up when it first occurs
        if len(new := codes[rows[:, 0] == 0]):
            for code in np.unique(new).tolist():
                self._rows[code] = self._row(code)
            rows = self._rows[codes]
        if self.vocabularies.get("lexicon"):
            lengths = (lexicon or self.lexicon).columns(codes)
            rows = np.concatenate([rows, 1 + lengths], 1)
        if self.vocabularies.get(CLUSTER):
            rows = np.column_stack([rows, self._classes_of(codes, rows[:, 1])])
        return rows

    def _classes_of(self, codes, kinds) -> np.ndarray:
        """The class of the word that each letter belongs to, `(symbols,)` int32."""
        are_letters = (kinds >= FIRST_ID) & (kinds < FIRST_ID + LETTERS)
        text = text_of_codes(np.where(are_letters, codes, np.uint32(BLANK)))
        words = text.lower().split()
        ids = map(self._classes.get, words, repeat(UNKNOWN_ID))
        ends = np.flatnonzero(np.diff(are_letters, prepend=False, append=False))
        classes = np.zeros(len(codes), "int32")
        sizes = np.diff(ends)[::2]
        classes[are_letters] = np.repeat(np.fromiter(ids, "int32", len(words)), sizes)
        return classes

    def _row(self, code: int) -> tuple[int, int]:
        character = chr(code).translate(self._straight)
        code = ord(character)
        kind, category = _SPECIAL.get(code), unicodedata.category(character)
        if kind is None:
            kind = _CLASS[category]
        if category == "Sc" and character not in self._ids:
            character = "$"  # any other currency
        return self._ids.get(character, UNKNOWN_ID), FIRST_ID + kind


#: of the text: each is read with the words of the others
PARTS = 10
#: a text needs a lexicon if fewer of its tokens end before white space, the last ones
#: of sentences left out, or more of them have white space inside
ENDS, INSIDE = 0.5, 0.1


def needs_lexicon(surfaces: Sequence[Surface]) -> bool:
    """Whether white space tells little of where tokens end."""
    before = within = inside = tokens = 0
    for surface in surfaces:
        text, start, offsets = surface.text, surface.start, surface.offsets
        tokens += len(offsets)
        within += len(offsets) - 1
        before += sum(text[end - start].isspace() for _, end in offsets[:-1])
        inside += sum(any(map(str.isspace, token)) for token in surface.tokens)
    return before < ENDS * within or inside > INSIDE * tokens


def encoded_apart(
    features: CharacterFeatures, symbols: Symbols, surfaces: Sequence[Surface]
) -> np.ndarray:
    """The ids of the training text, each part with the words of the others.

    Otherwise the lexicon would have each word of a sentence, which it has not of any
    other text.

    Args:
        features: with or without a lexicon.
        symbols: of the text.
        surfaces: of its sentences.

    Returns:
        `(symbols, names)` int32.
    """
    ids = features.encode(symbols.codes)
    if not features.vocabularies["lexicon"]:
        return ids
    counts = [Counter(surface.tokens) for surface in surfaces]
    all_words = sum(counts, Counter())
    for part in np.array_split(np.arange(len(surfaces)), min(PARTS, len(surfaces))):
        words_of_part = sum((counts[place] for place in part), Counter())
        first, last = surfaces[part[0]], surfaces[part[-1]]
        bounds = [first.start, last.start + len(last.text)]
        begin, end = np.searchsorted(symbols.offsets, bounds)
        others = Lexicon(all_words - words_of_part)
        ids[begin:end] = features.encode(symbols.codes[begin:end], others)
    return ids
