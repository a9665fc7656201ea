"""Pretrained word vectors: reading every common format, and training one's own.

The passes that read files are our own: gensim cannot read a part that a vocabulary
chooses, believes what the first line announces, and hangs on some damaged files.
Formats are told apart by their content. gensim trains, gives the pieces of fastText's
words, and opens its own files, which are pickles, if the user allows that. It is
imported when it is needed: a tagger that is only served has its vectors already.
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
