r"""Stacked bidirectional shortcut blocks, Wu et al. (2017).

.. math::
    m &= i \odot s + g \odot h_t^{l-2} \\
    h_t^l &= o \odot \tanh(m) + g \odot h_t^{l-2}

Eq. 10 in both directions, :cite:`wu2017`; the recurrence, with the variants of Tables
2 and 3, is in :class:`keras_tagging.cells.ShortcutBlockCell`. Table 2's first row is
`skip-bilstm`. Departures: the number of epochs is not stated.
"""

from keras_tagging.architectures import kadari2018, wu2016
from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.cells.options import ShortcutBlock

SHORTCUT_BILSTM = Architecture(
    name="shortcut-bilstm",
    summary="Stacked bidirectional shortcut blocks, Wu et al. (2017).",
    network=StackedNetwork,
    cell=ShortcutBlock,
    # sections 4.1 and 5.1: what differs from Wu et al. (2016)
    paper={
        **wu2016.PAPER,
        "word_dim": 100,
        "window_over": "features",
        "window_gated": False,
        "units": 465,
        "num_layers": 9,
        "decay": "halve",
    },
    fast=wu2016.FAST,
    best=kadari2018.BEST,
)
