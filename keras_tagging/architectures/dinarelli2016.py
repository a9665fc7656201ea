r"""Networks that read their own labels: Dinarelli & Tellier (2016), 2.2 and 2.3.

.. math::
    \textrm{E-RNN:}\quad & h_t = \Sigma(I_t H + [h_{t-c} \dots h_{t-1}] R) \\
    \textrm{J-RNN:}\quad & h_t = \Sigma(I_t H + [y_{t-c} \dots y_{t-1}] R) \\
    \textrm{I-RNN:}\quad & h_t = \Sigma([I_t L_t] H) \\
    \textrm{I+E-RNN:}\quad & h_t = \Sigma([I_t L_t] H + [h_{t-c} \dots h_{t-1}] R) \\
    & y_t = \mathrm{softmax}(h_t O)

:cite:`dinarelli2016`. The layer is :class:`keras_tagging.layers.LabelEmbeddingRNN`.
Departures: the paper does not say how many sentences make a batch (here 10), what the
momentum is (0.9), nor how weights start (Keras' defaults). A momentum that averages
gradients would make its learning rate of 0.5 Keras' 0.05, with which 20 epochs do not
suffice: it is 0.5 here.
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.label_network import LabelNetwork

#: section 3.2, for ATIS and MEDIA
PAPER = {
    "words": True,
    "suffixes": (),
    "capitals": False,
    "normalise": "lower",
    "lookup": "normalised",
    "word_dim": 200,
    "affix_dim": 200,
    "label_dim": 200,
    "window": 7,
    "window_over": "features",
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
#: changes of the fast recipe
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
    "token_budget": 200,
    "unknown_rate": 0.3,
    "monitor": None,
}


def _network(name, summary, label_input, hidden_context):
    reads = {"label_input": label_input, "hidden_context": hidden_context}
    return Architecture(
        name=name,
        summary=f"{summary}: Dinarelli & Tellier (2016), 2.2 and 2.3.",
        network=LabelNetwork,
        paper={**PAPER, **reads},
        fast=FAST,
    )


ELMAN_RNN = _network("elman-rnn", "E-RNN, which reads hidden states", None, 6)
JORDAN_RNN = _network(
    "jordan-rnn", "J-RNN, which reads probabilities of its labels", "probabilities", 0
)
I_RNN = _network("i-rnn", "I-RNN, which reads its labels as embeddings", "embedding", 0)
IE_RNN = _network(
    "ie-rnn", "I+E-RNN, which reads labels and hidden states", "embedding", 6
)
