"""Tables 1 to 4 of Wu et al. (2017), :cite:`wu2017`.

Shortcut Sequence Tagging: stacked Bi-LSTMs whose cells replace their own state with the
output of two layers below. Words start from GloVe vectors (section 5.1). Tables
2 to 4 do not say how many layers they have; here 9, Table 1's.

Table 4 has the inputs of section 4.1 and no others, in both recipes.
"""

from keras_tagging.experiments.papers.table import read_tables

TABLES = read_tables("wu2017")
