"""Transition systems on arrays, their oracles, and the search; no Keras here."""

from keras_tagging.data.trees import check_tree, is_projective, lift, unlift
from keras_tagging.transitions.arc_standard import ARC_STANDARD, NODES
from keras_tagging.transitions.gold_moves import Moves, gold_moves
from keras_tagging.transitions.search import NumPy, search
from keras_tagging.transitions.shift_reduce import (
    RuleTables,
    ccg_system,
    derivation_moves,
)
from keras_tagging.transitions.supertags import Supertags
from keras_tagging.transitions.system import (
    DEPRELS,
    Action,
    Cases,
    Outputs,
    TransitionSystem,
    register,
    transition_system,
)

__all__ = [
    "ARC_STANDARD",
    "DEPRELS",
    "NODES",
    "Action",
    "Cases",
    "Moves",
    "NumPy",
    "Outputs",
    "RuleTables",
    "Supertags",
    "TransitionSystem",
    "ccg_system",
    "check_tree",
    "derivation_moves",
    "gold_moves",
    "is_projective",
    "lift",
    "register",
    "search",
    "transition_system",
    "unlift",
]
