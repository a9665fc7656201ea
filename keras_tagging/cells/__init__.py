"""Recurrent cells: one file a cell, the equations of the papers."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "coupled_lstm_cell": ["CoupledLSTMCell"],
        "elman_cell": ["ElmanCell"],
        "feed_forward_cell": ["FeedForwardCell"],
        "gru_cell": ["GRUCell"],
        "highway_lstm_cell": ["HighwayLSTMCell"],
        "label_embedding_cell": ["LabelEmbeddingCell"],
        "layered_cell": ["LayeredCell"],
        "recurrent_cell": ["RecurrentCell"],
        "recurrent_highway_cell": ["RecurrentHighwayCell"],
        "regularized_layer": ["RegularizedLayer"],
        "shortcut_block_cell": ["ShortcutBlockCell"],
        "skip_lstm_cell": ["SkipLSTMCell"],
        "skip_stack_cell": ["SkipStackCell"],
    },
    layers_alone=True,
)
