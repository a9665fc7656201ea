"""Recipes, objectives and callbacks."""

from keras_tagging.utils.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "callbacks": ["AveragedWeights", "EpochOrder", "TrainingLog", "Validation"],
        "decay": ["HalvingDecay", "LinearDecay"],
        "devices": ["check_alike", "devices_of_batches", "share_batches"],
        "objectives": [
            "TagLoss",
            "TokenAccuracy",
            "TokenCrossEntropy",
            "soft_cross_entropy",
        ],
        "context_embeddings": ["cbow_embeddings", "window_embeddings"],
        "recipes": ["compile_arguments"],
        "resume": ["Resume"],
        "soft_targets": ["SoftTargets"],
        "teaching": ["Teaching"],
        "unlabelled": ["Unlabelled"],
        "run": [
            "Plan",
            "carry_out",
            "check_fitting",
            "check_schedule",
            "dataset",
            "mode_of",
            "streamed",
            "target_signature",
            "token_signature",
        ],
    },
    light=["soft_targets", "teaching", "unlabelled"],
)
