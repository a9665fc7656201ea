"""The answers of a tagger for a batch, from the outputs of its network.

Each function takes the logits `(batch, time, labels)`, the ids of the best labels
`(batch, time)`, and the inventory.
"""

import numpy as np

from keras_tagging.architectures.output import read_outputs


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities over the last axis."""
    rows = np.exp(logits - logits.max(-1, keepdims=True))
    return rows / rows.sum(-1, keepdims=True)


class Softmax:
    """Probabilities of logits, which are computed once a row of them is asked for.

    Annotating reads those of few words.

    Args:
        logits: `(..., labels)`. An index gives the same of a part of them, or an array
            for a single row, and `np.asarray` an array of all.
    """

    def __init__(self, logits: np.ndarray):
        self.logits = logits

    def __getitem__(self, key):
        logits = self.logits[key]
        return softmax(logits) if logits.ndim == 1 else Softmax(logits)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(softmax(self.logits), dtype)

    def tolist(self) -> list:
        return np.asarray(self).tolist()


def tags(logits, best, labels) -> np.ndarray:
    """The best labels, `(batch, time)` strings."""
    return np.array(labels, object)[best]


def probabilities(logits, best, labels) -> np.ndarray:
    """The probabilities of the best labels, `(batch, time)`."""
    return np.take_along_axis(softmax(logits), best[..., None], -1)[..., 0]


def all_probabilities(logits, best, labels) -> Softmax:
    """The probabilities of all labels, `(batch, time, labels)`."""
    return Softmax(logits)


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


def answers(columns, outputs, names) -> list[np.ndarray]:
    """The answers of these names, from the outputs of a network for a batch.

    Args:
        columns: the `LabelColumn` of each of its outputs.
        outputs: of the network.
        names: of answers, as the outputs of an exported file.
    """
    arrays = {}
    for column in columns:
        logits, best = map(np.asarray, read_outputs(column.part(outputs), np.argmax))
        logits = logits.astype("float32", copy=False)
        for base, name in column.output_names.items():
            if name in names:
                arrays[name] = ANSWERS[base](logits, best, column.labels)
    return [arrays[name] for name in names]


def logits_of(outputs):
    """The logits of a column, which are log marginals in a CRF."""
    return outputs["logits"] if isinstance(outputs, dict) else outputs
