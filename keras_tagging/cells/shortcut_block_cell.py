from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Tensor, config_of
from keras_tagging.cells.layered_cell import LayeredCell
from keras_tagging.cells.options import ShortcutBlock
from keras_tagging.cells.recurrent_cell import MAPPINGS
from keras_tagging.cells.splitting import split

# The weights of each gate, which read h^{l-1}, h^{l-2} or h_tm1.
GATES = {
    "vertical": ("gate_kernel", "gate_skip_kernel", "gate_bias"),
    "below": ("gate_kernel", "gate_bias"),
    "recurrent": ("gate_recurrent_kernel", "gate_bias"),
    "skip": ("gate_skip_kernel", "gate_bias"),
    "linear": ("gate_skip_kernel",),
    "scale": ("gate_scale",),
    "bernoulli": (),
    "learned-bernoulli": ("gate_kernel", "gate_bias"),
    None: (),
}


@keras.saving.register_keras_serializable("keras_tagging")
class ShortcutBlockCell(LayeredCell):
    r"""One step of the shortcut block, or of the mixed block it is derived from.

    .. math::
        i, o &= \sigma(W_* h_t^{l-1} + U_* h_{t-1}^l + b_*), \quad
        s = \tanh(W_s h_t^{l-1} + U_s h_{t-1}^l + b_s) \\
        g &= \sigma(U h_t^{l-1} + V h_t^{l-2} + b_g) \\
        m &= i \odot s + g \odot h_t^{l-2} \\
        h_t^l &= o \odot \tanh(m) + g \odot h_t^{l-2}

    Eq. 10 of Wu et al. (2017), :cite:`wu2017`. With `self_connection` it is the
    mixed block, Eq. 5-8: there is a forget gate too, and
    :math:`c_t = f \odot c_{t-1} + i \odot s + g \odot h_t^{l-2}` stands for m.

    `internal` (m or c) and `output` (h) say how the shortcut enters
    :math:`\tilde{x}`, what stood there without it (Table 2):

    =============  ===========================================================
    `"gated"`      :math:`\tilde{x} + g \odot h_t^{l-2}`
    `"plain"`      :math:`\tilde{x} + h_t^{l-2}`
    `"highway"`    :math:`(1 - g) \odot \tilde{x} + g \odot h_t^{l-2}`
    `None`         :math:`\tilde{x}`
    =============  ===========================================================

    `gate` says what g is (section 3.2, Table 3):

    =======================  =================================================
    `"vertical"`             :math:`\sigma(U h_t^{l-1} + V h_t^{l-2})`, Eq. 6
    `"below"`                :math:`\sigma(W h_t^{l-1})`, Eq. 16
    `"recurrent"`            :math:`\sigma(U h_{t-1}^l)`
    `"skip"`                 :math:`\sigma(V h_t^{l-2})`
    `"linear"`               a matrix: :math:`W h_t^{l-2}` for the product, Eq. 15
    `"scale"`                a vector of weights w, as Table 3 writes it
    `"bernoulli"`            0 or 1, drawn with probability `bernoulli_p`, Eq. 17
    `"learned-bernoulli"`    the same with :math:`p = \sigma(H h_t^{l-1})`, Eq. 18
    `None`                   there is none
    =======================  =================================================

    A Bernoulli gate is drawn anew for every unit and time step in training, one
    sample for both places; its gradient passes straight to p. At inference it is p.
    It is drawn in `project`: train such a cell in `ProjectedRNN`. In `keras.layers.RNN`
    the draw falls into the time loop, which not every backend allows.

    Without `appended_inputs` there is nothing to take a shortcut from: `internal`,
    `output`, `gate` and `cell_shortcut` wait for the higher layers of a stack.

    Departures: Eq. 15's :math:`h_t^{-l}` is a slip for :math:`h_t^{l-2}`. The paper's
    equations show no biases, its section 5.1 starts them at zero: they exist here,
    the gates' too, except with "linear" and "scale". The mapping acts where
    :math:`h_t^{l-2}` is added, not where a gate reads it. With the self-connection
    :math:`\tilde{h}_t = o \odot \tanh(c_t)` of the updated :math:`c_t`.

    Args:
        units: int. Size of :math:`h_t`.
        self_connection: whether c_{t-1} and its forget gate are kept (mixed block).
        internal: "gated", "plain", "highway" or None.
        output: "gated", "plain", "highway" or None.
        gate: one of the table's.
        mapping: "identity", "tanh" or "sigmoid", of the shortcut.
        cell_shortcut: whether c reads c_t^{l-2}, with a gate g_c of its own (Table 2,
            "shortcuts for both"): c = c~ + g_c * c_t^{l-2}, g_c as in Eq. 6.
        bernoulli_p: probability of 1 of the fixed Bernoulli gate.
        **kwargs: `appended_inputs` and all others of
            :class:`keras_tagging.cells.LayeredCell`.

    Call arguments:
        inputs: `(batch, features + units)` with `appended_inputs`: the layer input,
            then h_t^{l-2}; `(batch, features + 2 * units)` with `cell_shortcut`: then
            c_t^{l-2}, too; `(batch, features)` without a shortcut.
        states: `[h_tm1]` or `h_tm1`, with `self_connection` `[h_tm1, c_tm1]`.

    Weights:
        kernel: `(features, 3 * units)`, gates in order i, o, s; with the
            self-connection `(features, 4 * units)`, i, f, o, s.
        recurrent_kernel: `(units, 3 * units)` or `(units, 4 * units)`, the same order.
        bias: `(3 * units,)` or `(4 * units,)`, the same order.
        gate_kernel: `(features, units)`: U of Eq. 6, W of Eq. 16, H of Eq. 18.
        gate_skip_kernel: `(units, units)`: V of Eq. 6 and of Table 3, W of Eq. 15.
        gate_recurrent_kernel: `(units, units)`.
        gate_scale: `(units,)`, w.
        gate_bias: `(units,)`.
        cell_gate_kernel, cell_gate_skip_kernel, cell_gate_bias: those of g_c.

    Raises:
        ValueError: for an unknown choice, or choices that contradict each other.
    """

    def __init__(
        self,
        units: int,
        self_connection: bool = False,
        internal: str | None = "gated",
        output: str | None = "gated",
        gate: str | None = "vertical",
        mapping: str = "identity",
        cell_shortcut: bool = False,
        bernoulli_p: float = 0.5,
        **kwargs: Any,
    ):
        ShortcutBlock(
            self_connection=self_connection,
            internal=internal,
            output=output,
            gate=gate,
            mapping=mapping,
            cell_shortcut=cell_shortcut,
            bernoulli_p=bernoulli_p,
        )
        places = {internal, output}
        super().__init__(units, **kwargs)
        self.could_read = places != {None}
        self._options = {
            "internal": internal,
            "output": output,
            "gate": gate,
            "cell_shortcut": cell_shortcut,
        }
        if not self.appended_inputs:
            internal = output = gate = None
            cell_shortcut, places = False, {None}
        self.self_connection = self_connection
        self.internal = internal
        self.output_place = output
        self.gate = gate
        self.mapping = mapping
        self.cell_shortcut = cell_shortcut
        self.bernoulli_p = bernoulli_p
        self._draws_gate = gate in ("bernoulli", "learned-bernoulli")
        if self._draws_gate and self.seed_generator is None:
            self.seed_generator = keras.random.SeedGenerator(self.seed)
        self.state_size = [units, units] if self_connection else units
        self.gates = tuple("ifos" if self_connection else "ios")
        self.reads = () if places == {None} else ("skip",)
        if cell_shortcut:
            self.reads = ("skip", "skip_cell")
        # what `project` appends to the pre-activations
        self._parts = []
        if "plain" in places or gate == "recurrent":
            self._parts.append("plain")
        if gate not in (None, "recurrent"):
            self._parts.append("gated")
            if "highway" in places:
                self._parts.append("gate")
        if cell_shortcut:
            self._parts.append("cell")

    def build(self, input_shape):
        features = self.layer_features(input_shape)
        num_gates = len(self.gates)
        self.kernel = self.add_kernel("kernel", features, num_gates)
        self.recurrent_kernel = self.add_recurrent_kernel("recurrent_kernel", num_gates)
        self.bias = self.add_bias(gates=self.gates)
        makers = {
            "gate_kernel": lambda name: self.add_kernel(name, features),
            "gate_skip_kernel": lambda name: self.add_kernel(name, self.units),
            "gate_recurrent_kernel": self.add_recurrent_kernel,
            "gate_scale": self.add_vector,
            "gate_bias": self.add_bias,
        }
        for name in [name for name in makers if name in GATES[self.gate]]:
            setattr(self, name, makers[name](name))
        if self.cell_shortcut:
            self.cell_gate_kernel = self.add_kernel("cell_gate_kernel", features)
            self.cell_gate_skip_kernel = self.add_kernel(
                "cell_gate_skip_kernel", self.units
            )
            self.cell_gate_bias = self.add_bias("cell_gate_bias")

    def project(self, inputs: Tensor, training: bool = False) -> Tensor:
        """The products with other layers' outputs, and all that needs no h_{t-1}.

        Args:
            inputs: `(..., features + len(reads) * units)`.

        Returns:
            `(..., G * units)`: the pre-activations in order of `gates`, then that of
            a recurrent gate, then the shortcut as the two places need it.
        """
        x, *below = self.split_inputs(inputs)
        projected = [self.affine(x, self.kernel, self.bias)]
        if not below:
            return projected[0]
        k = below[0]
        plain = keras.activations.get(MAPPINGS[self.mapping])(k)
        parts = {"plain": plain}
        if self.gate == "recurrent":
            zeros = ops.zeros_like(k)
            projected.append(
                zeros if self.gate_bias is None else zeros + self.gate_bias
            )
        elif self.gate == "linear":
            parts["gated"] = ops.matmul(plain, self.gate_skip_kernel)  # W17 Eq. 15
        elif self.gate is not None:
            parts["gate"] = self._gate(x, k, training)
            parts["gated"] = parts["gate"] * plain
        if self.cell_shortcut:
            weights = self.cell_gate_kernel, self.cell_gate_skip_kernel
            gate = self.vertical_gate(x, k, *weights, self.cell_gate_bias)
            parts["cell"] = gate * below[1]
        projected += [parts[name] for name in self._parts]
        return ops.concatenate(projected, axis=-1)

    def _gate(self, x, k, training):
        """g of the gates that read no h_tm1; x is h^{l-1}, k is h^{l-2}."""
        if self.gate == "scale":
            return ops.zeros_like(k) + self.gate_scale
        if self.gate == "vertical":  # W17 Eq. 6
            weights = self.gate_kernel, self.gate_skip_kernel, self.gate_bias
            return self.vertical_gate(x, k, *weights)
        if self.gate == "bernoulli":
            p = ops.full_like(k, self.bernoulli_p)
        elif self.gate == "skip":
            p = self.affine(k, self.gate_skip_kernel, self.gate_bias)
            p = self.recurrent_activation(p)
        else:  # W17 Eq. 16 and 18
            p = self.affine(x, self.gate_kernel, self.gate_bias)
            p = self.recurrent_activation(p)
        if not (self._draws_gate and training):
            return p
        draw = keras.random.uniform(ops.shape(p), seed=self.seed_generator)
        sample = ops.cast(draw < ops.cast(p, draw.dtype), p.dtype)  # W17 Eq. 17
        return p + ops.stop_gradient(sample - p)

    def step(self, projected, states, weights=None, mask=None):
        """The recurrent part of one time step.

        Args:
            projected: what `project` returned, `(batch, G * units)`.
            states: `[h_tm1]` or `h_tm1`, or `[h_tm1, c_tm1]`, each `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.
            mask: `(batch, units)`, of `recurrent_dropout`; None drops nothing.

        Returns:
            `h_t` and the new states, each `(batch, units)`.
        """
        (recurrent,) = weights or self.recurrent_weights()
        n = self.units
        width = recurrent.shape[1]
        ends = [width + j * n for j in range(len(self._parts))]
        z, *parts = split(projected, ends)
        parts = dict(zip(self._parts, parts, strict=True))
        h_tm1, *c_tm1 = self.listed(states)
        z = z + self.recur(h_tm1, recurrent, mask)
        num_sigmoids = len(self.gates) - 1
        ends = [num_sigmoids * n] + [len(self.gates) * n] * (self.gate == "recurrent")
        sigmoids, s, *g = split(z, ends)
        if g:
            parts["gate"] = self.recurrent_activation(g[0])
            parts["gated"] = parts["gate"] * parts["plain"]
        *i_f, o = ops.split(self.recurrent_activation(sigmoids), num_sigmoids, axis=-1)
        m = i_f[0] * self.activation(s)
        if self.self_connection:
            m = i_f[1] * c_tm1[0] + m
        if self.cell_shortcut:
            m = m + parts["cell"]
        else:
            m = connect(self.internal, m, parts)  # W17 Eq. 7, 10
        h = connect(self.output_place, o * self.activation(m), parts)  # W17 Eq. 8, 10
        return h, [h, m] if self.self_connection else [h]

    def for_layer(self, layer: int):
        """Layer 1 has no layer two below it, and layer 0, the input, no cell."""
        config = super().for_layer(layer)
        if layer == 1:
            config |= {"internal": None, "output": None, "gate": None}
        if layer == 2 and config["cell_shortcut"]:
            config["internal"] = None
        if layer <= 2:
            config["cell_shortcut"] = False
        return config

    def get_config(self):
        options = config_of(self, "self_connection", "mapping", "bernoulli_p")
        return {**super().get_config(), **options, **self._options}


def connect(place, value, parts):
    """`value` with the shortcut, as Table 2 combines them."""
    if place == "gated":
        return value + parts["gated"]
    if place == "plain":
        return value + parts["plain"]
    if place == "highway":
        return (1 - parts["gate"]) * value + parts["gated"]
    return value
