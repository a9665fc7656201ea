"""The best labels of the arcs of a tree, if a head has one subject and one object.

Universal Dependencies allow one dependent of each group of `GROUPS`, subtypes included,
but for those of `OUTER`, as of a clause that is a predicate. Of several, all but the
most probable one take their best labels of other groups, and so on, until no head has
two. Labels of `RIGHT` point from a head to the words behind it. It is written once for
NumPy, Keras and ONNX: see `transitions.search`.
"""

from collections.abc import Sequence

import numpy as np

from keras_tagging.transitions.search import FORBIDDEN

GROUPS = {"nsubj": 1, "csubj": 1, "obj": 2, "iobj": 3}
OUTER = ":outer"
RIGHT = {"conj", "fixed", "flat", "goeswith", "appos"}


def groups_of(labels: Sequence[str]) -> np.ndarray:
    """The group of each label, `(labels,)` int32: 0 for those that a head may repeat.

    All are 0 if the labels are not those of Universal Dependencies.
    """
    found = [
        0 if label.endswith(OUTER) else GROUPS.get(label.partition(":")[0], 0)
        for label in labels
    ]
    return np.array(found, "int32") * ({"nsubj", "obj"} <= {*labels})


def best_labels(engine, scores, heads, labels: Sequence[str]):
    """The labels of the arcs of each sentence.

    Args:
        engine: as of `transitions.search`.
        scores: `(batch, time, labels)` float32: logits.
        heads: `(batch, time)` integers, below 0 where there is no word.
        labels: the inventory.

    Returns:
        `(batch, time)` integers, the places of labels in the inventory. Of equally
        probable ones the first word keeps its own.
    """
    xp, groups = engine.xp, groups_of(labels)
    if not groups.any():
        return xp.argmax(scores, -1)
    length = xp.shape(scores)[1]
    places = xp.arange(length, dtype="int32")
    earlier = xp.expand_dims(places, 1) > xp.expand_dims(places, 0)
    siblings = xp.equal(xp.expand_dims(heads, 2), xp.expand_dims(heads, 1))
    siblings = siblings & xp.expand_dims(heads >= 0, 1)

    def bar(scores):
        """Bar words from the groups in which a sibling is more probable."""
        group = xp.take(groups, xp.argmax(scores, -1), axis=0)
        group = xp.where(group > 0, group, -1 - places)
        same = siblings & xp.equal(xp.expand_dims(group, 2), xp.expand_dims(group, 1))
        own, other = (xp.expand_dims(xp.max(scores, -1), axis) for axis in (2, 1))
        loses = xp.any(same & ((other > own) | (xp.equal(other, own) & earlier)), 2)
        barred = xp.equal(xp.expand_dims(group, 2), groups) & xp.expand_dims(loses, 2)
        return xp.any(loses), xp.where(barred, np.float32(FORBIDDEN), scores)

    to_left = xp.expand_dims(heads > places + 1, 2)
    right = np.array([label.partition(":")[0] in RIGHT for label in labels])
    scores = engine.log_softmax(scores)
    scores = xp.where(to_left & right, np.float32(FORBIDDEN), scores)
    # each word is barred from each group at most once
    most, shape = length * int(groups.max()) + 1, (None, None, len(labels))
    [scores] = engine.loop(bar, [scores], most, [shape])
    return xp.argmax(scores, -1)
