import random
from functools import cache
from itertools import product

import pytest
from reference import ccg_parser
from reference.combinators import combinations

from keras_tagging import load_corpus
from keras_tagging.ccg import Atom, Functor, combine, parse_category
from keras_tagging.ccg.combinators import mark_of, plain


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
        ("NP[nb]", r"S[dcl]\NP", [("S[dcl]", "<", 1)]),
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
        (r"S[b]\NP", "NP[conj]", []),
        ("NP", r"S[dcl]\NP[conj]", []),
        (r"S[b]\NP", r"S[b]\NP[conj]", [(r"S[b]\NP", "&", 0)]),
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


UNARY = {
    "N": "NP",
    "NP": r"S/(S\NP)",
    r"S[pss]\NP": r"NP\NP",
    r"S[ng]\NP": r"NP\NP",
    "S[dcl]/NP": r"NP\NP",
}
MARKS = {">", "<", ">B", "<B", "<Bx", ">B2", "<B2", "<Bx2", "&", "rp"}


@cache
def joined(left, right):
    """The results of our combinators, of those that the reference has."""
    if left == Atom(","):
        return frozenset()
    found = set()
    for step in combine(left, right):
        if step.mark in MARKS:
            found |= closed(step.category)
    return frozenset(found)


@cache
def closed(category):
    above = UNARY.get(str(category))
    return frozenset({category}) | (closed(parse_category(above)) if above else set())


def derived(tags):
    n = len(tags)
    chart = {
        (i, i + 1): closed(parse_category(tag.replace("[nb]", "")))
        for i, tag in enumerate(tags)
    }
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            chart[i, i + width] = {
                category
                for j in range(i + 1, i + width)
                for pair in product(chart[i, j], chart[j, i + width])
                for category in joined(*pair)
            }
    return {plainly(c) for c in chart[0, n] if "conj" not in c.features}


def compared(categories):
    """Atoms as they are; a functor without features.

    The reference gives no feature to a bare S of the second category, so that a raised
    S/(S|NP) can there become S[dcl]/(S|NP), and here S[dcl]/(S[dcl]|NP).
    """
    return {
        c if isinstance(c, ccg_parser.Atom) else plainly(plain(parse_category(text(c))))
        for c in categories
    }


def text(category):
    if isinstance(category, ccg_parser.Atom):
        return category.name
    return f"({text(category.result)}{category.slash}{text(category.argument)})"


def test_the_demo_corpus_is_derived_as_the_reference_derives_it():
    for sentence in load_corpus("demo").test[:60]:
        expected = {
            category
            for category in ccg_parser.derive(sentence.tags)
            if not isinstance(category, ccg_parser.Coordinated)
        }
        assert compared(derived(sentence.tags)) == compared(expected), sentence.tokens
