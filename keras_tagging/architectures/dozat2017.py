r"""Biaffine parser: Dozat & Manning (2017), "Deep Biaffine Attention for Neural
Dependency Parsing".

.. math::
    s_{ij} &= d_i^\top U h_j + u^\top h_j, \quad
    \hat{y} = \arg\max_{y} \sum_i s_{i y_i}

over the trees of a sentence with one root, :cite:`dozat2017`; the label of an arc is
the best one of a second classifier. Departures: the network tags too, as that of Straka
(2018), :cite:`straka2018`, where the parser of the paper reads tags; the labels of arcs
have a product of low rank (:class:`keras_tagging.layers.ArcLabels`); the features of
words are those of the taggers here. The recipe "fast" has smaller layers, averages its
weights, and feeds the tags of the first layer to the others.
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.biaffine_network import BiaffineNetwork
from keras_tagging.architectures.kadari2018 import FAST

BIAFFINE_PARSER = Architecture(
    name="biaffine-parser",
    summary="Tags and trees of one network: Dozat & Manning (2017).",
    network=BiaffineNetwork,
    # section 4.1 and Table 1; the rate falls in other steps there
    paper={
        "tags": ("upos", "xpos"),
        "units": 400,
        "num_layers": 3,
        "feed_dim": 0,
        "dropout": 0.33,
        "head_units": 500,
        "label_units": 100,
        "optimizer": "adam",
        "learning_rate": 2e-3,
        "decay": "linear",
        "token_budget": 5000,
        "epochs": 50,
    },
    fast={
        **FAST,
        "tags": ("upos", "xpos", "feats"),
        "initializer": "wide",
        "units": 200,
        "num_layers": 2,
        "feed_dim": 50,
        "dropout": 0.25,
        "layer_dropout": 0.33,
        "head_units": 150,
        "label_units": 64,
        "decay": "warmup-stable-decay",
        "weight_average": 0.998,
        "clipnorm": 5.0,
        "token_budget": 600,
        "unknown_rate": 0.5,
        "embedding_dropout": 0.2,
        "epochs": 12,
    },
)
