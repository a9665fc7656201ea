from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Named, Tensor, config_of, dropout_of


@keras.saving.register_keras_serializable("keras_tagging")
class ContextWindow(keras.layers.Layer):
    r"""Each position with its neighbours: a window of vectors, concatenated.

    .. math::
        x_t &= [w_{t - \lfloor d/2 \rfloor}; \dots; w_{t + \lfloor d/2 \rfloor}] \\
        r_t &= \sigma(W_r x_t + b_r) \in \mathbb{R}^d \\
        \hat{x}_t &= [r_{t,1} w_{t - \lfloor d/2 \rfloor}; \dots;
                      r_{t,d} w_{t + \lfloor d/2 \rfloor}]

    Eq. 20 of Wu et al. (2017), :cite:`wu2017`; with `gated` the gates of Wu et al.
    (2016), section 5.1, :cite:`wu2016`, one scalar for each position of the window.

    Departures: the paper does not say what the gates read (here the window) nor what
    stands beyond the sentence (zeros). Its "binary dropout mask" drops whole
    positions of each token's window, before the gates; a position that is dropped
    for one token may be kept for its neighbour. The current word may be dropped too,
    so a window of size 1 has dropout as well. Kept vectors are scaled by
    `1 / (1 - dropout)`, where the papers scale the weights at test time.

    Args:
        size: int. Positions in the window, an odd number; 0 and 1 are the current
            position alone.
        gated: whether there are gates.
        dropout: fraction of the positions dropped in training; 0.25 in the papers.
        seed: int. Seed of the dropout masks; by default Keras' global seed.
        kernel_initializer: initializer of `gate_kernel`.
        bias_initializer: initializer of `gate_bias`.

    Call arguments:
        inputs: `(batch, time, features)`.
        mask: `(batch, time)`, False at padding: there the sentence ends. The output
            at padding has no meaning.

    Returns:
        `(batch, time, size * features)`, from left to right.

    Weights:
        gate_kernel: `(size * features, size)`, with `gated`.
        gate_bias: `(size,)`, with `gated`.

    Raises:
        ValueError: if `size` is negative, or even and not 0.
    """

    def __init__(
        self,
        size: int,
        gated: bool = False,
        dropout: float = 0.0,
        seed: int | None = None,
        kernel_initializer: Named = "glorot_uniform",
        bias_initializer: Named = "zeros",
        **kwargs: Any,
    ):
        if size < 0 or (size and size % 2 == 0):
            raise ValueError(f"a window has an odd number of positions, not {size}")
        super().__init__(**kwargs)
        self.supports_masking = True
        self.size = max(size, 1)
        self.gated = gated
        self.dropout = dropout
        self.seed = seed
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.position_dropout = dropout_of(
            self, dropout, "position_dropout", noise_shape=(None, None, self.size, 1)
        )

    def build(self, input_shape):
        if self.gated:
            shape = self.size * input_shape[-1], self.size
            self.gate_kernel = self.add_weight(
                shape, self.kernel_initializer, name="gate_kernel"
            )
            self.gate_bias = self.add_weight(
                (self.size,), self.bias_initializer, name="gate_bias"
            )

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
        if mask is not None:
            inputs = ops.where(ops.expand_dims(mask, -1), inputs, 0)
        margin = self.size // 2
        padded = ops.pad(inputs, ((0, 0), (margin, margin), (0, 0)))
        # the last slice ends where the padded sequence does
        ends = [*range(-2 * margin, 0), None]
        neighbours = [padded[:, start:end] for start, end in enumerate(ends)]
        # (batch, time, size, features)
        window = ops.stack(neighbours, axis=2)
        window = self.position_dropout(window, training=training)
        flat = (*ops.shape(inputs)[:2], self.size * inputs.shape[-1])
        if self.gated:
            read = ops.matmul(ops.reshape(window, flat), self.gate_kernel)
            gates = ops.sigmoid(read + self.gate_bias)
            window = window * ops.expand_dims(gates, -1)
        return ops.reshape(window, flat)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.size * input_shape[-1])

    def get_config(self):
        names = ("size", "gated", "dropout", "seed")
        names += ("kernel_initializer", "bias_initializer")
        return {**super().get_config(), **config_of(self, *names)}
