"""Each distinct token once, with its characters: `encoding.tokens_to_ids` in ONNX."""

from itertools import islice

import numpy as np

from keras_tagging.encoding.vocabulary import FIRST_ID, UNKNOWN_ID
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import STRINGS
from keras_tagging.runtime.strings import encodable

MOST_REPEATED = 1000  # RE2 refuses .{1001}


def replace(xp: Arrays, text: Array, pattern: str, replacement: str) -> Array:
    """The strings with every match of a pattern replaced."""
    given = [np.array([x], object) for x in (pattern, replacement)]
    return xp.node("StringRegexReplace", text, *given, domain=STRINGS)


def in_table(xp: Arrays, text: Array, ids: dict[str, int]) -> Array:
    """The ids of strings, int64; `UNKNOWN_ID` of those without one."""
    return xp.node(
        "LabelEncoder",
        text,
        dtype="int64",
        domain="ai.onnx.ml",
        keys_strings=list(ids),
        values_int64s=list(ids.values()),
        default_int64=UNKNOWN_ID,
    )


def times(n: int) -> str:
    """A pattern of n characters."""
    whole, rest = divmod(n, MOST_REPEATED)
    return f".{{{MOST_REPEATED}}}" * whole + (f".{{{rest}}}" if rest else "")


def distinct(xp: Arrays, text: Array) -> tuple[Array, Array]:
    """Each distinct string of an array once, and the places where it stands.

    Returns:
        the strings `(distinct,)`, and their numbers in the shape of the array, int64.
    """
    names = xp.builder.node("Unique", [text.name], 3, sorted=0)
    numbers = Array(xp, names[2], "int64")
    shape = xp.node("Shape", text, dtype="int64")
    return Array(xp, names[0], "string", (None,)), xp.reshape(numbers, shape)


def cut(xp: Arrays, text: Array, most: int) -> Array:
    """The tokens, those of more than `most` characters without their middle."""
    first, last = times(most - most // 2), times(most // 2)
    return replace(xp, text, f"(?s)^({first}).*({last})$", r"\1\2")


def spelled(xp: Arrays, text: Array, characters: list[str]) -> Array:
    """The characters of tokens.

    Args:
        text: `(tokens,)`.
        characters: the vocabulary.

    Returns:
        ids `(tokens + 1, characters)` int32, 0 behind the end of a token. Row 0 is
        padding, and there is at least one column: a recurrent loop needs a step.
    """
    ids = {"": 0}
    for i, character in enumerate(characters, FIRST_ID):
        ids.setdefault(encodable(character), i)
    # unknown ones, of which the first must not stand in a token
    free = (chr(c) for c in range(0x10FFFF, 0, -1) if chr(c) not in ids)
    separator, other = islice(free, 2)
    text = replace(xp, text, separator, other)
    text = replace(xp, text, "(?s)(.)", rf"\1{separator}")
    names = xp.builder.node("StringSplit", [text.name], 2, delimiter=separator)
    found = in_table(xp, Array(xp, names[0], "string"), ids)
    # behind the last separator there is an empty piece, if there is any character
    width = xp.maximum(xp.subtract(xp.length(found, 1), 1), 1)
    found = xp.pad(xp.cast(found, "int32"), [[1, 0], [0, 1]])[:, :width]
    found.shape = (None, None)
    return found
