from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of
from keras_tagging.cells.layered_cell import LayeredCell
from keras_tagging.cells.options import SkipLSTM
from keras_tagging.cells.recurrent_cell import MAPPINGS
from keras_tagging.cells.splitting import split


@keras.saving.register_keras_serializable("keras_tagging")
class SkipLSTMCell(LayeredCell):
    r"""One LSTM step with a skip connection from the layer two below.

    .. math::
        i, f, o &= \sigma(W_* h_t^{l-1} + U_* h_{t-1}^l + b_*), \quad
        s = \tanh(W_s h_t^{l-1} + U_s h_{t-1}^l + b_s) \\
        c_t^l &= f \odot c_{t-1}^l + i \odot s \\
        h_t^l &= o \odot \tanh(c_t^l) + g \odot h_t^{l-2}

    Wu et al. (2016), section 4, :cite:`wu2016`. `skip` says where
    :math:`h_t^{l-2}` enters:

    ===============  =============================================================
    `None`           nowhere: a plain LSTM, Eq. 9
    `"gates"`        added to all four pre-activations, Eq. 10
    `"internals"`    added to :math:`c_t^l`, Eq. 11 and 12
    `"outputs"`      added to :math:`h_t^l`, Eq. 13 and 14; with a gate Eq. 15
    ===============  =============================================================

    and `gate` what multiplies it:

    ===============  =============================================================
    `None`           nothing, :math:`g = 1`
    `"joint"`        :math:`\sigma(W_g h_t^{l-1} + U_g h_{t-1}^l + b_g)`, Eq. 15
    `"exclusive"`    :math:`\sigma(W_g h_{t-1}^l + U_g h_t^{l-2} + b_g)`, 6.1.4
    `"vertical"`     :math:`\sigma(U h_t^{l-1} + V h_t^{l-2} + b_g)`, Eq. 6 of Wu et
                     al. (2017), :cite:`wu2017`
    ===============  =============================================================

    Departures: the paper writes :math:`\sigma(h_t^{l-1})` for the sigmoid mapping
    (6.1.4, Table 2), a slip for :math:`h_t^{l-2}`. Its equations show no biases;
    Table 2 has one, and section 5.1 of Wu et al. (2017) starts them at zero: they
    exist here, the gate's too. The mapping acts where :math:`h_t^{l-2}` is added, not
    where a gate reads it.

    Without `appended_inputs` there is nothing to skip from, and the cell is a plain
    LSTM whatever `skip` and `gate` are: the lowest layer of a stack.

    Args:
        units: int. Size of :math:`h_t` and :math:`c_t`.
        skip: "outputs", "internals", "gates" or None.
        gate: "joint", "exclusive", "vertical" or None.
        mapping: "identity", "sigmoid" or "tanh", of the skipped output.
        forget_bias: float, the initial bias of f (Table 2's b_f); 0 is that of
            the others.
        unit_forget_bias: True is `forget_bias=1`, as in Keras' LSTM, which has it by
            default.
        **kwargs: `appended_inputs` and all others of
            :class:`keras_tagging.cells.LayeredCell`.

    Call arguments:
        inputs: `(batch, features + units)` with `appended_inputs`: the layer input,
            then the skipped output; `(batch, features)` without it, or without a skip.
        states: `[h_tm1, c_tm1]`, each `(batch, units)`.

    Weights:
        kernel: `(features, 4 * units)`, gates in order i, f, o, s; with the joint
            gate `(features, 5 * units)`, i, f, o, g, s.
        recurrent_kernel: `(units, 4 * units)` or `(units, 5 * units)`, the same order.
        bias: `(4 * units,)` or `(5 * units,)`, the same order.
        gate_recurrent_kernel: `(units, units)`, W_g of the exclusive gate.
        gate_kernel: `(features, units)`, U of the vertical gate.
        gate_skip_kernel: `(units, units)`, U_g of the exclusive and V of the
            vertical gate.
        gate_bias: `(units,)`, of these two.

    Raises:
        ValueError: for an unknown choice, or a gate where nothing is to be gated.
    """

    def __init__(
        self,
        units: int,
        skip: str | None = "outputs",
        gate: str | None = "joint",
        mapping: str = "identity",
        forget_bias: float = 0.0,
        unit_forget_bias: bool = False,
        **kwargs: Any,
    ):
        forget_bias = 1.0 if unit_forget_bias else forget_bias
        SkipLSTM(skip=skip, gate=gate, mapping=mapping, forget_bias=forget_bias)
        super().__init__(units, **kwargs)
        self.state_size = [units, units]
        self.could_read = skip is not None
        self._skip_and_gate = skip, gate
        if not self.appended_inputs:
            skip = gate = None
        self.skip = skip
        self.gate = gate
        self.mapping = mapping
        self.forget_bias = forget_bias
        self.gates = tuple("ifogs" if gate == "joint" else "ifos")
        self.reads = () if skip is None else ("skip",)

    def build(self, input_shape):
        features = self.layer_features(input_shape)
        num_gates = len(self.gates)
        self.kernel = self.add_kernel("kernel", features, num_gates)
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel", num_gates)
        self.bias = self.add_bias(gates=self.gates, start={"f": self.forget_bias})
        if self.gate == "exclusive":
            self.gate_recurrent_kernel = self.add_recurrent_kernel(
                "gate_recurrent_kernel"
            )
        if self.gate == "vertical":
            self.gate_kernel = self.add_kernel("gate_kernel", features)
        if self.gate in ("exclusive", "vertical"):
            self.gate_skip_kernel = self.add_kernel("gate_skip_kernel", self.units)
            self.gate_bias = self.add_bias("gate_bias")

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The products with the layer input and the skipped output, and the biases.

        Args:
            inputs: `(..., features + units)`, or `(..., features)` without a skip.

        Returns:
            `(..., G * units)`: the pre-activations in order of `gates`, then that of
            an exclusive gate, then what is added to the cell or output, before its
            gate where that reads :math:`h_{t-1}`.
        """
        x, *skipped = self.split_inputs(inputs)
        projected = self.affine(x, self.kernel, self.bias)
        if not skipped:
            return projected
        (k,) = skipped
        mapped = keras.activations.get(MAPPINGS[self.mapping])(k)
        if self.skip == "gates":  # W16 Eq. 10: I^l is four stacked identities
            return projected + ops.concatenate([mapped] * 4, axis=-1)
        parts = [projected]
        if self.gate == "exclusive":
            parts.append(self.affine(k, self.gate_skip_kernel, self.gate_bias))
        if self.gate == "vertical":  # W17 Eq. 6
            weights = self.gate_kernel, self.gate_skip_kernel, self.gate_bias
            mapped = self.vertical_gate(x, k, *weights) * mapped
        return ops.concatenate([*parts, mapped], axis=-1)

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: what `project` returned, `(batch, G * units)`.
            states: `[h_tm1, c_tm1]`, each `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and `[h_t, c_t]`, each `(batch, units)`.
        """
        (recurrent,) = weights or self.recurrent_weights()
        h_tm1, c_tm1 = self.listed(states)
        skip = None
        if self.skip in ("outputs", "internals"):
            projected, skip = split(projected, [recurrent.shape[1]])
        z = projected + self.recur(h_tm1, recurrent, mask)
        if self.gate == "joint":
            sigmoids, s = split(z, [4 * self.units])
            sigmoids = self.recurrent_activation(sigmoids)
            i, f, o, g = ops.split(sigmoids, 4, axis=-1)
            skip = g * skip  # W16 Eq. 15
        else:
            ends = [n * self.units for n in range(3, z.shape[-1] // self.units)]
            sigmoids, s, *g = split(z, ends)
            i, f, o = ops.split(self.recurrent_activation(sigmoids), 3, axis=-1)
            if g:  # exclusive, W16 6.1.4
                skip = self.recurrent_activation(g[0]) * skip
        c = f * c_tm1 + i * self.activation(s)  # W16 Eq. 9, 13
        if self.skip == "internals":
            c = c + skip  # W16 Eq. 11
        h = o * self.activation(c)  # W16 Eq. 9, 12
        if self.skip == "outputs":
            h = h + skip  # W16 Eq. 14, 15
        return h, [h, c]

    def for_layer(self, layer: int):
        """Layer 1 has no layer two below it: a plain LSTM."""
        config = super().for_layer(layer)
        return config if layer > 1 else {**config, "skip": None, "gate": None}

    def get_config(self):
        skip, gate = self._skip_and_gate
        options = {"skip": skip, "gate": gate}
        options |= config_of(self, "mapping", "forget_bias")
        return {**super().get_config(), **options}
