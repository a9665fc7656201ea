"""What one call of `Tagger.fit` hands to Keras."""

import math

import keras
import tensorflow as tf

from keras_tagging.training.callbacks import EpochOrder, TrainingLog, Validation
from keras_tagging.training.recipes import LinearDecay


def dataset(batches, num_features):
    """What Keras trains on, with any backend; one pass is one epoch.

    Args:
        batches: `TrainingBatches`.
        num_features: columns of the ids.

    Returns:
        A `tf.data.Dataset` of ids `(batch, time, features)`, targets and weights
        `(batch, time)`.
    """
    data = tf.data.Dataset.from_generator(
        lambda: iter(batches),
        output_signature=(
            tf.TensorSpec((None, None, num_features), tf.int32),
            tf.TensorSpec((None, None), tf.int32),
            tf.TensorSpec((None, None), tf.float32),
        ),
    )
    return data.apply(tf.data.experimental.assert_cardinality(len(batches))).prefetch(2)


def plan_callbacks(
    batches,
    callbacks,
    *,
    epochs,
    learning_rate=None,
    evaluate=None,
    monitor="val_accuracy",
    patience=None,
    restore_best=True,
    log=None,
):
    """The user's callbacks between those that must run before and after them.

    Args:
        batches: `TrainingBatches`, told the epoch.
        callbacks: the user's.
        epochs: of the whole run.
        learning_rate: of the first epoch if it is to decay, else None.
        evaluate: function that gives the figures on the development sentences.
        monitor, patience, restore_best: as in `keras.callbacks.EarlyStopping`; a
            loss or cross-entropy is to fall, any other figure to rise.
        log: CSV file, or None.

    Returns:
        A list of callbacks; the last is the `TrainingLog`.

    Raises:
        ValueError: if patience is given without development sentences.
    """
    first, last = [EpochOrder(batches)], [TrainingLog(log)]
    if learning_rate is not None:
        first.append(LinearDecay(epochs, learning_rate))
    if evaluate is not None:
        first.append(Validation(evaluate))
        best = keras.callbacks.EarlyStopping(
            monitor,
            mode="min" if monitor.endswith(("loss", "cross_entropy")) else "max",
            patience=math.inf if patience is None else patience,
            restore_best_weights=restore_best,
        )
        last.insert(0, best)
    elif patience is not None:
        raise ValueError("patience needs validation_data to watch")
    return [*first, *(callbacks or ()), *last]
