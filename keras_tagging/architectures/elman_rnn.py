r"""E-RNN, Elman's network with an explicit context: Dinarelli & Tellier (2016), 2.2.

.. math::
    h_t = \Sigma(I_t \cdot H + [h_{t-c} \dots h_{t-1}] \cdot R)

All else is as in :mod:`keras_tagging.architectures.i_rnn`.
"""

from keras_tagging.architectures import i_rnn

CELL = i_rnn.CELL
build_network = i_rnn.build_network

PAPER = {**i_rnn.D16, "label_input": None, "hidden_context": 6}

FAST = i_rnn.FAST
