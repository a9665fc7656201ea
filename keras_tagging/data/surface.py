"""Where the tokens of a sentence stand in the text that they come from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Surface:
    """The text of a sentence, and the place of each of its tokens in it.

    A token is a stretch of the text. It is one word, or several: the multiword token
    *don't* of English treebanks is the words *do* and *n't*. Offsets count code points,
    as Python does.

    Args:
        text: from the first token of the sentence to its last, without the white space
            around it.
        spans: for each token where it begins in `text`, and where it ends.
        words: for each token the number of its words, 1 or more; together they are the
            tokens of the `Sentence`.
        start: the offset of `text` in the document.
        after: what stands between this sentence and the next: "", white space, or None
            if that is not known.

    Raises:
        ValueError: if the spans overlap, are not in order or leave the text, or there
            is not a number of words for each.
    """

    text: str
    spans: list[tuple[int, int]]
    words: list[int]
    start: int = 0
    after: str | None = None

    def __post_init__(self):
        if len(self.words) != len(self.spans):
            raise ValueError(
                f"{len(self.spans)} tokens, but numbers of words for {len(self.words)}"
            )
        if self.words and min(self.words) < 1:
            raise ValueError("a token has at least one word")
        last = 0
        for begin, end in self.spans:
            if not last <= begin < end <= len(self.text):
                raise ValueError(
                    f"a token from {begin} to {end} follows one that ends at {last}, "
                    f"in a text of {len(self.text)} characters"
                )
            last = end

    @property
    def tokens(self) -> list[str]:
        """The tokens, as they are written in the text."""
        return [self.text[begin:end] for begin, end in self.spans]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The begin and the end of each token in the document."""
        return [(self.start + begin, self.start + end) for begin, end in self.spans]

    @property
    def word_offsets(self) -> list[tuple[int, int]]:
        """For each word the offsets of its token, which may have several words."""
        counted = zip(self.offsets, self.words, strict=True)
        return [place for place, count in counted for _ in range(count)]

    def space_after(self, token: int) -> str | None:
        """The text between a token, counted from 0, and the next one.

        Behind the last one it is `after`.
        """
        if token + 1 == len(self.spans):
            return self.after
        return self.text[self.spans[token][1] : self.spans[token + 1][0]]
