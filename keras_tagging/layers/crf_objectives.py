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


def with_gradient(x, gradient):
    """`x`, with `gradient(upstream)` called when its gradient is asked for."""
    if keras.backend.backend() == "jax":  # Keras' own would call it at once
        import jax

        same = jax.custom_vjp(lambda x: x)
        same.defvjp(lambda x: (x, None), lambda _, upstream: (gradient(upstream),))
        return same(x)

    def backwards(*args, upstream=None):
        return gradient(args[0] if upstream is None else upstream)

    return ops.custom_gradient(lambda x: (1 * x, backwards))(x)


def scores_and_mask(marked):
    """The scores, less the largest of each token, and the mask of `with_path`."""
    return 1 - ops.abs(marked), real_tokens(marked)


def real_tokens(marked):
    """The mask of `with_path`: no token that counts has a value near 0."""
    return ops.abs(marked[:, :, 0]) > 0.5


def of_tokens(x):
    """`(batch, time)`, of that or `(batch, time, 1)`."""
    return ops.squeeze(x, -1) if len(x.shape) == 3 and x.shape[-1] == 1 else x


def refuse_unknown_ids(tags, mask, num_tags):
    """Whether an id at a real token is too large, where that raises no error.

    Args:
        tags, mask: `(batch, time)`.
        num_tags: int.
    """
    found = ops.any(mask & (tags >= num_tags))
    message = f"a gold tag id is not below num_tags={num_tags}"
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.debugging.assert_equal(found, False, message=message)
    elif keras.backend.backend() == "torch" and bool(found):
        raise ValueError(message)
    return found


@keras.saving.register_keras_serializable("keras_tagging")
class CRFLoss(keras.losses.Loss):
    """-log p of the gold paths, as a mean over the real tokens.

    So its size, and with it the learning rate, is that of a mean cross-entropy. With
    weights it is the weighted mean: -log p of a path is the sum over its tokens of
    -log p(tag | tags before it), each times its weight, divided by the sum of the
    weights of the real tokens. Equal weights change nothing.

    `fit` has weights of sentences or tokens as `sample_weight`. Its `class_weight` is
    an error: Keras makes one weight a sentence of it, that of the position of its
    largest id. Give it to the loss: ``CRFLoss(crf, class_weight={0: 0.1})``.

    Args:
        crf: the `CRF` layer that the model ends in: the loss reads its transitions.
        class_weight: dict from tag ids to weights, 1 for all others, by which those of
            the tokens are multiplied.

    Call arguments:
        y_true: `(batch, time)` tag ids, or `(batch, time, 1)`. A negative one is an
            unknown tag: the sum over all its values is taken. What stands at masked
            tokens is not read.
        y_pred: the output of the layer.
        sample_weight: `(batch, 1)`, the weights of the sentences; or `(batch, time)`,
            also `(batch, time, 1)`, those of the tokens. A token of weight 0 has an
            unknown tag.

    Raises:
        ValueError: if `y_pred` is not the output of the layer, the layer belongs to no
            model, `class_weight` has another key than a tag id, for weights of other
            shapes, and on PyTorch for an id that no tag has. With TensorFlow that is an
            InvalidArgumentError; with JAX and XLA, which have no errors, the loss is
            NaN.
    """

    def __init__(self, crf, class_weight=None, name="crf_loss", dtype=None):
        super().__init__(name=name, dtype=dtype)
        # not an attribute that is a layer: Keras would save its weights as the loss's
        self._layer = lambda: crf
        # JSON, and so a saved model, has strings as keys
        items = (class_weight or {}).items()
        self.class_weight = {int(tag): float(weight) for tag, weight in items}

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
        crf.has_loss = True
        y_true = of_tokens(ops.convert_to_tensor(y_true))
        if len(y_true.shape) != 2:
            raise ValueError(
                f"CRFLoss reads tag ids (batch, time), not {tuple(y_true.shape)}"
            )
        tags = ops.cast(y_true, "int32")
        scores, mask = scores_and_mask(ops.convert_to_tensor(y_pred))
        unknown = refuse_unknown_ids(tags, mask, num_tags)
        counts = ops.cast(mask, scores.dtype)
        if sample_weight is None and not self.class_weight:
            total = ops.sum(crf.log_likelihood(scores, tags, mask))
        else:
            weights = self._weights(tags, sample_weight, num_tags, scores.dtype)
            counts = counts * weights
            tags = ops.where(counts > 0, tags, -1)
            total = ops.sum(counts * crf.token_log_likelihoods(scores, tags, mask))
        loss = -total / ops.maximum(ops.sum(counts), keras.config.epsilon())
        return ops.where(unknown, float("nan"), loss)

    def _weights(self, tags, sample_weight, num_tags, dtype):
        """The weight of each token, `(batch, time)`, or of each sentence."""
        weights = ops.ones_like(tags, dtype=dtype)
        if sample_weight is not None:
            given = of_tokens(ops.cast(sample_weight, dtype))
            if len(given.shape) != 2:
                raise ValueError(
                    "weights (batch,) may be what Keras makes of class_weight, one a "
                    "sentence by the position of its largest id: give class_weight to "
                    "CRFLoss, or weights of sentences as sample_weight (batch, 1)"
                )
            weights = weights * given
        if self.class_weight:
            wrong = [tag for tag in self.class_weight if not 0 <= tag < num_tags]
            if wrong:
                raise ValueError(
                    f"class_weight of tag {wrong[0]}: ids are from 0 to {num_tags - 1}"
                )
            table = [self.class_weight.get(tag, 1.0) for tag in range(num_tags)]
            of_tag = ops.take(ops.convert_to_tensor(table, dtype), tags % num_tags)
            weights = weights * ops.where(tags < 0, 1.0, of_tag)
        return weights

    def get_config(self):
        name = self.layer() and self.layer().name
        return {"name": self.name, "crf": name, "class_weight": self.class_weight}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "crf": _LAST_MADE.get(config["crf"])})


@keras.saving.register_keras_serializable("keras_tagging")
class CRFAccuracy(keras.metrics.Mean):
    """Share of the real tokens of all batches whose tag on the path is the gold tag.

    Keras' own accuracy averages each sentence over its padded length first, so batches
    of short sentences count more. Here each token counts once; -1 is an error.
    """

    _direction = "up"  # for callbacks of Keras that monitor it

    def __init__(self, name="accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        best = ops.cast(ops.argmax(y_pred, -1), "int32")
        y_true = of_tokens(ops.cast(y_true, "int32"))
        right = ops.cast(best == y_true, self.dtype)
        weights = ops.cast(real_tokens(y_pred), self.dtype)
        if sample_weight is not None:
            given = of_tokens(ops.cast(sample_weight, self.dtype))
            weights = weights * (
                given if len(given.shape) == 2 else ops.expand_dims(given, -1)
            )
        return super().update_state(
            ops.reshape(right, (-1,)), ops.reshape(weights, (-1,))
        )
