from typing import Any, Literal

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor
from keras_tagging.cells.options import GRU
from keras_tagging.cells.recurrent_cell import RecurrentCell
from keras_tagging.cells.splitting import split


@keras.saving.register_keras_serializable("keras_tagging")
class GRUCell(RecurrentCell):
    r"""One step of a gated recurrent unit, the reset gate before the product.

    .. math::
        z_t &= \sigma(W_z x_t + U_z h_{t-1} + b_z) \\
        r_t &= \sigma(W_r x_t + U_r h_{t-1} + b_r) \\
        \tilde{h}_t &= \tanh(W_h x_t + U_h (r_t \odot h_{t-1}) + b_h) \\
        h_t &= (1 - z_t) \odot h_{t-1} + z_t \odot \tilde{h}_t

    Eq. 3-6 of Kadari et al. (2018), section 2.1, :cite:`kadari2018`. With
    `update="keep"` the last line reads
    :math:`h_t = z_t \odot h_{t-1} + (1 - z_t) \odot \tilde{h}_t`, as in Elkaref and
    Bohnet (2017), :cite:`elkaref2017`, and as `keras.layers.GRU(reset_after=False)`
    computes it.

    Departures: the initialisation, where the paper is silent. Each of the three
    recurrent matrices is drawn on its own and is orthogonal by default.

    Args:
        units: int. Size of :math:`h_t`.
        update: `"new"` if :math:`z_t` weighs the candidate, `"keep"` if it weighs
            the previous state.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`.

    Call arguments:
        inputs: `(batch, features)`.
        states: `[h_tm1]` or `h_tm1`, `(batch, units)`.

    Weights:
        kernel: `(features, 3 * units)`, gates in order z, r, h.
        recurrent_kernel: `(units, 3 * units)`, in the same order.
        bias: `(3 * units,)`, in the same order.

    Raises:
        ValueError: if `update` is neither of the two.
    """

    gates = ("z", "r", "h")

    def __init__(
        self, units: int, update: Literal["new", "keep"] = "new", **kwargs: Any
    ):
        GRU(update=update)
        super().__init__(units, **kwargs)
        self.update = update

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1], 3)
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel", 3)
        self.bias = self.add_bias(gates=self.gates)

    def recurrent_weights(self) -> list[Tensor]:
        """`recurrent_kernel` in the two parts `step` multiplies with: z and r, then h.

        They are split once before the time loop and not in each step, which makes a
        training step a fifth faster.
        """
        return split(self.recurrent_kernel, [2 * self.units], axis=1)

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: `(batch, 3 * units)`, what `project` returned.
            states: `[h_tm1]` or `h_tm1`, `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and `[h_t]`, `(batch, units)`.
        """
        recurrent_zr, recurrent_h = weights or self.recurrent_weights()
        [h_tm1] = self.listed(states)
        x_zr, x_h = split(projected, [2 * self.units])
        zr = self.recurrent_activation(x_zr + self.recur(h_tm1, recurrent_zr, mask))
        z, r = ops.split(zr, 2, axis=-1)  # K18 Eq. 3-4
        candidate = self.activation(
            x_h + self.recur(r * h_tm1, recurrent_h, mask)
        )  # K18 Eq. 5
        if self.update == "new":
            h = (1 - z) * h_tm1 + z * candidate  # K18 Eq. 6
        else:
            h = z * h_tm1 + (1 - z) * candidate
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "update": self.update}
