"""Accuracy, chunk F1, multi-tagging, attachment scores, significance. No Keras here."""

from keras_tagging.metrics.accuracy import token_accuracy
from keras_tagging.metrics.attachment import AttachmentScores, attachment_scores
from keras_tagging.metrics.chunks import (
    CHUNK_SCHEMES,
    ChunkCounts,
    ChunkScores,
    allowed_transitions,
    chunk_scores,
    chunks,
    is_consistent,
    looks_like_chunks,
    nearest_scheme,
)
from keras_tagging.metrics.derivations import DerivationScores, derivation_scores
from keras_tagging.metrics.multi_tagging import (
    BETAS,
    assigned,
    multi_tagging,
    within_beta,
)
from keras_tagging.metrics.raw_text import (
    SegmentationScores,
    raw_text_scores,
    segmentation_scores,
)
from keras_tagging.metrics.significance import holm, paired_permutation

__all__ = [
    "BETAS",
    "CHUNK_SCHEMES",
    "AttachmentScores",
    "SegmentationScores",
    "ChunkCounts",
    "ChunkScores",
    "DerivationScores",
    "allowed_transitions",
    "assigned",
    "attachment_scores",
    "chunk_scores",
    "chunks",
    "derivation_scores",
    "holm",
    "is_consistent",
    "looks_like_chunks",
    "multi_tagging",
    "nearest_scheme",
    "paired_permutation",
    "raw_text_scores",
    "segmentation_scores",
    "token_accuracy",
    "within_beta",
]
