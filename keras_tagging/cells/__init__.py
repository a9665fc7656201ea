"""Recurrent cells: one file a cell, the equations of the papers."""

from keras_tagging.cells.gru_cell import GRUCell

__all__ = ["GRUCell"]
