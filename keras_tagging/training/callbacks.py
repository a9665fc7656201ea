"""Callbacks of training: validation, averaged weights, decay and the log."""

from pathlib import Path

import keras
import numpy as np

from keras_tagging.utils.atomic import replacing


class Validation(keras.callbacks.Callback):
    """Callback that evaluates after each epoch and logs the figures as `val_*`.

    It must come before the callbacks that monitor these figures. Of epochs with the
    same figure that with the lowest loss is the best: its figure is the next number of
    32 bits, in which Keras compares.

    Args:
        evaluate: function without arguments that returns a dict of figures.
        monitor: the figure that chooses the epoch. A ValueError if it is no number
            after the first one: Keras would take that epoch for the best.
        mode: whether its best value is the "min" or the "max".
    """

    def __init__(self, evaluate, monitor=None, mode="max"):
        super().__init__()
        self.evaluate = evaluate
        self.monitor = monitor
        self.mode = mode
        self.best = self.best_loss = self.best_logged = None

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None):
        logs.update({f"val_{name}": x for name, x in self.evaluate().items()})
        if epoch == 0 and np.isnan(logs.get(self.monitor, 0.0)):
            raise ValueError(
                f"monitor={self.monitor!r} is no number: the development sentences "
                "have nothing to count, or the loss is none; choose another figure, or "
                "a lower learning rate"
            )
        value, loss = logs.get(self.monitor), logs.get("val_loss")
        if value is None or loss is None:
            return
        logged, sign = value, 1 if self.mode == "max" else -1
        is_tie = value == self.best and loss < self.best_loss
        if is_tie:
            before, towards = np.float32([self.best_logged, sign * np.inf])
            logged = logs[self.monitor] = float(np.nextafter(before, towards))
        if is_tie or self.best is None or sign * value > sign * self.best:
            self.best, self.best_loss = float(value), float(loss)
            self.best_logged = float(logged)


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

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None):
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
        self.first, self.last, self.epochs = first, last, epochs

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None):
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

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None):
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

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None):
        self.batches.epoch = epoch


class WarmupStableDecay(keras.callbacks.Callback):
    """Callback that sets the learning rate of each batch.

    It rises over the first 100 batches, or a tenth of all if that is less, stays the
    same for two fifths of all batches, and then falls to a fiftieth: the schedule of
    Hu et al. (2024), :cite:`hu2024`, with linear decay. It depends on the number of the
    batch alone, so that a resumed run has the rates of an uninterrupted one.

    Args:
        rate: the highest.
        batches: of an epoch.
        epochs: of the whole run.
    """

    WARM_BATCHES, STABLE, LEAST = 100, 0.4, 0.02

    def __init__(self, rate, batches, epochs):
        super().__init__()
        self.rate, self.batches, self.epochs = rate, batches, epochs
        self._before = 0

    def on_epoch_begin(self, epoch: int, logs: dict[str, float] | None = None):
        self._before = epoch * self.batches

    def on_train_batch_begin(self, batch, logs: dict[str, float] | None = None):
        number = self._before + batch
        done = number / (self.batches * self.epochs)
        share = max(self.LEAST, min(1, (1 - done) / (1 - self.STABLE)))
        warm = min(self.WARM_BATCHES, self.batches * self.epochs / 10)
        share *= min(1, (number + 1) / warm)
        if hasattr(self.model, "jax_state_sync"):  # the variables are those of a step
            self.model.jax_state_sync()
        self.model.optimizer.learning_rate = self.rate * share


class HalvingDecay(keras.callbacks.Callback):
    r"""Callback that halves the learning rate when the error rate changes little.

    .. math::
        \frac{|e_p - e_c|}{e_p} \le 0.005 \quad\text{and}\quad lr \ge 0.0005

    :math:`e_p` and :math:`e_c` are the error rates on the development sentences after
    the previous and after this epoch: Wu et al. (2017), section 5.1, :cite:`wu2017`.
    Departures: the rule is read as :math:`|e_p - e_c| \le 0.005 \, e_p`, which also
    holds where there are no errors; error rates are per token.

    `keras.callbacks.ReduceLROnPlateau` follows another rule: it compares with the best
    epoch so far instead of the previous one, by an absolute difference, and counts any
    worse epoch as a plateau.

    It must come after the callback that evaluates (`Validation`; `model.fit` itself
    evaluates before its callbacks). As with Keras' own callbacks, the rate stays
    lowered when training ends; `Tagger.fit`, with `decay="halve"`, resets it.

    Args:
        monitor: the name of a share of right tags in the logs; 1 minus it is the error
            rate.
        factor: float. The rate is multiplied by it.
        threshold: float. Relative changes up to this size are small.
        least: float. A rate below it is not lowered any further.

    Attributes:
        previous_error: :math:`e_p`, None before the first epoch.
    """

    def __init__(
        self, monitor="val_accuracy", factor=0.5, threshold=0.005, least=0.0005
    ):
        super().__init__()
        self.monitor = monitor
        self.factor = factor
        self.threshold = threshold
        self.least = least
        self.previous_error = None

    def on_train_begin(self, logs: dict[str, float] | None = None):
        self.previous_error = None

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None):
        error = 1 - float(logs[self.monitor])
        previous, self.previous_error = self.previous_error, error
        if previous is None or abs(previous - error) > self.threshold * previous:
            return
        optimizer = self.model.optimizer
        rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
        if rate >= self.least:
            optimizer.learning_rate = rate * self.factor


def mode_of(monitor, lower_is_better=()):
    """Whether the best value of a figure is its "min" or "max".

    Args:
        monitor: the figure, `val_error` for that of the development sentences.
        lower_is_better: figures that should fall, beside losses and cross-entropies.
    """
    falls = monitor.removeprefix("val_") in lower_is_better
    falls = falls or monitor.endswith(("loss", "cross_entropy"))
    return "min" if falls else "max"
