"""Tables 2 to 5 of Elkaref & Bohnet (2017), :cite:`elkaref2017`.

A Simple LSTM model for Transition-based Dependency Parsing: recurrent parsers that
start from the weights of a feed-forward one. These "use the final trained embeddings of
their respective FFN baseline", so only baselines start from GloVe vectors.

The gates of a row are those that start from the hidden layer of the FFN baseline.
"""

from keras_tagging.experiments.papers.table import read_tables

TABLES = read_tables("elkaref2017")
