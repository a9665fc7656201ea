"""Figures over tagged sentences: accuracy, chunk F1, multi-tagging (no keras)."""

from keras_tagging.metrics.accuracy import token_accuracy
from keras_tagging.metrics.chunks import (
    ChunkCounts,
    ChunkScores,
    chunk_scores,
    chunks,
    looks_like_chunks,
)
from keras_tagging.metrics.multi_tagging import BETAS, assigned, multi_tagging

__all__ = [
    "BETAS",
    "ChunkCounts",
    "ChunkScores",
    "assigned",
    "chunk_scores",
    "chunks",
    "looks_like_chunks",
    "multi_tagging",
    "token_accuracy",
]
