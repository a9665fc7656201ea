"""The loss of a batch of which a teacher says something, and its targets."""

from keras import ops

from keras_tagging.training import soft_cross_entropy


def joined(model, gold, soft):
    """The loss of gold targets and that of soft ones, by the share of the latter.

    See `training.soft_cross_entropy`.

    Args:
        model: its `soft_share` has the share and the temperature.
        gold, soft: mean losses of the targets.
    """
    share, temperature = model.soft_share
    return (1 - share) * gold + share * temperature**2 * soft


def without_share(model, y):
    """The targets; the gold ones alone if the share of the others is 0.

    So training is then what it is without a teacher, to the last bit.
    """
    return y["gold"] if isinstance(y, dict) and not model.soft_share[0] else y


def mean_soft(ids, probabilities, logits, sample_weight, temperature):
    """The mean of `training.soft_cross_entropy` over what counts, a scalar.

    Args:
        ids, probabilities, logits, temperature: as there.
        sample_weight: `(batch, time)`, 0 in the padding.
    """
    losses = soft_cross_entropy(ids, probabilities, logits, temperature)
    total = ops.sum(losses * sample_weight)
    return total / ops.maximum(ops.sum(sample_weight), 1)


def soft_loss(model, compiled, y, y_pred, sample_weight):
    """The loss of a batch of a model with one output: logits.

    Args:
        model: the model, compiled with one `keras.Loss`.
        compiled: Keras' own `compute_loss`, which adds the losses of layers.
        y: `(batch, time)` ids of the targets; with soft targets a dict: see
            `EncodedSentences.batch`.
        y_pred: `(batch, time, outputs)` logits.
        sample_weight: `(batch, time)`, 0 in the padding.
    """
    y = without_share(model, y)
    if not isinstance(y, dict):
        return compiled(None, y, y_pred, sample_weight)
    # a copy: on PyTorch, Keras multiplies it in place by the mask of the logits
    gold = model.loss(y["gold"], y_pred, 1.0 * sample_weight)
    soft = y["ids"][:, :, 0], y["probabilities"][:, :, 0]
    soft = mean_soft(*soft, y_pred, sample_weight, model.soft_share[1])
    return sum(model.losses, joined(model, gold, soft))


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
