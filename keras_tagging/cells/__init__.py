"""Recurrent cells: one file a cell, the equations of the papers."""

import lazy_loader

# imported on first use: Keras and TensorFlow take seconds
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "elman_cell": ["ElmanCell"],
        "feed_forward_cell": ["FeedForwardCell"],
        "gru_cell": ["GRUCell"],
        "highway_lstm_cell": ["HighwayLSTMCell"],
        "recurrent_cell": ["RecurrentCell"],
        "recurrent_highway_cell": ["RecurrentHighwayCell"],
        "shortcut_block_cell": ["ShortcutBlockCell"],
        "skip_lstm_cell": ["SkipLSTMCell"],
    },
)
