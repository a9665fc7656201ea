"""The layers that run cells, read labels, search and decode."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, layers_alone=True)
