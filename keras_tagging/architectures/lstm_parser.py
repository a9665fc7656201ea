r"""LSTM parser: Elkaref & Bohnet (2017), 3.3.

.. math::
    i_t, f_t, o_t &= \sigma(W_{x*} x_t + W_{h*} h_{t-1} + b_*), \quad
    j_t = \tanh(W_{xj} x_t + W_{hj} h_{t-1} + b_j) \\
    c_t &= c_{t-1} \odot f_t + i_t \odot j_t, \quad h_t = \tanh(c_t) \odot o_t

over the moves of a sentence, without peepholes and with 1 added to the bias of f;
the cell is :class:`keras_tagging.cells.SkipLSTMCell` without a skip, which calls j s.
All else is as in :mod:`keras_tagging.architectures.ffn_parser`, from which
`Parser.bootstrap` initialises it.
"""

from functools import partial

from keras_tagging.architectures import ffn_parser
from keras_tagging.architectures.bilstm import plain_lstm
from keras_tagging.architectures.parser_network import parser_network


def parser_lstm(units, forget_bias=1.0, **options):
    """The cell of section 3.3."""
    return plain_lstm(units, forget_bias=forget_bias, **options)


CELL = parser_lstm
build_network = partial(parser_network, CELL)

PAPER = ffn_parser.E17

FAST = ffn_parser.FAST
