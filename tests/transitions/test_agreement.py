"""What a dependency tree says of derivations, beside a count on their nodes."""

import numpy as np
import pytest
from ccg.trees import leaf, tree
from derivations import GOLD
from transitions.crossing import random_tree

from keras_tagging.ccg import Derivation, Grammar, Leaf
from keras_tagging.ccg.auto import FRAGMENTS, Node
from keras_tagging.ccg.grammar import head_of
from keras_tagging.transitions import RuleTables
from keras_tagging.transitions.agreement import DependencyTree, agreement


def counted(derivation, heads):
    """By the nodes: words that are all below one of them, and linked head words."""
    below = {word: {word} for word in range(1, len(heads) + 1)}
    for word in below:
        above = word
        while above := heads[above - 1]:
            below[above].add(word)
    count, word = 0, 0

    def visit(node):  # its words, and its head word
        nonlocal count, word
        if isinstance(node, Leaf):
            word += 1
            return {word}, word
        parts = [visit(child) for child in node.children]
        words = set().union(*(own for own, _ in parts))
        if len(parts) != 2 or node.category == FRAGMENTS:
            return words, parts[0][1]
        (_, left), (_, right) = parts
        count += words in below.values()
        count += heads[left - 1] == right or heads[right - 1] == left
        side = head_of(*(child.category for child in node.children), node.category)
        return words, (left, right)[side]

    visit(derivation.root)
    return count


def test_it_is_that_of_the_nodes():
    rng = np.random.default_rng(0)
    changed = tree("S", tree("NP", tree("N", "a|N/N", "b|N", head=1)), r"c|S\NP")
    derivations = [*(s.derivation for s in GOLD), Derivation(changed)]
    rules = RuleTables(Grammar.from_derivations(derivations))
    seen = set()
    for derivation in derivations:
        moves = rules.moves(derivation)
        for _ in range(100):
            heads = random_tree(len(derivation), rng).tolist()
            found = agreement(DependencyTree(heads), rules, *moves)
            assert found == counted(derivation, heads)
            seen.add(found)
    assert {*range(1, 6)} <= seen


def test_fragments_and_moves_behind_the_end():
    parts = tree("S", "she|NP", r"sleeps|S\NP", head=1), leaf("no|NP")
    rules = RuleTables(Grammar.from_derivations([Derivation(parts[0])]))
    (*actions, finish), (*labels, _) = rules.moves(Derivation(parts[0]))
    actions += [actions[0], finish, actions[0]]
    labels += [labels[0], 0, labels[0]]
    whole = Derivation(Node(FRAGMENTS, 0, parts))
    for heads, expected in (([2, 0, 2], 1), ([2, 3, 0], 2), ([3, 3, 0], 0)):
        assert agreement(DependencyTree(heads), rules, actions, labels) == expected
        assert counted(whole, heads) == expected


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([0], {(0, 1)}),
        ([2, 3, 0], {(0, 1), (0, 2), (0, 3)}),
        ([0, 4, 1, 1], {(1, 2), (2, 3), (0, 4)}),  # the 4th and the 2nd enclose the 3rd
        ([0, *range(1, 10_000)], {(i, 10_000) for i in range(10_000)}),
    ],
)
def test_subtrees(heads, expected):
    assert DependencyTree(heads).subtrees == expected
