r"""How strings reach an ONNX file, and the forms of a token that have ids, by name.

=================  =====================================================================
`raw`, `lower`     the token as it is written, and in lower case
`kadari`, `wu`,    its normal form: see `encoding.feature_settings.FeatureSettings`;
`dinarelli`        the last one in the file of a single model alone
`suffixN`          its last N characters, or all of a shorter one; and `prefixN`
`shape`            its shape, such as `Xx-0`
`capital`          `X` if it begins with a capital, otherwise `x`
=================  =====================================================================

The file of a model that is alone makes these forms itself, and `words.onnx` those of a
pipeline: both in `onnx.strings`. Most tokens are ASCII, for which Python's own
functions do the same in a hundredth of the time that a call of `words.onnx` takes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from keras_tagging.encoding.vocabulary import CLUSTER, UNKNOWN_ID, VECTOR, numbered

#: stands for U+0000, at which the operations of onnxruntime-extensions end a string;
#: Unicode has promised that it will never be a character
NUL = "\U000ffffe"
#: stands for what is no UTF-8
REPLACEMENT = "\ufffd"
CAPITAL = "capital"
#: the normal forms that differ from lower case
NORMAL_FORMS = ("kadari", "wu", "dinarelli")
_AFFIX = re.compile("(prefix|suffix)([1-9][0-9]{0,5})")
_DIGIT, _DIGITS = re.compile("[0-9]"), re.compile("[0-9]+")
_UPPER, _LOWER = re.compile("[A-Z]+"), re.compile("[a-z]+")
# of CCGBank: what stands before a slash that a backslash marks
_BEFORE_SLASH = re.compile(r"^.*\\/?(.+)\Z", re.DOTALL)


def all_encodable(texts: list[str]) -> list[str]:
    """The texts as an ONNX file takes them: `encodable` of each, soon for most."""
    whole = "".join(texts)
    if whole.isascii() and "\0" not in whole:
        return texts
    return [*map(encodable, texts)]


def encodable(text: str | bytes) -> str:
    """The text as an ONNX file takes it.

    As in the SavedModel, U+FFFD stands for bytes that are no UTF-8, and "?" for a lone
    surrogate, which has no bytes.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", NUL)


def encoded_ids(name: str, words: Iterable[str]) -> dict[str, int]:
    """The ids of the words of a vocabulary, as an ONNX file takes these.

    Of equal words the first counts. There is at least one: ONNX has no empty table.
    """
    ids: dict[str, int] = {}
    for word, i in numbered(name, words):
        ids.setdefault(encodable(word), i)
    return ids or {"": UNKNOWN_ID}


def forms_needed(features, name: str) -> list[str]:
    """The forms by which a feature of tokens is looked up, first choice first.

    Args:
        features: the `TokenFeatures`.
        name: one of its features that is no column.
    """
    if name not in ("word", VECTOR, CLUSTER):
        return [name]
    normal = features.normalise if features.normalise in NORMAL_FORMS else "lower"
    every = ["raw", "lower", normal]
    return every if name == CLUSTER or features.lookup == "cascade" else [normal]


def _kadari(token: str) -> str:
    form = _DIGITS.sub("0", token.lower())
    return _BEFORE_SLASH.sub(r"\1", form) if "\\" in form else form


_FORMS = {
    "raw": str,
    "lower": str.lower,
    "kadari": _kadari,
    "wu": lambda token: _DIGIT.sub("9", token.lower()),
    "shape": lambda token: _DIGITS.sub("0", _LOWER.sub("x", _UPPER.sub("X", token))),
    CAPITAL: lambda token: "X" if token[:1].isupper() else "x",
}


@cache
def of_ascii(name: str) -> Callable[[str], str] | None:
    """The function that makes a form of an ASCII token; None for an unknown name."""
    if affix := _AFFIX.fullmatch(name):
        count = int(affix[2])
        if affix[1] == "prefix":
            return lambda token: token[:count]
        return lambda token: token[-count:]
    return _FORMS.get(name)


def forms_of(
    tokens: Sequence[str],
    names: Sequence[str],
    made: Callable[[list[str]], dict[str, Sequence[str]]],
) -> dict[str, list[str]]:
    """The forms of tokens, each list in their order.

    Args:
        tokens: as `encodable` has them.
        names: of the forms.
        made: function from tokens that are not ASCII, or have forms of other names, to
            all of their forms.
    """
    functions = [of_ascii(name) for name in names]
    plain = [None not in functions and token.isascii() for token in tokens]
    others = [token for token, easy in zip(tokens, plain, strict=True) if not easy]
    slow = made(others) if others else {}
    forms = {}
    for name, function in zip(names, functions, strict=True):
        rest = iter(slow.get(name, ()))
        pairs = zip(tokens, plain, strict=True)
        forms[name] = [function(x) if easy else next(rest) for x, easy in pairs]
    return forms
