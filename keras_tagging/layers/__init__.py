"""Layers that wrap cells: the time loop, and stacks of directions and layers."""

from keras_tagging.layers.bidirectional_stack import BidirectionalStack
from keras_tagging.layers.chunk_decoder import ChunkDecoder
from keras_tagging.layers.context_window import ContextWindow
from keras_tagging.layers.crf import CRF
from keras_tagging.layers.crf_objectives import CRFAccuracy, CRFLoss
from keras_tagging.layers.label_embedding_rnn import LabelEmbeddingRNN
from keras_tagging.layers.projected_rnn import ProjectedRNN
from keras_tagging.layers.transition_scorer import TransitionScorer

__all__ = [
    "CRF",
    "BidirectionalStack",
    "CRFAccuracy",
    "CRFLoss",
    "ChunkDecoder",
    "ContextWindow",
    "LabelEmbeddingRNN",
    "ProjectedRNN",
    "TransitionScorer",
]
