"""The vector of one token from its characters, in NumPy: Lample et al., Ma & Hovy.

`vectors` (characters, size) are the embedded characters of one token, no padding.
"""

import numpy as np
from reference import coupled_lstm, gru, skip_lstm, skip_stack

CELLS = {
    "coupled-lstm": (coupled_lstm, {}),
    "lstm": (skip_lstm, {"skip": None, "gate": None}),
}


def recurrent(kind, vectors, forward, backward):
    """The state after the last character, and that after the first from behind."""
    ends = []
    for number, weights in enumerate((forward, backward)):
        if kind == "gru":
            outputs = gru.run(vectors, weights, backwards=number == 1)
        else:
            cell, settings = CELLS[kind]
            outputs, _ = skip_stack.run(cell, vectors, weights, settings, number == 1)
        if not len(vectors):
            ends.append(np.zeros(outputs.shape[1]))
        else:
            ends.append(outputs[0 if number else -1])
    return np.concatenate(ends)


def convolution(vectors, kernel, bias):
    """Each filter's maximum over all windows that overlap the token, ends included.

    Args:
        kernel: (width, size, filters).
    """
    width, size, _ = kernel.shape
    nothing = np.zeros((width - 1, size))
    padded = np.concatenate([nothing, vectors, nothing])
    windows = [padded[t : t + width] for t in range(len(padded) - width + 1)]
    sums = [np.einsum("ij,ijk->k", window, kernel) + bias for window in windows]
    return np.tanh(sums).max(0)
