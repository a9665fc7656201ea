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
    weight_average=0.0,
    jit_compile=False,
):
    """Arguments for `keras.Model.compile`.

    Args:
        optimizer: "sgd", "adam" or "adamw".
        learning_rate: of the first epoch.
        momentum: of "sgd"; 0 with the others.
        clipnorm: the norm of the whole gradient is kept below it; None for no limit.
        label_smoothing: share of the gold probability spread over all tags.
        weight_average: momentum of the moving average of the weights, such as 0.999,
            that is evaluated after each epoch, kept and used; 0 for the weights
            themselves, as in the papers.
        jit_compile: whether to use XLA, which compiles anew for every sentence length;
            on JAX always.

    Raises:
        ValueError: if the optimizer is not one of these, or has no momentum.
    """
    if optimizer not in OPTIMIZERS:
        raise ValueError(f"optimizer={optimizer!r}: known are {', '.join(OPTIMIZERS)}")
    if momentum and optimizer != "sgd":
        raise ValueError(
            f"momentum={momentum} is of optimizer='sgd': {optimizer!r} needs momentum=0"
        )
    extra = {"momentum": momentum} if momentum else {}
    return {
        "optimizer": OPTIMIZERS[optimizer](
            learning_rate,
            global_clipnorm=clipnorm,
            use_ema=weight_average > 0,
            ema_momentum=weight_average,
            **extra,
        ),
        "loss": TagLoss(label_smoothing),
        "weighted_metrics": [TokenAccuracy(), TokenCrossEntropy()],
        # without it Keras runs JAX one operation at a time
        "jit_compile": jit_compile or keras.backend.backend() == "jax",
    }


def fit_settings(
    *,
    batch_size=None,
    token_budget=None,
    epochs=10,
    unknown_rate=0.0,
    decay=None,
    l2=0.0,
):
    """What `Tagger.fit` does unless told otherwise.

    Args:
        batch_size: sentences a batch; 1 is online learning.
        token_budget: padded tokens a batch, where `batch_size` is None.
        epochs: passes over the training sentences.
        unknown_rate: probability with which a word seen once becomes unknown.
        decay: "linear" (the learning rate falls to 0 over the epochs), "halve" (it is
            halved when the development error hardly changes: `HalvingDecay`) or None.
        l2: lambda of the penalty ``lambda/2 |theta|^2`` on all weights, once an epoch:
            a batch bears the share of its tokens.

    Raises:
        ValueError: if `decay` is none of these.
    """
    if decay not in ("linear", "halve", None):
        raise ValueError(f"decay={decay!r}: known are 'linear', 'halve' and None")
    return dict(
        batch_size=batch_size,
        token_budget=token_budget,
        epochs=epochs,
        unknown_rate=unknown_rate,
        decay=decay,
        l2=l2,
    )
