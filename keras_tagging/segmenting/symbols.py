"""Text, at once or in chunks, as the symbols that a segmenter reads."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

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

    Raises:
        ValueError: during the iteration, for a chunk that is no string.
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
            if not isinstance(chunk, str):
                raise ValueError(
                    f"a text is a string, or strings in their order, not {chunk!r:.60}"
                )
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
