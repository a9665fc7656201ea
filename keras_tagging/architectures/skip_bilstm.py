r"""Stacked Bi-LSTM with skip connections, Wu et al. (2016).

.. math::
    \overrightarrow{h}_t^l = \overrightarrow{o} \odot
    \tanh(\overrightarrow{c}_t^l) + \overrightarrow{g} \odot
    \overrightarrow{h}_t^{l-2}

Section 4, Eq. 16, :cite:`wu2016`, and its mirror image from right to left; the
recurrence, with the variants of Table 2, is in
:class:`keras_tagging.cells.SkipLSTMCell`; those of other authors are `highway-bilstm`
and `rhn`. Departures: the number of epochs is not stated.
"""

from functools import partial

from keras_tagging.cells import SkipLSTMCell
from keras_tagging.architectures import bigru
from keras_tagging.architectures.stacked_network import stacked_network

CELL = SkipLSTMCell
build_network = partial(stacked_network, CELL)

# W16 sections 5.1 and 6.1.2: all but the skip
W16 = {
    "words": True,
    "word_dim": 200,
    "window": 3,
    "window_over": "words",
    "window_gated": True,
    "window_dropout": 0.25,
    "characters": 5,
    "characters_of": "normalised",
    "capitals": True,
    "suffixes": (),
    "normalise": "wu",
    "lookup": "normalised",
    "units": 512,
    "num_layers": 7,
    "merge": "top",
    "input_layer": "tanh",
    "layer_dropout": 0.5,
    "dropped_layers": "ends",
    "initializer": "gaussian",
    "optimizer": "sgd",
    "learning_rate": 0.02,
    "batch_size": 1,
    "epochs": 30,
}

# Table 2's best row
PAPER = {**W16, "skip": "outputs", "gate": "joint"}

FAST = {
    **bigru.FAST,
    "word_dim": 100,
    "window": 0,
    "window_gated": False,
    "window_dropout": 0.0,
    "characters": 0,
    "characters_of": "raw",
    "units": 200,
    "num_layers": 3,
    "initializer": "glorot",
}
