"""The window language model of one corpus in NumPy, position by position.

Written from Dinarelli & Tellier (2016), sections 2 and 3.2: look-up table, sigmoid
hidden layer, softmax; a window on both sides of the position that is predicted.
"""

import numpy as np


def positions(ids, lengths, context):
    """Each position that is predicted: its id, and the ids around it or None."""
    found, start = [], 0
    for length in lengths:
        sentence = [i if i >= 0 else None for i in ids[start : start + length]]
        start += length
        for t, target in enumerate(sentence):
            if target is None:
                continue
            left = [sentence[p] if p >= 0 else None for p in range(t - context, t)]
            right = sentence[t + 1 : t + 1 + context]
            right = right + [None] * (context - len(right))
            found.append((target, left + right))
    return found


def logits(around, table, hidden_kernel, hidden_bias, kernel, bias):
    """Scores of all rows at one position.

    Args:
        around: the ids around it, None for a zero vector.
        table: (rows, dim).
        hidden_kernel, hidden_bias: (2 * context * dim, units) and (units,).
        kernel, bias: (units, rows) and (rows,).
    """
    read = [np.zeros(table.shape[1]) if i is None else table[i] for i in around]
    h = 1 / (1 + np.exp(-(np.concatenate(read) @ hidden_kernel + hidden_bias)))
    return h @ kernel + bias


def cross_entropy(ids, lengths, context, weights):
    """Mean negative log probability, in nats, of the positions."""
    weights = [w.astype("float64") for w in weights]
    costs = []
    for target, around in positions(ids, lengths, context):
        scores = logits(around, *weights)
        costs.append(np.log(np.exp(scores).sum()) - scores[target])
    return np.mean(costs)
