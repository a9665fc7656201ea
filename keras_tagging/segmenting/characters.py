"""Characters of text to ids: the features that a segmenter reads.

For text without spaces they include the words of a lexicon that stand in it.
"""

import sys
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keras_tagging.data.normalisation import STRAIGHT, straight_table, straightened
from keras_tagging.data.surface import Surface
from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID, count_vocabulary
from keras_tagging.utils import limits

BLANK, PARAGRAPH = ord(" "), ord("\n")
#: the code points for which `str.isspace` holds
WHITE = np.array([c for c in range(1 << 16) if chr(c).isspace()], "uint32")
_IS_WHITE = np.zeros(WHITE.max() + 2, bool)
_IS_WHITE[WHITE] = True
_CODES = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


@dataclass(frozen=True)
class Symbols:
    """A stretch of text: its characters, with each run of white space as one symbol.

    A run is `PARAGRAPH` if it has a blank line, that is two ends of lines, and `BLANK`
    otherwise. So neither indentation nor the ends of wrapped lines are read.

    Args:
        codes: `(symbols,)` uint32, the code point of each.
        offsets: `(symbols,)` int64, where each begins in the text.
        end: where the last one ends.
    """

    codes: np.ndarray
    offsets: np.ndarray
    end: int

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def are_white(self) -> np.ndarray:
        return (self.codes == BLANK) | (self.codes == PARAGRAPH)


def codes_of(text: str) -> np.ndarray:
    """The code points of a text, `(characters,)` uint32; half a surrogate pair too."""
    return np.frombuffer(text.encode(_CODES, "surrogatepass"), "uint32")


def are_white(codes: np.ndarray) -> np.ndarray:
    """Which code points are white space."""
    return _IS_WHITE[np.minimum(codes, len(_IS_WHITE) - 1)]


def symbols_of(text: str, start: int = 0, breaks: int = 2) -> Symbols:
    """The symbols of a text.

    Args:
        text: any text.
        start: where it begins in the document.
        breaks: ends of lines that make a run of white space a `PARAGRAPH`.
    """
    codes = codes_of(text)
    if text.isascii() and text.isprintable() and "  " not in text:
        # each of its characters is a symbol, as it is
        return Symbols(codes, np.arange(start, start + len(codes)), start + len(codes))
    white = are_white(codes)
    # a symbol begins with each character that does not go on with white space
    begins = ~white
    begins[1:] |= ~white[:-1]
    begins[:1] = True
    places = np.flatnonzero(begins)
    symbols = codes[places]
    blanks = white[places]
    symbols[blanks] = BLANK
    if blanks.any():
        ends = np.add.reduceat(_line_ends(codes), places)
        sizes = np.diff(places, append=len(codes))
        ends = (ends >= breaks) | (sizes > limits.WHITE_CHARACTERS)
        symbols[blanks & ends] = PARAGRAPH
    return Symbols(symbols, start + places, start + len(codes))


def _line_ends(codes: np.ndarray) -> np.ndarray:
    """The number of line ends that each character is; "\\r\\n" is one."""
    feeds = codes == ord("\n")
    returns = codes == ord("\r")
    returns[:-1] &= ~feeds[1:]
    # of Unicode: the separators of lines and of paragraphs
    others = (codes == 0x85) | (codes == 0x2028)
    return feeds + returns + others + 2 * (codes == 0x2029).astype(int)


#: characters that are read before they become symbols
PIECE = 1 << 15


class TextStream:
    """The symbols of a stream, and the part of its text that is still needed.

    However the stream is cut into chunks, the symbols are the same.

    Args:
        chunks: a text, or strings that are one when they are joined.
        lines: whether each line is a paragraph, whose end is that of a sentence, and
            no other place.
    """

    def __init__(self, chunks: str | Iterable[str], lines: bool = False):
        self.lines = lines
        self.chunks = [chunks] if isinstance(chunks, str) else chunks
        self.end = 0
        self._kept: deque[tuple[int, str]] = deque()

    def __iter__(self) -> Iterator[Symbols]:
        rest, cut = "", False
        for chunk in self._pieces():
            text = rest + chunk
            if cut:  # the run of white space before goes on
                whole = len(text)
                text = text.lstrip()
                self.end += whole - len(text)
                cut = not text
            # white space at the end may go on in the next chunk
            size = len(text.rstrip())
            if len(text) - size > limits.WHITE_CHARACTERS:
                # whatever follows, it is the end of a paragraph
                size, cut = len(text), True
            rest = text[size:]
            yield from self._taken(text[:size])
        yield from self._taken(rest)

    def _pieces(self) -> Iterator[str]:
        parts, size = [], 0
        for chunk in self.chunks:
            for start in range(0, len(chunk), PIECE):
                parts.append(chunk[start : start + PIECE])
                size += len(parts[-1])
                if size >= PIECE:
                    yield "".join(parts)
                    parts, size = [], 0
        yield "".join(parts)

    def _taken(self, text: str) -> Iterator[Symbols]:
        if text:
            self._kept.append((self.end, text))
            self.end += len(text)
            yield symbols_of(text, self.end - len(text), 1 if self.lines else 2)

    def text(self, begin: int, end: int) -> str:
        """The text between two offsets, which must not have been forgotten."""
        return "".join(
            text[max(0, begin - start) : max(0, end - start)]
            for start, text in self._kept
            if start < end
        )

    def forget(self, end: int) -> None:
        """Forget the text before an offset."""
        while self._kept and self._kept[0][0] + len(self._kept[0][1]) <= end:
            self._kept.popleft()


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
        characters = vocabularies["character"]
        self._ids = {character: i for i, character in enumerate(characters, FIRST_ID)}
        # they are sorted by frequency
        counts = {character: -i for character, i in self._ids.items()}
        rare = -len(characters) - FIRST_ID
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
        rows = self._rows[codes]
        # each character is looked up when it first occurs
        if len(new := codes[rows[:, 0] == 0]):
            for code in np.unique(new).tolist():
                self._rows[code] = self._row(code)
            rows = self._rows[codes]
        if len(self.names) == rows.shape[1]:
            return rows
        lengths = (lexicon or self.lexicon).columns(codes)
        return np.concatenate([rows, 1 + lengths], 1)

    def _row(self, code: int) -> tuple[int, int]:
        character = chr(code).translate(self._straight)
        code = ord(character)
        kind = _SPECIAL.get(code)
        if kind is None:
            kind = _CLASS[unicodedata.category(character)]
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
