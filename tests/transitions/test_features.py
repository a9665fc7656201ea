"""Table 1 of Elkaref & Bohnet (2017), by hand, and on longer random sentences."""

from dataclasses import replace

import numpy as np
import pytest
from transitions.walks import PAIRS, advance_both, random_walk, row, start_both

from keras_tagging.transitions import NODES, Cases, transition_system
from keras_tagging.transitions.arc_standard import (
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    features,
)
from keras_tagging.transitions.node_table import CORE, NUM_LABELS, NUM_NODES
from keras_tagging.transitions.swap import SWAP

BOTH = pytest.mark.parametrize("name", PAIRS)

# Two heads with two children on either side, each outer one with one of its own; then
# three words that wait in the buffer and one more. Words are numbers from 1:
#   1 <- 2 <- 4, 3 <- 4, 4 -> 5, 4 -> 6 -> 7, and the same from 8 to 14 with the head 11
HALF = [
    *(SHIFT, SHIFT, LEFT_ARC, SHIFT, SHIFT, LEFT_ARC, LEFT_ARC),
    *(SHIFT, RIGHT_ARC, SHIFT, SHIFT, RIGHT_ARC, RIGHT_ARC),
]
EXPECTED = {
    **{"s0": 11, "s1": 4, "s2": 0, "b0": 15, "b1": 16, "b2": 17},
    **{"rc1(s0)": 13, "rc2(s0)": 12, "rc1(s1)": 6, "rc2(s1)": 5},
    **{"lc1(s0)": 9, "lc2(s0)": 10, "lc1(s1)": 2, "lc2(s1)": 3},
    **{"rc1(rc1(s0))": 14, "lc1(lc1(s0))": 8},
    **{"rc1(rc1(s1))": 7, "lc1(lc1(s1))": 1},
}


@BOTH
def test_every_node_by_hand(name):
    ours, theirs = start_both([18], name=name)
    # the label of an arc is the step in which it is made
    for step, move in enumerate([*HALF, *HALF], 1):
        ours, theirs = advance_both(ours, theirs, [move], [step], name)
    nodes, labels = PAIRS[name][0].features(ours, np)
    assert list(EXPECTED) == list(NODES)
    assert nodes.tolist() == [[row(word) for word in EXPECTED.values()]]
    made = {2: 7, 3: 6, 5: 9, 6: 13, 1: 3, 7: 12}
    made |= {word + 7: step + len(HALF) for word, step in made.items()}
    assert labels.tolist() == [[made[word] for word in list(EXPECTED.values())[6:]]]


def test_at_the_start():
    ours, _ = start_both([0, 1, 2, 5])
    nodes, labels = features(ours)
    assert nodes.shape == (4, NUM_NODES) == (4, 18)
    assert labels.shape == (4, NUM_LABELS) == (4, 12)
    assert nodes[:, :6].tolist() == [
        [1, 0, 0, 0, 0, 0],
        [1, 0, 0, 2, 0, 0],
        [1, 0, 0, 2, 3, 0],
        [1, 0, 0, 2, 3, 4],
    ]
    assert not nodes[:, 6:].any() and not labels.any()


def test_words_that_have_changed_places():
    """2 and 4 are taken back to the buffer, 2 with its child 1."""
    ours, theirs = start_both([5], name="swap")
    moves = [SHIFT, SHIFT, LEFT_ARC, SHIFT, SWAP, SHIFT, SHIFT, SHIFT, SWAP]
    for move in moves:
        ours, theirs = advance_both(ours, theirs, [move], [7], "swap")
    assert theirs[0][:2] == ([0, 3, 2, 5], [4])
    nodes, _ = PAIRS["swap"][0].features(ours, np)
    assert nodes[0, :6].tolist() == [row(n) for n in (5, 2, 3, 4, None, None)]
    assert nodes[0, NODES.index("lc1(s1)")] == row(1)


@BOTH
def test_random_moves_of_longer_sentences(name):
    system, reference = PAIRS[name]
    seen = np.zeros(NUM_NODES, int)
    for ours, theirs, _, _ in random_walk([16] * 40 + [9] * 10, 0, name):
        nodes, labels = system.features(ours, np)
        expected = [reference.features(one) for one in theirs]
        assert nodes.tolist() == [[row(node) for node in one] for one, _ in expected]
        assert labels.tolist() == [[label or 0 for label in one] for _, one in expected]
        seen += (nodes > 0).sum(0)
    assert seen.min() > 20  # no node is hardly ever there


@BOTH
def test_the_core_is_eight_of_the_nodes(name):
    core, places = transition_system(f"{name}-core"), [NODES.index(n) for n in CORE]
    of_labels, full = [place - 6 for place in places[4:]], PAIRS[name][0]
    assert (core.num_nodes, core.num_labels) == (8, 4)
    lengths, seen = [16] * 20 + [9, 1, 0, 8, 6, 7], np.zeros(8, int)
    state = core.initial(np.array(lengths, "int32"), 18, np)
    for ours, _, actions, moved in random_walk(lengths, 1, name):
        nodes, labels = core.features(state, np)
        every, all_labels = full.features(ours, np)
        assert nodes.tolist() == every[:, places].tolist()
        assert labels.tolist() == all_labels[:, of_labels].tolist()
        for function in ("legal", "from_root"):
            found, expected = (
                getattr(system, function)(x, np)
                for system, x in ((core, state), (full, ours))
            )
            assert found.tolist() == expected.tolist()
        for found, expected in zip(
            core.result(state, np), full.result(ours, np), strict=True
        ):
            assert found.tolist() == expected.tolist()
        seen += (nodes > 0).sum(0)
        given = [0 if action is None else action for action in actions]
        given = np.array(given, "int32"), np.array(moved, "int32")
        state = core.advance(state, *given, np)
    assert seen.min() > 5


def test_cases_are_those_of_both_functions():
    """A system with a `legal` of its own is not taken for that it was made from."""
    system = transition_system("arc-standard")
    assert Cases.of_system(system).root.sum() == 2
    own = replace(system, legal=lambda state, xp: system.legal(state, xp))
    assert Cases.of_system(own) is None
    assert Cases.of_system(replace(system, from_root=None)) is None
