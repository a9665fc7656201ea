r"""Which characters are letters, digits, capitals: the same in ONNX as in TensorFlow.

Both search with RE2, but with versions of it that know different versions of Unicode;
and onnxruntime-extensions lowers what the locale of the machine lowers. So a file says
itself which characters it means. The classes and lower-case forms here are those that
TensorFlow has when the file is written, asked of TensorFlow for every character.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import tensorflow as tf

from keras_tagging.encoding.tokens_to_ids import SHAPES, lowered

CODES = np.delete(np.arange(1, 0x110000, dtype=np.int32), slice(0xD7FF, 0xDFFF))
DIGIT, UPPER = r"\p{Nd}", r"\p{Lu}"
LETTER = SHAPES[1][0].removesuffix("+")
CLASSES = (LETTER, UPPER, DIGIT)
SIGMA, FINAL_SIGMA, LOWER_SIGMA = "Σ", "ς", "σ"


@cache
def members(pattern: str) -> frozenset[str]:
    """The characters that a pattern of one character matches."""
    return _where(tf.strings.regex_full_match(_characters(CODES), pattern), CODES)


def with_classes(pattern: str, among: frozenset[str] | None = None) -> str:
    """The pattern with its classes of Unicode written out, cut down to `among`."""
    for name in CLASSES:
        if name in pattern:
            characters = members(name) if among is None else members(name) & among
            pattern = pattern.replace(name, character_class(characters))
    return pattern


@cache
def lower_forms() -> dict[str, str]:
    """The lower-case form of every character that has another one than itself."""
    rows = _strings(_rows())
    codes = _rows()[(lowered(rows) != rows).numpy()].ravel()
    characters = _characters(codes)
    low = lowered(characters)
    places = np.flatnonzero(low != characters)
    forms = tf.gather(low, places).numpy().tolist()
    pairs = zip(codes[places].tolist(), forms, strict=True)
    return {chr(code): form.decode() for code, form in pairs}


@cache
def sigma_context() -> tuple[frozenset[str], frozenset[str]]:
    """Cased characters, and those that the rule of the final sigma looks through.

    A sigma is final after a cased character and before none; those that the rule
    ignores may stand between.
    """
    # a blank ends what the rule looks at: each character has a word of its own
    rows = _strings(_rows(), before="a", after=SIGMA + " ")
    finals = tf.strings.regex_full_match(lowered(rows), f"(?s).*{FINAL_SIGMA}.*")
    codes = _rows()[finals.numpy()].ravel()
    characters = _characters(codes)
    after = _ends_in_final_sigma(characters + SIGMA)
    through = _ends_in_final_sigma("a" + characters + SIGMA)
    return _where(after, codes), _where(~after & through, codes)


def character_class(characters: Iterable[str]) -> str:
    r"""A class of RE2, such as `[0-9\x{660}]`; one of nothing matches nothing."""
    codes = np.sort(np.fromiter(map(ord, characters), np.int32))
    if not codes.size:
        return r"[^\x{0}-\x{10FFFF}]"
    gaps = np.flatnonzero(np.diff(codes) > 1)
    starts, ends = codes[[0, *gaps + 1]], codes[[*gaps, -1]]
    ranges = (
        f"\\x{{{a:X}}}" + (f"-\\x{{{b:X}}}" if b > a else "")
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
    )
    return f"[{''.join(ranges)}]"


def around(characters: Iterable[str]) -> frozenset[str]:
    """The characters among which a model's words are, with as few ranges as may be.

    Those of ASCII, punctuation, and for each of these letters or digits its neighbours
    of the same kind: a class that is cut down to these has few ranges, and RE2, which
    onnxruntime-extensions asks to compile each pattern in every call, is quick.
    """
    kinds, chosen = _kinds().copy(), np.zeros(0x110000, bool)
    chosen[:0x80] = True
    # punctuation, and what else is no letter, digit or capital
    chosen[0x2000:0x2070] = kinds[0x2000:0x2070] == 0
    kinds[chosen] = -1  # where a search for neighbours ends, as at surrogates
    starts = np.flatnonzero(np.diff(kinds, prepend=np.int8(-2)))
    codes = np.fromiter(map(ord, characters), np.int32)
    runs = np.unique(np.searchsorted(starts, codes[~chosen[codes]], "right"))
    ends = np.append(starts[1:], len(kinds))
    for run in runs - 1:
        chosen[starts[run] : ends[run]] = True
    return frozenset(map(chr, np.flatnonzero(chosen).tolist()))


@cache
def _kinds() -> np.ndarray:
    """A number for each code: that of a digit, a capital, a letter, or of no such."""
    kinds = np.zeros(0x110000, np.int8)
    sets = [*map(members, (DIGIT, UPPER, LETTER)), lower_forms()]
    for i, some in enumerate(sets):
        kinds[[*map(ord, some)]] |= 1 << i
    kinds[0xD800:0xE000] = -1
    return kinds


def _characters(codes: np.ndarray) -> tf.Tensor:
    return tf.strings.unicode_encode(codes[:, None], "UTF-8")


# A string of many characters takes hardly longer than one of a single character, and of
# few rows of characters has any one what is asked for.


def _rows() -> np.ndarray:
    """All codes, `(rows, 64)`; the last one fills the last row."""
    return np.pad(CODES, (0, -len(CODES) % 64), "edge").reshape(-1, 64)


def _strings(rows: np.ndarray, before: str = "", after: str = "") -> tf.Tensor:
    """A string for each row: its characters, each between the same others."""
    around = [np.full(rows.shape, ord(c), np.int32) for c in before + after]
    around.insert(len(before), rows)
    return tf.strings.unicode_encode(np.dstack(around).reshape(len(rows), -1), "UTF-8")


def _where(matched: tf.Tensor, codes: np.ndarray) -> frozenset[str]:
    return frozenset(map(chr, codes[matched.numpy()].tolist()))


def _ends_in_final_sigma(texts: tf.Tensor) -> tf.Tensor:
    return tf.strings.regex_full_match(lowered(texts), f"(?s).*{FINAL_SIGMA}")
