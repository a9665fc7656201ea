"""Settings of the optimiser as arguments of Keras."""

import keras

from keras_tagging.training.objectives import TagLoss, TokenAccuracy, TokenCrossEntropy

OPTIMIZERS = {
    "sgd": keras.optimizers.SGD,
    "adam": keras.optimizers.Adam,
    "adamw": keras.optimizers.AdamW,
    "adadelta": keras.optimizers.Adadelta,
}


def compile_arguments(settings):
    """Arguments for `keras.Model.compile`.

    Args:
        settings: an `OptimizerSettings`.
    """
    extra = {"momentum": settings.momentum} if settings.momentum else {}
    return {
        "optimizer": OPTIMIZERS[settings.optimizer](
            settings.learning_rate,
            global_clipnorm=settings.clipnorm,
            use_ema=settings.weight_average > 0,
            ema_momentum=settings.weight_average,
            **extra,
        ),
        "loss": TagLoss(settings.label_smoothing),
        "weighted_metrics": [TokenAccuracy(), TokenCrossEntropy()],
        # without jit_compile Keras runs JAX one operation at a time
        "jit_compile": settings.jit_compile or keras.backend.backend() == "jax",
    }
