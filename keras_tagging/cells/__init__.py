"""Recurrent cells: one file a cell, the equations of the papers."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, layers_alone=True)
