"""Spans of text with a label, such as named entities."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from keras_tagging.data.surface import Surface


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
    found = []
    for label, first, end in chunks:
        start = surface.spans[owner[first]][0]
        stop = surface.spans[owner[end - 1]][1]
        found.append(
            Span(
                surface.text[start:stop],
                label,
                surface.start + start,
                surface.start + stop,
                min(probabilities[first:end]),
                (first, end),
            )
        )
    return found
