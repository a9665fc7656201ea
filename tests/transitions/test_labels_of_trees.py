"""One subject and one object a head, `conj` to the right: as plain Python has them."""

from functools import partial

import numpy as np
import pytest
from transitions.engines import ENGINES

from keras_tagging.transitions.arc_labels import best_labels
from keras_tagging.transitions.search import NumPy

LABELS = ["punct", "nsubj", "csubj:pass", "nsubj:outer", "obj", "iobj", "conj:and"]
GROUPS = [{"nsubj", "csubj:pass"}, {"obj"}, {"iobj"}]


def one_after_the_other(scores, heads):
    """The labels of a sentence: who loses looks for others, and may win there."""
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    ranked = [[LABELS[i] for i in np.argsort(-row, kind="stable")] for row in scores]
    for word, head in enumerate(heads):
        if head > word + 1:
            ranked[word].remove("conj:and")
    words, taken = list(range(len(heads))), {}
    labels = [None] * len(heads)
    while words:
        word = words.pop()
        label = labels[word] = ranked[word][0]
        for i, group in enumerate(GROUPS):
            if label in group:
                pair = [word, taken.get((heads[word], i), word)]
                pair.sort(key=lambda w: (-shares[w][LABELS.index(labels[w])], w))
                taken[heads[word], i], loser = pair
                if loser != pair[0]:
                    ranked[loser] = [x for x in ranked[loser] if x not in group]
                    words.append(loser)
    return [LABELS.index(label) for label in labels]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("width", [1, 9])
def test_a_head_has_one_subject_and_one_object(engine, width):
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, (200, width, len(LABELS))).astype("float32")
    heads = rng.integers(0, 3, (200, width)).astype("int32")
    lengths = rng.integers(0, width + 1, 200)
    heads[np.arange(width) >= lengths[:, None]] = -1
    found = engine(partial(best_labels, labels=LABELS), scores, heads)
    changed = 0
    assert found.shape == heads.shape
    for row, own, places, n in zip(scores, heads, found, lengths, strict=True):
        assert places[:n].tolist() == one_after_the_other(row[:n], own[:n])
        assert places[n:].tolist() == row[n:].argmax(-1).tolist()
        changed += (places != row.argmax(-1)).any()
    assert changed > 50 or width < 2


def test_other_labels_may_be_repeated():
    """Those of no Universal Dependencies, which have both names."""
    scores = np.ones((1, 3, 2), "float32")
    for labels in (["nsubj", "x"], ["SBJ", "obj"]):
        found = best_labels(NumPy(), scores, np.zeros((1, 3), "int32"), labels)
        assert not found.any()
