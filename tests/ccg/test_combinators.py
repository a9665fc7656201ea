import random
from itertools import product

import pytest
from reference import ccg_parser
from reference.combinators import combinations

from keras_tagging.ccg import Atom, Functor, combine, parse_category
from keras_tagging.ccg.combinators import mark_of


def steps(left, right):
    found = combine(parse_category(left), parse_category(right))
    return [(str(step.category), step.mark, step.head) for step in found]


def categories(depth):
    if depth == 1:
        return [Atom("S")]
    below = categories(depth - 1)
    return [Atom("S"), *(Functor(x, s, y) for x, s, y in product(below, "/\\", below))]


def plainly(category):
    return ccg_parser.read_category(str(category))


def test_functional_combinators_against_their_definitions():
    """On pairs of all categories of up to two and of three slashes."""
    rng = random.Random(0)
    small, large = categories(3), categories(4)
    pairs = [*product(small, small)]
    pairs += [(rng.choice(small), rng.choice(large)) for _ in range(600)]
    pairs += [(rng.choice(large), rng.choice(small)) for _ in range(600)]
    marks = set()
    for left, right in pairs:
        found = {(s.mark, plainly(s.category)) for s in combine(left, right)}
        assert found == set(combinations(plainly(left), plainly(right)))
        marks |= {mark for mark, _ in found}
    orders = ("", "2", "3")
    composed = {f"{sign}B{x}{n}" for sign in "<>" for x in ("", "x") for n in orders}
    assert marks == composed | {"<", ">"}


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("NP[nb]/N", "N", [("NP[nb]", ">", 1)]),
        ("NP", r"S[dcl]\NP", [("S[dcl]", "<", 1)]),
        ("NP[conj]", r"S[dcl]\NP", []),
        (r"(S\NP)/(S\NP)", r"S[b]\NP", [(r"S[b]\NP", ">", 1)]),
        (r"(S[dcl]\NP)/(S[b]\NP)", r"S[b]\NP", [(r"S[dcl]\NP", ">", 0)]),
        (r"(S[dcl]\NP)/(S[b]\NP)", r"S[ng]\NP", []),
        (r"(S\NP)/(S\NP)", r"(S[b]\NP)/NP", [(r"(S[b]\NP)/NP", ">B", 1)]),
        (r"S/(S\NP)", r"(S[dcl]\NP)/NP", [("S[dcl]/NP", ">B", 1)]),
        (r"(S[dcl]\NP)/NP", r"(S\NP)\(S\NP)", [(r"(S[dcl]\NP)/NP", "<Bx", 0)]),
        ("N/N[num]", "N[num]", [("N", ">", 0)]),
        ("conj", "NP", [("NP[conj]", "&", 1)]),
        (",", r"S\NP", [(r"(S\NP)[conj]", "&", 1), (r"S\NP", "lp", 1)]),
        ("NP", "NP[conj]", [("NP", "&", 0)]),
        ("conj", "NP[conj]", []),
        ("NP[conj]", "NP[conj]", []),
        ("NP", r"S[dcl]\NP[conj]", []),
        (r"S[b]\NP", r"S[b]\NP[conj]", [(r"S[b]\NP", "&", 0)]),
        (r"S\NP", r"S[b]\NP[conj]", [(r"S[b]\NP", "&", 0)]),
        (r"S[b]\NP", r"S\NP[conj]", [(r"S[b]\NP", "&", 0)]),
        (r"(S\NP)\(S\NP)", r"(S\NP)\(S\NP)[conj]", [(r"(S\NP)\(S\NP)", "&", 0)]),
        ("N/N", "N/N[conj]", [("N/N", "&", 0)]),
        ("S[dcl]", ".", [("S[dcl]", "rp", 0)]),
        ("LRB", "NP", [("NP", "lp", 1)]),
    ],
)
def test_combinations(left, right, expected):
    assert steps(left, right) == expected


@pytest.mark.parametrize(
    ("whole", "parts", "mark"),
    [
        (r"S/(S\NP)", ["NP"], ">T"),
        (r"S\(S/NP)", ["NP"], "<T"),
        (r"(S\NP)\((S\NP)/PP)", ["PP"], "<T"),
        ("NP", ["N"], "lex"),
        (r"NP\NP", [r"S[ng]\NP"], "lex"),
        ("S[wq]", [r"S[wq]/(S[dcl]\NP)", r"S[dcl]\NP"], ">"),
        ("S", ["NP", r"S[dcl]\NP"], "<"),  # a slip in a feature
        ("NP", ["NP", "NP"], "&"),
        ("NP", ["S", "S"], ""),
    ],
)
def test_marks(whole, parts, mark):
    assert mark_of(parse_category(whole), tuple(map(parse_category, parts))) == mark


def test_a_category_beyond_the_limit_is_not_made():
    long = "/".join(["NP"] * 100)
    assert all(len(category) <= 500 for category, *_ in steps(long, long))
