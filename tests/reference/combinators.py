r"""The combinators as Steedman (2000) writes them, tried one by one.

Each rule is three categories with variables, as in "The Syntactic Process". `|` is
either slash, the same wherever it stands at the same place. Variables are letters
from V to Z. It knows no features.
"""

from itertools import product

from reference.ccg_parser import Functor, read_category

ORDER = 3
VARIABLES = set("UVWXYZ")


def rules():
    """(mark, left, right, result), each a category with variables."""
    yield ">", "X/Y", "Y", "X"
    yield "<", "Y", "X\\Y", "X"
    for order in range(1, ORDER + 1):
        for slashes in product("/\\", repeat=order):
            inner, outer = "Y", "X"
            for slash, variable in zip(slashes, "ZWV", strict=False):
                inner, outer = (
                    f"({inner}{slash}{variable})",
                    f"({outer}{slash}{variable})",
                )
            number = "" if order == 1 else str(order)
            crossed = "x" if slashes[0] == "\\" else ""
            yield f">B{crossed}{number}", "X/Y", inner, outer
            crossed = "x" if slashes[0] == "/" else ""
            yield f"<B{crossed}{number}", inner, "X\\Y", outer


def combinations(left, right):
    """All (mark, result) of two categories."""
    found = []
    for mark, first, second, result in rules():
        values = {}
        if _fits(read_category(first), left, values):
            if _fits(read_category(second), right, values):
                found.append((mark, _filled(read_category(result), values)))
    return found


def _fits(pattern, category, values) -> bool:
    if isinstance(pattern, Functor):
        return (
            isinstance(category, Functor)
            and pattern.slash == category.slash
            and _fits(pattern.result, category.result, values)
            and _fits(pattern.argument, category.argument, values)
        )
    assert pattern.name in VARIABLES
    return values.setdefault(pattern.name, category) == category


def _filled(pattern, values):
    if isinstance(pattern, Functor):
        result = _filled(pattern.result, values)
        return Functor(result, pattern.slash, _filled(pattern.argument, values))
    return values[pattern.name]
