r"""The combinators: what two neighbouring categories can be together.

=============  ==========================  ==============================
Mark           Forward                     Backward, `<` and so on
=============  ==========================  ==============================
`>`            X/Y Y => X                  Y X\Y => X
`>B`           X/Y Y/Z => X/Z              Y\Z X\Y => X\Z
`>Bx`          X/Y Y\Z => X\Z              Y/Z X\Y => X/Z
`>B2`, `>Bx2`  X/Y (Y|Z)|W => (X|Z)|W      (Y|Z)|W X\Y => (X|Z)|W
`>T`           X => T/(T\X)                X => T\(T/X)
`lp`, `rp`     , X => X                    X , => X
`&`            conj X => X[conj]           X X[conj] => X
=============  ==========================  ==============================

The equations are those of Steedman (2000), "The Syntactic Process"; `[conj]`,
punctuation and features those of CCGbank (Hockenmaier & Steedman 2007). An S without a
feature matches every S and takes its feature along, so that `(S\NP)/(S\NP)` makes
`S[b]\NP` of `S[b]\NP`; `[nb]` does not count.
"""

from functools import lru_cache
from typing import NamedTuple

from keras_tagging.ccg.categories import Atom, Category, Functor, parse_category
from keras_tagging.utils.limits import CATEGORY_CHARACTERS, COMPOSED_ARGUMENTS

CONJ = "conj"
PUNCTUATION = frozenset([",", ".", ":", ";", "LRB", "RRB", "LQU", "RQU", "PUNCT"])
_BEGINS_CONJUNCT = (",", ";", ":", CONJ)


class Step(NamedTuple):
    """A constituent made of two.

    Args:
        category: what they are together.
        mark: the combinator, such as ">Bx".
        head: the child that has the head, 0 or 1: the functor, but of a modifier X|X
            and of a determiner NP/N the argument.
    """

    category: Category
    mark: str
    head: int


@lru_cache(maxsize=1 << 16)
def combine(left: Category | str, right: Category | str) -> tuple[Step, ...]:
    r"""All that two neighbours can be together, the simplest first.

    Composition takes along up to `limits.COMPOSED_ARGUMENTS` arguments.

    Args:
        left, right: categories, or texts that `parse_category` reads.

    Raises:
        CategoryError: if a text is not a category.

    Example:
        >>> [step] = combine("NP", r"S[dcl]\NP")
        >>> print(step.category, step.mark, step.head)
        S[dcl] < 1
    """
    if isinstance(left, str) or isinstance(right, str):
        pair = (parse_category(x) if isinstance(x, str) else x for x in (left, right))
        return combine(*pair)
    steps = [*_coordinated(left, right), *_beside_punctuation(left, right)]
    for head, (functor, other) in enumerate([(left, right), (right, left)]):
        if _joins(functor) and _joins(other):
            steps += _functional(functor, other, "/\\"[head], head)
    return tuple(s for s in steps if len(str(s.category)) <= CATEGORY_CHARACTERS)


@lru_cache(maxsize=1 << 16)
def step_of(left: Category, right: Category, whole: Category) -> Step | None:
    """The step from two categories to the whole; None if no combinator makes it.

    A feature that the whole has in another way is no other step: treebanks have such
    slips. Two halves of a coordination may be of one category, without `[conj]`.
    """
    steps = combine(left, right)
    exact = (step for step in steps if step.category == whole)
    near = (step for step in steps if plain(step.category) == plain(whole))
    if step := next(exact, None) or next(near, None):
        return step
    alike = plain(left) == plain(right) == plain(whole)
    return Step(whole, "&", 0) if alike else None


def mark_of(whole: Category | None, parts: tuple[Category | None, ...]) -> str:
    """The mark of a step of a derivation; "" for one that no combinator makes.

    Type changing, as in `N => NP`, is "lex".
    """
    if None in (whole, *parts):
        return ""
    if len(parts) > 1:
        step = step_of(*parts, whole) if len(parts) == 2 else None
        return step.mark if step else ""
    if isinstance(whole, Functor) and isinstance(whole.argument, Functor):
        for mark in (">T", "<T"):
            if plain(whole) == plain(raised(parts[0], whole.result, mark)):
                return mark
    return "lex"


@lru_cache(maxsize=1 << 14)
def plain(category: Category) -> Category:
    """The category without features."""
    if isinstance(category, Atom):
        return Atom(category.name)
    return Functor(plain(category.result), category.slash, plain(category.argument))


def raised(category: Category, target: Category, mark: str = ">T") -> Functor:
    r"""The category X raised over T: `T/(T\X)` for ">T", `T\(T/X)` for "<T"."""
    outer, inner = ("/", "\\") if mark == ">T" else ("\\", "/")
    return Functor(target, outer, Functor(target, inner, category))


def is_modifier(category: Category) -> bool:
    r"""Whether it is X/X or X\X, whose head is its argument."""
    return isinstance(category, Functor) and category.result == category.argument


def head_is_argument(functor: Functor) -> bool:
    r"""Whether the argument is the head: of X|X, of NP/N, and of a raised T/(T\X)."""
    result, argument = functor.result, functor.argument
    if isinstance(argument, Functor):
        raised_over = argument.result == result and argument.slash != functor.slash
        return result == argument or raised_over
    names = (result.name, argument.name) if isinstance(result, Atom) else ()
    return result == argument or names == ("NP", "N")


def begins_conjunct(category: Category) -> bool:
    """Whether it stands before the second half of a coordination, as `conj` does."""
    return isinstance(category, Atom) and category.name in _BEGINS_CONJUNCT


def is_open(category: Category) -> bool:
    """Whether it is the second half of a coordination, as in `NP[conj]`."""
    return category.features[-1:] == ("conj",)


def _joins(category: Category) -> bool:
    """Whether functions apply to it: not to the conjunct of an open coordination."""
    return "conj" not in category.features


def _functional(functor: Category, other: Category, slash: str, head: int):
    """Application and composition of the functor, whose argument is on one side."""
    if isinstance(functor, Atom) or functor.slash != slash:
        return
    sign = "<" if head else ">"
    inner, taken = other, []
    for order in range(COMPOSED_ARGUMENTS + 1):
        binding = match(functor.argument, inner)
        if binding is not None:
            result = with_feature(functor.result, binding[0])
            for outer in reversed(taken):
                argument = with_feature(outer.argument, binding[1])
                result = Functor(result, outer.slash, argument)
            crossed = order and taken[-1].slash != slash
            mark = f"{sign}{'B' if order else ''}{'x' if crossed else ''}"
            mark += str(order) if order > 1 else ""
            yield Step(result, mark, head ^ head_is_argument(functor))
        if isinstance(inner, Atom):
            return
        taken.append(inner)
        inner = inner.result


def _coordinated(left: Category, right: Category):
    if begins_conjunct(left) and _joins(right):
        if not (isinstance(right, Atom) and right.name in {CONJ, *PUNCTUATION}):
            open_half = right._replace(features=(*right.features, "conj"))
            yield Step(open_half, "&", 1)
    elif is_open(right):
        whole = right._replace(features=right.features[:-1])
        if _joins(left) and (binding := match(left, whole)) is not None:
            yield Step(with_feature(left, binding[0]), "&", 0)


def _beside_punctuation(left: Category, right: Category):
    for head, (mark, kept) in enumerate([(left, right), (right, left)]):
        if not isinstance(mark, Functor) and mark.name in PUNCTUATION:
            yield Step(kept, "rp" if head else "lp", 1 - head)


def match(wanted: Category, actual: Category) -> tuple[str, str] | None:
    """The features that a bare S of either side takes, "" for none; None: no match."""
    bound = ["", ""]
    return tuple(bound) if _matches(wanted, actual, bound) else None


def _matches(wanted: Category, actual: Category, bound: list[str]) -> bool:
    if isinstance(wanted, Atom) or isinstance(actual, Atom):
        if type(wanted) is not type(actual) or wanted.name != actual.name:
            return False
        features = [[f for f in x.features if f != "nb"] for x in (wanted, actual)]
        if features[0] == features[1]:
            return True
        if all(features):
            return False
        side = 0 if features[1] else 1
        [feature] = features[1 - side][:1]
        if wanted.name == "S":
            if bound[side] not in ("", feature):
                return False
            bound[side] = feature
        return True
    return (
        wanted.slash == actual.slash
        and _matches(wanted.result, actual.result, bound)
        and _matches(wanted.argument, actual.argument, bound)
    )


def with_feature(category: Category, feature: str) -> Category:
    """The category with the feature at each bare S; as it is for ""."""
    if not feature:
        return category
    if isinstance(category, Functor):
        result = with_feature(category.result, feature)
        argument = with_feature(category.argument, feature)
        return category._replace(result=result, argument=argument)
    return Atom("S", (feature,)) if category == Atom("S") else category
