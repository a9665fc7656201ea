"""Tables 1 to 4 of Wu et al. (2016), :cite:`wu2016`.

An Empirical Exploration of Skip Connections for Sequential Tagging: stacked Bi-LSTMs
whose layers skip one another. Words start from GloVe vectors (section 6.1.2).

In Table 1 characters are the only features of a word's form, in both recipes.
"""

from keras_tagging.experiments.papers.table import read_tables

TABLES = read_tables("wu2016")
