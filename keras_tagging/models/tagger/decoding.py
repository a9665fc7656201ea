"""The answers of a tagger for a batch, from the outputs of its network."""

import numpy as np

from keras_tagging.architectures.output import read_outputs

#: the number of `top_tags`, as an export has them
TOP = 5


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
        bases = {name: base for base, name in column.output_names.items()}
        for name in {*names} & {*bases}:
            arrays[name] = _answer(bases[name], logits, best, column.labels)
    return [arrays[name] for name in names]


def _answer(base: str, logits: np.ndarray, best: np.ndarray, labels: list[str]):
    """One output of an exported file.

    Args:
        base: its name without that of the column.
        logits: `(batch, time, labels)`.
        best: the ids of the best labels, `(batch, time)`.
        labels: the inventory.
    """
    if base == "tags":
        return np.array(labels, object)[best]
    if base == "all_probabilities":
        return Softmax(logits)
    rows = softmax(logits)
    if base == "probabilities":
        return np.take_along_axis(rows, best[..., None], -1)[..., 0]
    order = np.argsort(-rows, -1, kind="stable")[..., :TOP]
    if base == "top_tags":
        return np.array(labels, object)[order]
    return np.take_along_axis(rows, order, -1)


def logits_of(outputs):
    """The logits of a column, which are log marginals in a CRF."""
    return outputs["logits"] if isinstance(outputs, dict) else outputs
