import keras
from keras import ops

from keras_tagging.cells.configuration import config_of
from keras_tagging.encoding.vocabulary import UNKNOWN_ID
from keras_tagging.layers.loop import as_mask


@keras.saving.register_keras_serializable("keras_tagging")
class LanguageModelLoss(keras.layers.Layer):
    r"""A second objective: each direction also predicts the word that comes next.

    .. math::
        \overrightarrow{m}_t &= \tanh(\overrightarrow{W}_m \overrightarrow{h}_t), \quad
        P(w_{t+1} \mid \overrightarrow{m}_t) =
            \mathrm{softmax}(\overrightarrow{W}_q \overrightarrow{m}_t) \\
        \tilde{E} &= E + \gamma (\overrightarrow{E} + \overleftarrow{E}), \quad
        \overrightarrow{E} = -\sum_t \log P(w_{t+1} \mid \overrightarrow{m}_t)

    and the same backwards with :math:`w_{t-1}`: Rei (2017), section 3, :cite:`rei2017`.
    It passes its inputs on, and adds the loss in training, so that a tagger learns more
    of its sentences than their tags. Without training it does nothing.

    Departures: :math:`\overrightarrow{E}` is a mean over tokens, as is the loss of the
    tags. The layers have biases.

    Args:
        num_words: int. Size of the vocabulary, padding and unknown included. Words are
            taken to be in the order of their frequency: those from `most_words` on are
            unknown.
        weight: float, :math:`\gamma`; the paper's is 0.1.
        units: int. Size of :math:`m_t`; the paper's is 50.
        most_words: int, the number of distinct word ids; the paper's is 7,500.
        seed: int, of the initial weights.

    Call arguments:
        inputs: `(batch, time, features)`, which are passed on.
        states: `(batch, time, 2 * size)`: :math:`\overrightarrow{h}`, which knows
            nothing of what follows, and :math:`\overleftarrow{h}`, which knows nothing
            of what came before.
        words: `(batch, time)` word ids. The end and the beginning of a sentence are
            words with the id 0.
        mask: `(batch, time)`, False at padding, which stands at the end.

    Weights:
        forward_kernel, backward_kernel: `(size, units)`, and a bias each.
        forward_output, backward_output: `(units, words)`, and a bias each.
    """

    def __init__(
        self, num_words, weight=0.1, units=50, most_words=7500, seed=None, **kwargs
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_words = num_words
        self.weight = weight
        self.units = units
        self.most_words = most_words
        self.seed = seed
        self.classes = min(num_words, most_words)

    def build(self, inputs_shape, states_shape, words_shape):
        size = states_shape[-1] // 2
        for offset, side in enumerate(("forward", "backward")):
            shapes = {
                "kernel": (size, self.units),
                "output": (self.units, self.classes),
            }
            for step, (name, shape) in enumerate(shapes.items()):
                seed = None if self.seed is None else self.seed + 2 * offset + step
                start = keras.initializers.GlorotUniform(seed=seed)
                full = f"{side}_{name}"
                setattr(self, full, self.add_weight(shape, start, name=full))
                bias = self.add_weight(shape[-1:], "zeros", name=f"{full}_bias")
                setattr(self, f"{full}_bias", bias)

    def call(
        self,
        inputs,
        states,
        words,
        mask=None,
        inputs_mask=None,  # how Keras hands it over to a layer of several inputs
        training=False,
    ):
        mask = inputs_mask if mask is None else mask
        if training:
            self.add_loss(self.weight * self.language_loss(states, words, mask))
        return inputs

    def language_loss(self, states, words, mask=None):
        """The sum of both directions' mean negative log-likelihoods, a scalar."""
        words = ops.cast(words, "int32")
        mask = as_mask(mask, words)
        words = ops.where(words < self.classes, words, UNKNOWN_ID)
        words = ops.where(mask, words, 0)
        end = ops.zeros_like(words[:, :1])
        following = ops.concatenate([words[:, 1:], end], 1)
        preceding = ops.concatenate([end, words[:, :-1]], 1)
        real = ops.cast(mask, "float32")
        loss = 0.0
        sides = zip(("forward", "backward"), ops.split(states, 2, -1), strict=True)
        for (side, h), target in zip(sides, (following, preceding), strict=True):
            m = ops.tanh(self._affine(h, f"{side}_kernel"))
            logits = ops.cast(self._affine(m, f"{side}_output"), "float32")
            losses = ops.logsumexp(logits, -1) - ops.squeeze(
                ops.take_along_axis(logits, ops.expand_dims(target, -1), -1), -1
            )
            loss = loss + ops.sum(real * losses) / ops.maximum(ops.sum(real), 1)
        return loss

    def _affine(self, x, name):
        return ops.matmul(x, getattr(self, name)) + getattr(self, f"{name}_bias")

    def compute_mask(self, inputs, *_, mask=None, inputs_mask=None, **__):
        return inputs_mask if mask is None else mask

    def compute_output_shape(self, inputs_shape, states_shape, words_shape):
        return inputs_shape

    def get_config(self):
        names = ("num_words", "weight", "units", "most_words", "seed")
        return {**super().get_config(), **config_of(self, *names)}
