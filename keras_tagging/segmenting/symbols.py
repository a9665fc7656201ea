"""Text to symbols: its characters, and how each run of white space stands in it."""

import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from keras_tagging.utils import limits

BLANK, PARAGRAPH = ord(" "), ord("\n")
#: the end of a line: of one that had room for the next word, and of a full one
LINE, WRAP = ord("\r"), ord("\v")
#: the code points for which `str.isspace` holds
WHITE = np.array([c for c in range(1 << 16) if chr(c).isspace()], "uint32")
_IS_WHITE = np.zeros(WHITE.max() + 2, bool)
_IS_WHITE[WHITE] = True
_CODES = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"

#: an end of a line, as Unicode has it
BREAK = re.compile("[\r\n\f\x85\u2028\u2029]")
#: what marks the item of a list, a quoted line, one of a chat or of the head of a mail
#: at its beginning
MARK = re.compile(
    r"(?:[-*+] \[[ xX]\]|[-*+•·‣▪◦●○–—]|[★☆]+|[0-9]{1,2}(?:\.[0-9]{1,2})+\.?|"
    r"\[(?:[ ✓]?|[0-9]{1,4}|[^\W\d_][\w .:'-]{0,16})\]|"
    r"\(?(?:[0-9]{1,3}|[A-Za-z]|[ivx]{2,4})[.)]|"
    r"\[[0-9/., -]{0,14}[0-9]{1,2}(?::[0-9]{2}){1,2}(?: [AP]M)?\]|"
    r"[^\W\d_]{1,12}\.?:|@[\w.-]{1,20}:?)(?=\s)|>(?: ?>)*"
)
#: characters of a line that are looked at for one
MARK_SIZE = 28
#: characters around the end of a line that are looked at, lines, and characters of an
#: address at the beginning of one
REACH, NEAR, ADDRESS = 600, 5, 64
#: a line may be shorter by such a part than the longest one, as people wrap
SLACK = 8
#: characters of lines that may be full: at least, if capitals follow them, and at most
NARROW, USUAL, WIDE = 40, 55, 100
#: what a line begins with, but for an address: that follows as well in a signature
_HEAD = re.compile(rf"(?!https?:|www\.|[\w.+-]{{1,{ADDRESS}}}@)[^\W\d_]")


@dataclass(frozen=True)
class Symbols:
    """A stretch of text: its characters, with each run of white space as one symbol.

    A run with a blank line, that is two ends of lines, is `PARAGRAPH`, and so is one at
    the end of the document. With one end it is `LINE` or `WRAP`, see `_line_symbols`,
    and without any `BLANK`. So indentation is not read.

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
        return are_white(self.codes)


def codes_of(text: str) -> np.ndarray:
    """The code points of a text, `(characters,)` uint32; half a surrogate pair too."""
    return np.frombuffer(text.encode(_CODES, "surrogatepass"), "uint32")


def text_of_codes(codes: np.ndarray) -> str:
    """The text that has these code points."""
    return codes.tobytes().decode(_CODES, "surrogatepass")


def are_white(codes: np.ndarray) -> np.ndarray:
    """Which code points are white space."""
    return _IS_WHITE[np.minimum(codes, len(_IS_WHITE) - 1)]


def symbols_of(
    text: str,
    start: int = 0,
    breaks: int = 2,
    before: str | None = None,
    after: str | None = None,
) -> Symbols:
    """The symbols of a text.

    Args:
        text: any text.
        start: where it begins in the document.
        breaks: ends of lines that make a run of white space a `PARAGRAPH`.
        before, after: the text around it, whose symbols are left out; None where the
            document begins and ends. `REACH` characters tell all that there is to know.
    """
    codes = codes_of(text)
    if text.isascii() and text.isprintable() and "  " not in text and text[-1:] != " ":
        # each of its characters is a symbol, as it is
        return Symbols(codes, np.arange(start, start + len(codes)), start + len(codes))
    first = len(before or "")
    whole = "".join((before or "", text, after or ""))
    codes = codes_of(whole)
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
        is_paragraph = (ends >= breaks) | (sizes > limits.WHITE_CHARACTERS)
        if after is None:  # the end of the document
            is_paragraph[-1] = True
        symbols[blanks & is_paragraph] = PARAGRAPH
        runs = np.flatnonzero(blanks & ((ends > 0) | is_paragraph))
        if (symbols[runs] == BLANK).any():
            stops = (places + sizes)[runs]
            is_whole = before is None or len(before) == start, after is None
            is_line = symbols[runs] == BLANK
            lines = _line_symbols(whole, places, blanks, runs, stops, is_line, is_whole)
            symbols[runs] = np.where(is_line, lines, symbols[runs])
    inside = slice(*np.searchsorted(places, (first, first + len(text))))
    offsets = start - first + places[inside]
    return Symbols(symbols[inside], offsets, start + len(text))


def _line_symbols(whole, places, blanks, runs, stops, is_line, is_whole) -> np.ndarray:
    """Whether the end of each line is one of wrapped text.

    A line is full if the first word of the next one would have made it about as long as
    the longest line around it in its paragraph. Its end is `WRAP` if all ends there are
    of full lines and one has `USUAL` characters, or half of them and a small letter
    follows a third of these: as in text that an editor or a mail program wrapped, and
    not in a chat, where lines begin with names or clocks. It is `LINE` in a paragraph
    with lines longer than `WIDE`, or none of `NARROW`, and before a `MARK`.

    Args:
        whole: the text.
        places, blanks: where each symbol begins, and whether it is white space.
        runs, stops: the white symbols at which lines end, and where each run ends.
        is_line: which of them are no ends of paragraphs.
        is_whole: whether the document begins with this text, and ends with it.

    Returns:
        `(runs,)` symbols.
    """
    never = len(whole) + 2 * REACH  # so far away that it is not looked at
    starts = places[runs]
    # where each line begins, the run before it, where it ends, and the run behind it
    begins = np.append(0, stops)
    before = np.append(0 if is_whole[0] else -never, starts)
    ends = np.append(starts, len(whole))
    behind = np.append(stops, len(whole) if is_whole[1] else never)
    # the end of the first word of each line
    words = np.searchsorted(places[blanks], begins, "left")
    tail = len(whole) if is_whole[1] else never
    words = np.append(places[blanks], tail)[words]
    lengths, firsts = ends - begins, words - begins

    numbers = np.arange(len(runs))
    reach = starts + REACH
    paragraphs = np.append(0, np.cumsum(~is_line))

    def near(shift):
        """Other lines, by their numbers, and which of them are of the paragraph."""
        line = np.clip(numbers + shift, 0, len(runs))
        seen = (before[line] >= starts - REACH) & (behind[line] <= reach)
        return line, seen & (line == numbers + shift) & (
            paragraphs[line] == paragraphs[:-1]
        )

    widest = np.zeros(len(runs), int)
    for shift in range(-NEAR, NEAR + 2):
        line, real = near(shift)
        widest = np.maximum(widest, np.where(real, lengths[line], 0))
    heads = (_HEAD.match(whole, begin) for begin in begins.tolist())
    small = np.array([bool(x) and x[0].isalpha() > x[0].isupper() for x in heads])
    full_around, around, small_around = np.zeros((3, len(runs)), int)
    for shift in range(-NEAR, NEAR + 1):
        line, real = near(shift)
        real &= np.append(is_line, False)[line]
        following = np.minimum(line + 1, len(runs))
        word = np.where(words[following] <= reach, firsts[following], never)
        full = real & (lengths[line] + 1 + word > widest - widest // SLACK)
        full_around += full
        small_around += full & small[following]
        around += real
        if not shift:
            is_full = full
    wrapped = is_full & (2 * full_around >= around)
    all_full = (full_around == around) & (widest >= USUAL)
    wrapped &= (3 * small_around >= full_around) | all_full
    wrapped &= (widest >= NARROW) & (widest <= WIDE)
    for run in np.flatnonzero(wrapped).tolist():
        wrapped[run] = MARK.match(whole, int(stops[run])) is None
    return np.where(wrapped, WRAP, LINE)


def _line_ends(codes: np.ndarray) -> np.ndarray:
    """The number of line ends that each character is; "\\r\\n" is one."""
    feeds = codes == ord("\n")
    returns = codes == ord("\r")
    returns[:-1] &= ~feeds[1:]
    # form feeds; of Unicode the separators of lines and of paragraphs
    others = (codes == 0x0C) | (codes == 0x85) | (codes == 0x2028)
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
        self._before: str | None = None

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
            else:  # and the lines at the end are seen with those that follow: `_HEAD`
                size = len(text[: max(0, size - REACH - ADDRESS - 1)].rstrip())
            rest = text[size:]
            yield from self._taken(text[:size], rest)
        yield from self._taken(rest, None)

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

    def _taken(self, text: str, after: str | None) -> Iterator[Symbols]:
        if text:
            start, before = self.end, self._before
            self._kept.append((start, text))
            self.end += len(text)
            self._before = ((before or "") + text)[-REACH - 1 :].lstrip()
            yield symbols_of(text, start, 1 if self.lines else 2, before, after)

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
