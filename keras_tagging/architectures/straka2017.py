r"""Segmenter: a bidirectional GRU over characters, as in UDPipe.

Section 2.1 of Straka & Straková (2017), :cite:`straka2017`: for each character, whether
a token, or a token and its sentence, ends behind it. Multiword tokens have labels of
their own, as in section 2.1 of Qi et al. (2018), :cite:`qi2018`.
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.segmenter_network import SegmenterNetwork

SEGMENTER = Architecture(
    name="segmenter",
    summary="Tokens and sentences of raw text: a Bi-GRU over its characters.",
    network=SegmenterNetwork,
    paper={
        "units": 24,
        "character_dim": 24,
        "window": 50,
        "dropout": 0.1,
        "layer_dropout": 0.1,
        "optimizer": "adam",
        "learning_rate": 0.005,
        "batch_size": 50,
        "epochs": 100,
    },
    fast={
        "units": 64,
        "character_dim": 32,
        "window": 300,
        "dropout": 0.2,
        "layer_dropout": 0.3,
        "learning_rate": 2e-3,
        "decay": "linear",
        "clipnorm": 1.0,
        "batch_size": 32,
        "unknown_rate": 0.3,
        "epochs": 12,
    },
)
