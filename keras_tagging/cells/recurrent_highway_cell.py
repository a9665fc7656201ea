from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of
from keras_tagging.cells.options import RecurrentHighway
from keras_tagging.cells.recurrent_cell import RecurrentCell
from keras_tagging.cells.splitting import split


@keras.saving.register_keras_serializable("keras_tagging")
class RecurrentHighwayCell(RecurrentCell):
    r"""One time step of a recurrent highway network: `depth` micro-steps.

    With :math:`s_0 = y_{t-1}`, for :math:`l = 1 \dots L`:

    .. math::
        a &= \tanh([l=1]\, W_H x_t + R_H^l s_{l-1} + b_H^l) \\
        k_t &= \sigma([l=1]\, W_T x_t + R_T^l s_{l-1} + b_T^l) \\
        k_c &= \sigma([l=1]\, W_C x_t + R_C^l s_{l-1} + b_C^l) \\
        s_l &= a \odot k_t + s_{l-1} \odot k_c

    and :math:`o = \sigma(W_O x_t + R_O y_{t-1} + b_O)`,
    :math:`y_t = o \odot \tanh(s_L)`.

    Zilly et al. (2016), Eq. 6-9, :cite:`zilly2016`, with the output gate of Wu et al.
    (2016), footnote 2, :cite:`wu2016`: the row "RHN" of its Table 2.

    Departures: the output gate, which that footnote adds because s_L explodes under
    addition; what it reads is not said, here x_t and y_{t-1} as in an LSTM.
    `output_gate=False` is the original, which emits and carries s_L.

    Args:
        units: int. Size of :math:`y_t`.
        depth: int. Micro-steps L.
        coupled: whether :math:`k_c = 1 - k_t`, as the original's experiments.
        output_gate: whether there is the output gate.
        transform_bias: float, the initial biases of the transform gate k_t; 0 is
            those of the others.
        **kwargs: those of :class:`keras_tagging.cells.RecurrentCell`.

    Call arguments:
        inputs: `(batch, features)`.
        states: `[y_tm1]` or `y_tm1`, `(batch, units)`.

    Weights:
        kernel: `(features, 4 * units)`, in order h, t, c, o (a block less if coupled,
            a block less without output gate): those of the first micro-step, and o.
        recurrent_kernel: `(units, 4 * units)`, the same order: R^1 and R_O.
        bias: `(4 * units,)`, the same order.
        recurrent_kernel_2, bias_2 ...: `(units, 3 * units)` and `(3 * units,)`, h, t
            and c of the further micro-steps.

    Raises:
        ValueError: if `depth` is below 1.
    """

    def __init__(
        self,
        units: int,
        depth: int = 3,
        coupled: bool = False,
        output_gate: bool = True,
        transform_bias: float = 0.0,
        **kwargs: Any,
    ):
        RecurrentHighway(
            depth=depth,
            coupled=coupled,
            output_gate=output_gate,
            transform_bias=transform_bias,
        )
        super().__init__(units, **kwargs)
        self.depth = depth
        self.coupled = coupled
        self.output_gate = output_gate
        self.transform_bias = transform_bias
        self.micro_gates = ("h", "t") if coupled else ("h", "t", "c")
        self.gates = (*self.micro_gates, "o") if output_gate else self.micro_gates

    def build(self, input_shape):
        start = {"t": self.transform_bias}
        num_gates = len(self.gates)
        self.kernel = self.add_kernel("kernel", input_shape[-1], num_gates)
        self.recurrent_kernels = [
            self.add_recurrent_kernel("recurrent_kernel", num_gates)
        ]
        self.biases = [self.add_bias(gates=self.gates, start=start)]
        for level in range(2, self.depth + 1):
            name = f"recurrent_kernel_{level}"
            self.recurrent_kernels.append(
                self.add_recurrent_kernel(name, len(self.micro_gates))
            )
            self.biases.append(self.add_bias(f"bias_{level}", self.micro_gates, start))

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The products of the first micro-step and of o with x_t, and their biases.

        Args:
            inputs: `(..., features)`.

        Returns:
            `(..., G * units)`, in order of `gates`.
        """
        return self.affine(inputs, self.kernel, self.biases[0])

    def recurrent_weights(self) -> list[Tensor]:
        """The matrices of the micro-steps, in their order."""
        return list(self.recurrent_kernels)

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: what `project` returned, `(batch, G * units)`.
            states: `[y_tm1]` or `y_tm1`, `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `y_t` and `[y_t]`, `(batch, units)`.
        """
        first, *others = weights or self.recurrent_weights()
        [state] = self.listed(states)
        micro = len(self.micro_gates) * self.units
        z = projected + self.recur(state, first, mask)
        z, *o = split(z, [micro]) if self.output_gate else [z]
        state = self._micro_step(z, state)
        for recurrent, bias in zip(others, self.biases[1:], strict=True):
            state = self._micro_step(self.affine(state, recurrent, bias), state)
        if self.output_gate:
            state = self.recurrent_activation(o[0]) * self.activation(state)
        return state, [state]

    def _micro_step(self, z, state):
        a, gates = split(z, [self.units])
        a, gates = self.activation(a), self.recurrent_activation(gates)
        if self.coupled:
            return a * gates + state * (1 - gates)
        transform, carry = ops.split(gates, 2, axis=-1)
        return a * transform + state * carry

    def get_config(self):
        names = ("depth", "coupled", "output_gate", "transform_bias")
        return {**super().get_config(), **config_of(self, *names)}
