"""Objectives, callbacks, distillation, and the state of a run."""

from keras_tagging.utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "callbacks": [
            "AveragedWeights",
            "EpochOrder",
            "HalvingDecay",
            "LinearDecay",
            "TrainingLog",
            "Validation",
            "mode_of",
        ],
        "context_embeddings": ["cbow_embeddings", "window_embeddings"],
        "dataset": ["dataset", "streamed", "target_signature", "token_signature"],
        "devices": ["check_alike", "devices_of_batches", "share_batches"],
        "distillation": ["Distillation", "SoftTargets", "Unlabelled"],
        "objectives": [
            "TagLoss",
            "TokenAccuracy",
            "TokenCrossEntropy",
            "compile_arguments",
            "soft_cross_entropy",
        ],
        "resume": ["Resume"],
    },
    light=["distillation"],
)
