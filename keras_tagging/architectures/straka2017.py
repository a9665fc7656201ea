r"""Segmenter: a bidirectional GRU over characters, as in UDPipe.

Straka & Straková (2017), :cite:`straka2017`: for each character, whether a token, or a
token and its sentence, ends behind it. Multiword tokens have labels of their own, as in
Qi et al. (2018), :cite:`qi2018`. The recipe "paper" has the defaults of UDPipe 1.2.
Departures: the class of a character is a second feature, white space is one symbol, and
an end of a paragraph always ends a sentence. The recipe "fast" also reads a small text
several times in an epoch, and has a lexicon where white space tells little.
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
        "window": 150,
        "layer_dropout": 0.2,
        "decay": "linear",
        "clipnorm": 1.0,
        "batch_size": 24,
        "unknown_rate": 0.3,
        "epochs": 12,
        "min_batches": 100,
        "lexicon": None,
    },
)
