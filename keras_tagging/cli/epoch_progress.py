"""Progress inside an epoch of training, on standard error."""

import time

import keras

from keras_tagging.cli.progress import INTERVAL, bars


class EpochProgress(keras.callbacks.Callback):
    """Callback that shows a bar while an epoch runs, with an estimate of its rest.

    The bar is gone when the epoch ends, and the line of the epoch is printed.
    """

    async_safe = True  # it reads no weights and no figures

    def __init__(self):
        super().__init__()
        self.display = self.task = None
        self.due = 0.0

    def on_epoch_begin(self, epoch, logs=None):
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

        of = f"epoch {epoch + 1}/{self.params['epochs']}"
        columns = [of, BarColumn(), MofNCompleteColumn(), "batches"]
        self.display = bars(*columns, TimeRemainingColumn())
        self.task = self.display.add_task("", total=self.params["steps"])
        self.display.start()

    def on_train_batch_end(self, batch, logs=None):
        if self.display and (now := time.monotonic()) >= self.due:
            self.due = now + INTERVAL
            self.display.update(self.task, completed=batch + 1)

    def on_epoch_end(self, epoch, logs=None):
        self.close()

    def close(self) -> None:
        """Take the bar away, as an epoch ends or after an exception."""
        if self.display:
            self.display.stop()
            self.display = None
