r"""The categories of combinatory categorial grammar: parsing and one normal form.

CCGbank (Hockenmaier & Steedman 2007) writes `(S[dcl]\NP)/NP`, the Parallel Meaning Bank
`(s:dcl\np)/np`. Both are read here, and each can be written in either notation.
"""

import re
from functools import lru_cache
from sys import intern
from typing import NamedTuple

from keras_tagging.utils.checks import check_known
from keras_tagging.utils.limits import CATEGORY_CHARACTERS

NOTATIONS = ("ccgbank", "pmb")

# Errors of the published treebank; the first is in wsj_0595.15.
ERRATA = {r"((S[b]\NP)/NP)/": r"(S[b]\NP)/NP"}

# Features and the indices of predicate-argument structure: NP[nb]_29, S[b]_11, NP_10:B.
_INDEX = r"_[0-9]+(?::[BU])?"
_MARKS = rf"(?P<marks>(?:\[[A-Za-z0-9=,]+\]|{_INDEX})*)"
_TOKEN = re.compile(
    rf"(?P<slash>[/\\])|(?P<open>\()|(?:(?P<close>\))"
    rf"|(?P<name>[A-Za-z]+|[.,:;])(?::(?P<feature>[A-Za-z]+))?){_MARKS}"
)


class NotCCG(ValueError):
    """A text is not what it should be; the message says why, and the remedy."""

    def __init__(self, what: str, remedy: str):
        super().__init__(f"{what}; {remedy}")
        self.what, self.remedy = what, remedy


class CategoryError(NotCCG):
    """A text is not a CCG category."""


class Atom(NamedTuple):
    """`N`, `S[dcl]`, `conj` or a punctuation mark."""

    name: str
    features: tuple[str, ...] = ()

    def __str__(self) -> str:
        return write_category(self)


class Functor(NamedTuple):
    """`result/argument`, `result\\argument`; with a feature `(result/argument)[conj]`.

    The argument of `/` is to the right of the word, that of `\\` to the left.
    """

    result: "Atom | Functor"
    slash: str
    argument: "Atom | Functor"
    features: tuple[str, ...] = ()

    def __str__(self) -> str:
        return write_category(self)


Category = Atom | Functor


def parse_category(text: str) -> Category:
    r"""Parse a category in the notation of CCGbank or of the Parallel Meaning Bank.

    Slashes associate to the left. Redundant brackets and surrounding blanks are
    allowed. Indices are dropped. Names become CCGbank's: `s:dcl` becomes `S[dcl]`, and
    `conj` is lower case in both notations. As in CCGbank `[conj]` at the end belongs to
    the whole: `S[dcl]\NP[conj]` becomes `(S[dcl]\NP)[conj]`.

    Raises:
        CategoryError: if the text is not a category.

    Example:
        >>> parse_category(r"((S[dcl]_1\NP_2)_1/NP_3)").argument
        Atom(name='NP', features=())
        >>> print(parse_category(r"s:dcl\np/np"))
        (S[dcl]\NP)/NP
    """
    text = text.strip(" \t")
    text = ERRATA.get(re.sub(_INDEX, "", text), text)
    if len(text) > CATEGORY_CHARACTERS:
        raise _error(text, f"has {len(text)} characters")
    outer: list[tuple[Category | None, str]] = []  # the parts before open brackets
    left, slash, position = None, "", 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise _error(text, f"has {text[position]!r} at character {position + 1}")
        position = token.end()
        if token["slash"]:
            if left is None or slash:
                raise _error(text, f"has no result before {token['slash']!r}", position)
            slash = token["slash"]
            continue
        if token["close"]:
            if not outer or left is None or slash:
                raise _error(text, "closes a bracket too early", position)
            value = left._replace(features=left.features + _features(token["marks"]))
            left, slash = outer.pop()
        elif left is not None and not slash:
            raise _error(text, "has no slash between two categories", position)
        elif token["open"]:
            outer.append((left, slash))
            left, slash = None, ""
            continue
        else:
            name, feature = token["name"], token["feature"]
            name = "conj" if name.lower() == "conj" else name.upper()
            first = (feature,) if feature else ()
            value = Atom(name, first + _features(token["marks"]))
        left = Functor(left, slash, value) if slash else value
        slash = ""
    if outer or left is None or slash:
        raise _error(text, "does not close a bracket" if outer else "ends too early")
    left = _whole_conjunct(left)
    size = len(write_category(left))  # the normal form may have more brackets
    if size > CATEGORY_CHARACTERS:
        raise _error(text, f"has {size} characters in normal form")
    return left


def _whole_conjunct(category: Category) -> Category:
    """The category with the `[conj]` of its argument, which is that of a conjunct."""
    if isinstance(category, Atom) or category.features:
        return category
    *others, last = category.argument.features or ("",)
    if last != "conj":
        return category
    argument = category.argument._replace(features=tuple(others))
    return category._replace(argument=argument, features=(last,))


def _features(marks: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\[([^]]+)\]", marks))


def _error(text: str, what: str, position: int | None = None) -> CategoryError:
    shown = text if len(text) <= 80 else f"{text[:80]}..."
    where = "" if position is None else f" at character {position}"
    remedy = r"write it as (S[dcl]\NP)/NP or (s:dcl\np)/np"
    return CategoryError(f"the category {shown!r} {what}{where}", remedy)


def write_category(category: Category, notation: str = "ccgbank") -> str:
    r"""Write a category with only the brackets it needs.

    Args:
        category: a result of `parse_category`.
        notation: "ccgbank", `S[dcl]\NP`, or "pmb", `s:dcl\np`. The latter has no form
            for a feature of a functor or for a second feature: these stay in brackets.
    """
    if isinstance(category, Atom):
        return _write_atom(category, notation)
    result, argument = (
        f"({written})" if isinstance(part, Functor) and not part.features else written
        for part in (category.result, category.argument)
        for written in (write_category(part, notation),)
    )
    written = f"{result}{category.slash}{argument}"
    if not category.features:
        return written
    return f"({written})" + "".join(f"[{feature}]" for feature in category.features)


def _write_atom(atom: Atom, notation: str) -> str:
    name, features = atom.name, atom.features
    if notation == "pmb":
        name = name.lower()
        if features and features[0].isalpha():
            name, features = f"{name}:{features[0]}", features[1:]
    return name + "".join(f"[{feature}]" for feature in features)


@lru_cache(maxsize=1 << 14)
def normalise(text: str, notation: str = "ccgbank") -> str:
    r"""The normal form of a category: no redundant bracket, no index, one notation.

    Raises:
        CategoryError: if the text is not a category.
        ValueError: if the notation is unknown.

    Example:
        >>> normalise(r"((S[to]_20\NP_10)/(S[b]_30\NP_10:B))")
        '(S[to]\\NP)/(S[b]\\NP)'
        >>> normalise(r"(S[dcl]\NP)/NP", "pmb")
        '(s:dcl\\np)/np'
    """
    check_known("notation", notation, NOTATIONS)
    return intern(write_category(parse_category(text), notation))


@lru_cache(maxsize=1 << 14)
def category_of(text: str) -> Category | None:
    """The category of a text; None for what is none, as some treebanks have."""
    try:
        return parse_category(text)
    except CategoryError:
        return None


def as_read(text: str, notation: str | None) -> str:
    """The category of a file: in normal form, or with `None` as it stands.

    The errors of the published treebank are mended in either case.

    Raises:
        CategoryError: if the text is not a category.
        ValueError: if the notation is unknown.
    """
    return ERRATA.get(text, text) if notation is None else normalise(text, notation)
