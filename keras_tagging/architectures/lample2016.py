r"""Bi-LSTM with a CRF output layer: the baseline of chunks, slots and names.

.. math::
    x_t &= [e(w_t); \overrightarrow{h}(c_1 \dots c_n);
        \overleftarrow{h}(c_1 \dots c_n)] \\
    h_t &= [\overrightarrow{h}_t; \overleftarrow{h}_t], \quad
    P_t = W \tanh(V h_t + a) + b, \quad y = \mathrm{CRF}(P)

Sections 2 to 5 of Lample et al. (2016), :cite:`lample2016`; the LSTM, of words and of
characters, is in :class:`keras_tagging.cells.CoupledLSTMCell`, the characters are read
by :class:`keras_tagging.layers.CharacterEncoder`, the CRF is in
:class:`keras_tagging.layers.CRF`. Departures: words are lower case and their digits 0,
which the paper does not say; no vectors are brought along (give them as
`embeddings=`); singletons become unknown with the paper's probability 0.5, and so do
characters; the fast recipe has the LSTM of Eq. 9 of Wu et al. (2016), :cite:`wu2016`,
neither a hidden layer nor a character network.
"""

from keras_tagging.architectures import kadari2018, wu2016
from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.cells.options import CoupledLSTM

BILSTM_CRF = Architecture(
    name="bilstm-crf",
    summary="Bi-LSTM with a CRF output layer: the baseline of chunks, slots and names.",
    network=StackedNetwork,
    cell=CoupledLSTM,
    # sections 4.1 to 4.3 and 5.1
    paper={
        "words": True,
        "word_dim": 100,
        "character_network": "coupled-lstm",
        "character_units": 25,
        "character_embedding_dim": 25,
        "capitals": False,
        "suffixes": (),
        "normalise": "kadari",
        "lookup": "normalised",
        "units": 100,
        "num_layers": 1,
        "dropout": 0.5,
        "coupled": True,
        "hidden_layer": "tanh",
        "decoder": "crf",
        "constrained": False,
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "clipnorm": 5.0,
        "batch_size": 1,
        "unknown_rate": 0.5,
        "epochs": 100,
    },
    fast={
        **wu2016.FAST_BILSTM,
        "character_network": None,
        "character_units": 50,
        "constrained": None,
        "coupled": False,
        "hidden_layer": None,
    },
    best=kadari2018.BEST,
)
