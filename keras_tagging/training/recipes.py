"""How a tagger is trained: optimiser, batches, learning rate."""

import keras

from keras_tagging.training.objectives import (
    TagLoss,
    TokenAccuracy,
    TokenCrossEntropy,
)

OPTIMIZERS = {
    "sgd": keras.optimizers.SGD,
    "adam": keras.optimizers.Adam,
    "adamw": keras.optimizers.AdamW,
}


def compile_settings(
    *,
    optimizer="sgd",
    learning_rate=0.01,
    momentum=0.0,
    clipnorm=None,
    label_smoothing=0.0,
    jit_compile=False,
):
    """Arguments for `keras.Model.compile`.

    Args:
        optimizer: "sgd", "adam" or "adamw".
        learning_rate: of the first epoch.
        momentum: of "sgd".
        clipnorm: the norm of the whole gradient is kept below it; None for no limit.
        label_smoothing: share of the gold probability spread over all tags.
        jit_compile: whether to use XLA; it compiles anew for every sentence length.

    Raises:
        ValueError: if the optimizer is not one of these.
    """
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"optimizer={optimizer!r}: known are {', '.join(OPTIMIZERS)}")
    extra = {"momentum": momentum} if optimizer == "sgd" else {}
    return {
        "optimizer": OPTIMIZERS[optimizer](
            learning_rate, global_clipnorm=clipnorm, **extra
        ),
        "loss": TagLoss(label_smoothing),
        "weighted_metrics": [TokenAccuracy(), TokenCrossEntropy()],
        "jit_compile": jit_compile,
    }


def fit_settings(
    *,
    batch_size=None,
    token_budget=None,
    epochs=10,
    unknown_rate=0.0,
    decay=None,
):
    """What `Tagger.fit` does unless told otherwise.

    Args:
        batch_size: sentences a batch; 1 is online learning.
        token_budget: padded tokens a batch, where `batch_size` is None.
        epochs: passes over the training sentences.
        unknown_rate: probability with which a word seen once becomes unknown.
        decay: "linear" (the learning rate falls to 0 over the epochs) or None.

    Raises:
        ValueError: if `decay` is neither of the two.
    """
    if decay not in ("linear", None):
        raise ValueError(f"decay={decay!r}: known are 'linear' and None")
    return dict(
        batch_size=batch_size,
        token_budget=token_budget,
        epochs=epochs,
        unknown_rate=unknown_rate,
        decay=decay,
    )


class LinearDecay(keras.callbacks.Callback):
    """Lowers the learning rate after each epoch, to reach 0 after the last.

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
