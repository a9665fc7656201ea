"""Transition-based dependency parsing on arrays; no Keras here."""

from keras_tagging.data.projectivity import (
    check_tree,
    is_projective,
    lift,
    unlift,
)
from keras_tagging.parsing.features import NODES, NUM_LABELS, NUM_NODES, features
from keras_tagging.parsing.oracle import Moves, oracle
from keras_tagging.parsing.transitions import (
    LEFT_ARC,
    NONE,
    RIGHT_ARC,
    ROOT,
    SHIFT,
    Configuration,
    advance,
    legal,
    start,
)

__all__ = [
    "LEFT_ARC",
    "NODES",
    "NONE",
    "NUM_LABELS",
    "NUM_NODES",
    "RIGHT_ARC",
    "ROOT",
    "SHIFT",
    "Configuration",
    "Moves",
    "advance",
    "check_tree",
    "features",
    "is_projective",
    "legal",
    "lift",
    "oracle",
    "start",
    "unlift",
]
