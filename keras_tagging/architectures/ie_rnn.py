r"""I+E-RNN, which reads labels and hidden states: Dinarelli & Tellier (2016), 2.3.

.. math::
    h_t = \Sigma([I_t L_t] \cdot H + [h_{t-c} \dots h_{t-1}] \cdot R)

All else is as in :mod:`keras_tagging.architectures.i_rnn`.
"""

from keras_tagging.architectures import i_rnn

CELL = i_rnn.CELL
build_network = i_rnn.build_network

PAPER = {**i_rnn.D16, "label_input": "embedding", "hidden_context": 6}

FAST = i_rnn.FAST
