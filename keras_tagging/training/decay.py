"""Decay of the learning rate, epoch by epoch."""

import keras


class LinearDecay(keras.callbacks.Callback):
    """Callback that lowers the learning rate linearly, to 0 after the last epoch.

    Args:
        epochs: int. Number of epochs of the whole run.
        learning_rate: float. The rate of the first epoch.
    """

    def __init__(self, epochs, learning_rate):
        super().__init__()
        self.epochs = epochs
        self.learning_rate = learning_rate

    def on_epoch_begin(self, epoch, logs=None):
        left = 1 - epoch / self.epochs
        self.model.optimizer.learning_rate = self.learning_rate * left


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

    Raises:
        ValueError: if the logs lack `monitor`.
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

    def on_train_begin(self, logs=None):
        self.previous_error = None

    def on_epoch_end(self, epoch, logs=None):
        if self.monitor not in (logs or {}):
            raise ValueError(
                f"halving the learning rate needs {self.monitor} after every epoch: "
                "give validation_data"
            )
        error = 1 - float(logs[self.monitor])
        previous, self.previous_error = self.previous_error, error
        if previous is None or abs(previous - error) > self.threshold * previous:
            return
        optimizer = self.model.optimizer
        rate = float(keras.ops.convert_to_numpy(optimizer.learning_rate))
        if rate >= self.least:
            optimizer.learning_rate = rate * self.factor
