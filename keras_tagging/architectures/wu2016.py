r"""Stacked Bi-LSTMs of Wu et al. (2016), with and without skip connections.

.. math::
    \overrightarrow{h}_t^l = \overrightarrow{o} \odot
    \tanh(\overrightarrow{c}_t^l) + \overrightarrow{g} \odot
    \overrightarrow{h}_t^{l-2}

Section 4, Eq. 16, :cite:`wu2016`, and its mirror image from right to left; the
recurrence, with the variants of Table 2, is in
:class:`keras_tagging.cells.SkipLSTMCell`. Departures: the number of epochs is not
stated.

`bilstm` is the row "no skip connections" of Table 2, Eq. 9. Two rows are networks of
other authors, in the settings of section 6.1.4: "H-LSTM" is `highway-bilstm`
(:cite:`zhang2016`, :class:`keras_tagging.cells.HighwayLSTMCell`), and "RHN" is `rhn`,
one bidirectional layer of recurrence depth 3 with output gates (:cite:`zilly2016`,
:class:`keras_tagging.cells.RecurrentHighwayCell`).
"""

from keras_tagging.architectures import kadari2018
from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.cells.options import LSTM, HighwayLSTM, RecurrentHighway, SkipLSTM

#: sections 5.1 and 6.1.2: all but the skip
PAPER = {
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
#: changes of the fast recipe
FAST = {
    **kadari2018.FAST,
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
#: two layers that each read both directions do better without skips
FAST_BILSTM = {
    **FAST,
    "units": 300,
    "num_layers": 2,
    "merge": "layer",
    "input_layer": None,
}

SKIP_BILSTM = Architecture(
    name="skip-bilstm",
    summary="Stacked Bi-LSTM with skip connections, Wu et al. (2016).",
    network=StackedNetwork,
    cell=SkipLSTM,
    paper={**PAPER, "skip": "outputs", "gate": "joint"},  # Table 2's best row
    fast=FAST,
    best=kadari2018.BEST,
)
BILSTM = Architecture(
    name="bilstm",
    summary="Stacked Bi-LSTM, the baseline: Eq. 9 of Wu et al. (2016).",
    network=StackedNetwork,
    cell=LSTM,
    paper=PAPER,
    fast=FAST_BILSTM,
    best=kadari2018.BEST,
)
HIGHWAY_BILSTM = Architecture(
    name="highway-bilstm",
    summary="Stacked highway Bi-LSTM, Zhang et al. (2016).",
    network=StackedNetwork,
    cell=HighwayLSTM,
    paper=PAPER,
    fast=FAST,
    best=kadari2018.BEST,
)
RHN = Architecture(
    name="rhn",
    summary="Bidirectional recurrent highway network, Zilly et al. (2016).",
    network=StackedNetwork,
    cell=RecurrentHighway,
    paper={**PAPER, "num_layers": 1, "depth": 3, "output_gate": True},
    fast={**FAST, "num_layers": 1, "units": 300},
    best=kadari2018.BEST,
)
