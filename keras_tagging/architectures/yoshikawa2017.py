r"""CCG parser: Yoshikawa et al. (2017), "A* CCG Parsing with a Supertag and Dependency
Factored Model".

.. math::
    \log P(y | x) = \sum_i \log p_{\textrm{tag}}(c_i | x)
        + \sum_i \log p_{\textrm{dep}}(h_i | x)

for the categories c and the heads h of the words, :cite:`yoshikawa2017`: the network
gives both, and :mod:`keras_tagging.ccg.astar` finds the derivation. Departures: the
score has further terms from training, each with a weight: the logarithms of the shares
of rules, and of the orders in which neighbours join a head; the search is in haste;
heads are those of the categories (`Derivation.heads`); the recurrent layers, the
features and their sizes are those of the stacked taggers here.
"""

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.ccg_network import CCGNetwork
from keras_tagging.architectures.kadari2018 import FAST

CCG_PARSER = Architecture(
    name="ccg-parser",
    summary="CCG parser, A* over supertags and heads: Yoshikawa et al. (2017).",
    network=CCGNetwork,
    # section 5.1 and 5.2, but for ELMo's predecessors of its words
    paper={"optimizer": "adam", "learning_rate": 1e-3, "batch_size": 128, "epochs": 30},
    fast={**FAST, "token_budget": 400, "label_smoothing": 0.0},
)
