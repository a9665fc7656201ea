"""What the validator of Universal Dependencies demands, on trees and on random ones."""

import numpy as np
import pytest

from keras_tagging.data.guidelines import LEAVES, mended_columns, mended_heads
from keras_tagging.data.trees import check_tree


@pytest.mark.parametrize(
    "heads, deprels, expected",
    [
        # a comma that depends on a word beyond its head's head
        ([3, 1, 0, 3], "nsubj punct root obj", [3, 1, 0, 3]),
        ([2, 0, 2, 1, 2], "nsubj root obj punct obl", [2, 0, 2, 2, 2]),
        # one that stands inside of another arc, and depends on the root
        ([2, 0, 5, 2, 2], "nsubj root det punct obl", [2, 0, 5, 5, 2]),
        # what depends on an auxiliary, a copula, or on the end of a split word
        ([2, 4, 2, 0], "nsubj aux advmod root", [4, 4, 4, 0]),
        ([2, 4, 2, 0], "conj aux punct root", [2, 4, 2, 0]),
        ([0, 1, 2, 2], "root goeswith obj punct", [0, 1, 1, 1]),
        ([], "", []),
    ],
)
def test_heads_are_those_that_the_guidelines_allow(heads, deprels, expected):
    assert mended_heads(heads, deprels.split()) == expected


def descends(heads, head, word):
    while word not in (head, 0):
        word = heads[word - 1]
    return word == head


def test_random_trees_stay_trees_and_their_punctuation_crosses_fewer_arcs():
    rng = np.random.default_rng(1)
    crossing = {"before": 0, "after": 0}
    for _ in range(300):
        size = int(rng.integers(2, 9))
        order = [*rng.permutation(np.arange(1, size + 1)).tolist()]
        heads = [0] * size
        for place, word in enumerate(order[1:], 1):
            heads[word - 1] = order[int(rng.integers(place))]
        deprels = rng.choice(["punct", "obj", "aux", "conj"], size).tolist()
        found = mended_heads(heads, deprels)
        check_tree(found)
        rows = zip(heads, found, deprels, strict=True)
        for word, (old, new, label) in enumerate(rows, 1):
            of_leaf = old and deprels[old - 1] in LEAVES
            assert old == new or label == "punct" or (of_leaf and label != "conj")
            for name, tree in (("before", heads), ("after", found)):
                head = tree[word - 1]
                inside = range(min(word, head) + 1, max(word, head))
                crossed = not all(descends(tree, head, other) for other in inside)
                crossing[name] += label == "punct" and crossed
    assert crossing["after"] < crossing["before"] / 5


def test_relations_take_their_parts_of_speech():
    columns = {"upos": ["SYM", "ADP", "DET", "VERB", "ADP", "NOUN"]}
    deprels = "punct root advmod aux:pass advmod fixed".split()
    mended_columns(columns, [2, 0, 2, 2, 2, 5], deprels)
    assert columns["upos"] == ["PUNCT", "ADP", "DET", "AUX", "ADP", "NOUN"]


def test_parts_of_a_split_word_have_no_features():
    columns = {
        "upos": ["PRON", "NOUN", "VERB"],
        "feats": ["Case=Nom|Zeta=1", "A=1", "_"],
    }
    mended_columns(columns, [3, 1, 0], ["nsubj", "goeswith", "root"])
    assert columns["upos"] == ["PRON", "X", "VERB"]
    assert columns["feats"] == ["Case=Nom|Typo=Yes|Zeta=1", "_", "_"]
