"""Text as the symbols that a segmenter reads."""

import sys
from dataclasses import dataclass

import numpy as np

from keras_tagging.utils import limits

BLANK, PARAGRAPH = ord(" "), ord("\n")
#: the code points for which `str.isspace` holds
WHITE = np.array([c for c in range(sys.maxunicode + 1) if chr(c).isspace()], "uint32")
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
    found = codes[places]
    blanks = white[places]
    found[blanks] = BLANK
    if blanks.any():
        ends = np.add.reduceat(_line_ends(codes), places)
        sizes = np.diff(places, append=len(codes))
        ends = (ends >= breaks) | (sizes > limits.WHITE_CHARACTERS)
        found[blanks & ends] = PARAGRAPH
    return Symbols(found, start + places, start + len(codes))


def _line_ends(codes: np.ndarray) -> np.ndarray:
    """The number of line ends that each character is; "\\r\\n" is one."""
    feeds = codes == ord("\n")
    returns = codes == ord("\r")
    returns[:-1] &= ~feeds[1:]
    # of Unicode: the separators of lines and of paragraphs
    others = (codes == 0x85) | (codes == 0x2028)
    return feeds + returns + others + 2 * (codes == 0x2029).astype(int)
