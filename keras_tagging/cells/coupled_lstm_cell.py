from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor
from keras_tagging.cells.recurrent_cell import RecurrentCell


@keras.saving.register_keras_serializable("keras_tagging")
class CoupledLSTMCell(RecurrentCell):
    r"""One step of an LSTM that forgets what it replaces; its gates read the cell.

    .. math::
        i_t &= \sigma(W_{xi} x_t + W_{hi} h_{t-1} + W_{ci} c_{t-1} + b_i) \\
        c_t &= (1 - i_t) \odot c_{t-1} +
            i_t \odot \tanh(W_{xc} x_t + W_{hc} h_{t-1} + b_c) \\
        o_t &= \sigma(W_{xo} x_t + W_{ho} h_{t-1} + W_{co} c_t + b_o) \\
        h_t &= o_t \odot \tanh(c_t)

    Lample et al. (2016), section 2.1, :cite:`lample2016`. Departures: the
    initialisation, where the paper is silent. The matrices that read the cell are drawn
    as those that read :math:`h_{t-1}`, each on its own.

    Args:
        units: int. Size of :math:`h_t` and :math:`c_t`.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`.

    Call arguments:
        inputs: `(batch, features)`.
        states: `[h_tm1, c_tm1]`, each `(batch, units)`.

    Weights:
        kernel: `(features, 3 * units)`, in order i, o, c.
        recurrent_kernel: `(units, 3 * units)`, in the same order.
        peephole_recurrent_kernel: `(units, 2 * units)`, W_ci and W_co.
        bias: `(3 * units,)`, in order i, o, c.
    """

    gates = ("i", "o", "c")

    def __init__(self, units: int, **kwargs: Any):
        super().__init__(units, **kwargs)
        self.state_size = [units, units]

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1], 3)
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel", 3)
        self.peephole_kernel = self.add_recurrent_kernel("peephole_recurrent_kernel", 2)
        self.bias = self.add_bias(gates=self.gates)

    def recurrent_weights(self) -> list[Tensor]:
        """`recurrent_kernel`, then W_ci and W_co."""
        return [self.recurrent_kernel, *ops.split(self.peephole_kernel, 2, axis=1)]

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: `(batch, 3 * units)`, what `project` returned.
            states: `[h_tm1, c_tm1]`, each `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and `[h_t, c_t]`, each `(batch, units)`.
        """
        recurrent, cell_to_i, cell_to_o = weights or self.recurrent_weights()
        h_tm1, c_tm1 = self.listed(states)
        i, o, candidate = ops.split(
            projected + self.recur(h_tm1, recurrent, mask), 3, -1
        )
        i = self.recurrent_activation(i + ops.matmul(c_tm1, cell_to_i))
        c = (1 - i) * c_tm1 + i * self.activation(candidate)
        o = self.recurrent_activation(o + ops.matmul(c, cell_to_o))
        h = o * self.activation(c)
        return h, [h, c]
