"""Objectives, callbacks, devices, and the state of a run."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "callbacks": ["HalvingDecay", "mode_of"],
        "context_embeddings": ["cbow_embeddings", "window_embeddings"],
        "devices": ["check_alike", "devices_of_batches", "own_rows", "share_batches"],
        "objectives": [
            "TagLoss",
            "TokenAccuracy",
            "TokenCrossEntropy",
            "compile_arguments",
            "mean_soft_cross_entropy",
            "measured_targets",
            "soft_cross_entropy",
        ],
        "resume": ["Resume"],
    },
)
