import keras
from keras import ops

from keras_tagging.cells.configuration import config_of
from keras_tagging.cells.initializers import reseeded

#: the score of a head that is no word of the sentence: finite, for half precision too
NO_HEAD = -3e4


@keras.saving.register_keras_serializable("keras_tagging")
class BiaffineHeads(keras.layers.Layer):
    r"""A score for each word as the head of each other: deep biaffine attention.

    .. math::
        d_i &= \phi(W_d x_i + b_d), \quad h_j = \phi(W_h x_j + b_h), \quad
        h_0 = r \\
        s_{ij} &= (d_i U + u) \cdot h_j

    Dozat & Manning (2017), Eq. 4 and 9, :cite:`dozat2017`. The softmax of a row are the
    probabilities of the word's heads, as the parser of Yoshikawa et al. (2017), section
    3.2, :cite:`yoshikawa2017`, adds them to those of its categories.

    Departures: ROOT has a vector of its own, r, behind the hidden layer.

    Args:
        units: size of :math:`d_i` and :math:`h_j`.
        dropout: of both in training.
        activation: :math:`\phi`.
        seed: int. Seed of dropout; by default Keras' global seed.
        kernel_initializer: initializer of all kernels but U, which starts at zero.

    Call arguments:
        inputs: `(batch, time, features)`.
        mask: `(batch, time)`, False at padding, which is nobody's head.

    Returns:
        `(batch, time, time + 1)` float32: the score of ROOT, then those of the words.
        Rows at padding have no meaning.
    """

    def __init__(
        self,
        units=100,
        dropout=0.0,
        activation="leaky_relu",
        seed=None,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.dropout = dropout
        self.activation = keras.activations.get(activation)
        self.seed = seed
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.dropout_layers = [
            keras.layers.Dropout(
                dropout,
                noise_shape=(None, 1, None),
                seed=None if seed is None else seed + i,
                dtype=self.dtype_policy,
                name=f"dropout_{i}",
            )
            for i in range(2)
        ]

    def build(self, input_shape):
        size, units = input_shape[-1], self.units

        def weight(name, shape, initializer="zeros"):
            return self.add_weight(shape, initializer, name=name)

        glorot = self.kernel_initializer
        self.dependent_kernel = weight("dependent_kernel", (size, units), glorot)
        self.dependent_bias = weight("dependent_bias", (units,))
        self.head_kernel = weight("head_kernel", (size, units), reseeded(glorot, 1))
        self.head_bias = weight("head_bias", (units,))
        self.root = weight("root", (units,))
        self.bilinear = weight("bilinear", (units, units))
        self.prior = weight("prior", (units,))

    def call(self, inputs, mask=None, training=False):
        dependents, heads = (
            dropout(
                self.activation(ops.matmul(inputs, kernel) + bias), training=training
            )
            for dropout, kernel, bias in zip(
                self.dropout_layers,
                (self.dependent_kernel, self.head_kernel),
                (self.dependent_bias, self.head_bias),
                strict=True,
            )
        )
        root = ops.zeros_like(heads[:, :1]) + self.root
        heads = ops.transpose(ops.concatenate([root, heads], 1), (0, 2, 1))
        scores = ops.matmul(ops.matmul(dependents, self.bilinear) + self.prior, heads)
        scores = ops.cast(scores, "float32")
        if mask is None:
            return scores
        real = ops.cast(mask, "float32")
        real = ops.concatenate([ops.ones_like(real[:, :1]), real], 1)
        return ops.where(ops.expand_dims(real, 1) > 0, scores, NO_HEAD)

    def compute_mask(self, inputs, mask=None):
        return mask

    def compute_output_shape(self, input_shape):
        batch, time = input_shape[:2]
        return batch, time, None if time is None else time + 1

    def get_config(self):
        names = ("units", "dropout", "activation", "seed", "kernel_initializer")
        return {**super().get_config(), **config_of(self, *names)}
