"""Validation and the training log."""

from pathlib import Path

import keras
import pandas as pd

from keras_tagging.data.atomic import replacing


class Validation(keras.callbacks.Callback):
    """Evaluates after each epoch and adds the figures to the logs as `val_*`.

    It must come first, so that the callbacks after it can monitor them.

    Args:
        evaluate: function without arguments that returns a dict of figures.
    """

    def __init__(self, evaluate):
        super().__init__()
        self.evaluate = evaluate

    def on_epoch_end(self, epoch, logs=None):
        logs.update({f"val_{name}": x for name, x in self.evaluate().items()})


class TrainingLog(keras.callbacks.Callback):
    """Keeps one row of figures an epoch, and writes them as CSV after each.

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
            with replacing(self.path) as partial:
                pd.DataFrame(self.rows).to_csv(partial, index=False)


class EpochOrder(keras.callbacks.Callback):
    """Tells the batches which epoch is next: their order depends on it.

    Args:
        batches: `TrainingBatches`.
    """

    def __init__(self, batches):
        super().__init__()
        self.batches = batches

    def on_epoch_begin(self, epoch, logs=None):
        self.batches.epoch = epoch
