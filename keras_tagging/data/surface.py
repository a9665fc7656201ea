"""Where the tokens of a sentence, and its labelled spans, stand in their text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise


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
        places = [0, *chain.from_iterable(self.spans), len(self.text)]
        is_empty = 0 in self.words or any(begin == end for begin, end in self.spans)
        if is_empty or places != sorted(places) or len(self.words) != len(self.spans):
            raise ValueError(f"{self.spans[:20]} are no tokens of {self.text[:60]!r}")

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

    @property
    def spaces_after(self) -> list[str | None]:
        """The text between each token and the next one; behind the last `after`."""
        pairs = pairwise(self.spans)
        return [*(self.text[end:begin] for (_, end), (begin, _) in pairs), self.after]


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
        text: as it is written.
    """

    start: int
    end: int
    characters: tuple[int, int]
    label: str
    probability: float
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a `Sentence` with its labels, each None where the sentence has none.

    Args:
        text: the word.
        lemma, upos, xpos, deprel: as in CoNLL-U.
        head: the number of the head, counted from 1; 0 for the root.
        entity: the label of the entity that it is part of, such as "PER".
        characters: where its token begins and ends in the document, in code points.
    """

    text: str
    lemma: str | None = None
    upos: str | None = None
    xpos: str | None = None
    head: int | None = None
    deprel: str | None = None
    entity: str | None = None
    characters: tuple[int, int] | None = None


def spaced(tokens: Sequence[str]) -> Surface:
    """The surface of words that stand between single blanks."""
    ends = list(accumulate(len(token) + 1 for token in tokens))
    spans = [
        (end - 1 - len(token), end - 1) for token, end in zip(tokens, ends, strict=True)
    ]
    return Surface(" ".join(tokens), spans, [1] * len(tokens))


# BILOU's names for the end and single tags, and BMES' for I; conlleval knows none.
_BILOU = {"L": "E", "U": "S", "M": "I"}


def chunks(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """The chunks of one sentence, as (type, start, end); `end` is exclusive.

    Every tag except `O` is inside a chunk. Between two such tags a new chunk begins if
    their types differ, after an E or S, and before a B or S; so an I at the start or
    after another type opens a chunk. The type is the part after the first hyphen; it is
    empty without a hyphen.
    """
    spans = []
    start, prefix_before, type_before = 0, "O", ""
    for i, tag in enumerate([*tags, "O"]):
        prefix, kind = split_tag(tag)
        goes_on = (
            prefix != "O"
            and kind == type_before
            and prefix_before not in ("O", "E", "S")
            and prefix not in ("B", "S")
        )
        if not goes_on:
            if prefix_before != "O":
                spans.append((type_before, start, i))
            start = i
        prefix_before, type_before = prefix, kind
    return spans


def split_tag(tag: str) -> tuple[str, str]:
    """The prefix of a tag, with the names of IOBES, and the type of its chunk."""
    prefix, _, kind = tag.partition("-")
    return _BILOU.get(prefix, prefix), kind


def tag_span(tags: list[str], first: int, end: int, label: str) -> None:
    """Mark the words from the first to the one before the end, in IOB2."""
    tags[first:end] = [f"B-{label}", *[f"I-{label}"] * (end - first - 1)]


def spans_of(
    chunks: Iterable[tuple[str, int, int]],
    probabilities: Sequence[float],
    surface: Surface,
    words: Sequence[str],
) -> list[Span]:
    """The spans of the chunks of a sentence.

    Args:
        chunks: type, first word and the word behind the last one, counted from 0.
        probabilities: those of the tags of the words.
        surface: the place of the words.
        words: those of the sentence. A span that begins or ends inside of a multiword
            token ends there, as before *'s* in *Obama's*; it has the whole token where
            the words are not its letters, as *de* and *le* are not those of *du*.
    """
    places = []  # of each word
    for (start, stop), count in zip(surface.spans, surface.words, strict=True):
        parts = words[len(places) : len(places) + count]
        if "".join(parts) == surface.text[start:stop]:
            places += pairwise(accumulate(map(len, parts), initial=start))
        else:
            places += [(start, stop)] * count
    spans = []
    for label, first, end in chunks:
        start, stop = places[first][0], places[end - 1][1]
        text, least = surface.text[start:stop], min(probabilities[first:end])
        place = surface.start + start, surface.start + stop
        spans.append(Span(text, label, *place, least, (first, end)))
    return spans
