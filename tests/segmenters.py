"""The labels that a segmenter takes, for tests of what it lets a network say."""

import numpy as np

from keras_tagging.segmenting.guards import guarded
from keras_tagging.segmenting.segmentation import Windows, best_labels


def fitting_labels(scores, symbols, spaces=False):
    """The best labels that fit the text of a whole document."""
    following = np.append(symbols.codes[1:], ord("\n"))
    known = guarded(symbols.codes, True)
    windows = Windows(None, symbols, following, known, len(symbols), None)
    return best_labels(scores, windows, spaces, False)
