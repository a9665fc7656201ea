"""Recipes, objectives and callbacks."""

from keras_tagging.training.callbacks import (
    AveragedWeights,
    EpochOrder,
    TrainingLog,
    Validation,
)
from keras_tagging.training.decay import HalvingDecay, LinearDecay
from keras_tagging.training.objectives import (
    TagLoss,
    TokenAccuracy,
    TokenCrossEntropy,
)
from keras_tagging.training.pretraining import cbow_embeddings, window_embeddings
from keras_tagging.training.recipes import compile_settings, fit_settings
from keras_tagging.training.resume import Resume
from keras_tagging.training.run import (
    check_fitting,
    dataset,
    fit_model,
    mode_of,
    streamed,
)

__all__ = [
    "AveragedWeights",
    "EpochOrder",
    "HalvingDecay",
    "LinearDecay",
    "Resume",
    "TagLoss",
    "TokenAccuracy",
    "TokenCrossEntropy",
    "TrainingLog",
    "Validation",
    "cbow_embeddings",
    "check_fitting",
    "compile_settings",
    "dataset",
    "fit_model",
    "fit_settings",
    "mode_of",
    "streamed",
    "window_embeddings",
]
