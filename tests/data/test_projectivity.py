"""Against the definitions, by hand, and on all trees of up to five words."""

import numpy as np
import pytest
from reference import arc_standard, pseudo_projective
from transitions.crossing import random_tree

from keras_tagging.data.trees import NotATree, check_tree, is_projective, lift, unlift

TREES = [tree for length in range(6) for tree in arc_standard.trees(length)]


def pair(deprel):
    """A deprel as the reference has it."""
    return tuple(deprel.split("|")) if "|" in deprel else deprel


def test_projective_by_definition():
    for heads in TREES:
        check_tree(heads)
        assert is_projective(heads) == arc_standard.is_projective(heads)
    # n^(n - 1) trees of n words with one root
    assert np.bincount([len(tree) for tree in TREES]).tolist() == [1, 1, 2, 9, 64, 625]


def test_check_tree_refuses_what_is_no_tree():
    """Of all heads of four words, in and out of range."""
    trees = set(arc_standard.trees(4))
    for heads in np.ndindex(7, 7, 7, 7):
        heads = tuple(head - 1 for head in heads)
        if heads in trees:
            check_tree(np.array(heads))
        else:
            with pytest.raises(NotATree, match="^[^\n]+$") as caught:
                check_tree(heads)
            assert 1 <= caught.value.word <= 4


def test_lift_and_unlift_by_hand():
    """In "A hearing is scheduled on it today", 2 -> 6 passes over 4, the root."""
    heads, deprels = [2, 4, 4, 0, 6, 2, 4], "det nsubj aux root case nmod advmod"
    found = lift(heads, deprels.split())
    assert found[0].tolist() == [2, 4, 4, 0, 6, 4, 4]
    assert " ".join(found[1]) == "det nsubj aux root case nmod|nsubj advmod"
    back = unlift(*found)
    assert back[0].tolist() == heads and back[1] == deprels.split()
    assert found[0].dtype == back[0].dtype == np.int32


def test_all_short_trees():
    """Each has its own deprels, so that all lifts can be undone."""
    for heads in TREES:
        deprels = list("abcde"[: len(heads)])
        lifted, labels = lift(heads, deprels)
        expected = pseudo_projective.lift(heads, deprels)
        assert (lifted.tolist(), [pair(label) for label in labels]) == expected
        assert arc_standard.is_projective(lifted.tolist())
        if arc_standard.is_projective(heads):
            assert (lifted.tolist(), labels) == (list(heads), deprels)
        back, plain = unlift(lifted, labels)
        assert (back.tolist(), plain) == (list(heads), deprels)


def test_random_trees():
    """Few deprels: lifts are often undone wrongly, but as the reference does."""
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(150):
        heads = random_tree(rng.integers(2, 13), rng)
        deprels = rng.choice(list("abcd"), len(heads)).tolist()
        lifted, labels = lift(heads, deprels)
        expected = pseudo_projective.lift(heads.tolist(), deprels)
        assert (lifted.tolist(), [pair(label) for label in labels]) == expected
        assert is_projective(lifted)
        assert lifted.tolist().index(0) == heads.tolist().index(0)
        back, plain = unlift(lifted, labels)
        found = pseudo_projective.unlift(*expected)
        assert (back.tolist(), plain) == found
        assert plain == deprels
        check_tree(back)
        wrong += (back != heads).any()
    assert 0 < wrong < 150


def test_unlift_of_any_labels_gives_a_tree():
    """A network may give any label to any word."""
    rng = np.random.default_rng(3)
    moved = 0
    for _ in range(200):
        heads, _ = lift(random_tree(9, rng), list("abcdefghi"))
        labels = rng.choice(["a", "b", "a|b", "b|a", "c|c", "b|c"], 9).tolist()
        back, plain = unlift(heads, labels)
        check_tree(back)
        assert back.tolist().index(0) == heads.tolist().index(0)
        assert plain == [label[0] for label in labels]
        expected = pseudo_projective.unlift(heads.tolist(), [*map(pair, labels)])
        assert back.tolist() == expected[0]
        moved += (back != heads).sum()
    assert moved > 100


def test_arguments_that_are_refused():
    for function, heads, deprels, message in (
        (lift, [0, 0], ["root", "root"], "the words 1 and 2 are roots"),
        (unlift, [0, 3, 2], ["root", "a", "a"], "the words 2 and 3 form a cycle"),
        (lift, [2, 0], ["a|b", "root"], r"the deprel 'a\|b'"),
    ):
        with pytest.raises(ValueError, match=message):
            function(heads, deprels)
