from typing import Any

import keras
from keras import ops

from keras_tagging.cells.configuration import Named, Tensor, config_of, dropout_of
from keras_tagging.cells.initializers import reseeded

#: the score of a head that is no word of the sentence: finite, for half precision too
NO_HEAD = -3e4


class DependentsAndHeads(keras.layers.Layer):
    """The hidden layers of `BiaffineHeads`, whose arguments it has, and `ArcLabels`."""

    def __init__(
        self,
        units: int = 100,
        dropout: float = 0.0,
        activation: Named = "leaky_relu",
        seed: int | None = None,
        kernel_initializer: Named = "glorot_uniform",
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.dropout = dropout
        self.activation = keras.activations.get(activation)
        self.seed = seed
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.dropout_layers = [
            dropout_of(self, dropout, f"dropout_{i}", i, (None, 1, None))
            for i in range(2)
        ]

    def build(self, input_shape):
        glorot = self.kernel_initializer
        for i, name in enumerate(("dependent", "head")):
            kernel = self.add_weight(
                (input_shape[-1], self.units),
                reseeded(glorot, i) if i else glorot,
                name=f"{name}_kernel",
            )
            setattr(self, f"{name}_kernel", kernel)
            bias = self.add_weight((self.units,), "zeros", name=f"{name}_bias")
            setattr(self, f"{name}_bias", bias)
        self.root = self.add_weight((self.units,), "zeros", name="root")

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
        """:math:`d`, `(batch, time, units)`, and :math:`h`, `(batch, time + 1, units)`.

        Args:
            inputs: `(batch, time, features)`.
        """
        kernels = self.dependent_kernel, self.head_kernel
        biases = self.dependent_bias, self.head_bias
        dependents, heads = (
            dropout(self.activation(ops.matmul(inputs, w) + b), training=training)
            for dropout, w, b in zip(self.dropout_layers, kernels, biases, strict=True)
        )
        root = ops.zeros_like(heads[:, :1]) + self.root
        return dependents, ops.concatenate([root, heads], 1)

    def get_config(self):
        names = ("units", "dropout", "activation", "seed", "kernel_initializer")
        return {**super().get_config(), **config_of(self, *names)}


@keras.saving.register_keras_serializable("keras_tagging")
class BiaffineHeads(DependentsAndHeads):
    r"""A score for each word as the head of each other: deep biaffine attention.

    .. math::
        d_i &= \phi(W_d x_i + b_d), \quad h_j = \phi(W_h x_j + b_h), \quad
        h_0 = r \\
        s_{ij} &= (d_i U + u) \cdot h_j

    Dozat & Manning (2017), section 2.2, :cite:`dozat2017`. The softmax of a row are the
    probabilities of the word's heads, as the parser of Yoshikawa et al. (2017), section
    3.2, :cite:`yoshikawa2017`, adds them to those of its categories.

    No word is its own head. Departures: ROOT has a vector of its own, r, behind the
    hidden layer.

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

    def build(self, input_shape):
        super().build(input_shape)
        shape = self.units, self.units
        self.bilinear = self.add_weight(shape, "zeros", name="bilinear")
        self.prior = self.add_weight((self.units,), "zeros", name="prior")

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
        dependents, heads = super().call(inputs, training=training)
        heads = ops.transpose(heads, (0, 2, 1))
        scores = ops.matmul(ops.matmul(dependents, self.bilinear) + self.prior, heads)
        scores = ops.cast(scores, "float32")
        words = ops.cumsum(ops.ones_like(scores[:, :, :1]), axis=1)
        places = ops.transpose(ops.pad(words, [(0, 0), (1, 0), (0, 0)]), (0, 2, 1))
        scores = ops.where(ops.equal(words, places), NO_HEAD, scores)
        if mask is None:
            return scores
        real = ops.cast(mask, "float32")
        real = ops.concatenate([ops.ones_like(real[:, :1]), real], 1)
        return ops.where(ops.expand_dims(real, 1) > 0, scores, NO_HEAD)

    def compute_mask(self, inputs, mask=None):
        return mask


@keras.saving.register_keras_serializable("keras_tagging")
class ArcLabels(DependentsAndHeads):
    r"""The vectors of which `scores` makes logits of the label of each chosen arc.

    .. math::
        d_i &= \phi(W_d x_i + b_d), \quad h_j = \phi(W_h x_j + b_h), \quad
        h_0 = r \\
        l_{ij} &= U [d_i \odot h_j; d_i; h_j] + b

    The classifier of labels of Dozat & Manning (2017), section 2.2,
    :cite:`dozat2017`, reads the head that was chosen, the gold one in training.

    Departures: the bilinear part has rank one for each label and component,
    :math:`\sum_k U_{lk} d_{ik} h_{jk}`, not a matrix for each label; ROOT has a vector
    of its own, r, behind the hidden layer.

    Args:
        num_labels: int.
        units, dropout, activation, seed, kernel_initializer: as in `BiaffineHeads`.

    Call arguments:
        inputs: `(batch, time, features)`.

    Returns:
        The pair of :math:`d`, `(batch, time, units)`, and :math:`h`, `(batch, time + 1,
        units)`, ROOT first.
    """

    def __init__(self, num_labels: int, units: int = 50, *args: Any, **kwargs: Any):
        super().__init__(units, *args, **kwargs)
        self.num_labels = num_labels

    def build(self, input_shape):
        super().build(input_shape)
        shape = 3 * self.units, self.num_labels
        initializer = reseeded(self.kernel_initializer, 2)
        self.kernel = self.add_weight(shape, initializer, name="kernel")
        self.bias = self.add_weight((self.num_labels,), "zeros", name="bias")

    def scores(self, dependents, heads, chosen):
        """The logits of the labels of arcs, `(batch, time, num_labels)` float32.

        Args:
            dependents, heads: what `call` gives.
            chosen: `(batch, time)` int32: the head of each word, 0 for ROOT; below 0
                where there is none, whose logits have no meaning.
        """
        chosen = ops.expand_dims(ops.maximum(chosen, 0), -1)
        heads = ops.take_along_axis(heads, chosen, axis=1)
        pairs = ops.concatenate([dependents * heads, dependents, heads], -1)
        return ops.cast(ops.matmul(pairs, self.kernel) + self.bias, "float32")

    def compute_mask(self, inputs, mask=None):
        return [mask, None]

    def compute_output_shape(self, input_shape):
        batch, time = input_shape[:2]
        further = None if time is None else time + 1
        return (batch, time, self.units), (batch, further, self.units)

    def get_config(self):
        return {**super().get_config(), "num_labels": self.num_labels}
