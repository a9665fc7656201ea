"""The batches of training as a `tf.data.Dataset`, for any backend of Keras."""

import tensorflow as tf

from keras_tagging.training.devices import own_rows


def token_signature(features):
    """The shape and type of tokens in the output of `EncodedSentences.batch`.

    Args:
        features: the `TokenFeatures`.
    """
    ids = tf.TensorSpec((None, None, len(features.names)), tf.int32)
    if not features.letters:
        return ids
    return {"ids": ids, "letters": tf.TensorSpec((None, None), tf.int32)}


def target_signature(batches, gold):
    """The shape and type of the targets of batches, which may have soft targets.

    Args:
        batches: `TrainingBatches`.
        gold: the signature of gold targets.
    """
    if batches.soft is None:
        return gold
    size = (None, None, *batches.soft[0].shape[1:])
    soft = {"ids": tf.TensorSpec(size, tf.int32)}
    return {"gold": gold, **soft, "probabilities": tf.TensorSpec(size, tf.float32)}


def dataset(batches, tokens, reads_labels=False):
    """The training data for Keras, with any backend; one pass is one epoch.

    Args:
        batches: `TrainingBatches`.
        tokens: the `token_signature`.
        reads_labels: whether the targets are an input as well.

    Returns:
        A `tf.data.Dataset` of ids `(batch, time, features)`, targets `(batch, time)`,
        or `(batch, time, columns)`, and weights `(batch, time)`. With `reads_labels`,
        the input is a pair of ids and targets. With soft targets, the targets are a
        dict: see `EncodedSentences.batch`.
    """
    targets = tf.TensorSpec((None,) * batches.target_axes, tf.int32)
    targets = target_signature(batches, targets)
    weights = tf.TensorSpec((None, None), tf.float32)
    data = streamed(batches, tokens, targets, weights)
    if reads_labels:
        data = data.map(lambda ids, targets, mask: ((ids, targets), targets, mask))
    return data


def streamed(batches, *signature):
    """A `tf.data.Dataset` of batches with these shapes and types.

    Of several processes that share batches, each reads the rows of its devices.
    """

    def rows():
        for batch in batches:
            yield tf.nest.map_structure(own_rows, batch)

    data = tf.data.Dataset.from_generator(rows, output_signature=signature)
    size = tf.data.experimental.assert_cardinality(len(batches))
    return data.apply(size).prefetch(2)
