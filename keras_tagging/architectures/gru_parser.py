r"""GRU parser: Elkaref & Bohnet (2017), 7.2.

.. math::
    h_t = z_t \odot h_{t-1} + (1 - z_t) \odot \tilde{h}_t

over the moves of a sentence; :class:`keras_tagging.cells.GRUCell` with `update="keep"`.
All else is as in :mod:`keras_tagging.architectures.ffn_parser`.
"""

from functools import partial

from keras_tagging.cells import GRUCell
from keras_tagging.architectures import ffn_parser
from keras_tagging.architectures.parser_network import parser_network


def parser_gru(units, update="keep", **options):
    """The cell of section 7.2."""
    return GRUCell(units, update=update, **options)


CELL = parser_gru
build_network = partial(parser_network, CELL)

PAPER = ffn_parser.E17

FAST = ffn_parser.FAST
