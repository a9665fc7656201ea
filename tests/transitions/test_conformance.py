"""Every system does what `TransitionSystem` says."""

import numpy as np
import pytest
from keras import ops
from transitions.arc_hybrid import ARC_HYBRID
from transitions.conformance import FUNCTIONS, check

from keras_tagging.onnx.arrays import Arrays
from keras_tagging.transitions import transition_system


@pytest.mark.parametrize("name", ["arc-standard", "arc-hybrid"])
def test_systems_do_what_they_say(name):
    check(ARC_HYBRID if name == "arc-hybrid" else transition_system(name))


def test_the_functions_that_all_engines_have():
    for name in FUNCTIONS:
        for xp in (np, ops, Arrays):
            assert callable(getattr(xp, name)), (xp, name)
