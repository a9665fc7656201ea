"""Validation, averaged weights and the training log."""

from pathlib import Path

import keras
import numpy as np

from keras_tagging.utils.atomic import replacing


class Validation(keras.callbacks.Callback):
    """Callback that evaluates after each epoch and logs the figures as `val_*`.

    It must come before the callbacks that monitor these figures.

    Args:
        evaluate: function without arguments that returns a dict of figures.
        monitor: the figure that chooses the epoch. A ValueError if it is no number
            after the first one: Keras would take that epoch for the best.
    """

    def __init__(self, evaluate, monitor=None):
        super().__init__()
        self.evaluate = evaluate
        self.monitor = monitor

    def on_epoch_end(self, epoch, logs=None):
        logs.update({f"val_{name}": x for name, x in self.evaluate().items()})
        if epoch == 0 and np.isnan(logs.get(self.monitor, 0.0)):
            raise ValueError(
                f"monitor={self.monitor!r} is no number: the development sentences "
                "have nothing to count, or the loss is none; choose another figure, or "
                "a lower learning rate"
            )


class AveragedWeights(keras.callbacks.Callback):
    """Callback that shows averaged weights to those after it, as an epoch ends.

    It is for an optimizer with `use_ema=True`, which keeps the averages and leaves them
    in the model when training ends. It must come before the callbacks that evaluate or
    store the weights. Its `trained` callback must come after these, but before
    `Resume`.

    `keras.callbacks.SwapEMAWeights` leaves the averages in the model until the next
    epoch begins. A run that resumes there, or stops early, would confuse averages and
    trained weights.

    Attributes:
        trained: callback that puts the trained weights back.
    """

    def __init__(self):
        super().__init__()
        self._weights = None
        self.trained = keras.callbacks.LambdaCallback(on_epoch_end=self._put_back)

    def on_epoch_end(self, epoch, logs=None):
        variables = self.model.trainable_variables
        # copies: PyTorch's arrays are views
        self._weights = [np.array(keras.ops.convert_to_numpy(v)) for v in variables]
        self.model.optimizer.finalize_variable_values(variables)

    def _put_back(self, epoch, logs=None):
        for variable, value in zip(
            self.model.trainable_variables, self._weights, strict=True
        ):
            variable.assign(value)
        self._weights = None


class FeedbackShare(keras.callbacks.Callback):
    """Callback that changes the share of gold labels read in training, by epoch.

    It sets the probability in the `feedback` of each `LabelEmbeddingRNN`, in equal
    steps from the first share to the last: the scheduled sampling of Bengio et al.
    (2015), section 2.4, :cite:`bengio2015`, with linear decay.

    Args:
        first, last: shares of the first and the last epoch.
        epochs: number of epochs of the whole run.
    """

    def __init__(self, first, last, epochs):
        super().__init__()
        self.first = first
        self.last = last
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        done = epoch / max(1, self.epochs - 1)
        for variable in self.model.non_trainable_variables:
            if variable.name == "gold_share":
                variable.assign(self.first + (self.last - self.first) * done)


class TrainingLog(keras.callbacks.Callback):
    """Callback that keeps a row of figures for each epoch, and writes them as CSV.

    Args:
        path: the CSV file, replaced atomically, or None to keep the rows only.

    Attributes:
        rows: list of dicts with `epoch` (from 1), `learning_rate` and the logs.
    """

    def __init__(self, path=None):
        super().__init__()
        self.path = path and Path(path)
        self.rows = []

    def on_epoch_end(self, epoch, logs=None):
        rate = float(keras.ops.convert_to_numpy(self.model.optimizer.learning_rate))
        figures = {name: float(value) for name, value in logs.items()}
        self.rows.append({"epoch": epoch + 1, "learning_rate": rate, **figures})
        if self.path:
            import pandas as pd

            with replacing(self.path) as partial:
                pd.DataFrame(self.rows).to_csv(partial, index=False)


class EpochOrder(keras.callbacks.Callback):
    """Callback that tells the batches the next epoch, on which their order depends.

    Args:
        batches: `TrainingBatches`.
    """

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch, logs=None):
        self.batches.epoch = epoch
