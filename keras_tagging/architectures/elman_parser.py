r"""Parser with an Elman network: Elkaref & Bohnet (2017), 7.1.

.. math::
    h_t = \max\{0, W_x x_t + W_h h_{t-1} + b_h\}

over the moves of a sentence; :class:`keras_tagging.cells.ElmanCell`. All else is as in
:mod:`keras_tagging.architectures.ffn_parser`. Departures: whether the biases start at 0.02, as
those of the feed-forward net, is not stated; here they do.
"""

from functools import partial

import keras

from keras_tagging.cells import ElmanCell
from keras_tagging.architectures import ffn_parser
from keras_tagging.architectures.parser_network import parser_network


def relu_cell(units, hidden_bias=0.02, **options):
    """The cell of section 7.1."""
    start = keras.initializers.Constant(hidden_bias)
    return ElmanCell(units, bias_initializer=start, **options)


CELL = relu_cell
build_network = partial(parser_network, CELL)

PAPER = ffn_parser.E17

FAST = ffn_parser.FAST
