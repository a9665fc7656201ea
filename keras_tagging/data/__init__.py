"""Sentences, the readers of corpora, and what a corpus contains. No Keras here."""

from keras_tagging.corpora.loading import load_corpus
from keras_tagging.corpora.describe import describe
from keras_tagging.data.formats import FORMATS
from keras_tagging.corpora.public_table import PUBLIC
from keras_tagging.data.readers import CorpusError, detect_format, read, write
from keras_tagging.data.sentence import Corpus, Sentence

__all__ = [
    "FORMATS",
    "PUBLIC",
    "Corpus",
    "CorpusError",
    "Sentence",
    "describe",
    "detect_format",
    "load_corpus",
    "read",
    "write",
]
