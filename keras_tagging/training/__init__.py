"""Objectives, callbacks, devices, and the state of a run."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
