r"""CCG parser by moves: Zhang and Clark (2011), "Shift-Reduce CCG Parsing".

.. math::
    x_t &= [v \textrm{ of 14 nodes}; e^c \textrm{ of 7 of them}] \\
    h_t &= \mathrm{cell}(x_t, h_{t-1}), \quad y_t = \mathrm{softmax}(W_h h_t)

over the moves of a sentence, :cite:`zhang2011`: SHIFT with one of the categories that a
supertagger gives the next word, REDUCE, UNARY and FINISH, as
:mod:`keras_tagging.transitions.shift_reduce` has them; v are the states of a recurrent
stack over the sentence, e the embeddings of the categories of constituents. The cells
are those of Elkaref & Bohnet (2017), :cite:`elkaref2017`: a feed-forward one as in
Ambati et al. (2016), :cite:`ambati2016`, and recurrent ones as in Xu (2016),
:cite:`xu2016b`. Departures: a softmax over the moves in place of a perceptron; the
supertagger is trained together with the moves, and adds its probabilities to those of
SHIFT (:class:`keras_tagging.transitions.Supertags`); of the derivations in the beam,
one without fragments goes before all others; ``recipe="fast"`` also counts what a
dependency tree of the sentence says for each, where there is one
(:func:`keras_tagging.transitions.agreement.agreement`).
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.kadari2018 import FAST
from keras_tagging.architectures.shift_reduce_network import ShiftReduceNetwork

CCG_SHIFT_REDUCE = Architecture(
    name="ccg-shift-reduce",
    summary="CCG parser by moves, greedy or with a beam: Zhang & Clark (2011).",
    network=ShiftReduceNetwork,
    # section 5.1: the beam
    paper={"optimizer": "adam", "learning_rate": 1e-3, "batch_size": 16, "epochs": 30}
    | {"beam_width": 16},
    fast={**FAST, "token_budget": 400, "beam_width": 8, "head_weight": 1.5},
)
