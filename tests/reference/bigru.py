"""The network of Kadari et al. (2018), Fig. 2, in NumPy, one sentence at a time.

Look-up tables, two bidirectional GRU layers of which the second reads both
directions of the first, and the output layer (before its softmax).
"""

import numpy as np
from reference import gru


def logits(ids, tables, layers, kernel, bias):
    """Of one sentence without padding.

    Args:
        ids: (time, features).
        tables: the embedding table of each feature, in the order of the columns.
        layers: [(forward weights, backward weights), ...], each as `gru.run` takes.
        kernel, bias: of the output layer.
    """
    embedded = []
    for row in ids:
        vectors = [table[i] for table, i in zip(tables, row, strict=True)]
        embedded.append(np.concatenate(vectors).astype("float64"))
    return gru.stack(np.array(embedded), layers, "layer") @ kernel + bias


def parameters(rows, dims, units, num_layers, num_tags):
    """How many weights there are.

    Args:
        rows, dims: rows of each table (padding and unknown included), and columns.
        units: of each direction.
    """
    count = sum(n * d for n, d in zip(rows, dims, strict=True))
    size = sum(dims)
    for _ in range(num_layers):
        # W_z, W_r, W_h of Eq. 3-5 read [h, x]; two directions
        count += 2 * 3 * ((units + size) * units + units)
        size = 2 * units
    return count + (2 * units + 1) * num_tags
