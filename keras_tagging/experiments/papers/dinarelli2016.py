"""Tables 4 to 7 of Dinarelli & Tellier (2016), :cite:`dinarelli2016`.

Improving Recurrent Neural Networks For Sequence Labelling: networks that read their own
labels as embeddings. The tables have a column for each direction; here each network and
direction has its row. The best epoch is the one with the best accuracy on the
development set (section 3.2), for F1 too.
"""

from keras_tagging.experiments.papers.table import read_tables

TABLES = read_tables("dinarelli2016")
