r"""Feed-forward parser, the baseline: Elkaref & Bohnet (2017), 3.2.

.. math::
    h = \max\{0, W x + b_h\}, \quad y = \mathrm{softmax}(W_h h)

The layer is :class:`keras_tagging.layers.TransitionScorer`. Departures: the paper does
not say how many sentences make a batch (here 16), the number of epochs (30), nor how
words are written (lower case, digits 9). It reads predicted tags: `tags="predicted"`,
where the recipes read gold ones, as no tagger comes with a treebank.
"""

from functools import partial

import keras

from keras_tagging.cells import FeedForwardCell
from keras_tagging.architectures.parser_network import parser_network


def relu_layer(units, hidden_bias=0.02, **options):
    """The hidden layer; "to avoid having any dead ReLUs" its biases start above 0."""
    start = keras.initializers.Constant(hidden_bias)
    return FeedForwardCell(units, bias_initializer=start, **options)


CELL = relu_layer
build_network = partial(parser_network, CELL)

# E17 section 5
E17 = {
    "words": True,
    "suffixes": (),
    "capitals": False,
    "normalise": "wu",
    "lookup": "normalised",
    "word_dim": 100,
    "affix_dim": 100,
    "label_dim": 100,
    "units": 256,
    "input_dropout": 0.3,
    "dropped": "configurations",
    "hidden_dropout": 0.3,
    "truncation": "sliding",
    "truncation_limit": 5,
    "initializer": "uniform",
    "optimizer": "sgd",
    "learning_rate": 0.05,
    "momentum": 0.9,
    "l2": 1e-8,
    "batch_size": 16,
    "unknown_rate": 0.25,
    "epochs": 30,
}

PAPER = E17

FAST = {
    "initializer": "glorot",
    "dropped": "tokens",
    "truncation": "chunked",
    "optimizer": "adam",
    "learning_rate": 4e-3,
    "momentum": 0.0,
    "l2": 0.0,
    "decay": "linear",
    "clipnorm": 5.0,
    "batch_size": None,
    "token_budget": 500,
    "unknown_rate": 0.5,
    "epochs": 8,
}
