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

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from keras_tagging.ccg.auto import FRAGMENTS, Leaf, Node, escaped
from keras_tagging.ccg.categories import category_of
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar, head_of, of_fragments
from keras_tagging.transitions.arc_standard import buffer_top, rows, stack_top, written
from keras_tagging.transitions.gold_moves import Moves, replayed
from keras_tagging.transitions.system import Action, TransitionSystem
from keras_tagging.utils.limits import RULE_TABLE

SHIFT, REDUCE, UNARY, FINISH = range(4)
#: the sets of labels: all categories, results of pairs, results of one category
CATEGORIES, WHOLES, CHANGED = "categories", "wholes", "changed"


class RuleTables:
    """The rules of a grammar as a parser needs them.

    A category, a pair of categories that have a rule, and a label of each set are
    numbers from 1; 0 is none. Only pairs that training has are known: of these nearly
    all have one result, and combinators would make categories that no rule goes on
    with.

    Args:
        grammar: its rules; counts do not matter here.
        changes: how often a constituent may change its category, one change after the
            other.

    Raises:
        ValueError: if there are so many categories that a table would be larger than
            `limits.RULE_TABLE`.

    Attributes:
        categories: their names.
        labels: by set, the categories that are labels, by their numbers.
        category: `(actions, labels + 1)`, the category that a move makes.
        pairs: `(categories + 1, categories + 1)`, the number of each pair.
        heads: `(pairs + 1, wholes + 1)`: 0 if a pair does not become it, 1 if the head
            is then the left one of the pair, 2 if it is the right one.
        changed: `(categories + 1, changed + 1)` bool, what a category may change into.
    """

    def __init__(self, grammar: Grammar, changes: int = 2):
        self.changes = changes
        names = {*grammar.roots}.union(*grammar.rules, *grammar.rules.values())
        self.categories = sorted(names)
        self._ids = {name: i for i, name in enumerate(self.categories, 1)}
        of_sizes = {1: {}, 2: {}}
        for parts, wholes in grammar.rules.items():
            of_sizes[len(parts)][parts] = wholes
        self.labels = {CATEGORIES: [*self._ids.values()]}
        for name, size in ((WHOLES, 2), (CHANGED, 1)):
            wholes = sorted(set().union(*of_sizes[size].values()))
            self.labels[name] = [self._ids[whole] for whole in wholes]
        self._places = {
            name: {category: i for i, category in enumerate(ids, 1)}
            for name, ids in self.labels.items()
        }
        width = len(names) + 1
        self.pairs = _zeros(width, width)
        self.heads = _zeros(len(of_sizes[2]) + 1, len(self.labels[WHOLES]) + 1)
        self.changed = _zeros(width, len(self.labels[CHANGED]) + 1).astype(bool)
        for number, (pair, wholes) in enumerate(of_sizes[2].items(), 1):
            self.pairs[tuple(self._ids[part] for part in pair)] = number
            for whole in wholes:
                place = self._places[WHOLES][self._ids[whole]]
                self.heads[number, place] = 1 + head_of(*pair, whole)
        for (part,), wholes in of_sizes[1].items():
            for whole in wholes:
                place = self._places[CHANGED][self._ids[whole]]
                self.changed[self._ids[part], place] = True
        self.category = _zeros(4, width)
        for action, name in ((SHIFT, CATEGORIES), (REDUCE, WHOLES), (UNARY, CHANGED)):
            ids = self.labels[name]
            self.category[action, 1 : len(ids) + 1] = ids

    @property
    def sizes(self) -> dict[str, int]:
        """The number of labels of each set."""
        return {name: len(ids) for name, ids in self.labels.items()}

    def id_of(self, category: str) -> int:
        """The number of a category in any notation; 0 if the grammar has none."""
        number = self._ids.get(category)
        return number or self._ids.get(str(category_of(category) or category), 0)

    def moves(self, derivation: Derivation) -> tuple[list[int], list[int]]:
        """The actions that build a derivation, and their labels.

        Raises:
            ValueError: if the grammar lacks a step of it, it changes a category too
                often, or it is one of fragments.
        """
        if of_fragments(derivation):
            raise ValueError("no moves join fragments: leave the derivation out")
        # each node before its children, and of these the right one first
        waiting, nodes = [derivation.root], []
        while waiting:
            nodes.append(node := waiting.pop())
            waiting += () if isinstance(node, Leaf) else node.children
        moves, changes = [], 0
        for node in reversed(nodes):
            parts = () if isinstance(node, Leaf) else node.children
            moves.append(self._move(node.category, [part.category for part in parts]))
            changes = changes + 1 if moves[-1][0] == UNARY else 0
            if changes > self.changes:
                raise ValueError(
                    f"a category changes more than {self.changes} times to become "
                    f"{node.category}: leave the derivation out, or allow more changes"
                )
        actions, labels = zip(*moves, (FINISH, 0), strict=True)
        return [*actions], [*labels]

    def _move(self, whole: str, parts: list[str]) -> tuple[int, int]:
        """The action and the label that make a category of others, or of a word."""
        ids, label = [self.id_of(part) for part in parts], self.id_of(whole)
        action, has_rule = SHIFT, label
        if parts:
            action = UNARY if len(parts) == 1 else REDUCE
            name = CHANGED if len(parts) == 1 else WHOLES
            label = self._places[name].get(label, 0)
            if len(parts) == 1:
                has_rule = self.changed[ids[0], label]
            else:
                has_rule = len(parts) == 2 and self.heads[self.pairs[*ids], label]
        if not has_rule:
            rule = f"{' '.join(parts)} => {whole}" if parts else f"the category {whole}"
            raise ValueError(
                f"the grammar does not have {rule}: learn it from this derivation too, "
                "or leave the derivation out"
            )
        return action, label

    def derivation(
        self,
        actions: Iterable[int],
        labels: Iterable[int],
        words: Sequence[str],
        pos: Sequence[str] | None = None,
    ) -> Derivation:
        """The derivation that moves build.

        If several constituents are left, they are the children of a root of the
        category "FRAG": fragments.

        Args:
            actions, labels: of the moves, in their order. What comes after FINISH does
                not count.
            words: the words of the sentence, at least one; those of the derivation are
                `ccg.auto.escaped`.
            pos: the part of speech of each; by default "X".
        """
        stack: list[Node | Leaf] = []
        rest = iter(zip(words, pos or ["X"] * len(words), strict=True))
        for action, label in zip(actions, labels, strict=True):
            if action == FINISH:
                break
            name = self.categories[self.category[action, label] - 1]
            if action == SHIFT:
                word, tag = map(escaped, next(rest))
                stack.append(Leaf(name, tag, tag, word, name))
            elif action == UNARY:
                stack.append(Node(name, 0, (stack.pop(),)))
            else:
                right, left = stack.pop(), stack.pop()
                head = head_of(left.category, right.category, name)
                stack.append(Node(name, head, (left, right)))
        root = stack[0] if len(stack) == 1 else Node(FRAGMENTS, 0, tuple(stack))
        return Derivation(root)


def _zeros(rows: int, columns: int) -> np.ndarray:
    if rows * columns > RULE_TABLE:
        raise ValueError(
            f"a table of the grammar has {rows:,} rows of {columns:,}: leave out rare "
            "rules of it"
        )
    return np.zeros((rows, columns), "int32")


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

    def pair(self, fields, xp):
        """The number of the pair of s_1 and s_0, from their fields."""
        places = fields[:, 1, CATEGORY] * self.width + fields[:, 0, CATEGORY]
        return xp.take(self.pairs, places, axis=0)

    def legal(self, state, xp=np):
        """Whether SHIFT, REDUCE, UNARY and FINISH are legal: `(batch, 4)` bool."""
        _, fields = stack_top(state, xp)
        shift = state.front <= state.lengths + 1
        reduce = self.pair(fields, xp) > 0
        unary = xp.take(self.may_change, fields[:, 0, CATEGORY], axis=0)
        unary = unary & (fields[:, 0, CHANGES] < self.changes)
        return xp.stack([shift, reduce, unary, (state.top > 0) & ~shift & ~reduce], 1)

    def legal_outputs(self, state, xp=np):
        """The outputs that the rules allow now: `(batch, outputs)` bool."""
        _, fields = stack_top(state, xp)
        reduce = xp.take(self.of_pairs, self.pair(fields, xp), axis=0)
        unary = xp.take(self.of_tops, fields[:, 0, CATEGORY], axis=0)
        shift = xp.take(self.shifts, xp.zeros_like(state.front), axis=0)  # all
        return xp.concatenate([shift, reduce, unary, shift[:, :1]], 1)

    def advance(self, state, actions, labels, xp=np) -> State:
        """The state after a legal move."""
        may = self.legal(state, xp)
        shift, reduce, unary, finish = (may[:, i] & (actions == i) for i in range(4))
        stack, before = stack_top(state, xp)
        s0, s1, of0, of1 = stack[:, 0], stack[:, 1], before[:, 0], before[:, 1]
        front, none = state.front, xp.zeros_like(s0)
        places = self.pair(before, xp) * self.wholes + xp.where(reduce, labels, none)
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
        stack, fields = stack_top(state, xp)
        inside = xp.take(xp.reshape(fields, (-1, 14)), INSIDE, axis=1)
        nodes = xp.concatenate([stack, buffer_top(state, xp), inside], 1)
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


def derivation_moves(system: TransitionSystem, derivations: Sequence) -> list[Moves]:
    """The moves that build derivations, and what the network reads before each.

    Args:
        system: of `ccg_system`.
        derivations: each a `Derivation`.

    Raises:
        ValueError: if the rules lack a step of one; the message names the sentence.
    """
    names = [f"sentence {i}" for i in range(1, len(derivations) + 1)]
    answers = [(derivation,) for derivation in derivations]
    return replayed(system, answers, [*map(len, derivations)], names)
