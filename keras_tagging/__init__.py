"""Recurrent sequence tagging on Keras 3."""

from importlib.metadata import version

from keras_tagging.data import Corpus, CorpusError, Sentence, load_corpus
from keras_tagging.factory import available, build, load
from keras_tagging.models.tagger import Tagger

__version__ = version("keras-tagging")

__all__ = [
    "Corpus",
    "CorpusError",
    "Sentence",
    "Tagger",
    "available",
    "build",
    "load",
    "load_corpus",
]
