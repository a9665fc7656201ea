"""What a tagger answers for a sentence, from the outputs of its network."""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


def tags(logits, best, labels) -> np.ndarray:
    """The best labels, `(tokens,)` strings.

    Args:
        logits: `(tokens, labels)`.
        best: the ids of the best labels, `(tokens,)`.
        labels: the inventory, an array of strings.
    """
    return labels[best]


def probabilities(logits, best, labels) -> np.ndarray:
    """The probabilities of the best labels, `(tokens,)`."""
    return np.take_along_axis(softmax(logits), best[:, None], -1)[:, 0]


def all_probabilities(logits, best, labels) -> np.ndarray:
    """The probabilities of all labels, `(tokens, labels)`."""
    return softmax(logits)


#: by the name of the output of an exported file
ANSWERS = {f.__name__: f for f in (tags, probabilities, all_probabilities)}
