"""The search for derivations, against trying everything."""

import random
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from ccg.trees import ATOMS, drawn, tree

from keras_tagging.ccg import Derivation, Grammar, Leaf
from keras_tagging.ccg.astar import AStar, Rules, Weights
from keras_tagging.ccg.auto import FRAGMENTS
from keras_tagging.ccg.grammar import head_of
from keras_tagging.ccg.parsing import CCGDecoder, Search, search_of


def constituents(grammar, tags, heads, weight, begin, end):
    """The best score of each category and head word of a span, by trying everything."""
    totals = {}
    for wholes in grammar.rules.values():
        for whole, count in wholes.items():
            totals[whole] = totals.get(whole, 0) + count
    found = {}

    def add(category, head, score):
        key = category, head
        found[key] = max(score, found.get(key, -np.inf))

    if end == begin + 1:
        for category, p in tags[begin].items():
            add(category, begin, p)
    for cut in range(begin + 1, end):
        lefts = constituents(grammar, tags, heads, weight, begin, cut)
        rights = constituents(grammar, tags, heads, weight, cut, end)
        for ((a, one), p), ((b, two), q) in product(lefts.items(), rights.items()):
            for whole, count in grammar.rules.get((a, b), {}).items():
                side = head_of(a, b, whole)
                head, other = (two, one) if side else (one, two)
                share = weight * np.log(count / totals[whole])
                add(whole, head, p + q + heads[other, head + 1] + share)
    for (category, head), score in [*found.items()]:
        for whole, count in grammar.rules.get((category,), {}).items():
            add(whole, head, score + weight * np.log(count / totals[whole]))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_best_derivation_of_all(seed):
    rng = random.Random(seed)
    grammar, count, weight = drawn(rng), rng.randint(1, 5), rng.choice([0.0, 0.1, 1.0])
    tags = [
        {name: np.log(rng.random()) for name in rng.sample(ATOMS, 2)}
        for _ in range(count)
    ]
    heads = np.log(np.random.default_rng(seed).dirichlet([1] * (count + 1), count))
    rules = Rules(grammar, ATOMS)
    search = AStar(rules, Weights(1.0, weight, 0.0, 0.0), 100_000)
    numbered = [[(rules.ids[x], p) for x, p in own.items()] for own in tags]
    [found] = search.search(numbered, heads)
    whole = constituents(grammar, tags, heads, weight, 0, count)
    every = sum(grammar.roots.values())
    expected = [
        score + heads[head, 0] + weight * np.log(grammar.roots[category] / every)
        for (category, head), score in whole.items()
        if category in grammar.roots
    ]
    if not expected:
        assert len(found.items) > 1 or found.items[0].category not in rules.roots
        ends = [x.end for x in found.items]
        assert [x.begin for x in found.items] == [0, *ends[:-1]]
        return
    assert found.score == pytest.approx(max(expected), abs=0.01)  # it rounds
    several = search.search(numbered, heads, 4)
    scores = [x.score for x in several]
    assert scores[0] == pytest.approx(found.score) and scores == sorted(scores)[::-1]
    hasty = AStar(rules, Weights(1.0, weight, 0.0, 0.3), 100_000)
    scores = [x.score for x in hasty.search(numbered, heads, 10)]
    assert scores == sorted(scores)[::-1]


def test_the_order_of_neighbours_is_learnt():
    before = tree("S", tree("S", "sleep|S", ".|."), "now|S\\S")
    after = tree("S", "Now|S/S", tree("S", "sleep|S", ".|."))
    first = tree("S", tree("S", "Now|S/S", "sleep|S"), ".|.")
    grammar = Grammar.from_derivations([Derivation(first)] * 3 + [Derivation(after)])
    assert grammar.orders == {("S/S", "."): (3, 1)}
    assert not Grammar.from_derivations([Derivation(before)]).orders
    assert Grammar.from_dict(grammar.to_dict()).orders == grammar.orders
    tags = ["S", "S/S", "."]
    scores = np.full((3, 3), -30.0)
    scores[[0, 1, 2], [1, 0, 2]] = 0
    heads = np.zeros((3, 4))
    decoder = CCGDecoder(grammar, tags, Search())
    [(found, _)] = decoder.derive(["Now", "sleep", "."], "XXX", scores, heads)
    assert [node.category for node in found.nodes()] == ["S", "S"]
    assert isinstance(found.root.children[1], Leaf)


def test_fragments_have_every_word():
    grammar = Grammar({("A", "B"): {"C": 1}}, {"C": 1})
    decoder = CCGDecoder(grammar, ["A", "B"], Search())
    tags = np.array([[9.0, 0], [0, 9], [0, 9], [9, 0]])
    [(found, score)] = decoder.derive(list("abcd"), "XXXX", tags, np.zeros((4, 5)))
    assert found.category == FRAGMENTS and found.root.rule == "fragment"
    assert [leaf.word for leaf in found.leaves] == list("abcd")
    assert [child.category for child in found.root.children] == ["C", "B", "A"]
    assert np.isfinite(score)
    assert Derivation.from_auto(found.auto()) == found
    assert Derivation.from_dict(found.to_dict()) == found
    assert "fragment" in str(found.to_dict()) and "FRAG" in found.draw()
    assert found.svg() and found.html() and not found.dependencies()


def test_a_long_sentence_and_a_small_agenda_end_with_every_word():
    grammar = Grammar({("A", "A"): {"A": 1}}, {"A": 1})
    for count, agenda in [(400, 3000), (30, 5)]:
        decoder = CCGDecoder(grammar, ["A"], Search(agenda=agenda))
        tags, heads = np.zeros((count, 1)), np.zeros((count, count + 1))
        [(found, _)] = decoder.derive(["w"] * count, ["X"] * count, tags, heads)
        assert len(found) == count and found.category == FRAGMENTS


@pytest.mark.parametrize(
    "wrong",
    [None, {"beta": 2}, {"agenda": 10**9}, {"unseen": 1}, {"rule_weight": "x"}],
)
def test_a_file_that_describes_no_search(wrong):
    fields = asdict(Search(beta=0.1))
    assert search_of(fields) == Search(beta=0.1)
    with pytest.raises(ValueError, match="how derivations are searched for"):
        search_of(wrong and {**fields, **wrong})
