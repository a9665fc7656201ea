"""Against the definitions, by hand, and on all trees of up to five words."""

import numpy as np
import pytest
from reference import arc_standard, pseudo_projective
from transitions.crossing import random_tree

from keras_tagging.data.trees import NotATree, check_tree, is_projective, lift, unlift

TREES = [tree for length in range(6) for tree in arc_standard.trees(length)]

# heads and deprels of a tree, and of the lifted one
BY_HAND = {
    # "A hearing is scheduled on it today": 2 -> 6 passes over 4, the root
    "one": (
        ([2, 4, 4, 0, 6, 2, 4], "det nsubj aux root case nmod advmod"),
        ([2, 4, 4, 0, 6, 4, 4], "det nsubj aux root case nmod|nsubj advmod"),
    ),
    # 3 -> 1 passes over 2, and 4 -> 2 over 3
    # 1 -> 4 passes over 3, the root, and so does 2 -> 4
    # 4 -> 2 and then 1 -> 4 pass over 3; if 4 were lifted first, 2 would follow it to 5
    "the smallest first": (
        ([5, 4, 5, 1, 0], "a b c d root"),
        ([5, 1, 5, 5, 0], "a b|d c d|a root"),
    ),
    # 4 -> 2, 1 -> 4 and 5 -> 1 pass over 3; to find 4 below 1, 2 must wait for it
    "a path": (
        ([5, 4, 0, 1, 3], "a b root d e"),
        ([3, 1, 0, 5, 3], "a|e b|d root d|a e"),
    ),
}


def pair(deprel):
    """A deprel as the reference has it."""
    return tuple(deprel.split("|")) if "|" in deprel else deprel


def test_projective_by_definition():
    for heads in TREES:
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


@pytest.mark.parametrize("name", BY_HAND)
def test_lift_and_unlift_by_hand(name):
    (heads, deprels), (lifted, labels) = BY_HAND[name]
    assert not is_projective(heads)
    found = lift(heads, deprels.split())
    assert found[0].tolist() == lifted and found[1] == labels.split()
    assert found[0].dtype == np.int32
    back = unlift(*found)
    assert back[0].tolist() == heads and back[1] == deprels.split()
    assert back[0].dtype == np.int32


def test_unlift_of_a_root_stays():
    heads, deprels = unlift([2, 0, 2], ["a", "root|a", "b"])
    assert heads.tolist() == [2, 0, 2] and deprels == ["a", "root", "b"]


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
        (lift, [2, 0], ["root"], "2 heads but 1 deprels"),
        (lift, [2, 0], ["a|b", "root"], r"the deprel 'a\|b'"),
    ):
        with pytest.raises(ValueError, match=message):
            function(heads, deprels)


def test_empty_sentence():
    check_tree([])
    assert is_projective([])
    for function in (lift, unlift):
        heads, deprels = function([], [])
        assert heads.shape == (0,) and heads.dtype == np.int32 and deprels == []
