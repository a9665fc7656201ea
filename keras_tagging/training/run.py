"""The plan of a call of `fit`, and its execution."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import keras
import tensorflow as tf

from keras_tagging.encoding.batching import TrainingBatches
from keras_tagging.training.callbacks import (
    AveragedWeights,
    EpochOrder,
    FeedbackShare,
    TrainingLog,
    Validation,
)
from keras_tagging.training.decay import HalvingDecay, LinearDecay
from keras_tagging.training.devices import check_alike, own_rows
from keras_tagging.training.resume import Resume
from keras_tagging.training.settings import FitSettings


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that a call of `fit` needs: training asks the model nothing else.

    Args:
        batches: the `TrainingBatches`.
        dataset: the `tf.data.Dataset` of these batches.
        optimizer: the optimizer of the compiled model.
        fitting: the `FitSettings`.
        feedback: the setting of a network that reads labels. A pair is the share of
            gold labels in the first and in the last epoch.
        evaluate: function that returns the figures on the development sentences, or
            None without such sentences.
        monitor: the figure that decides the best epoch.
        lower_is_better: figures that should fall, beside losses.
        rate_of: the share of what is right that "halve" decay compares.
        patience, restore_best, callbacks, log, resume: as in `SentenceModel.fit`.
        run: identifies the run, for `Resume`.
    """

    batches: TrainingBatches
    dataset: tf.data.Dataset
    optimizer: keras.optimizers.Optimizer
    fitting: FitSettings
    feedback: object = None
    evaluate: Callable[[], dict] | None = None
    monitor: str = "val_accuracy"
    lower_is_better: tuple[str, ...] = ()
    rate_of: str = "val_accuracy"
    patience: int | None = None
    restore_best: bool = True
    callbacks: Iterable[keras.callbacks.Callback] = ()
    log: str | Path | None = None
    resume: str | Path | None = None
    run: Mapping[str, object] = field(default_factory=dict)


def carry_out(plan, keras_fit, verbose="auto"):
    """Train according to a plan.

    Args:
        plan: the `Plan`.
        keras_fit: the method `keras.Model.fit` of the model.
        verbose: as in `SentenceModel.fit`.

    Returns:
        A `keras.callbacks.History` of all epochs, resumed ones included.
    """
    # under mixed_float16 Keras wraps the optimizer
    optimizer = getattr(plan.optimizer, "inner_optimizer", plan.optimizer)
    epochs, decay = plan.fitting.epochs, plan.fitting.decay
    rate = float(keras.ops.convert_to_numpy(plan.optimizer.learning_rate))
    table = TrainingLog(plan.log)
    callbacks = plan_callbacks(plan, table, rate, average=optimizer.use_ema)
    scheduled = isinstance(plan.feedback, tuple)
    if scheduled:
        callbacks.insert(0, FeedbackShare(*plan.feedback, epochs))
    initial_epoch = 0
    if plan.resume is not None:
        # the number of epochs matters only to decay: without it, it may grow
        falls = scheduled or decay == "linear"
        run = {**plan.run, "epochs": epochs if falls else None}
        run["optimizer class"] = type(optimizer).__name__
        state = Resume(Path(plan.resume) / "resume.npz", callbacks, run)
        initial_epoch = epochs if state.finished else min(state.epoch, epochs)
        callbacks.append(state)
    check_alike({**plan.run, "first epoch": initial_epoch})
    try:
        history = keras_fit(
            plan.dataset,
            epochs=epochs,
            initial_epoch=initial_epoch,
            callbacks=callbacks,
            verbose=verbose,
            shuffle=False,  # the batches are shuffled already
        )
    finally:
        if decay:  # otherwise another fit would start where this one ended
            plan.optimizer.learning_rate = rate
    history.epoch = [row["epoch"] - 1 for row in table.rows]
    names = dict.fromkeys(name for row in table.rows for name in row if name != "epoch")
    history.history = {name: [row.get(name) for row in table.rows] for name in names}
    return history


def mode_of(monitor, lower_is_better=()):
    """Whether the best value of a figure is its "min" or "max".

    Args:
        monitor: the figure, `val_error` for that of the development sentences.
        lower_is_better: figures that should fall, beside losses and cross-entropies.
    """
    falls = monitor.removeprefix("val_") in lower_is_better
    falls = falls or monitor.endswith(("loss", "cross_entropy"))
    return "min" if falls else "max"


def check_schedule(optimizer, decay, callbacks=None):
    """Refuse what else is to set the learning rate beside a decay of ours.

    Args:
        optimizer: whose rate may be a schedule.
        decay: as in `FitSettings`.
        callbacks: of the user, which may have a `ReduceLROnPlateau`.

    Raises:
        ValueError: with the remedies.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    schedule = getattr(optimizer, "_learning_rate", None)
    if decay and isinstance(schedule, keras.optimizers.schedules.LearningRateSchedule):
        raise ValueError(
            f"the optimizer has a {type(schedule).__name__}, and decay={decay!r} sets "
            "the learning rate too: build(..., decay=None), or give the optimizer a "
            "number"
        )
    plateau = keras.callbacks.ReduceLROnPlateau
    own = keras.tree.flatten(callbacks or [])
    if decay == "linear" and any(isinstance(x, plateau) for x in own):
        raise ValueError(
            'ReduceLROnPlateau has no effect beside decay="linear", which sets the '
            "learning rate of each epoch: build(..., decay=None)"
        )


def check_fitting(
    figures,
    has_dev,
    decay=None,
    monitor=None,
    patience=None,
    has_metrics=True,
):
    """Refuse options that need development sentences, and unknown figures.

    Args:
        figures: the figures that are computed on the development sentences.
        has_dev: whether there are development sentences.
        decay: as in `FitSettings`.
        monitor, patience: as in `SentenceModel.fit`.
        has_metrics: whether training computes figures of its sentences, not only the
            loss.

    Raises:
        ValueError: for an option without effect, or an unknown figure.
    """
    if patience is not None and not has_dev:
        raise ValueError("patience needs validation_data to watch")
    if decay == "halve" and not has_dev:
        raise ValueError(
            "decay='halve' needs validation_data to watch; or build(..., decay=None)"
        )
    known = [f"val_{name}" for name in figures]
    known += ["loss", "accuracy", "cross_entropy"] if has_metrics else ["loss"]
    if monitor is not None and not has_dev:
        raise ValueError(f"monitor={monitor!r} needs development sentences to watch")
    if monitor is not None and monitor not in known:
        raise ValueError(f"monitor={monitor!r}: known are {', '.join(known)}")


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

    def own():
        for batch in batches:
            yield tf.nest.map_structure(own_rows, batch)

    data = tf.data.Dataset.from_generator(own, output_signature=signature)
    size = tf.data.experimental.assert_cardinality(len(batches))
    return data.apply(size).prefetch(2)


def plan_callbacks(plan, table, learning_rate, average=False):
    """The user's callbacks between those that must run before and after them.

    Args:
        plan: the `Plan`.
        table: the `TrainingLog`.
        learning_rate: the rate of the first epoch, for "linear" decay.
        average: whether the optimizer keeps averages of the weights.

    Returns:
        A list of callbacks.
    """
    first, last = [EpochOrder(plan.batches)], [table]
    if plan.fitting.decay == "linear":
        first.append(LinearDecay(plan.fitting.epochs, learning_rate))
    if average:
        averaged = AveragedWeights()
        first.append(averaged)
    if plan.evaluate is not None:
        first.append(Validation(plan.evaluate, plan.monitor))
        best = keras.callbacks.EarlyStopping(
            plan.monitor,
            mode=mode_of(plan.monitor, plan.lower_is_better),
            patience=math.inf if plan.patience is None else plan.patience,
            restore_best_weights=plan.restore_best,
        )
        last.insert(0, best)
    if plan.fitting.decay == "halve":  # after the log, which has the rate of the epoch
        last.append(HalvingDecay(plan.rate_of))
    if average:
        last.append(averaged.trained)
    own = keras.tree.flatten(plan.callbacks or [])  # as in Keras, one needs no list
    return [*first, *own, *last]
