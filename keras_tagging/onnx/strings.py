"""Strings to ids: what `encoding.TokenFeatures` computes, in ONNX.

Strings are changed by operations of onnxruntime-extensions, which search with RE2 as
TensorFlow does; which characters a pattern means is at the end. A table is a
`LabelEncoder`. By which forms a token is looked up is in `runtime.token_forms`, for
Python too.
"""

import re
from collections.abc import Iterable
from functools import cache, cached_property
from itertools import islice

import numpy as np
import tensorflow as tf

from keras_tagging.data.normalisation import HIDING, SHOWN
from keras_tagging.encoding.tokens_to_ids import (
    NORMALISATIONS,
    SHAPES,
    TokenFeatures,
    lowered,
)
from keras_tagging.encoding.vocabulary import CLUSTER, FIRST_ID, UNKNOWN_ID, VECTOR
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import STRINGS
from keras_tagging.runtime.token_forms import (
    CAPITAL,
    NUL,
    REPLACEMENT,
    encodable,
    encoded_ids,
    forms_needed,
)

ASCII = r"[\x00-\x7F]*"
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_REPEATED = 1000  # RE2 refuses .{1001}
BLOCK = 128  # characters that follow each other, mostly of one script


def ids_of_strings(
    xp: Arrays,
    features: TokenFeatures,
    strings: dict[str, Array],
    token_ids: Array | None = None,
):
    """Ids of tokens, which are found once for each distinct token.

    Args:
        xp: of the graph.
        features: with vocabularies.
        strings: `(batch, time)` under "tokens" and the names of columns.
        token_ids: all ids but those of columns, if these are inputs of the graph: then
            `strings` need have no tokens.

    Returns:
        `(batch, time, features)` int32. With letters a dict of it, "ids", and of
        "letters" `(distinct tokens + 1, characters)` int32.
    """
    columns = look_up(xp, features, {x: [strings[x]] for x in features.columns})
    parts = [xp.expand_dims(column, -1) for column in columns.values()]
    if token_ids is not None:
        return xp.concatenate([token_ids, *(xp.cast(x, "int32") for x in parts)], -1)
    tokens, places = distinct(xp, strings["tokens"])
    count = xp.length(tokens, 0)
    forms = TokenForms(xp, clean(xp, tokens), features.vocabularies, features)
    names = [name for name in features.names if name not in features.columns]
    computed = {CAPITAL, "letters"}
    ids = look_up(
        xp,
        features,
        {
            name: [forms[form] for form in forms_needed(features, name)]
            for name in names
            if name not in computed
        },
    )
    if CAPITAL in names:
        ids[CAPITAL] = xp.cast(forms.is_capital, "int64") + 1
    if features.letters:
        ids["letters"] = xp.arange(count, "int64") + 1
    if names:
        rows = xp.stack([ids[name] for name in names], -1)
        parts.insert(0, xp.take(rows, places))
    ids = xp.cast(xp.concatenate(parts, -1), "int32")
    if not features.letters:
        return ids
    text = cut(xp, forms.text, features.letters)
    return {"ids": ids, "letters": spelled(xp, text, features.vocabularies["letters"])}


def look_up(
    xp: Arrays, features: TokenFeatures, forms: dict[str, list[Array]]
) -> dict[str, Array]:
    """The ids of each column, int64: those of the first form that its table has.

    Args:
        xp: of the graph.
        features: with vocabularies.
        forms: of each column, first choice first. All that are looked up in one table
            are so at once, as a file would have it as often as there are nodes.
    """
    columns: dict[str, list[str]] = {}
    for name in forms:
        columns.setdefault(features.table_of(name), []).append(name)
    ids = {}
    for table, names in columns.items():
        every = [form for name in names for form in forms[name]]
        words = features.vocabularies[table]
        of_forms = iter(ids_in_table(xp, every, words, table))
        for name in names:
            ids[name], *others = islice(of_forms, len(forms[name]))
            for other in others:
                is_unknown = xp.equal(ids[name], UNKNOWN_ID)
                ids[name] = xp.where(is_unknown, other, ids[name])
    return ids


def ids_in_table(
    xp: Arrays, forms: list[Array], words: list[str], name: str = ""
) -> list[Array]:
    """The ids of strings, in the table `name`; of equal words the first counts."""
    stacked = in_table(xp, xp.stack(forms, 0), encoded_ids(name, words))
    return [stacked[i] for i in range(len(forms))]


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


# Strings


def replace(xp: Arrays, text: Array, pattern: str, replacement: str) -> Array:
    """The strings with every match of a pattern replaced."""
    constants = [np.array([x], object) for x in (pattern, replacement)]
    return xp.node("StringRegexReplace", text, *constants, domain=STRINGS)


def matches(xp: Arrays, text: Array, pattern: str) -> Array:
    """Which strings a pattern matches as a whole."""
    return xp.node("RegexFullMatch", text, dtype="bool", pattern=pattern)


def clean(xp: Arrays, text: Array) -> Array:
    """The text, or U+FFFD for a string that is no UTF-8, or has a U+0000.

    Without ligatures and what nobody sees: see `data.normalisation.looked_up`.
    """

    def cleaned():
        whole = xp.where(matches(xp, text, r"[^\x00]*"), text, REPLACEMENT)
        form = whole
        for pattern, letters in SHOWN.items():
            form = replace(xp, form, pattern, letters)
        return [xp.where(matches(xp, form, ""), whole, form)]

    is_clean = matches(xp, text, rf"[^\x00{HIDING}]*")
    unclean = xp.any(xp.logical_not(is_clean))
    return xp.branches(unclean, cleaned, lambda: [text], [(None,)])[0]


def times(n: int) -> str:
    """A pattern of n characters."""
    whole, rest = divmod(n, MOST_REPEATED)
    return f".{{{MOST_REPEATED}}}" * whole + (f".{{{rest}}}" if rest else "")


def distinct(xp: Arrays, text: Array) -> tuple[Array, Array]:
    """Each distinct string of an array once, and the places where it stands.

    Returns:
        the strings `(distinct,)`, and their numbers in the shape of the array, int64.
    """
    strings, _, numbers = xp.node("Unique", text, outputs=3, sorted=0)
    strings.shape, numbers.dtype = (None,), "int64"
    return strings, xp.reshape(numbers, xp.lengths(text))


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
    pieces, _ = xp.node("StringSplit", text, outputs=2, delimiter=separator)
    rows = in_table(xp, pieces, ids)
    # behind the last separator there is an empty piece, if there is any character
    width = xp.maximum(xp.subtract(xp.length(rows, 1), 1), 1)
    rows = xp.pad(xp.cast(rows, "int32"), [[1, 0], [0, 1]])[:, :width]
    rows.shape = (None, None)
    return rows


class TokenForms:
    """The forms of tokens by name: see `runtime.token_forms`. Each is made once.

    There are two more, of a token's characters: `firstN` and `lastN`, counted from 0,
    "" where the token is too short.

    Args:
        xp: of the graph.
        raw: `(tokens,)`, as `clean` gives them.
        vocabularies: in which the forms are looked up, by name.
        features: the `TokenFeatures` of a single model.
    """

    def __init__(self, xp: Arrays, raw: Array, vocabularies, features=None):
        self.xp, self.vocabularies, self._features = xp, vocabularies, features
        self._made = {"raw": raw}

    def __getitem__(self, name: str) -> Array:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Array:
        xp, raw = self.xp, self["raw"]
        if name == "lower":
            return self._lower(raw)
        if name == CAPITAL:
            return xp.where(self.is_capital, "X", "x")
        if name == "shape":
            return self._replaced(raw, SHAPES)
        if name in NORMALISATIONS:
            text = self["lower"]
            if name == "dinarelli":
                text = xp.where(self._is_lowered(), text, raw)
            return self._replaced(text, NORMALISATIONS[name])
        [(kind, digits)] = re.findall("([a-z]+)([0-9]+)", name)
        n, text = int(digits), raw
        if kind in ("first", "last"):
            # what is not matched is empty
            place = {"first": f"{times(n)}(.).*", "last": f".*(.){times(n)}"}[kind]
            pattern = f"(?:{place}|{f'.{{0,{n}}}' if n else ''})"
            text = self.text
        else:  # shorter words stay as they are
            pattern = {"prefix": f"({times(n)}).*", "suffix": f".*({times(n)})"}[kind]
        return replace(xp, text, f"(?s)^{pattern}$", r"\1")

    @property
    def text(self) -> Array:
        """The form whose characters are features."""
        if self._features.characters_of == "raw":
            return self["raw"]
        return self[forms_needed(self._features, "word")[-1]]

    @cached_property
    def is_capital(self) -> Array:
        upper = character_class(members(UPPER))
        return matches(self.xp, self["raw"], f"(?s){upper}.*")

    def _is_lowered(self) -> Array:
        """D16 3.2: a capital, if training has the word in lower case only."""
        xp, forms = self.xp, [self["lower"], self["raw"]]
        of_lower, of_raw = ids_in_table(xp, forms, self.vocabularies["spelling"])
        in_lower_case = xp.not_equal(of_lower, UNKNOWN_ID)
        return self.is_capital & in_lower_case & xp.equal(of_raw, UNKNOWN_ID)

    # Lower case

    @cached_property
    def _lower_forms(self) -> dict[str, str]:
        """The characters to lower, and their lower-case forms.

        Of those beyond ASCII they are the ones that the vocabularies have in one of
        both cases: a word with any other is in no vocabulary, lowered or not.
        """
        tables = ("word", VECTOR, CLUSTER, "spelling", "character", "letters")
        words = [w for name in tables for w in self.vocabularies.get(name, ())]
        alphabet = {c for word in words for c in word}
        if FINAL_SIGMA in alphabet:
            alphabet.add(SIGMA)
        return {
            c: low
            for c, low in lower_forms().items()
            # two characters for one: so many unknown ones are read
            if c in CAPITALS or alphabet & {c, *low} or len(low) > 1
        }

    def _lower(self, text: Array) -> Array:
        """In lower case: ASCII at once, the rest letter by letter where there is any.

        `StringLower` alone would do what the locale of the machine says.
        """
        xp = self.xp
        is_ascii = matches(xp, text, ASCII)
        plain = replace(xp, xp.where(is_ascii, text, ""), "I", "i")  # ı in Turkish
        plain = xp.node("StringLower", plain, domain=STRINGS)
        text = xp.where(is_ascii, plain, text)
        upper = f"(?s).*{character_class({NUL, *self._lower_forms})}.*"
        rest = xp.logical_not(is_ascii) & matches(xp, text, upper)

        def letter_by_letter():
            places = xp.transpose(xp.node("NonZero", rest, dtype="int64"))
            chosen = xp.node("GatherND", text, places)
            # TensorFlow lowers, and keeps, what stands before a U+0000
            chosen = replace(xp, chosen, f"(?s){NUL}.*", "")
            chosen = self._lower_sigma(chosen)
            for character, low in self._lower_forms.items():
                chosen = replace(xp, chosen, character, low)
            return [xp.node("ScatterND", text, places, chosen)]

        lowered = xp.branches(xp.any(rest), letter_by_letter, lambda: [text], [(None,)])
        return lowered[0]

    def _lower_sigma(self, text: Array) -> Array:
        """The capital sigma of Greek: another letter at the end of a word."""
        xp = self.xp
        if SIGMA not in self._lower_forms:
            return text
        cased, ignored = map(character_class, sigma_context())
        within = f"{SIGMA}({ignored}*{cased})"
        for _ in range(2):  # the sigma that a match ends with is found the second time
            text = replace(xp, text, within, rf"{LOWER_SIGMA}\1")
        final = f"({cased}{ignored}*){SIGMA}"
        return replace(xp, text, final, rf"\1{FINAL_SIGMA}")

    # Classes of characters

    @cached_property
    def _usual(self) -> frozenset[str]:
        """The characters of the vocabularies in both cases, and of their blocks.

        A class that is cut down to these has few ranges, and RE2, which
        onnxruntime-extensions asks to compile each pattern in every call, is quick.
        """
        seen = {c for words in self.vocabularies.values() for w in words for c in w}
        seen |= {c for c, low in lower_forms().items() if seen & set(low)}
        blocks = {ord(c) // BLOCK for c in seen | {"a", "—"}}  # ASCII, punctuation
        starts = [block * BLOCK for block in blocks]
        return frozenset(chr(start + i) for start in starts for i in range(BLOCK))

    @cached_property
    def _has_unusual(self) -> Array:
        usual = f"{character_class(self._usual)}*"
        return self.xp.any(self.xp.logical_not(matches(self.xp, self["raw"], usual)))

    def _replaced(self, text: Array, replacements) -> Array:
        """The text after `replacements`, whose patterns may have classes of Unicode."""
        for pattern, replacement in replacements:
            if any(name in pattern for name in CLASSES):
                text = self._classes_replaced(text, pattern, replacement)
            else:
                text = replace(self.xp, text, pattern, replacement)
        return text

    def _classes_replaced(self, text: Array, pattern: str, replacement: str) -> Array:
        """Where all characters of the tokens are usual ones, the classes are cut down
        to these."""
        every, usual = (with_classes(pattern, among) for among in (None, self._usual))
        return self.xp.branches(
            self._has_unusual,
            lambda: [replace(self.xp, text, every, replacement)],
            lambda: [replace(self.xp, text, usual, replacement)],
            [(None,)],
        )[0]


# Which characters are letters, digits, capitals: the same in ONNX as in TensorFlow.
# Both search with RE2, but with versions of it that know different versions of Unicode;
# and onnxruntime-extensions lowers what the locale of the machine lowers. So a file
# says itself which characters it means. The classes and lower-case forms here are those
# that TensorFlow has when the file is written, asked of TensorFlow for every character.

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
