"""A text that arrives in chunks, as symbols."""

from collections import deque
from collections.abc import Iterable, Iterator

from keras_tagging.encoding.symbols import Symbols, symbols_of
from keras_tagging.utils import limits

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
