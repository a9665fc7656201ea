r"""Bidirectional recurrent highway network, Zilly et al. (2016).

Row "RHN" of Table 2: one bidirectional layer of recurrence depth 3 with output gates,
:cite:`zilly2016`, in the settings of Wu et al. (2016), section 6.1.4,
:cite:`wu2016`; the recurrence is in
:class:`keras_tagging.cells.RecurrentHighwayCell`.
"""

from functools import partial

from keras_tagging.cells import RecurrentHighwayCell
from keras_tagging.architectures import highway_bilstm
from keras_tagging.architectures import skip_bilstm
from keras_tagging.architectures.stacked_network import stacked_network

CELL = RecurrentHighwayCell
build_network = partial(stacked_network, CELL)

PAPER = {**highway_bilstm.PAPER, "num_layers": 1, "depth": 3, "output_gate": True}

FAST = {**skip_bilstm.FAST, "num_layers": 1, "units": 300}
