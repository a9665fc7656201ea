r"""The forms of a token that have ids, by name.

=================  =====================================================================
`raw`, `lower`     the token as it is written, and in lower case
`kadari`, `wu`     its normal form: see `encoding.feature_settings.FeatureSettings`
`suffixN`          its last N characters, or all of a shorter one; and `prefixN`
`shape`            its shape, such as `Xx-0`
`capital`          `X` if it begins with a capital, otherwise `x`
=================  =====================================================================

`words.onnx` makes these forms of any token. Most tokens are ASCII, for which Python's
own functions do the same in a hundredth of the time that a call of the file takes.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

CAPITAL = "capital"
#: the ids of a capital and of none, in the place of a vocabulary
CAPITAL_IDS = {"x": 1, "X": 2}
#: the normal forms that differ from lower case
NORMAL_FORMS = ("kadari", "wu")
_AFFIX = re.compile("(prefix|suffix)([1-9][0-9]{0,5})")
_DIGIT, _DIGITS = re.compile("[0-9]"), re.compile("[0-9]+")
_UPPER, _LOWER = re.compile("[A-Z]+"), re.compile("[a-z]+")
# of CCGBank: what stands before a slash that a backslash marks
_BEFORE_SLASH = re.compile(r"^.*\\/?(.+)\Z", re.DOTALL)


def _kadari(token: str) -> str:
    form = _DIGITS.sub("0", token.lower())
    return _BEFORE_SLASH.sub(r"\1", form) if "\\" in form else form


def _shape(token: str) -> str:
    return _DIGITS.sub("0", _LOWER.sub("x", _UPPER.sub("X", token)))


_FORMS = {
    "raw": str,
    "lower": str.lower,
    "kadari": _kadari,
    "wu": lambda token: _DIGIT.sub("9", token.lower()),
    "shape": _shape,
    CAPITAL: lambda token: "X" if token[:1].isupper() else "x",
}


@cache
def of_ascii(name: str) -> Callable[[str], str] | None:
    """The function that makes a form of an ASCII token; None for an unknown name."""
    if found := _AFFIX.fullmatch(name):
        count = int(found[2])
        if found[1] == "prefix":
            return lambda token: token[:count]
        return lambda token: token[-count:]
    return _FORMS.get(name)


def forms_of(
    tokens: Sequence[str],
    names: Iterable[str],
    made: Callable[[list[str]], dict[str, Sequence[str]]],
) -> dict[str, list[str]]:
    """The forms of tokens, each list in their order.

    Args:
        tokens: as `runtime.strings.encodable` has them.
        names: of the forms.
        made: function from tokens that are not ASCII, or have forms of other names, to
            all of their forms.
    """
    names = list(names)
    functions = [of_ascii(name) for name in names]
    plain = [None not in functions and token.isascii() for token in tokens]
    others = [token for token, easy in zip(tokens, plain, strict=True) if not easy]
    slow = made(others) if others else {}
    if len(others) == len(tokens):
        return {name: list(slow[name]) for name in names} if others else {}
    found = {}
    for name, function in zip(names, functions, strict=True):
        rest = iter(slow.get(name, ()))
        pairs = zip(tokens, plain, strict=True)
        found[name] = [function(x) if easy else next(rest) for x, easy in pairs]
    return found
