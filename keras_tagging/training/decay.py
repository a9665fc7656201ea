"""How the learning rate falls from epoch to epoch."""

import keras


class LinearDecay(keras.callbacks.Callback):
    """Lower the learning rate after each epoch, to reach 0 after the last.

    Args:
        epochs: int. Epochs of the whole run.
        learning_rate: that of the first epoch.
    """

    def __init__(self, epochs, learning_rate):
        super().__init__()
        self.epochs = epochs
        self.learning_rate = learning_rate

    def on_epoch_begin(self, epoch, logs=None):
        left = 1 - epoch / self.epochs
        self.model.optimizer.learning_rate = self.learning_rate * left


class HalvingDecay(keras.callbacks.Callback):
    r"""Halve the learning rate after an epoch that changed the error rate little.

    .. math::
        \frac{|e_p - e_c|}{e_p} \le 0.005 \quad\text{and}\quad lr \ge 0.0005

    :math:`e_p` and :math:`e_c` are the error rates on the development sentences after
    the previous and after this epoch: Wu et al. (2017), section 5.1, :cite:`wu2017`.
    Departures: the rule is read as :math:`|e_p - e_c| \le 0.005 \, e_p`, which also
    holds where there are no errors; error rates are per token.

    `keras.callbacks.ReduceLROnPlateau` follows another rule: it compares with the best
    epoch so far instead of the previous one, by an absolute difference, and takes a
    worse epoch for a plateau, however much worse it is.

    It must come after whatever evaluates (`Validation`; `model.fit` itself does so
    before its callbacks). As with Keras' own callbacks the rate stays lowered when
    training ends; `Tagger.fit`, with `decay="halve"`, sets it back.

    Args:
        monitor: a share of right tags in the logs; the error rate is the rest.
        factor: float. What the rate is multiplied by.
        threshold: float. Relative changes up to this one are small.
        least: float. A rate below it is not lowered any more.

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
