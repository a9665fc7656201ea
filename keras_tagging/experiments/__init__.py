"""The papers' tables as data; reproducing, comparing and analysing models."""

from keras_tagging.utils.startup import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, light=["papers"])
