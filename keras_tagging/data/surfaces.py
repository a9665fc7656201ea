"""The surfaces of sentences: from the lines of CoNLL-U, and back to text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from keras_tagging.data.normalisation import shown
from keras_tagging.data.records import Line, Malformed
from keras_tagging.data.sentence import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.utils.limits import INTEGER_DIGITS

FORM, MISC = 1, 9
#: characters that end a paragraph, and so every document
BLANK_LINE = "\n\n"
_TEXT = re.compile(r"#\s*text\s*=\s?(.*)", re.DOTALL)
_NEW = re.compile(r"#\s*new(?:par|doc)\b")
_RANGE = re.compile(f"([0-9]{{1,{INTEGER_DIGITS}}})-([0-9]{{1,{INTEGER_DIGITS}}})")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# https://universaldependencies.org/misc.html: the values of SpacesAfter
_ESCAPES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}

# A token of the text: its form, the number of its words, and its attributes in MISC.
Token = tuple[str, int, dict[str, str]]


def with_surfaces(
    items: Iterable[Malformed | tuple[Sentence, list[str], list[Token]]],
) -> Iterator[Sentence | Malformed]:
    """The sentences of a file, which is one text, with their surfaces.

    A sentence is held back until the next one, which says what stands before it.

    Args:
        items: sentences, each with its lines and their `tokens_of`.
    """
    held = None
    for item in items:
        if isinstance(item, Malformed):
            yield item
            continue
        sentence, lines, tokens = item
        surface = surface_of_text(lines, tokens) or surface_of_spaces(tokens)
        before = decoded(tokens[0][2].get("SpacesBefore", ""))
        start = len(before)
        if held is not None:
            after = held.surface.after
            if any(map(_NEW.match, lines)) and not (after and after.strip(" ")):
                after = BLANK_LINE
            after = (" " if after is None else after) + before
            yield replace(held, surface=replace(held.surface, after=after))
            start = held.surface.start + len(held.surface.text) + len(after)
        surface = replace(surface, start=start, after=space_after(tokens[-1][2], None))
        held = replace(sentence, surface=surface)
    if held is not None:  # it may not be known what follows it
        yield held


def tokens_of(block: Iterable[Line]) -> list[Token]:
    """The tokens of a sentence: multiword tokens, and all words outside of these.

    Args:
        block: the lines of a sentence of CoNLL-U, whose words are sound.

    Raises:
        Malformed: if a multiword token has no form, or not words that follow.
    """
    tokens: list[Token] = []
    word = last = begun = 0
    for number, line in block:
        if line.startswith("#"):
            continue
        cells = line.split("\t")
        if span := _RANGE.fullmatch(cells[0]):
            first, end = map(int, span.groups())
            if first != word + 1 or end < first or word < last:
                what = f"the multiword token {shown(cells[0])} follows word {word}"
                remedy = "put it before its first word, and let none overlap"
                raise Malformed(number, what, remedy)
            if not cells[FORM]:
                what = f"column 2 of the multiword token {shown(cells[0])} is empty"
                raise Malformed(number, what, "put its form there")
            last, begun = end, number
            tokens.append((cells[FORM], end - first + 1, attributes(cells[MISC])))
        elif cells[0].isdecimal():
            word += 1
            if word > last:
                tokens.append((cells[FORM], 1, attributes(cells[MISC])))
    if word < last:
        what = f"the multiword token that ends with word {last} has words up to {word}"
        raise Malformed(begun, what, "give it all its words")
    return tokens


def attributes(misc: str) -> dict[str, str]:
    """The attributes in the column MISC."""
    pairs = (pair.partition("=") for pair in misc.split("|"))
    return {name: value for name, equals, value in pairs if equals}


def decoded(value: str) -> str:
    """The white space that a value of SpacesAfter or SpacesBefore stands for."""
    text = _ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), value)
    return text if text.isspace() else ""


def space_after(misc: dict[str, str], default: str | None = " ") -> str | None:
    """The text behind a token, by its attributes.

    Args:
        misc: the attributes.
        default: what stands there if they do not say.
    """
    if spaces := decoded(misc.get("SpacesAfter", "")):
        return spaces
    is_none = misc.get("SpaceAfter") == "No" or misc.get("SpacesAfter") == ""
    return "" if is_none else default


def surface_of_text(lines: Iterable[str], tokens: Sequence[Token]) -> Surface | None:
    """The surface by the comment `# text`; None if there is none that has the tokens.

    Between the tokens the comment may have white space, and nothing else.
    """
    comment = next(filter(None, map(_TEXT.match, lines)), None)
    if comment is None:
        return None
    text, end, spans = comment[1].strip(), 0, []
    for form, _, _ in tokens:
        begin = end
        while text[begin : begin + 1].isspace():
            begin += 1
        if not text.startswith(form, begin):
            return None
        end = begin + len(form)
        spans.append((begin, end))
    if end < len(text):
        return None
    return Surface(text, spans, [words for _, words, _ in tokens])


def surface_of_spaces(tokens: Sequence[Token]) -> Surface:
    """The surface by SpaceAfter, SpacesAfter and SpacesBefore."""
    parts, spans, end = [], [], 0
    for number, (form, _, misc) in enumerate(tokens):
        if number:
            space = space_after(tokens[number - 1][2])
            space += decoded(misc.get("SpacesBefore", ""))
            parts.append(space)
            end += len(space)
        spans.append((end, end + len(form)))
        parts.append(form)
        end += len(form)
    return Surface("".join(parts), spans, [words for _, words, _ in tokens])


def check_surfaces(sentences: Iterable[Sentence]) -> None:
    """Refuse sentences whose text is not known.

    Raises:
        ValueError: for the first one; the message has its number and the remedy.
    """
    for number, sentence in enumerate(sentences, 1):
        if sentence.surface is None and sentence.tokens:
            words = " ".join(sentence.tokens[:4])[:40]
            raise ValueError(
                f"sentence {number}, which begins {words!r}, has no text: read CoNLL-U "
                "with surface=True"
            )


def document_of(sentences: Iterable[Sentence]) -> tuple[str, list[Surface]]:
    """The text that sentences stand in, and their places in it.

    The first sentence stands at offset 0, whatever its `start`, and every other one
    behind the one before. If it is not known what stands between two sentences, it is a
    blank, or a blank line if the second one begins another document, which its `start`
    tells.

    Args:
        sentences: in their order; those without a token are left out.

    Returns:
        The text, and a surface for each sentence with tokens.

    Raises:
        ValueError: if a sentence has tokens and no surface.
    """
    sentences = list(sentences)
    check_surfaces(sentences)
    surfaces = [sentence.surface for sentence in sentences if sentence.tokens]
    parts, placed, position = [], [], 0
    for surface, following in zip_longest(surfaces, surfaces[1:]):
        after = surface.after
        if following is None:
            after = after or ""
        elif following.start <= surface.start:
            after = (after or "").rstrip() + BLANK_LINE
        elif after is None:
            after = " "
        parts += surface.text, after
        placed.append(replace(surface, start=position, after=after))
        position += len(surface.text) + len(after)
    return "".join(parts), placed


def text_of(sentences: Iterable[Sentence]) -> str:
    """The text that sentences stand in: that of `document_of`.

    Example:
        >>> from keras_tagging import Sentence
        >>> from keras_tagging.data.surface import Surface
        >>> first = Surface("It isn't.", [(0, 2), (3, 8), (8, 9)], [1, 2, 1])
        >>> second = Surface("Oh!", [(0, 2), (2, 3)], [1, 1], start=10)
        >>> first = Sentence(["It", "is", "n't", "."], surface=first)
        >>> text_of([first, Sentence(["Oh", "!"], surface=second)])
        "It isn't. Oh!"
    """
    return document_of(sentences)[0]
