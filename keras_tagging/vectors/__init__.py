"""Pretrained word vectors: reading every common format, and training one's own.

gensim reads whole files and trains. It cannot read a part that a vocabulary chooses, so
that passes of our own (`embeddings.selection`) do: they keep no other vector in memory.
Files are told apart by their content, and checked where gensim would read them wrongly
or fail without a word about the line. gensim is imported when it is needed: a tagger
that is only served has its vectors already.
"""

from keras_tagging.vectors.coverage import Coverage, coverage
from keras_tagging.vectors.loading import as_vectors, load_vectors
from keras_tagging.vectors.training import train_vectors
from keras_tagging.vectors.word_vectors import UNKNOWN_ROWS, WordVectors

__all__ = [
    "UNKNOWN_ROWS",
    "Coverage",
    "WordVectors",
    "as_vectors",
    "coverage",
    "load_vectors",
    "train_vectors",
]
