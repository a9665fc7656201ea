"""Every system does what `TransitionSystem` says; what does not is found out."""

import numpy as np
import pytest
from keras import ops
from transitions.conformance import FUNCTIONS, check
from transitions.page import hybrid

from keras_tagging.onnx.arrays import Arrays
from keras_tagging.transitions import gold_moves, transition_system

NAMES = ["arc-standard", "arc-standard-core", "swap", "swap-core"]
ORACLE = hybrid().oracle


@pytest.mark.parametrize("name", [*NAMES, "arc-hybrid"])
def test_systems_do_what_they_say(name):
    check(hybrid() if name == "arc-hybrid" else transition_system(name))


@pytest.mark.parametrize(
    "change",
    [
        {"old": "word & last", "new": "word"},  # two roots
        {"old": "    may = legal", "new": "    state.head[:] = 1\n    may = legal"},
        {"old": "label, top,", "new": "label + ~may.any(1)[:, None], top,"},  # parsed
        {"steps": lambda n: n},
        {"from_root": lambda state, xp: np.zeros((len(state.top), 3), bool)},
        {"oracle": lambda heads, labels: ([1, *ORACLE(heads, labels)[0]], [1] * 99)},
    ],
    ids=["roots", "written in place", "parsed", "steps", "from_root", "oracle"],
)
def test_what_is_broken_is_found(change):
    with pytest.raises((AssertionError, ValueError)):
        check(hybrid(**change))


def test_training_stops_where_moves_build_another_tree():
    def of_chains(heads, labels):
        return ORACLE([*range(len(heads))], labels)

    trees, labels = [[0, 1], [2, 0]], [[1, 2]] * 2
    with pytest.raises(ValueError, match="^sentence 2: 'toy'.* another tree: heads"):
        gold_moves(hybrid(oracle=of_chains), trees, labels)
    with pytest.raises(ValueError, match="^the last: 'toy'"):
        gold_moves(hybrid(oracle=of_chains), trees, labels, ["", "the last"])


def test_the_functions_that_all_engines_have():
    for name in FUNCTIONS:
        for xp in (np, ops, Arrays):
            assert callable(getattr(xp, name)), (xp, name)
