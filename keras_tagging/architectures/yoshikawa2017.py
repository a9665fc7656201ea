r"""CCG parser: Yoshikawa et al. (2017), "A* CCG Parsing with a Supertag and Dependency
Factored Model".

.. math::
    \log P(y | x) = \sum_i \log p_{\textrm{tag}}(c_i | x)
        + \sum_i \log p_{\textrm{dep}}(h_i | x)

for the categories c and the heads h of the words, :cite:`yoshikawa2017`: the network of
the biaffine parser gives both, from the same recurrent layers as in section 3.2, and
:mod:`keras_tagging.ccg.astar` finds the derivation. Departures: the score has further
terms from training, each with a weight: the logarithms of the shares of rules, and of
the orders in which neighbours join a head; the search is in haste; heads are those of
the categories (`Derivation.heads`); no word is its own head; categories do not read the
vector of the best head; the sizes of the layers are those of the biaffine parser, the
features and the training those of the stacked taggers here.
"""

from dataclasses import dataclass
from typing import ClassVar

from keras_tagging.architectures.architecture import Architecture
from keras_tagging.architectures.biaffine_network import BiaffineNetwork
from keras_tagging.architectures.kadari2018 import FAST
from keras_tagging.architectures.settings import TABLES, CCGSettings


@dataclass(frozen=True, kw_only=True)
class CCGNetwork(BiaffineNetwork):
    """The network of a biaffine parser without labels, for derivations."""

    kind: ClassVar[str] = "ccg-parser"
    needs: ClassVar = (CCGSettings, *TABLES)


CCG_PARSER = Architecture(
    name="ccg-parser",
    summary="CCG parser, A* over supertags and heads: Yoshikawa et al. (2017).",
    network=CCGNetwork,
    # section 5.1 and 5.2, but for ELMo's predecessors of its words
    paper={
        "feed_dim": 0,
        "tree_weight": 1.0,
        "optimizer": "adam",
        "learning_rate": 1e-3,
        "batch_size": 128,
        "epochs": 30,
    },
    fast={
        **FAST,
        "encoder": "bigru",
        "dropout": 0.25,
        "layer_dropout": 0.33,
        "token_budget": 400,
    },
)
