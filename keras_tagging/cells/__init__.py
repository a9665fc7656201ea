"""Recurrent cells: one file a cell, the equations of the papers."""

from keras_tagging.cells.elman_cell import ElmanCell
from keras_tagging.cells.feed_forward_cell import FeedForwardCell
from keras_tagging.cells.gru_cell import GRUCell
from keras_tagging.cells.highway_lstm_cell import HighwayLSTMCell
from keras_tagging.cells.label_embedding_cell import LabelEmbeddingCell
from keras_tagging.cells.layered_cell import LayeredCell
from keras_tagging.cells.recurrent_cell import RecurrentCell
from keras_tagging.cells.recurrent_highway_cell import RecurrentHighwayCell
from keras_tagging.cells.regularized_layer import RegularizedLayer
from keras_tagging.cells.shortcut_block_cell import ShortcutBlockCell
from keras_tagging.cells.skip_lstm_cell import SkipLSTMCell
from keras_tagging.cells.skip_stack_cell import SkipStackCell

__all__ = [
    "ElmanCell",
    "FeedForwardCell",
    "GRUCell",
    "HighwayLSTMCell",
    "LabelEmbeddingCell",
    "LayeredCell",
    "RecurrentCell",
    "RecurrentHighwayCell",
    "RegularizedLayer",
    "ShortcutBlockCell",
    "SkipLSTMCell",
    "SkipStackCell",
]
