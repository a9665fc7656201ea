"""Tables 1 to 4 of Kadari et al. (2018), :cite:`kadari2018`.

Gated recurrent unit model for a sequence tagging problem: a Bi-GRU for CCG
supertagging. The word vectors are a feature beside the learnt embeddings (section 2.2),
so the keyword of `build` is `vectors`, not `embeddings`.

Table 4 is transposed: a row a system.
"""

from keras_tagging.experiments.papers.table import read_tables

TABLES = read_tables("kadari2018")
