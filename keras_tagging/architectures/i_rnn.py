r"""I-RNN, which reads its labels as embeddings: Dinarelli & Tellier (2016), 2.3.

.. math::
    h_t = \Sigma([I_t L_t] \cdot H), \quad y_t = \mathrm{softmax}(h_t \cdot O)

The layer is :class:`keras_tagging.layers.LabelEmbeddingRNN`. Departures: the paper does
not say how many sentences make a batch (here 10), what the momentum is (0.9), nor how
weights start (Keras' defaults). A momentum that averages gradients would make its
learning rate of 0.5 Keras' 0.05, with which 20 epochs do not suffice: it is 0.5 here.
"""

from functools import partial

from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.architectures.label_network import label_network

CELL = partial(LabelEmbeddingRNN, num_labels=1)
build_network = label_network

# D16 section 3.2, for ATIS and MEDIA
D16 = {
    "words": True,
    "suffixes": (),
    "capitals": False,
    "normalise": "lower",
    "lookup": "normalised",
    "word_dim": 200,
    "affix_dim": 200,
    "label_dim": 200,
    "window": 7,
    "label_context": 6,
    "units": 100,
    "pretrain": "window",
    "activation": "sigmoid",
    "optimizer": "sgd",
    "learning_rate": 0.5,
    "momentum": 0.9,
    "l2": 0.003,
    "feedback": "predicted",
    "batch_size": 10,
    "epochs": 20,
    "monitor": "val_accuracy",
}

PAPER = {**D16, "label_input": "embedding", "hidden_context": 0}

FAST = {
    "affix_dim": 30,
    "dropout": 0.6,
    "layer_dropout": 0.3,
    "l2": 0.0,
    "pretrain": "cbow",
    "optimizer": "adam",
    "learning_rate": 5e-3,
    "momentum": 0.0,
    "decay": "linear",
    "batch_size": None,
    "token_budget": 200,
    "unknown_rate": 0.3,
    "epochs": 20,
    "monitor": None,
}
