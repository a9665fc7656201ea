"""Scorers with random weights, and sentences for them."""

import numpy as np
from cells.cases import randomize
from keras import ops
from reference import arc_standard

from keras_tagging.cells import ElmanCell, FeedForwardCell, GRUCell, SkipLSTMCell
from keras_tagging.layers import TransitionScorer

SIZE, LABEL_DIM, UNITS, NUM_LABELS = 2, 1, 8, 2
# a cell, and its gates in the order of its kernel; s is the paper's j
CELLS = {
    "ffn": (FeedForwardCell, {}, "h"),
    "elman": (ElmanCell, {}, "h"),
    "lstm": (SkipLSTMCell, {"skip": None, "gate": None}, "ifoj"),
    "gru": (GRUCell, {"update": "keep"}, "zrh"),
}


def make_scorer(name, weights_seed=1, units=UNITS, **options):
    """Built, with random weights and biases."""
    cell_class, settings, _ = CELLS[name]
    cell = cell_class(units, **settings | options.pop("cell", {}))
    scorer = TransitionScorer(
        cell, **{"num_labels": NUM_LABELS, "label_dim": LABEL_DIM} | options
    )
    scorer.build((None, None, SIZE))
    return randomize_scorer(scorer, weights_seed, 0.6)


def randomize_scorer(scorer, seed, scale):
    """The biases of ReLUs become positive: were all units dead, all moves would have
    the same score, and which of them is taken depends on the backend."""
    randomize(scorer, seed, scale)
    cell = scorer.cell
    if len(cell.gates) == 1 and cell.use_bias:
        cell.bias.assign(1 + abs(ops.convert_to_numpy(cell.bias)))
    return scorer


def random_tokens(lengths, seed=2, words=None):
    """`(batch, words, size)`, with random values at padding too."""
    shape = (len(lengths), words or max(lengths), SIZE)
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def random_tree(length, rng):
    """Heads and labels of a projective tree."""
    state = arc_standard.start(length)
    while moves := arc_standard.legal(state):
        label = int(rng.integers(1, NUM_LABELS + 1))
        state = arc_standard.advance(state, rng.choice(moves), label)
    found = {word: (head, label) for head, word, label in state.arcs}
    return tuple(zip(*(found[word + 1] for word in range(length)), strict=True))
