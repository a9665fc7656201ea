"""Each system breaks a promise: `check` says which; training stops if it sees it."""

import re

import numpy as np
import pytest
from keras import ops
from transitions.page import PAGE, hybrid

from keras_tagging.onnx.arrays import Arrays
from keras_tagging.transitions import (
    ARC_STANDARD,
    ARC_STANDARD_WITH_SWAP,
    check,
    gold_moves,
)
from keras_tagging.transitions.promises import FUNCTIONS
from keras_tagging.transitions.system import TransitionSystem

TREES = [[0, 1], [2, 0], [2, 0, 2]]
LABELS = [[1, 2], [1, 2], [1, 2, 3]]
ORACLE = hybrid().oracle
RESULT = "(state.head[:, 2:] - 1, state.label[:, 2:])"
END = "return State(stack, head, label, top, front, state.lengths)"


def changed(system, **fields):
    return TransitionSystem(**{**vars(system), **fields})


def relabelled(label):
    return lambda heads, labels: (ORACLE(heads, labels)[0], [label] * 2 * len(heads))


def of_chains(heads, labels):
    return ORACLE([*range(len(heads))], labels)


def with_one_more(heads, labels):
    """LEFT, which is not legal and so changes nothing, before all others."""
    actions, labels = ORACLE(heads, labels)
    return [1, *actions], [1, *labels]


def refuses(heads, labels):
    raise ValueError("no")


# what `gold_moves` sees too: the change, and the message
BOTH = {
    "num_nodes": ({"num_nodes": 4}, r"nodes of features \(num_nodes\): the shape is"),
    "num_labels": ({"num_labels": 2}, r"labels of features \(num_labels\): the shape"),
    "fields": (
        {"fields": hybrid().fields._replace(below=())},
        r"'below' of a state \(fields\): the shape is \(\d+, \d+\) instead of \(\d+,\)",
    ),
    "few fields": (
        {"fields": hybrid().fields[:5]},
        r"fields has the names None, but a state \('below',",
    ),
    "steps": ({"steps": lambda n: n}, None),
    "another tree": (
        {"oracle": of_chains},
        r"build another tree: heads \[0, 1\] instead of \[2, 0\]",
    ),
    "another label": (
        {"oracle": lambda heads, labels: ORACLE(heads, [1] * len(labels))},
        r"another tree: labels \[1.*\] instead of \[",
    ),
    "no labels": ({"oracle": relabelled(0)}, "the label 0: it needs one, counted"),
    "labels of SHIFT": ({"oracle": relabelled(1)}, "SHIFT the label 1: it needs none"),
    "too few labels": (
        {"oracle": lambda heads, labels: (ORACLE(heads, labels)[0], labels)},
        r"its oracle gives \d actions with \d labels",
    ),
    "unknown action": (
        {"oracle": lambda heads, labels: ([3] * 2 * len(heads), [1] * 2 * len(heads))},
        r"its oracle gives the actions \[3, 3.*\], of 3",
    ),
    "left is right": (
        {"old": "xp.where(left, state.front, below)", "new": "below"},
        None,
    ),
    "a wide result": (
        {"old": RESULT, "new": "(state.head - 1, state.label)"},
        "the heads of result: the shape is",
    ),
    "float": (
        {"old": 'width), "int32"', "new": 'width), "float32"'},
        "'below' of a state is float32: arrays must be int32",
    ),
    "narrow from_root": (
        {"from_root": lambda state, xp: hybrid().legal(state, xp)[:, :2]},
        "from_root: the shape is",
    ),
    "narrow legal": (
        {"legal": lambda state, xp: hybrid().legal(state, xp)[:, :2]},
        "legal: the shape is",
    ),
    "no end": ({"old": "[~empty, word &", "new": "[~empty | empty, word &"}, None),
}
# what only `check` sees
WALKS = {
    "another function": (
        {
            "old": "    word = state",
            "new": "    xp.cumsum(state.top)\n    word = state",
        },
        "legal raises AttributeError: xp.cumsum is not among .*: where, stack",
    ),
    "if on an array": (
        {"old": "    word = state", "new": "    assert state.top\n    word = state"},
        "legal raises ValueError: The truth value of an array",
    ),
    "written in place": (
        {"old": "    may = legal", "new": "    state.head[:] = 1\n    may = legal"},
        "advance raises ValueError: assignment destination is read-only",
    ),
    "parsed": (
        {"old": END, "new": END.replace("label,", "label + ~may.any(1)[:, None],")},
        "advance changes 'label' of a parsed sentence, after no move in a sentence of",
    ),
    "two roots": (
        {"old": "word & last", "new": "word"},
        "no tree with one root, after SHIFT .*: the words .* are roots",
    ),
    "more steps": ({"steps": lambda n: 3 * n}, "no move is legal, though steps are fi"),
    "less steps": (
        {"steps": lambda n: n},
        "a move is legal when all of steps are made",
    ),
    "beyond the end": (
        {"old": "xp.where(state.front > state.lengths + 1, 0, state.front)"}
        | {"new": "state.front"},
        r"nodes of features .* are \[\d, 0, 2\], out of range, after no move in a sen",
    ),
    "beyond the table": (
        {
            "old": "legal(state, xp)\n",
            "new": "legal(state, xp).any(1)[:, None] | [0] * 3\n",
        }
        | {"old": "    may = legal(state, xp)"}
        | {"new": "    may = xp.stack([xp.any(legal(state, xp), 1)] * 3, 1)"},
        "out of range, after a move that is not legal",
    ),
    "others of the batch": (
        {
            "old": "front, below), xp)",
            "new": "front, below - (max(state.lengths) < 8)), xp)",
        },
        r"after the same moves the heads .* are \[0\] in a batch and \[-1\] alone",
    ),
    "from_root": (
        {"from_root": lambda state, xp: np.zeros((len(state.top), 3), bool)},
        "from_root is wrong of an arc that is made, after SHIFT in a sentence of",
    ),
    "refused": ({"oracle": refuses}, r"the oracle refuses the heads \[\], which legal"),
    "error": ({"oracle": lambda heads, labels: [][0]}, r"heads \[\] raises IndexError"),
    "not legal": (
        {"oracle": with_one_more, "steps": lambda n: 2 * n + 1, "fixed_steps": False},
        r"of the heads \[\] takes a move that is not legal: after LEFT$",
    ),
    "labels of another set": (
        {"actions": (*hybrid().actions[:2], hybrid().actions[2]._replace(labels="x"))},
        "labels {'x'}: a parser has only 'labels'",
    ),
}


@pytest.mark.parametrize(
    "system", [ARC_STANDARD, ARC_STANDARD_WITH_SWAP, hybrid()], ids=lambda x: x.name
)
@pytest.mark.parametrize("seed", range(2))
def test_promises_are_kept(system, seed):
    check(system, seed)


@pytest.mark.parametrize("case", [*BOTH, *WALKS])
def test_check_says_what_is_broken(case):
    change, message = {**BOTH, **WALKS}[case]
    with pytest.raises(ValueError, match=message) as found:
        check(hybrid(**change))
    assert "\n" not in str(found.value)
    assert "toy" in str(found.value)


@pytest.mark.parametrize("case", BOTH)
def test_training_stops(case):
    change, message = BOTH[case]
    with pytest.raises(ValueError, match=message) as found:
        gold_moves(hybrid(**change), TREES, LABELS)
    assert "'toy'" in str(found.value)


@pytest.mark.parametrize(
    ("system", "message"),
    [
        (hybrid(oracle=of_chains), "sentence 2: 'toy': .*: heads "),
        (hybrid(oracle=refuses), "sentence 1: no"),
        (
            hybrid(steps=lambda n: n),
            "sentence 1: 'toy': its oracle takes 4 moves for 2 words, where steps says "
            "exactly 2",
        ),
        (
            hybrid(steps=lambda n: n, fixed_steps=False),
            "sentence 1: .* at most 2",
        ),
        (
            changed(ARC_STANDARD_WITH_SWAP, fixed_steps=True),
            "sentence 1: 'swap': its oracle takes 4 moves for 2 words, .* exactly 6",
        ),
        (
            hybrid(legal=lambda state, xp: np.ones((len(state.top), 3), bool)),
            "sentence 1: 'toy': after the last move of its oracle SHIFT is legal",
        ),
    ],
)
def test_the_sentence_is_named(system, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gold_moves(system, TREES, LABELS)


def test_sentences_are_named_as_the_caller_says():
    with pytest.raises(ValueError, match="^the last: 'toy'"):
        gold_moves(
            hybrid(oracle=of_chains), [[0, 1], [2, 0]], [[1, 2]] * 2, ["", "the last"]
        )


def test_arcs_may_cross_only_if_it_says_so():
    system = changed(ARC_STANDARD_WITH_SWAP, nonprojective=False)
    with pytest.raises(ValueError, match=r"arcs of the heads \[.*\] cross, though non"):
        check(system)


def test_the_functions_that_all_engines_have():
    """Those that the page names."""
    for name in FUNCTIONS:
        for xp in (np, ops, Arrays):
            assert callable(getattr(xp, name)), (xp, name)
    (listed,) = re.findall(
        r"use only what all three have: (.*?), and", PAGE.read_text(), re.S
    )
    assert {*re.findall("``(.*?)``", listed), "shape"} == set(FUNCTIONS)
