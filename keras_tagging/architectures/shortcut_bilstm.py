r"""Stacked bidirectional shortcut blocks, Wu et al. (2017).

.. math::
    m &= i \odot s + g \odot h_t^{l-2} \\
    h_t^l &= o \odot \tanh(m) + g \odot h_t^{l-2}

Eq. 10 in both directions, :cite:`wu2017`; the recurrence, with the variants of Tables
2 and 3, is in :class:`keras_tagging.cells.ShortcutBlockCell`. Table 2's first row is
`skip-bilstm`. Departures: the number of epochs is not stated.
"""

from functools import partial

from keras_tagging.cells import ShortcutBlockCell
from keras_tagging.architectures import skip_bilstm
from keras_tagging.architectures.stacked_network import stacked_network

CELL = ShortcutBlockCell
build_network = partial(stacked_network, CELL)

# W17 sections 4.1 and 5.1: what differs from W16
PAPER = {
    **skip_bilstm.W16,
    "word_dim": 100,
    "window_over": "features",
    "window_gated": False,
    "units": 465,
    "num_layers": 9,
    "decay": "halve",
}

FAST = skip_bilstm.FAST
