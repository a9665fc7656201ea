"""Recurrent cells: one file a cell, the equations of the papers."""

import lazy_loader

# imported on first use: Keras and TensorFlow take seconds
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
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
)
