from typing import Any

import keras

from keras_tagging.cells.configuration import Named, Tensor
from keras_tagging.cells.recurrent_cell import RecurrentCell


@keras.saving.register_keras_serializable("keras_tagging")
class FeedForwardCell(RecurrentCell):
    r"""A hidden layer without recurrence, in the place of a recurrent one.

    .. math::
        h = \max\{0, W x + b_h\}

    Elkaref & Bohnet (2017), section 3.2, :cite:`elkaref2017`.

    Args:
        units: int. Size of :math:`h`.
        activation: by default the paper's ReLU.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`; the paper
            starts the biases at 0.02, "in order to avoid having any dead ReLUs".

    Call arguments:
        inputs: `(batch, features)`.
        states: `[h_tm1]`, `(batch, units)`, which is not read.

    Weights:
        kernel: `(features, units)`.
        bias: `(units,)`.
    """

    gates = ("h",)

    def __init__(self, units: int, activation: Named = "relu", **kwargs: Any):
        super().__init__(units, activation=activation, **kwargs)

    def build(self, input_shape):
        self.kernel = self.add_kernel("kernel", input_shape[-1])
        self.bias = self.add_bias()

    def recurrent_weights(self) -> list[Tensor]:
        """None: nothing is read of the step before."""
        return []

    def step(self, projected, states, weights=None, mask=None):
        """`h` and `[h]`, of the shape of `projected`, which is any."""
        h = self.activation(projected)
        return h, [h]
