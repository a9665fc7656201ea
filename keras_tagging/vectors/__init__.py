"""Pretrained word vectors: reading every common format, and training new ones.

The package has its own readers, because gensim cannot read only the words of a
vocabulary, trusts the sizes in the first line, and hangs on some damaged files. Formats
are recognised by their content. gensim trains vectors, splits words into fastText's
pieces, and opens its own files, which are pickles, if the user allows that. It is
imported only when needed: a tagger in service has its vectors already.
"""

from keras_tagging.vectors.coverage import Coverage, coverage
from keras_tagging.vectors.loading import as_vectors, load_vectors, save_vectors
from keras_tagging.vectors.training import train_vectors
from keras_tagging.vectors.word_classes import read_word_classes
from keras_tagging.vectors.word_vectors import UNKNOWN_ROWS, WordVectors

__all__ = [
    "UNKNOWN_ROWS",
    "Coverage",
    "WordVectors",
    "as_vectors",
    "coverage",
    "load_vectors",
    "read_word_classes",
    "save_vectors",
    "train_vectors",
]
