"""Loss and metric for `compile` of a network that ends in a CRF, and their input.

Keras gives a loss and a metric one tensor. A CRF has two outputs for each token: its
tag on the best path, and the scores of all tags, from which the likelihood is computed.
The likelihood does not change if a number is added to all scores of a token. So the
tensor holds only their distances to the largest score, and their signs mark the path.
"""

from weakref import WeakValueDictionary

import keras
from keras import ops

# By name the CRF made last: when a saved model is loaded, its layers are made before
# its loss, which then belongs to the layer of the loaded model.
_LAST_MADE = WeakValueDictionary()


def remember(layer):
    """Lets a loss that is loaded with a model find the layer it belongs to."""
    _LAST_MADE[layer.name] = layer


def with_path(scores, tags, mask):
    """Scores and a path as one tensor, `(batch, time, num_tags)`.

    Args:
        scores: `(batch, time, num_tags)`.
        tags: `(batch, time)`, the path.
        mask: `(batch, time)` bool, False at tokens to skip.

    Returns:
        1 and the distance to the token's largest score: positive for the tag on the
        path, negative for all others; 0 where masked.
    """
    # its gradient is that of a number added to all scores
    largest = ops.stop_gradient(ops.max(scores, -1, keepdims=True))
    signs = 2 * ops.one_hot(tags, scores.shape[-1], dtype=scores.dtype) - 1
    marked = signs * (1 + largest - scores)
    return ops.where(ops.expand_dims(mask, -1), marked, 0.0)


def scores_and_mask(marked):
    """The scores, less the largest of each token, and the mask of `with_path`."""
    return 1 - ops.abs(marked), real_tokens(marked)


def real_tokens(marked):
    """The mask of `with_path`: no token that counts has a value near 0."""
    return ops.abs(marked[:, :, 0]) > 0.5


@keras.saving.register_keras_serializable("keras_tagging")
class CRFLoss(keras.losses.Loss):
    """-log p of the gold paths, as a mean over the real tokens.

    So its size, and with it the learning rate, is that of a mean cross-entropy.

    Args:
        crf: the `CRF` layer that the model ends in: the loss reads its transitions.

    Call arguments:
        y_true: `(batch, time)` tag ids. -1 is an unknown tag: the sum over all its
            values is taken. What stands at masked tokens is not read.
        y_pred: the output of the layer.
        sample_weight: `(batch,)`, the weights of the sentences; or `(batch, time)`,
            where a token of weight 0 has an unknown tag, and the largest weight of its
            tokens is the sentence's.

    Raises:
        ValueError: if `y_pred` is not the output of the layer, or the layer belongs
            to no model.
    """

    def __init__(self, crf, name="crf_loss", **kwargs):
        super().__init__(name=name, **kwargs)
        # not an attribute that is a layer: Keras would save its weights as the loss's
        self._layer = lambda: crf

    def layer(self):
        """The `CRF` that the loss belongs to; None if it was not found again."""
        return self._layer()

    def __call__(self, y_true, y_pred, sample_weight=None):
        crf = self.layer()
        if crf is None or not crf.built or crf.return_dict:
            raise ValueError(
                "CRFLoss needs a layer that the model ends in and that returns no dict"
                ": compile(loss=crf.loss) with the model's own layer crf"
            )
        num_tags = crf.transitions.shape[0]
        if len(y_pred.shape) != 3 or y_pred.shape[-1] != num_tags:
            raise ValueError(
                f"CRFLoss reads the output of {crf.name}, (batch, time, {num_tags}), "
                f"not {tuple(y_pred.shape)}: let the model end in that layer"
            )
        if len(y_true.shape) != 2:
            raise ValueError(
                f"CRFLoss reads tag ids (batch, time), not {tuple(y_true.shape)}"
            )
        tags = ops.cast(y_true, "int32")
        scores, mask = scores_and_mask(ops.convert_to_tensor(y_pred))
        counts = ops.sum(ops.cast(mask, scores.dtype), -1)
        if sample_weight is not None:
            weights = ops.cast(sample_weight, scores.dtype)
            if len(weights.shape) == 2:
                tags = ops.where(weights > 0, tags, -1)
                weights = ops.max(weights, -1)
            counts = counts * weights
        losses = -crf.log_likelihood(scores, tags, mask)
        if sample_weight is not None:
            losses = losses * weights
        return ops.sum(losses) / ops.maximum(ops.sum(counts), keras.config.epsilon())

    def get_config(self):
        return {"name": self.name, "crf": self.layer() and self.layer().name}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "crf": _LAST_MADE.get(config["crf"])})


@keras.saving.register_keras_serializable("keras_tagging")
class CRFAccuracy(keras.metrics.Mean):
    """Share of the real tokens of all batches whose tag on the path is the gold tag.

    Keras' own accuracy averages each sentence over its padded length first, so batches
    of short sentences count more. Here each token counts once; -1 is an error.
    """

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        best = ops.cast(ops.argmax(y_pred, -1), "int32")
        right = ops.cast(best == ops.cast(y_true, "int32"), self.dtype)
        weights = ops.cast(real_tokens(y_pred), self.dtype)
        if sample_weight is not None:
            given = ops.cast(sample_weight, self.dtype)
            weights = weights * (
                given if len(given.shape) == 2 else ops.expand_dims(given, -1)
            )
        return super().update_state(
            ops.reshape(right, (-1,)), ops.reshape(weights, (-1,))
        )
