r"""Stacked Bi-LSTM, the baseline: Eq. 9 of Wu et al. (2016).

`recipe="paper"` is the row "no skip connections" of its Table 2. The recurrence is in
:class:`keras_tagging.cells.SkipLSTMCell`, which without a skip is a plain LSTM.
"""

from functools import partial

from keras_tagging.cells import SkipLSTMCell
from keras_tagging.architectures import skip_bilstm
from keras_tagging.architectures.stacked_network import stacked_network


def plain_lstm(units, forget_bias=0.0, **options):
    """The cell of Eq. 9."""
    options = {"skip": None, "gate": None, "forget_bias": forget_bias} | options
    return SkipLSTMCell(units, **options)


CELL = plain_lstm
build_network = partial(stacked_network, CELL)

PAPER = skip_bilstm.W16

FAST = {
    **skip_bilstm.FAST,
    "units": 300,
    "num_layers": 2,
    "merge": "layer",
    "input_layer": None,
}
