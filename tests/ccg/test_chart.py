import random
from itertools import product
from math import log

import pytest
from ccg.trees import ATOMS, drawn

from keras_tagging.ccg import Derivation, Grammar, Leaf
from keras_tagging.ccg.chart import ChartParser


def probability(grammar, node, tags):
    """A derivation by its definition; `tags` are those of its words."""
    if isinstance(node, Leaf):
        return next(tags)[node.category]
    parts = tuple(child.category for child in node.children)
    total = sum(wholes.get(node.category, 0) for wholes in grammar.rules.values())
    here = grammar.rules[parts][node.category] / total
    for child in node.children:
        here *= probability(grammar, child, tags)
    return here


def best(grammar, tags):
    """The highest probability of each category, by trying everything."""
    found = dict(tags[0]) if len(tags) == 1 else {}
    pairs = []
    for cut in range(1, len(tags)):
        left, right = best(grammar, tags[:cut]), best(grammar, tags[cut:])
        pairs += [((x, y), left[x] * right[y]) for x, y in product(left, right)]

    def add(parts, below):
        for whole, count in grammar.rules.get(parts, {}).items():
            total = sum(wholes.get(whole, 0) for wholes in grammar.rules.values())
            found[whole] = max(found.get(whole, 0), below * count / total)

    for parts, below in pairs:
        add(parts, below)
    for whole in list(found):
        add((whole,), found[whole])
    return found


def test_the_best_derivation_of_all():
    rng, none = random.Random(0), 0
    for _ in range(25):
        grammar = drawn(rng)
        tags = [
            {atom: rng.random() for atom in rng.sample(ATOMS, 2)}
            for _ in range(rng.randint(1, 6))
        ]
        roots = {"A": 3 / 4, "B": 1 / 4}
        tried = best(grammar, tags)
        wanted = max(roots[name] * tried.get(name, 0) for name in roots)
        found = ChartParser(grammar).parse(["w"] * len(tags), tags)
        if not wanted:
            assert found is None
            none += 1
            continue
        given = roots[found.category] * probability(grammar, found.root, iter(tags))
        assert log(given) == pytest.approx(log(wanted), abs=1e-3)
        assert len(found) == len(tags)
    assert none < 15


def test_limits_and_unknown_categories():
    parser = ChartParser(drawn(random.Random(0)))
    assert parser.parse(["w"], [{"((": 1.0}]) is None
    assert parser.parse(["w"], [{}]) is None
    for words, tags in [([], []), (["w"] * 151, [{}] * 151), (["w"], [])]:
        with pytest.raises(ValueError, match="a chart takes 1 to 150 words"):
            parser.parse(words, tags)


def test_categories_of_words_may_have_any_notation():
    line = r"(<T s:dcl 1 2> (<L np X X she np>) (<L s:dcl\np X X sleeps s:dcl\np>) )"
    gold = Derivation.from_auto(line)
    parser = ChartParser(Grammar.from_derivations([gold]))
    found = parser.parse(["she", "sleeps"], [{x.category: 1.0} for x in gold.leaves])
    assert [leaf.category for leaf in found.leaves] == ["NP", r"S[dcl]\NP"]


def test_the_longest_sentence():
    parser = ChartParser(Grammar({("A", "A"): {"A": 1}}, {"A": 1}))
    assert len(parser.parse(["w"] * 150, [{"A": 0.5}] * 150)) == 150
