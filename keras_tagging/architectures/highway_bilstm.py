r"""Stacked highway Bi-LSTM, Zhang et al. (2016).

.. math::
    c_t^l = d \odot c_t^{l-1} + f \odot c_{t-1}^l + i \odot s

Row "H-LSTM" of Table 2: :cite:`zhang2016` in the settings of Wu et al. (2016),
:cite:`wu2016`; the recurrence is in :class:`keras_tagging.cells.HighwayLSTMCell`.
"""

from functools import partial

from keras_tagging.cells import HighwayLSTMCell
from keras_tagging.architectures import skip_bilstm
from keras_tagging.architectures.stacked_network import stacked_network

CELL = HighwayLSTMCell
build_network = partial(stacked_network, CELL)

PAPER = skip_bilstm.W16

FAST = skip_bilstm.FAST
