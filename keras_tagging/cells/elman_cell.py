from typing import Any

import keras

from keras_tagging.cells.configuration import Named
from keras_tagging.cells.recurrent_cell import RecurrentCell


@keras.saving.register_keras_serializable("keras_tagging")
class ElmanCell(RecurrentCell):
    r"""One step of a simple recurrent network.

    .. math::
        h_t = \max\{0, W_x x_t + W_h h_{t-1} + b_h\}

    Elkaref & Bohnet (2017), section 7.1, :cite:`elkaref2017`.

    Args:
        units: int. Size of :math:`h_t`.
        activation: by default the paper's ReLU.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`.

    Call arguments:
        inputs: `(batch, features)`.
        states: `[h_tm1]` or `h_tm1`, `(batch, units)`.

    Weights:
        kernel: `(features, units)`.
        recurrent_kernel: `(units, units)`.
        bias: `(units,)`.
    """

    gates = ("h",)

    def __init__(self, units: int, activation: Named = "relu", **kwargs: Any):
        super().__init__(units, activation=activation, **kwargs)

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1])
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel")
        self.bias = self.add_bias()

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: `(batch, units)`, what `project` returned.
            states: `[h_tm1]` or `h_tm1`, `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and `[h_t]`, `(batch, units)`.
        """
        (recurrent,) = weights or self.recurrent_weights()
        [h_tm1] = self.listed(states)
        h = self.activation(projected + self.recur(h_tm1, recurrent, mask))
        return h, [h]
