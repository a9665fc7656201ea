"""Context windows of one sentence in NumPy, word by word.

Written from Wu et al. (2016), section 5.1, and Wu et al. (2017), Eq. 20.
"""

import numpy as np


def windows(words, size):
    """What surrounds each word: (time, size, features), 0 beyond the sentence."""
    found = np.zeros((len(words), size, words.shape[1]))
    for t in range(len(words)):
        for place in range(size):
            position = t - size // 2 + place
            if 0 <= position < len(words):
                found[t, place] = words[position]
    return found


def run(words, size, kernel=None, bias=None):
    """Concatenated windows (time, size * features), gated if a kernel is given.

    Args:
        words: (time, features), a sentence without padding.
        kernel, bias: of the gates, (size * features, size) and (size,).
    """
    rows = []
    for window in windows(words.astype("float64"), size):
        r = np.ones(size)
        if kernel is not None:
            read = np.concatenate(list(window)) @ kernel.astype("float64")
            r = 1 / (1 + np.exp(-(read + bias)))
        rows.append(np.concatenate([r[i] * window[i] for i in range(size)]))
    return np.array(rows).reshape(len(words), size * words.shape[1])
