"""Shift-reduce for combinatory categorial grammar.

Zhang & Clark (2011), section 3, :cite:`zhang2011`: SHIFT gives the next word a
category, REDUCE joins the two constituents on top of the stack, UNARY changes the
category of the topmost one, and FINISH ends. What REDUCE and UNARY make is what a
grammar has for the categories that are there.

A constituent stands in the table of nodes at the row of its head word, which is the
one that the categories say: that of the functor, but of a modifier its argument's. So
what the network reads of a constituent is its head word, its category, its first and
last word, and the last constituents that it took from its left and its right.

*Departures*: FINISH waits until nothing can be reduced. If several constituents are
left then, they are fragments, as in that paper.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_tagging.transitions.gold_moves import Moves, replayed
from keras_tagging.transitions.node_table import rows, stack_top, written
from keras_tagging.transitions.rule_tables import (
    CATEGORIES,
    CHANGED,
    WHOLES,
    RuleTables,
)
from keras_tagging.transitions.system import Action, TransitionSystem

# The fields of a node: the node below it on the stack; its category; the first and the
# last word; how often its category has changed; and the head words of the last
# constituents that it took from its left and its right.
BELOW, CATEGORY, FIRST, LAST, CHANGES, LEFT, RIGHT = range(7)
ACTIONS = (
    Action("SHIFT", CATEGORIES),
    Action("REDUCE", WHOLES),
    Action("UNARY", CHANGED),
    Action("FINISH"),
)
#: what `features` gives, head words for constituents
NODES = (
    *("s0", "s1", "s2", "b0", "b1", "b2"),
    *("first(s0)", "last(s0)", "left(s0)", "right(s0)"),
    *("first(s1)", "last(s1)", "left(s1)", "right(s1)"),
)
FRONT = NODES.index("b0")
#: the categories of which of them
LABELS = ("s0", "s1", "s2", "left(s0)", "right(s0)", "left(s1)", "right(s1)")
INSIDE = np.array(
    [7 * i + field for i in range(2) for field in (FIRST, LAST, LEFT, RIGHT)], "int32"
)
READ = np.array([NODES.index(name) for name in LABELS], "int32")


class State(NamedTuple):
    """Stack, buffer and moves; int32 arrays.

    Attributes:
        nodes: `(batch, width, 7)`, the fields of each node, see above.
        moves: `(batch, width, c)`, the moves from row 1 on, row by row: 4 times the
            label, and the action; 0 for none.
        count: `(batch,)`, the number of moves.
        top: `(batch,)`, the constituent on top of the stack; 0 at the end.
        front: `(batch,)`, the next word, one past the last one if there is none.
        lengths: `(batch,)`, the number of words of each sentence.
    """

    nodes: Any
    moves: Any
    count: Any
    top: Any
    front: Any
    lengths: Any


class _Functions:
    """The functions of the system of some rules, which are its tables."""

    def __init__(self, rules: RuleTables):
        self.moves_a_word = 2 * (1 + rules.changes)
        self.changes = rules.changes
        self.width = len(rules.pairs)  # one more than there are categories
        self.wholes = rules.heads.shape[1]
        self.pairs, self.heads = rules.pairs.reshape(-1), rules.heads.reshape(-1)
        self.made = rules.category.reshape(-1)
        self.may_change = rules.changed.any(1)
        self.shifts = np.ones((1, rules.sizes[CATEGORIES]), bool)
        self.of_pairs, self.of_tops = rules.heads[:, 1:] > 0, rules.changed[:, 1:]

    def initial(self, lengths, width, xp=np) -> State:
        """Nothing on the stack, all words in the buffer."""
        batch = xp.shape(lengths)[0]
        nodes = xp.zeros((batch, width, 7), "int32")
        moves = xp.zeros((batch, width, self.moves_a_word), "int32")
        none = xp.zeros_like(lengths)
        return State(nodes, moves, none, none, none + 2, lengths)

    def pair(self, known, xp):
        """The number of the pair of s_1 and s_0, from their fields."""
        places = known[:, 1, CATEGORY] * self.width + known[:, 0, CATEGORY]
        return xp.take(self.pairs, places, axis=0)

    def legal(self, state, xp=np):
        """Whether SHIFT, REDUCE, UNARY and FINISH are legal: `(batch, 4)` bool."""
        _, known = stack_top(state, xp)
        shift = state.front <= state.lengths + 1
        reduce = self.pair(known, xp) > 0
        unary = xp.take(self.may_change, known[:, 0, CATEGORY], axis=0)
        unary = unary & (known[:, 0, CHANGES] < self.changes)
        return xp.stack([shift, reduce, unary, (state.top > 0) & ~shift & ~reduce], 1)

    def legal_outputs(self, state, xp=np):
        """The outputs that the rules allow now: `(batch, outputs)` bool."""
        _, known = stack_top(state, xp)
        reduce = xp.take(self.of_pairs, self.pair(known, xp), axis=0)
        unary = xp.take(self.of_tops, known[:, 0, CATEGORY], axis=0)
        shift = xp.take(self.shifts, xp.zeros_like(state.front), axis=0)  # all
        return xp.concatenate([shift, reduce, unary, shift[:, :1]], 1)

    def advance(self, state, actions, labels, xp=np) -> State:
        """The state after a legal move."""
        may = self.legal(state, xp)
        shift, reduce, unary, finish = (may[:, i] & (actions == i) for i in range(4))
        stack, known = stack_top(state, xp)
        s0, s1, of0, of1 = stack[:, 0], stack[:, 1], known[:, 0], known[:, 1]
        front, none = state.front, xp.zeros_like(s0)
        places = self.pair(known, xp) * self.wholes + xp.where(reduce, labels, none)
        right = xp.take(self.heads, places, axis=0) == 2  # the head is s_0

        def chosen(shifted, reduced, changed):
            return xp.where(shift, shifted, xp.where(reduce, reduced, changed))

        head = xp.where(right, s0, s1)
        fields = [
            chosen(s0, of1[:, BELOW], of0[:, BELOW]),
            xp.take(self.made, actions * self.width + labels, axis=0),
            chosen(front, of1[:, FIRST], of0[:, FIRST]),
            xp.where(shift, front, of0[:, LAST]),
            xp.where(unary, of0[:, CHANGES] + 1, none),
            chosen(none, xp.where(right, s1, of1[:, LEFT]), of0[:, LEFT]),
            chosen(none, xp.where(right, of0[:, RIGHT], s0), of0[:, RIGHT]),
        ]
        # row 0 stays as it is, which is 0
        place = xp.where(shift | reduce | unary, chosen(front, head, s0), none)
        fields = [xp.where(place > 0, x, none) for x in fields]
        nodes = written(state.nodes, xp.expand_dims(place, 1), xp.stack(fields, 1), xp)
        moved = shift | reduce | unary | finish
        return State(
            nodes,
            self._noted(state, xp.where(moved, labels * 4 + actions, none), xp),
            state.count + xp.where(moved, none + 1, none),
            xp.where(finish, none, chosen(front, head, state.top)),
            xp.where(shift, front + 1, front),
            state.lengths,
        )

    def _noted(self, state, code, xp):
        """The moves with one more; 0 is none."""
        size = self.moves_a_word
        numbers = xp.arange(xp.shape(state.moves)[1] * size, dtype="int32")
        place = xp.reshape(state.count + size, (-1, 1, 1))
        here = xp.reshape(numbers, (1, -1, size)) == place
        # an illegal move leaves what is there, which is 0 behind the last one
        return xp.where(here, xp.reshape(code, (-1, 1, 1)), state.moves)

    def features(self, state, xp=np):
        """The nodes `(batch, 14)` of `NODES` and labels `(batch, 7)` of `LABELS`."""
        stack, known = stack_top(state, xp)
        ahead = xp.arange(3, dtype="int32") + xp.expand_dims(state.front, 1)
        last = xp.expand_dims(state.lengths, 1) + 1
        ahead = xp.where(ahead <= last, ahead, 0)
        inside = xp.take(xp.reshape(known, (-1, 14)), INSIDE, axis=1)
        nodes = xp.concatenate([stack, ahead, inside], 1)
        read = rows(state.nodes, xp.take(nodes, READ, axis=1), xp)
        return nodes, read[:, :, CATEGORY]

    def steps(self, length):
        """A shift a word, a reduction less, changes after each of them, and the end."""
        return length * self.moves_a_word

    def result(self, state, xp=np):
        """Actions and labels, `(batch, moves)`; 0 and 0 behind FINISH."""
        size = self.moves_a_word
        codes = state.moves[:, 1:]
        codes = xp.reshape(codes, (-1, (xp.shape(state.moves)[1] - 1) * size))
        return xp.mod(codes, 4), xp.floor_divide(codes, 4)


def ccg_system(rules: RuleTables) -> TransitionSystem:
    """The transition system of the rules of a grammar.

    Its oracle takes a `Derivation`; its result is the actions and the labels of the
    moves, `(batch, moves)` each, of which `RuleTables.derivation` makes a derivation.
    """
    of = _Functions(rules)
    return TransitionSystem(
        name="ccg",
        actions=ACTIONS,
        fields=State((None, 7), (None, of.moves_a_word), (), (), (), ()),
        initial=of.initial,
        legal=of.legal,
        advance=of.advance,
        features=of.features,
        num_nodes=len(NODES),
        num_labels=len(LABELS),
        steps=of.steps,
        oracle=rules.moves,
        result=of.result,
        legal_outputs=of.legal_outputs,
        sizes=rules.sizes,
    )


def derivation_moves(
    system: TransitionSystem, derivations: Sequence, names: Sequence[str] | None = None
) -> list[Moves]:
    """The moves that build derivations, and what the network reads before each.

    Args:
        system: of `ccg_system`.
        derivations: each a `Derivation`.
        names: how messages name each sentence; by default "sentence 1" and so on.

    Raises:
        ValueError: if the rules lack a step of one; the message names the sentence.
    """
    names = names or [f"sentence {i}" for i in range(1, len(derivations) + 1)]
    answers = [(derivation,) for derivation in derivations]
    return replayed(system, answers, [*map(len, derivations)], names)
