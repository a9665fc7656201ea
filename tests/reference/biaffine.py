"""The biaffine parser in NumPy, one sentence at a time: Dozat & Manning (2017).

Weights are those of our layers by name, in float64.
"""

import numpy as np
from reference import skip_lstm, skip_stack
from scipy.special import softmax

NOBODY = -3e4


def hidden(weights, xs):
    """The vectors of words as dependents, and as heads behind that of ROOT."""
    found = []
    for name in ("dependent", "head"):
        y = xs @ weights[f"{name}_kernel"] + weights[f"{name}_bias"]
        found.append(np.where(y > 0, y, 0.2 * y))
    return found[0], np.concatenate([weights["root"][None], found[1]])


def head_scores(weights, xs):
    """Section 2.2, arc by arc: `(words, 1 + words)`; no word is its own head."""
    dependents, heads = hidden(weights, xs)
    scores = [
        [(d @ weights["bilinear"] + weights["prior"]) @ h for h in heads]
        for d in dependents
    ]
    return np.where(np.eye(len(xs), len(xs) + 1, 1), NOBODY, scores)


def label_scores(weights, xs, chosen):
    """Of the labels of the arcs from the chosen heads: `(words, labels)`."""
    dependents, heads = hidden(weights, xs)
    product, own, of_head = np.split(weights["kernel"], 3)
    return np.array(
        [
            (dependents[i] * heads[j]) @ product
            + dependents[i] @ own
            + heads[j] @ of_head
            + weights["bias"]
            for i, j in enumerate(chosen)
        ]
    )


def recurrent(xs, layers):
    """Bidirectional LSTM layers, each of which reads both directions."""
    plain = {"skip": None, "gate": None}
    return skip_stack.stack(skip_lstm, xs, layers, plain, "layer")


def dense(weights, xs):
    return xs @ weights["kernel"] + weights.get("bias", 0)


def network(layers, xs, columns, chosen):
    """What the network gives for the embedded words of a sentence, by name.

    Args:
        layers: weights by the name of the layer; of a stack as `recurrent` takes them.
        columns: the names of the columns of tags, all of which are fed.
        chosen: the heads whose labels are scored.
    """
    h = recurrent(xs, layers["lower_stack"])
    first = {c: dense(layers[f"first_{c}"], h) for c in columns}
    fed = [dense(layers[f"fed_{c}"], softmax(first[c], -1)) for c in columns]
    h = recurrent(np.concatenate([h, *fed], 1), layers["stack"])
    return {
        "first": first,
        **{c: dense(layers[f"logits_{c}"], h) for c in columns},
        "heads": head_scores(layers["heads"], h),
        "labels": label_scores(layers["arc_labels"], h, chosen),
    }
