"""The text that sentences with surfaces stand in."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest

from keras_tagging.data.sentence import Sentence, beginning
from keras_tagging.data.surface import Surface

#: characters that end a paragraph, and so every document
BLANK_LINE = "\n\n"


def check_surfaces(sentences: Iterable[Sentence]) -> None:
    """Refuse sentences whose text is not known.

    Raises:
        ValueError: for the first one; the message has its number and the remedy.
    """
    for number, sentence in enumerate(sentences, 1):
        if sentence.surface is None and sentence.tokens:
            what = f"sentence {number}, which begins {beginning(sentence)}, has no text"
            raise ValueError(f"{what}: read CoNLL-U with surface=True")


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
