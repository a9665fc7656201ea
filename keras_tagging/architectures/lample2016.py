r"""Bi-LSTM with a CRF output layer: the baseline of chunks, slots and names.

Lample et al. (2016), :cite:`lample2016`; the CRF is in
:class:`keras_tagging.layers.CRF`. Departures: characters are the first and last five
of a word (Wu et al. 2016, section 5.1, :cite:`wu2016`), not read by a Bi-LSTM; the
LSTM is Eq. 9 of Wu et al., where Lample et al. couple the forget gate to the input gate
and let the gates read the cell; there is no hidden layer between it and the CRF; no
vectors are brought along; singletons become unknown with the paper's probability 0.5.
"""

from keras_tagging.architectures import wu2016
from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.cells.options import LSTM

BILSTM_CRF = Architecture(
    name="bilstm-crf",
    summary="Bi-LSTM with a CRF output layer: the baseline of chunks, slots and names.",
    network=StackedNetwork,
    cell=LSTM,
    # sections 4.1 to 4.3 and 5.1
    paper={
        "words": True,
        "word_dim": 100,
        "characters": 5,
        "character_dim": 25,
        "capitals": False,
        "suffixes": (),
        "normalise": "kadari",
        "lookup": "normalised",
        "units": 100,
        "num_layers": 1,
        "dropout": 0.5,
        "decoder": "crf",
        "constrained": False,
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "clipnorm": 5.0,
        "batch_size": 1,
        "unknown_rate": 0.5,
        "epochs": 100,
    },
    fast={**wu2016.FAST_BILSTM, "characters": 0, "constrained": None},
)
