from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of
from keras_tagging.cells.layered_cell import LayeredCell
from keras_tagging.cells.splitting import split


@keras.saving.register_keras_serializable("keras_tagging")
class HighwayLSTMCell(LayeredCell):
    r"""One LSTM step with a gated link to the cell of the layer below.

    .. math::
        i, f, o &= \sigma(W_* h_t^{l-1} + U_* h_{t-1}^l + b_*), \quad
        s = \tanh(W_s h_t^{l-1} + U_s h_{t-1}^l + b_s) \\
        d &= \sigma(W_d h_t^{l-1} + w_c \odot c_{t-1}^l + w_l \odot c_t^{l-1} + b_d) \\
        c_t^l &= d \odot c_t^{l-1} + f \odot c_{t-1}^l + i \odot s \\
        h_t^l &= o \odot \tanh(c_t^l)

    Zhang et al. (2016), :cite:`zhang2016`: the row "H-LSTM" of Table 2 of Wu et al.
    (2016), :cite:`wu2016`. With `peepholes` i and f also read
    :math:`p_* \odot c_{t-1}^l`, and o reads :math:`p_o \odot c_t^l`.

    Departures: no peepholes by default, for comparison with Eq. 9 of Wu et al.

    Args:
        units: int. Size of :math:`h_t` and :math:`c_t`.
        depth_gate: whether there is the link, where `appended_inputs` says that the
            input brings the cell below; a plain LSTM without it.
        peepholes: whether the gates read the cell.
        forget_bias: float, the initial bias of f; 0 is that of the others.
        unit_forget_bias: True is `forget_bias=1`, as in Keras' LSTM, which has it by
            default.
        **kwargs: `appended_inputs` and all others of
            :class:`keras_tagging.cells.LayeredCell`.

    Call arguments:
        inputs: `(batch, features + units)` with `appended_inputs`: h_t^{l-1}, then
            c_t^{l-1}; `(batch, features)` without it, or without `depth_gate`.
        states: `[h_tm1, c_tm1]`, each `(batch, units)`.

    Weights:
        kernel: `(features, 4 * units)`, gates in order i, f, o, s.
        recurrent_kernel: `(units, 4 * units)`, in the same order.
        bias: `(4 * units,)`, in the same order.
        depth_kernel: `(features, units)`, W_d.
        depth_recurrent, depth_below, depth_bias: `(units,)`: w_c, w_l, b_d.
        peephole_i, peephole_f, peephole_o: `(units,)`.
    """

    gates = ("i", "f", "o", "s")

    def __init__(
        self,
        units: int,
        depth_gate: bool = True,
        peepholes: bool = False,
        forget_bias: float = 0.0,
        unit_forget_bias: bool = False,
        **kwargs: Any,
    ):
        super().__init__(units, **kwargs)
        self.state_size = [units, units]
        self.could_read = depth_gate
        self.depth_gate = depth_gate and self.appended_inputs
        self.peepholes = peepholes
        self.forget_bias = 1.0 if unit_forget_bias else forget_bias
        self.reads = ("below_cell",) if self.depth_gate else ()

    def build(self, input_shape):
        features = self.layer_features(input_shape)
        self.kernel = self.add_kernel("kernel", features, 4)
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel", 4)
        self.bias = self.add_bias(gates=self.gates, start={"f": self.forget_bias})
        if self.depth_gate:
            self.depth_kernel = self.add_kernel("depth_kernel", features)
            self.depth_recurrent = self.add_vector("depth_recurrent")
            self.depth_below = self.add_vector("depth_below")
            self.depth_bias = self.add_bias("depth_bias")
        if self.peepholes:
            self.peephole_i = self.add_vector("peephole_i")
            self.peephole_f = self.add_vector("peephole_f")
            self.peephole_o = self.add_vector("peephole_o")

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The products with the layer below, and the biases.

        Args:
            inputs: `(..., features + units)`, `(..., features)` without `depth_gate`.

        Returns:
            `(..., 6 * units)`: the pre-activations i, f, o, s, that of d without
            c_tm1, and the cell of the layer below; `(..., 4 * units)` without
            `depth_gate`.
        """
        x, *below = self.split_inputs(inputs)
        projected = self.affine(x, self.kernel, self.bias)
        if not below:
            return projected
        depth = self.affine(x, self.depth_kernel, self.depth_bias)
        depth = depth + below[0] * self.depth_below
        return ops.concatenate([projected, depth, below[0]], axis=-1)

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: what `project` returned.
            states: `[h_tm1, c_tm1]`, each `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and `[h_t, c_t]`, each `(batch, units)`.
        """
        (recurrent,) = weights or self.recurrent_weights()
        h_tm1, c_tm1 = self.listed(states)
        sigmoid, n = self.recurrent_activation, self.units
        if self.depth_gate:
            projected, depth, c_below = split(projected, [4 * n, 5 * n])
        z = projected + self.recur(h_tm1, recurrent, mask)
        if self.peepholes:
            i, f, o, s = ops.split(z, 4, axis=-1)
            i = sigmoid(i + c_tm1 * self.peephole_i)
            f = sigmoid(f + c_tm1 * self.peephole_f)
        else:
            sigmoids, s = split(z, [3 * n])
            i, f, o = ops.split(sigmoid(sigmoids), 3, axis=-1)
        c = f * c_tm1 + i * self.activation(s)
        if self.depth_gate:
            c = c + sigmoid(depth + c_tm1 * self.depth_recurrent) * c_below
        if self.peepholes:
            o = sigmoid(o + c * self.peephole_o)
        h = o * self.activation(c)
        return h, [h, c]

    def for_layer(self, layer: int):
        """Layer 1 has no cell below it: a plain LSTM."""
        return {**super().for_layer(layer), "depth_gate": self.could_read and layer > 1}

    def get_config(self):
        options = {"depth_gate": self.could_read}
        options |= config_of(self, "peepholes", "forget_bias")
        return {**super().get_config(), **options}
