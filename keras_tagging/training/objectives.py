"""The optimizer, the loss and the metrics of training, over real tokens only."""

import keras
from keras import ops

from keras_tagging.training.adam import Adam


@keras.saving.register_keras_serializable("keras_tagging")
class TagLoss(keras.losses.Loss):
    """Mean cross-entropy over the real tokens of a batch.

    Eq. 3 of Wu et al. (2016), :cite:`wu2016`, and Eq. 4 of Wu et al. (2017),
    :cite:`wu2017`.

    A token whose gold tag is not in the inventory (`y_true` -1) has loss 0: there is
    nothing to learn from it. In a batch of one sentence, the loss is the mean over the
    sentence's tokens.

    Args:
        label_smoothing: the share of the gold probability that is distributed over all
            tags; 0 in the papers.

    Call arguments:
        y_true: `(batch, time)` tag ids, -1 for a tag outside the inventory.
        y_pred: `(batch, time, num_tags)` logits.
        sample_weight: `(batch, time)`, 1 for a real token and 0 in the padding.
    """

    def __init__(self, label_smoothing=0.0, name="tag_loss", **kwargs):
        # the default reduction divides by all positions, including padding
        kwargs.setdefault("reduction", "mean_with_sample_weight")
        super().__init__(name=name, **kwargs)
        self.label_smoothing = label_smoothing

    def call(self, y_true, y_pred):
        return tag_cross_entropy(y_true, y_pred, self.label_smoothing)

    def get_config(self):
        return {**super().get_config(), "label_smoothing": self.label_smoothing}


def tag_cross_entropy(y_true, y_pred, label_smoothing=0.0):
    """-log p of the gold tag, `(batch, time)`; 0 where the gold tag is -1."""
    y_true = ops.cast(y_true, "int32")
    in_inventory = y_true >= 0
    losses = ops.sparse_categorical_crossentropy(
        ops.maximum(y_true, 0), y_pred, from_logits=True
    )
    if label_smoothing:
        every = -ops.mean(ops.log_softmax(y_pred), -1)
        losses = (1 - label_smoothing) * losses + label_smoothing * every
    return ops.where(in_inventory, losses, 0.0)


def soft_cross_entropy(ids, probabilities, logits, temperature=1.0):
    r"""The cross-entropy with a teacher's softened distribution, `(batch, time)`.

    .. math:: - \sum_i q_i \log \mathrm{softmax}(z / T)_i

    Hinton et al. (2015), section 2, :cite:`hinton2015`: with the weight w, a token's
    loss is :math:`(1 - w)` times the cross-entropy with its gold tag, plus
    :math:`w \, T^2` times this. "Since the magnitudes of the gradients produced by the
    soft targets scale as :math:`1/T^2` it is important to multiply them by
    :math:`T^2`".

    Args:
        ids: `(batch, time, k)`, tags.
        probabilities: `(batch, time, k)`, q, softened already; 0 for no soft target.
        logits: `(batch, time, num_tags)`, z.
        temperature: T.
    """
    logs = ops.log_softmax(ops.cast(logits, "float32") / temperature)
    logs_of_ids = ops.take_along_axis(logs, ops.cast(ids, "int32"), -1)
    return -ops.sum(probabilities * logs_of_ids, -1)


def mean_soft_cross_entropy(ids, probabilities, logits, sample_weight, temperature):
    """The mean of `soft_cross_entropy` over what counts, a scalar.

    Args:
        ids, probabilities, logits, temperature: as there.
        sample_weight: `(batch, time)`, 0 in the padding.
    """
    losses = soft_cross_entropy(ids, probabilities, logits, temperature)
    total = ops.sum(losses * sample_weight)
    return total / ops.maximum(ops.sum(sample_weight), 1)


def measured_targets(y):
    """The label ids that the figures of training are measured with.

    With soft targets, the teacher's best label stands for a gold label that is missing.
    """
    if not isinstance(y, dict):
        return y
    gold = y["gold"]
    best = ops.where(y["probabilities"][..., 0] > 0, y["ids"][..., 0], -1)
    best = ops.cast(best if len(gold.shape) == 3 else best[..., 0], gold.dtype)
    return ops.where(gold >= 0, gold, best)


class _TokenMean(keras.metrics.Mean):
    """A mean over tokens.

    Keras' own metrics average every row over its padded length before they weight it,
    so tokens of short sentences would count more; here every token counts once.
    """

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true = ops.cast(y_true, "int32")
        values = ops.reshape(self.of_token(y_true, y_pred), (-1,))
        if sample_weight is not None:
            sample_weight = ops.reshape(sample_weight, (-1,))
        return super().update_state(values, sample_weight)


@keras.saving.register_keras_serializable("keras_tagging")
class TokenAccuracy(_TokenMean):
    """The share of correctly tagged real tokens; a gold tag of -1 is an error."""

    _direction = "up"  # for callbacks of Keras that monitor it

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def of_token(self, y_true, y_pred):
        best = ops.cast(ops.argmax(y_pred, -1), "int32")
        return ops.cast(best == y_true, self.dtype)


@keras.saving.register_keras_serializable("keras_tagging")
class TokenCrossEntropy(_TokenMean):
    """The mean cross-entropy of real tokens (Keras' `loss` weights batches)."""

    _direction = "down"

    def __init__(self, name="cross_entropy", **kwargs):
        super().__init__(name=name, **kwargs)

    def of_token(self, y_true, y_pred):
        return tag_cross_entropy(y_true, y_pred)


OPTIMIZERS = {
    "sgd": keras.optimizers.SGD,
    # on PyTorch, Keras has a faster one, but not for a class of ours
    "adam": keras.optimizers.Adam if keras.backend.backend() == "torch" else Adam,
    "adamw": keras.optimizers.AdamW,
    "adadelta": keras.optimizers.Adadelta,
}


def compile_arguments(settings):
    """Arguments for `keras.Model.compile`.

    Args:
        settings: an `OptimizerSettings`.
    """
    extra = {"momentum": settings.momentum} if settings.momentum else {}
    return {
        "optimizer": OPTIMIZERS[settings.optimizer](
            settings.learning_rate,
            global_clipnorm=settings.clipnorm,
            use_ema=settings.weight_average > 0,
            ema_momentum=settings.weight_average,
            **extra,
        ),
        "loss": TagLoss(settings.label_smoothing),
        "weighted_metrics": [TokenAccuracy(), TokenCrossEntropy()],
        # without jit_compile Keras runs JAX one operation at a time
        "jit_compile": settings.jit_compile or keras.backend.backend() == "jax",
    }
