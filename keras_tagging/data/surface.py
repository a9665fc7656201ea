"""Where the tokens of a sentence, and its labelled spans, stand in their text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate


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
        if len(self.words) != len(self.spans) or 0 in self.words:
            raise ValueError(
                f"{len(self.spans)} tokens, and {self.words[:20]} words: give one or "
                "more for each"
            )
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


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the text that chunk tags mark.

    Args:
        text: as it is written.
        label: the type of the chunk, "PER" of B-PER and I-PER.
        start, end: offsets in the document, in code points; those of the sentence with
            its words between single blanks if its text is not known.
        probability: the smallest of the probabilities of its tags, which that of the
            whole span cannot exceed.
        words: its first word and the one behind its last, in the sentence, from 0.
    """

    text: str
    label: str
    start: int
    end: int
    probability: float
    words: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entity:
    """A `Span` by its words, as `Sentence.entities` has it.

    Args:
        start, end: its first word and the one behind its last, in the sentence, from 0:
            ``sentence.tokens[start:end]``.
        characters: where it begins and ends in the document, in code points.
        label: such as "PER".
        probability: see `Span`.
    """

    start: int
    end: int
    characters: tuple[int, int]
    label: str
    probability: float


def spaced(tokens: Sequence[str]) -> Surface:
    """The surface of words that stand between single blanks."""
    ends = list(accumulate(len(token) + 1 for token in tokens))
    spans = [
        (end - 1 - len(token), end - 1) for token, end in zip(tokens, ends, strict=True)
    ]
    return Surface(" ".join(tokens), spans, [1] * len(tokens))


def chunks_of(tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The chunks of tags in IOB2: type, first word, the word behind the last one.

    As in conlleval, an I- that continues no chunk of its type begins one.
    """
    first = None
    for i, tag in enumerate([*tags, "O"]):
        if first is not None and tag == f"I-{tags[first][2:]}":
            continue
        if first is not None:
            yield tags[first][2:], first, i
        first = None if tag == "O" else i


def tag_span(tags: list[str], first: int, end: int, label: str) -> None:
    """Mark the words from the first to the one before the end, in IOB2."""
    tags[first:end] = [f"B-{label}", *[f"I-{label}"] * (end - first - 1)]


def spans_of(
    chunks: Iterable[tuple[str, int, int]],
    probabilities: Sequence[float],
    surface: Surface,
) -> list[Span]:
    """The spans of the chunks of a sentence.

    Args:
        chunks: type, first word and the word behind the last one, counted from 0.
        probabilities: those of the tags of the words.
        surface: the place of the words. A span that begins or ends inside of a
            multiword token has the whole token.
    """
    # the token of each word
    owner = [i for i, count in enumerate(surface.words) for _ in range(count)]
    spans = []
    for label, first, end in chunks:
        start = surface.spans[owner[first]][0]
        stop = surface.spans[owner[end - 1]][1]
        spans.append(
            Span(
                surface.text[start:stop],
                label,
                surface.start + start,
                surface.start + stop,
                min(probabilities[first:end]),
                (first, end),
            )
        )
    return spans
