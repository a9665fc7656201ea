"""The answers of a tagger for a batch, from the outputs of its network.

Each function takes the logits `(batch, time, labels)`, the ids of the best labels
`(batch, time)`, and the inventory.
"""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


def tags(logits, best, labels) -> np.ndarray:
    """The best labels, `(batch, time)` strings."""
    return np.array(labels, object)[best]


def probabilities(logits, best, labels) -> np.ndarray:
    """The probabilities of the best labels, `(batch, time)`."""
    return np.take_along_axis(softmax(logits), best[..., None], -1)[..., 0]


def all_probabilities(logits, best, labels) -> np.ndarray:
    """The probabilities of all labels, `(batch, time, labels)`."""
    return softmax(logits)


def top(logits, best, labels, k=5):
    """The best labels and their probabilities, each `(batch, time, k)`."""
    rows = softmax(logits)
    order = np.argsort(-rows, -1, kind="stable")[..., :k]
    return np.array(labels, object)[order], np.take_along_axis(rows, order, -1)


def top_tags(logits, best, labels) -> np.ndarray:
    """The five best labels, `(batch, time, 5)` strings, as an export has them."""
    return top(logits, best, labels)[0]


def top_probabilities(logits, best, labels) -> np.ndarray:
    """Their probabilities, `(batch, time, 5)`."""
    return top(logits, best, labels)[1]


#: by the name of the output of an exported file
ANSWERS = {
    answer.__name__: answer
    for answer in (tags, probabilities, all_probabilities, top_tags, top_probabilities)
}
