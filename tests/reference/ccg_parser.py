r"""A CKY parser for CCG that tries everything, to check that tags can be derived.

It sees categories only, no words, and knows nothing of the demo grammar. The rules
are those of CCGbank (Hockenmaier & Steedman 2007):

    application            X/Y Y => X                 Y X\Y => X
    composition            X/Y Y/Z => X/Z             Y\Z X\Y => X\Z
      of second order      X/Y (Y/Z)|W => (X/Z)|W
      crossed, backward    Y/Z X\Y => X/Z             and (Y/Z)|W X\Y => (X/Z)|W
    type raising           NP => S/(S\NP)
    coordination           X conj X => X
    punctuation            X , => X     X . => X
    type changing          N => NP
                           S[pss]\NP => NP\NP         "the book sent by her"
                           S[ng]\NP => NP\NP          "the man reading a book"
                           S[dcl]/NP => NP\NP         "the book he read"

An S without a feature matches any S, and takes its feature in the result: that is how
`(S\NP)\(S\NP)` maps `S[ng]\NP` to itself. The feature [nb] is dropped on reading.
"""

from functools import cache, lru_cache
from typing import NamedTuple


class Atom(NamedTuple):
    name: str
    feature: str = ""


class Functor(NamedTuple):
    result: "Atom | Functor"
    slash: str
    argument: "Atom | Functor"


Category = Atom | Functor


@cache
def read_category(text: str) -> Category:
    """A category from its CCGbank notation; slashes associate to the left."""
    category, end = _read(text, 0)
    if end != len(text):
        raise ValueError(f"cannot read {text!r} beyond character {end}")
    return category


def _read(text: str, start: int) -> tuple[Category, int]:
    category, i = _read_operand(text, start)
    while i < len(text) and text[i] in "/\\":
        argument, after = _read_operand(text, i + 1)
        category, i = Functor(category, text[i], argument), after
    return category, i


def _read_operand(text: str, start: int) -> tuple[Category, int]:
    if text[start] == "(":
        category, i = _read(text, start + 1)
        if text[i : i + 1] != ")":
            raise ValueError(f"no closing bracket in {text!r}")
        return category, i + 1
    i = start
    while i < len(text) and text[i] not in "/\\()":
        i += 1
    name, _, feature = text[start:i].partition("[")
    feature = feature.removesuffix("]")
    return Atom(name, "" if feature == "nb" else feature), i


def _match(wanted: Category, given: Category) -> str | None:
    """The feature that a bare S of `wanted` takes ("" for none); None: no match."""
    if isinstance(wanted, Atom) or isinstance(given, Atom):
        if type(wanted) is not type(given) or wanted.name != given.name:
            return None
        if wanted.feature == given.feature or not given.feature:
            return ""
        if not wanted.feature and wanted.name == "S":
            return given.feature
        return None
    if wanted.slash != given.slash:
        return None
    features = (
        _match(wanted.result, given.result),
        _match(wanted.argument, given.argument),
    )
    if None in features or (all(features) and features[0] != features[1]):
        return None
    return features[0] or features[1]


def _with_feature(category: Category, feature: str) -> Category:
    """The category with every bare S given the feature."""
    if not feature:
        return category
    if isinstance(category, Atom):
        bare = category == Atom("S")
        return Atom("S", feature) if bare else category
    return Functor(
        _with_feature(category.result, feature),
        category.slash,
        _with_feature(category.argument, feature),
    )


def _apply(functor: Category, slash: str, argument: Category) -> Category | None:
    if isinstance(functor, Atom) or functor.slash != slash:
        return None
    feature = _match(functor.argument, argument)
    return None if feature is None else _with_feature(functor.result, feature)


def _compose(functor: Category, slash: str, inner: Category, inner_slash: str):
    """X|Y with Y|Z, and with (Y|Z)|W; the slash before Z is `inner_slash`."""
    if isinstance(inner, Atom):
        return
    if inner.slash == inner_slash:
        result = _apply(functor, slash, inner.result)
        if result is not None:
            yield Functor(result, inner_slash, inner.argument)
    if isinstance(inner.result, Functor) and inner.result.slash == inner_slash:
        result = _apply(functor, slash, inner.result.result)
        if result is not None:
            once = Functor(result, inner_slash, inner.result.argument)
            yield Functor(once, inner.slash, inner.argument)


CONJ, COMMA, PERIOD = Atom("conj"), Atom(","), Atom(".")
NP, N = Atom("NP"), Atom("N")
UNARY = {
    N: NP,
    NP: read_category(r"S/(S\NP)"),
    read_category(r"S[pss]\NP"): read_category(r"NP\NP"),
    read_category(r"S[ng]\NP"): read_category(r"NP\NP"),
    read_category("S[dcl]/NP"): read_category(r"NP\NP"),
}


class Coordinated(NamedTuple):
    """conj X: the right half of a coordination."""

    conjunct: Category


@cache
def _closed(category: Category) -> frozenset:
    """The category and what the unary rules make of it."""
    above = UNARY.get(category)
    return frozenset([category]) | (_closed(above) if above else frozenset())


@cache
def _combine(left, right) -> frozenset:
    """All that two adjacent constituents can be together."""
    if right in (COMMA, PERIOD):
        return frozenset([left])
    if isinstance(right, Coordinated):
        return _closed(left) if left == right.conjunct else frozenset()
    if left == CONJ:
        return frozenset([Coordinated(right)])
    if isinstance(left, Coordinated):
        return frozenset()
    made = [
        _apply(left, "/", right),
        _apply(right, "\\", left),
        *_compose(left, "/", right, "/"),
        *_compose(right, "\\", left, "\\"),
        *_compose(right, "\\", left, "/"),
    ]
    return frozenset().union(*(_closed(c) for c in made if c is not None))


@lru_cache(maxsize=200_000)
def _combine_cells(left: frozenset, right: frozenset) -> frozenset:
    return frozenset().union(*(_combine(x, y) for x in left for y in right))


def derive(tags: list[str]) -> frozenset[Category]:
    """The categories that the whole sequence of tags can be derived as."""
    n = len(tags)
    chart = {(i, i + 1): _closed(read_category(tag)) for i, tag in enumerate(tags)}
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            k = i + width
            cells = [
                _combine_cells(chart[i, j], chart[j, k])
                for j in range(i + 1, k)
                if chart[i, j] and chart[j, k]
            ]
            chart[i, k] = frozenset().union(*cells)
    return chart[0, n]


SENTENCES = {read_category(c) for c in ("S[dcl]", "S[q]", "S[wq]", r"S[b]\NP")}


def is_sentence(tags: list[str]) -> bool:
    """Whether the tags can be derived as a statement, question or command."""
    return bool(derive(tags) & SENTENCES)
