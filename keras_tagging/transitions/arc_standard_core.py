"""Arc-standard for networks that read eight nodes: all they read is kept at hand.

The moves are those of `arc_standard`. A step of its search has half the operations,
each of which costs more than its numbers do: what the network reads, and what decides
which moves are legal, stands in one row, `view`, and a move picks the next row out of
this one, two rows of the table and the label. A node's own row is written when it
leaves the two on top of the stack, and read when it comes back to them.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from keras_tagging.transitions.arc_standard import (
    ARC_STANDARD,
    FROM_ROOT,
    LEFT_ARC,
    LEGAL,
    NONE,
    POSSIBLE,
    RIGHT_ARC,
    ROOT,
    SHIFT,
)
from keras_tagging.transitions.system import Cases, register

#: the nodes that the network reads; rc and lc: right and left children
CORE = ("s0", "s1", "s2", "b0", "rc1(s0)", "rc1(s1)", "lc1(s0)", "lc1(s1)")
#: the columns of `view`: the nodes and labels of `CORE`; what adds up to the case of a
#: configuration, which is two for s_1 = ROOT, four for a word, and one for an empty
#: buffer; and what s_0 would add in place of s_1
VIEW = (*CORE, *(f"label of {node}" for node in CORE[4:]), "s1 is", "empty", "s0 is")
NODES, LABELS, CASE, STACK_AND_BUFFER = (
    slice(*ends) for ends in ((0, 8), (8, 12), (12, 14), (2, 4))
)
#: the columns of a row of `table`: of a node that has left the top of the stack the one
#: below it, its outermost children with the labels of their arcs, or its own arc; of
#: every node what it would add to the case as s_1; the word behind it, and whether
#: there is none
TABLE = ("below", "rc1", "label of rc1", "lc1", "label of lc1", "head", "label", "is")
TABLE += ("next", "last")
HEAD, LABEL = TABLE.index("head"), TABLE.index("label")
#: what a move picks from: the view, the label, the row of s_2 and the row of b_0
SOURCES = (*VIEW, "label", *(f"s2: {x}" for x in TABLE), *(f"b0: {x}" for x in TABLE))
#: a field of a node that is still in the buffer, and so 0
ZERO = "b0: head"


class View(NamedTuple):
    """A configuration; int32 arrays.

    Attributes:
        view: `(batch, 15)`: see `VIEW`.
        table: `(batch, width, 10)`, the fields of each node: see `TABLE`.
    """

    view: Any
    table: Any


def _picks(view: dict, written: str, row: dict) -> list[int]:
    """The numbers of sources of the next view, of the node that is written, its row."""
    names = [view.get(name, name) for name in VIEW]
    names += [written, *(row.get(name, ZERO) for name in TABLE)]
    return [SOURCES.index(name) for name in names]


def _after_arc(first: int, child: str, dependent: str) -> list[int]:
    """The picks of an arc from s_0 or s_1, whose number is `first`."""
    head = f"s{first}"
    view = {"s0": head, "s1": "s2", "s2": "s2: below"}
    view |= {"s0 is": f"{head} is", "s1 is": "s2: is"}
    for kind in ("rc1", "lc1"):
        of_head, of_third = f"{kind}({head})", f"s2: {kind}"
        pairs = {f"{kind}(s0)": of_head, f"{kind}(s1)": of_third}
        view |= pairs | {f"label of {k}": f"label of {x}" for k, x in pairs.items()}
        view[f"label of {kind}(s1)"] = f"s2: label of {kind}"
    view |= {f"{child}(s0)": dependent, f"label of {child}(s0)": "label"}
    return _picks(view, dependent, {"head": head, "label": "label"})


def _after_shift() -> list[int]:
    view = {"s0": "b0", "s1": "s0", "s2": "s1", "b0": "b0: next"}
    view |= {"s0 is": "b0: is", "s1 is": "s0 is", "empty": "b0: last"}
    row = {"below": "s2", "is": "s1 is"}
    for kind in ("rc1", "lc1"):
        for of in ("", "label of "):
            view |= {f"{of}{kind}(s0)": ZERO, f"{of}{kind}(s1)": f"{of}{kind}(s0)"}
            row[f"{of}{kind}"] = f"{of}{kind}(s1)"
    return _picks(view, "s1", row)


#: by action; `PICKS` has them by action, s_1 and buffer, as in `arc_standard`
MOVES = {
    SHIFT: _after_shift(),
    LEFT_ARC: _after_arc(0, "lc1", "s1"),
    RIGHT_ARC: _after_arc(1, "rc1", "s0"),
}
PICKS = np.array(
    [
        moves if may else _picks({}, ZERO, {})
        for action, moves in MOVES.items()
        for may in POSSIBLE[action]
    ],
    "int32",
)


def initial(lengths, width, xp=np) -> View:
    """ROOT on the stack, all words in the buffer, no arcs."""
    batch, ends = xp.shape(lengths)[0], xp.expand_dims(lengths, 1)
    every = xp.expand_dims(xp.arange(width, dtype="int32"), 0)
    words = xp.zeros((batch, width), "int32") + every
    following = xp.where((words > ROOT) & (words <= ends), words + 1, NONE)
    empty, none = np.int32(1), np.int32(0)
    last = xp.where(following == NONE, empty, none)
    static = xp.stack([xp.minimum(words, 2) * 2, following, last], 2)
    fields = xp.zeros((batch, width, len(TABLE) - 3), "int32")
    values = {
        "s0": xp.ones_like(lengths),
        "b0": xp.where(lengths > 0, np.int32(ROOT + 1), none),
        "empty": xp.where(lengths > 0, none, empty),
        "s0 is": xp.ones_like(lengths) * 2,
    }
    nothing = xp.zeros_like(lengths)
    view = xp.stack([values.get(name, nothing) for name in VIEW], 1)
    return View(view, xp.concatenate([fields, static], 2))


def case_of(state, xp=np):
    """The row of `LEGAL`: `(batch,)`."""
    return xp.sum(state.view[:, CASE], 1)


CASES = Cases(case_of, LEGAL, FROM_ROOT)


def advance(state, actions, labels, xp=np) -> View:
    """The configuration after a legal move."""
    view, table = state
    batch, width = xp.shape(table)[:2]
    numbers = xp.expand_dims(xp.arange(batch, dtype="int32"), 1)
    rows = view[:, STACK_AND_BUFFER] + numbers * width
    of_nodes = xp.take(xp.reshape(table, (-1, len(TABLE))), rows, axis=0)
    of_nodes = xp.reshape(of_nodes, (-1, 2 * len(TABLE)))
    values = xp.concatenate([view, xp.expand_dims(labels, 1), of_nodes], 1)
    picks = xp.take(PICKS, actions * 6 + case_of(state, xp), axis=0)
    after = xp.take_along_axis(values, picks, axis=1)
    count = len(VIEW)
    node, fields = after[:, count : count + 1], after[:, count + 1 :]
    if hasattr(xp, "scatter_update"):
        places = xp.concatenate([numbers, node], 1)
        table = xp.scatter_update(table, places, fields)
    else:  # NumPy
        table = table + 0
        table[numbers[:, 0], node[:, 0]] = fields
    return View(after[:, :count], table)


def features(state, xp=np):
    """The part that a network reads whose vectors know the sentence.

    The four nodes of Kiperwasser & Goldberg (2016b), section 4.2, and the outermost
    children of two of them: what else stands around is in the vectors that a recurrent
    stack gives these nodes.

    Returns:
        The nodes `(batch, 8)` in the order of `CORE`, NONE for a missing node; and the
        labels `(batch, 4)` of the last 4, 0 for a missing node.
    """
    return state.view[:, NODES], state.view[:, LABELS]


def tree(state, xp=np):
    """Heads and labels of all words: `(batch, width - 2)` each."""
    return state.table[:, 2:, HEAD] - 1, state.table[:, 2:, LABEL]


ARC_STANDARD_CORE = register(
    replace(
        ARC_STANDARD,
        name="arc-standard-core",
        fields=View((len(VIEW),), (None, len(TABLE))),
        initial=initial,
        legal=CASES.legal,
        advance=advance,
        features=features,
        num_nodes=len(CORE),
        num_labels=len(CORE) - 4,  # of the children
        result=tree,
        cases=CASES,
    )
)
