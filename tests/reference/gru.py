"""NumPy GRU, written from Kadari et al. (2018), section 2.1, Eq. 3-6.

Each gate multiplies its own matrix W with the concatenation [h_{t-1}, x_t], as the
paper writes it.
"""

import numpy as np
from scipy.special import expit as sigmoid


def gate_matrices(kernel, recurrent_kernel, bias):
    """(W, b) of z, r and h; W is (units + features, units) and reads [h, x]."""
    units = recurrent_kernel.shape[0]
    gates = []
    for i in range(3):
        columns = slice(i * units, (i + 1) * units)
        stacked = np.concatenate([recurrent_kernel[:, columns], kernel[:, columns]])
        gates.append((stacked.astype("float64"), bias[columns].astype("float64")))
    return gates


def step(x, h, weights, update="new"):
    """One time step for one sentence: x (features,), h (units,)."""
    (w_z, b_z), (w_r, b_r), (w_h, b_h) = gate_matrices(*weights)
    z = sigmoid(np.concatenate([h, x]) @ w_z + b_z)
    r = sigmoid(np.concatenate([h, x]) @ w_r + b_r)
    candidate = np.tanh(np.concatenate([r * h, x]) @ w_h + b_h)
    if update == "new":
        return (1 - z) * h + z * candidate
    return z * h + (1 - z) * candidate


def run(xs, weights, update="new", backwards=False):
    """A sentence xs (time, features) without padding; states in reading order."""
    h = np.zeros(weights[1].shape[0])
    hs = np.zeros((len(xs), len(h)))
    positions = range(len(xs))
    for t in reversed(positions) if backwards else positions:
        h = hs[t] = step(xs[t], h, weights, update)
    return hs


def stack(xs, layers, merge):
    """A bidirectional stack; layers is [(forward weights, backward weights), ...]."""
    ltr = rtl = xs
    for forward, backward in layers:
        ltr, rtl = run(ltr, forward), run(rtl, backward, backwards=True)
        if merge == "layer":
            ltr = rtl = np.concatenate([ltr, rtl], axis=1)
    return ltr if merge == "layer" else np.concatenate([ltr, rtl], axis=1)
