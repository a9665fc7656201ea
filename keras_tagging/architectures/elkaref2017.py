r"""Transition-based parsers: Elkaref & Bohnet (2017), sections 3 and 7.

.. math::
    \textrm{feed-forward, 3.2:}\quad & h = \max\{0, W x + b_h\} \\
    \textrm{LSTM, 3.3:}\quad & i_t, f_t, o_t =
        \sigma(W_{x*} x_t + W_{h*} h_{t-1} + b_*), \quad
        j_t = \tanh(W_{xj} x_t + W_{hj} h_{t-1} + b_j) \\
        & c_t = c_{t-1} \odot f_t + i_t \odot j_t, \quad h_t = \tanh(c_t) \odot o_t \\
    \textrm{Elman, 7.1:}\quad & h_t = \max\{0, W_x x_t + W_h h_{t-1} + b_h\} \\
    \textrm{GRU, 7.2:}\quad & h_t = z_t \odot h_{t-1} + (1 - z_t) \odot \tilde{h}_t \\
    & y_t = \mathrm{softmax}(W_h h_t)

over the moves of a sentence, :cite:`elkaref2017`. The layer is
:class:`keras_tagging.layers.TransitionScorer`; the cells are
:class:`~keras_tagging.cells.FeedForwardCell`,
:class:`~keras_tagging.cells.SkipLSTMCell` without a skip, which calls j s, without
peepholes and with 1 added to the bias of f,
:class:`~keras_tagging.cells.ElmanCell`, and :class:`~keras_tagging.cells.GRUCell` with
`update="keep"`. `Parser.bootstrap` starts the recurrent ones from the feed-forward one.

Departures: the paper does not say how many sentences make a batch (here 16), the number
of epochs (30), how words are written (lower case, digits 9), nor whether the biases of
the Elman network start at 0.02 too (they do). It reads predicted tags
(`tags="predicted"`); the recipes read gold ones, as no tagger comes with a treebank.
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.parser_network import ParserNetwork
from keras_tagging.cells.options import GRU, LSTM, Elman, FeedForward

#: section 5
PAPER = {
    "words": True,
    "suffixes": (),
    "capitals": False,
    "normalise": "wu",
    "lookup": "normalised",
    "word_dim": 100,
    "affix_dim": 100,
    "label_dim": 100,
    "units": 256,
    "input_dropout": 0.3,
    "dropped": "configurations",
    "hidden_dropout": 0.3,
    "truncation": "sliding",
    "truncation_limit": 5,
    "constrained": False,
    "initializer": "uniform",
    "optimizer": "sgd",
    "learning_rate": 0.05,
    "momentum": 0.9,
    "l2": 1e-8,
    "batch_size": 16,
    "unknown_rate": 0.25,
    "epochs": 30,
}
#: changes of the fast recipe
FAST = {
    "initializer": "glorot",
    "dropped": "tokens",
    "truncation": "chunked",
    "constrained": True,
    "optimizer": "adam",
    "learning_rate": 4e-3,
    "momentum": 0.0,
    "l2": 0.0,
    "decay": "linear",
    "clipnorm": 5.0,
    "token_budget": 500,
    "unknown_rate": 0.5,
    "epochs": 8,
}
#: changes of the best recipe: a BiLSTM over the sentence, as section 6 proposes
BEST = {"encoder": "bilstm", "beam_width": 4, "token_budget": 200}


def _parser(name, summary, section, cell, **paper):
    return Architecture(
        name=name,
        summary=f"{summary}: Elkaref & Bohnet (2017), {section}.",
        network=ParserNetwork,
        cell=cell,
        paper={**PAPER, **paper},
        fast=FAST,
        best=BEST,
    )


FFN_PARSER = _parser(
    "ffn-parser", "Feed-forward parser, the baseline", "3.2", FeedForward
)
LSTM_PARSER = _parser("lstm-parser", "LSTM parser", "3.3", LSTM, forget_bias=1.0)
ELMAN_PARSER = _parser("elman-parser", "Parser with an Elman network", "7.1", Elman)
GRU_PARSER = _parser("gru-parser", "GRU parser", "7.2", GRU, update="keep")
