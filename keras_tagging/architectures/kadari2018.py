r"""Bi-GRU supertagger of Kadari et al. (2018), section 2.2 and Fig. 2.

.. math::
    x_t &= [e(w_t); v(w_t); e(\mathrm{suffix}_t); e(\mathrm{capital}_t)] \\
    h_t &= [\overrightarrow{h}_t; \overleftarrow{h}_t], \quad
    y_t = \mathrm{softmax}(W h_t + b)

The recurrence is in :class:`keras_tagging.cells.GRUCell`. Departures: the paper does
not give the sizes of the embeddings other than the pretrained ones (here `word_dim`
and `affix_dim`), nor the initialisation (the defaults of Keras 3, which draws the three
input kernels of a layer as one matrix, with a greater fan than the paper's Keras 1).
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.cells.options import GRU

#: more subword features, mini-batches, Adam: what every stacked tagger is trained with
FAST = {
    "suffixes": (1, 2, 3, 4),
    "prefixes": (1, 2, 3),
    "shapes": True,
    "lookup": "cascade",
    "affix_dim": 25,
    "dropout": 0.5,
    "layer_dropout": 0.5,
    "optimizer": "adam",
    "learning_rate": 2e-3,
    "decay": "linear",
    "clipnorm": 1.0,
    "token_budget": 200,
    "unknown_rate": 0.3,
    "epochs": 10,
}
#: all characters of a word, and more epochs, which need more noise: see
#: docs/results/kadari2018.rst
BEST = {
    "character_network": "lstm",
    "label_smoothing": 0.1,
    "unknown_rate": 0.5,
    "epochs": 15,
}

BIGRU = Architecture(
    name="bigru",
    summary="Bi-GRU supertagger of Kadari et al. (2018), section 2.2 and Fig. 2.",
    network=StackedNetwork,
    cell=GRU,
    # sections 2.2, 3.1 and 3.2
    paper={
        "words": True,
        "suffixes": (2,),
        "capitals": True,
        "normalise": "kadari",
        "lookup": "normalised",
        "dropout": 0.2,
        "units": 300,
        "num_layers": 2,
        "merge": "layer",
        "update": "new",
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "batch_size": 1,
        "epochs": 90,
    },
    fast=FAST,
    best=BEST,
)
