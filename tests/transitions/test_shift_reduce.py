"""CCG derivations by moves, beside a stack of plain Python."""

import numpy as np
import pytest
from ccg.sentences import TV, VP, derivations, noun
from ccg.trees import chain, leaf, tree
from transitions.conformance import XP

from keras_tagging.ccg import Derivation, Grammar
from keras_tagging.metrics import derivation_scores
from keras_tagging.transitions import (
    Outputs,
    RuleTables,
    ccg_system,
    derivation_moves,
    shift_reduce,
)
from keras_tagging.transitions.shift_reduce import (
    BELOW,
    CATEGORY,
    FINISH,
    FIRST,
    LAST,
    REDUCE,
    SHIFT,
    UNARY,
)

GRAMMAR = Grammar.from_derivations(derivations())
TABLES = RuleTables(GRAMMAR)
SYSTEM = ccg_system(TABLES)
OUTPUTS = Outputs(SYSTEM, {})
LENGTHS = np.repeat(np.arange(9, dtype="int32"), 30)


def words_of(derivation):
    return [leaf.word for leaf in derivation.leaves]


def name_of(action, label):
    """The category that a move makes; None for FINISH."""
    sets = ("categories", "wholes", "changed")
    if action == FINISH:
        return None
    return TABLES.categories[TABLES.labels[sets[action]][label - 1] - 1]


class Reference:
    """One sentence: a stack of (category, first word, last word, changes)."""

    def __init__(self, length):
        self.length, self.stack, self.next, self.ended = length, [], 0, length == 0

    def legal(self):
        """Pairs of an action and the category that it makes."""
        if self.ended:
            return set()
        found = set()
        if self.next < self.length:
            found |= {(SHIFT, category) for category in TABLES.categories}
        if len(self.stack) > 1:
            pair = self.stack[-2][0], self.stack[-1][0]
            found |= {(REDUCE, whole) for whole in GRAMMAR.rules.get(pair, ())}
        if self.stack and self.stack[-1][3] < 2:
            changed = GRAMMAR.rules.get(self.stack[-1][:1], ())
            found |= {(UNARY, whole) for whole in changed}
        reducible = any(action == REDUCE for action, _ in found)
        if self.stack and self.next == self.length and not reducible:
            found.add((FINISH, None))
        return found

    def advance(self, action, category):
        if action == FINISH:
            self.ended = True
        elif action == SHIFT:
            self.stack.append((category, self.next, self.next, 0))
            self.next += 1
        elif action == REDUCE:
            right, left = self.stack.pop(), self.stack.pop()
            self.stack.append((category, left[1], right[2], 0))
        else:
            _, first, last, changes = self.stack.pop()
            self.stack.append((category, first, last, changes + 1))


def stack_of(state, i):
    found, node = [], state.top[i]
    while node:
        fields = state.nodes[i, node]
        category = TABLES.categories[fields[CATEGORY] - 1]
        assert fields[FIRST] <= node <= fields[LAST]  # the head word is inside
        found.append((category, fields[FIRST] - 2, fields[LAST] - 2))
        node = fields[BELOW]
    return found[::-1]


def test_every_walk_is_that_of_a_plain_stack_and_ends():
    rng = np.random.default_rng(0)
    state = SYSTEM.initial(LENGTHS, 10, XP)
    theirs = [Reference(n) for n in LENGTHS]
    most, taken = SYSTEM.steps(LENGTHS), [[] for _ in LENGTHS]
    names = [
        (a, name_of(a, b)) for a, b in zip(OUTPUTS.actions, OUTPUTS.labels, strict=True)
    ]
    for step in range(most.max() + 1):
        legal = SYSTEM.legal(state, XP)[:, OUTPUTS.actions]
        outputs = SYSTEM.legal_outputs(state, XP)
        assert outputs[:, 0].all()
        actions, labels = np.zeros((2, len(LENGTHS)), "int32")
        for i, one in enumerate(theirs):
            ours = np.flatnonzero(legal[i] & outputs[i])
            assert {names[output] for output in ours} == one.legal()
            if one.ended:  # any move changes nothing
                actions[i] = rng.integers(4)
                continue
            assert step < most[i]
            assert stack_of(state, i) == [item[:3] for item in one.stack]
            # words get few categories, so that some can be reduced
            others = ours[OUTPUTS.actions[ours] != SHIFT]
            shifts = ours[OUTPUTS.actions[ours] == SHIFT]
            output = rng.choice(others if len(others) and rng.random() < 0.7 else ours)
            if output in shifts:
                output = rng.choice(shifts[:: 1 + i % 3])
            actions[i], labels[i] = OUTPUTS.actions[output], OUTPUTS.labels[output]
            one.advance(*names[output])
            taken[i].append((actions[i], labels[i]))
        nodes, found = SYSTEM.features(state, XP)
        assert nodes.shape[1:] == (SYSTEM.num_nodes,) and (nodes <= 10).all()
        assert found.shape[1:] == (SYSTEM.num_labels,) and (found >= 0).all()
        state = SYSTEM.advance(state, actions, labels, XP)
        assert all(x.dtype == np.int32 for x in state)
    assert all(one.ended for one in theirs)
    fragments = 0
    for i, (row_actions, row_labels) in enumerate(
        zip(*SYSTEM.result(state, XP), strict=True)
    ):
        moves = [(a, b) for a, b in zip(row_actions, row_labels, strict=True)]
        assert moves[: len(taken[i])] == taken[i]
        assert not any(sum(move) for move in moves[len(taken[i]) :])
        if words := [f"w{j}" for j in range(LENGTHS[i])]:
            made = TABLES.derivation(row_actions, row_labels, words)
            assert words_of(made) == words
            tops = [item[0] for item in theirs[i].stack]
            if len(tops) > 1:
                fragments += 1
                assert made.category == "FRAG"
                assert [child.category for child in made.root.children] == tops
            else:
                assert [made.category] == tops
    assert 0 < fragments < len(LENGTHS)


def test_gold_moves_are_legal_and_build_the_derivation():
    for derivation in derivations():
        actions, labels = TABLES.moves(derivation)
        state = SYSTEM.initial(np.array([len(derivation)], "int32"), 20)
        for action, label in zip(actions, labels, strict=True):
            assert SYSTEM.legal(state)[0, action]
            assert SYSTEM.legal_outputs(state)[0, OUTPUTS.of(action, label)]
            state = SYSTEM.advance(state, np.array([action]), np.array([label]))
        assert not SYSTEM.legal(state).any()
        (found,) = zip(*SYSTEM.result(state), strict=True)
        made = TABLES.derivation(*found, words_of(derivation))
        assert derivation_scores([derivation], [made]).exact == 1
        assert words_of(made) == words_of(derivation)


def test_the_network_reads_heads_by_category():
    things = Derivation(noun("things"))
    [moves, _] = derivation_moves(SYSTEM, [derivations()[0], things])
    assert len(moves.actions) == len(TABLES.moves(derivations()[0])[0])
    # "We eat the old cakes often .", rows from 2 on: eat is 3, cakes 6, often 7, . 8
    before = {tuple(row[:4]) for row in moves.nodes.tolist()}
    assert (6, 5, 4, 7) in before  # N/N N: next to be reduced
    assert (6, 4, 3, 7) in before  # old is gone: cakes is the head
    assert (7, 3, 2, 8) in before  # a modifier beside the verb
    assert (3, 2, 0, 0) in before  # eat is the head of all
    last = moves.nodes[-2].tolist()
    assert last[6:10] == [3, 8, 0, 8]  # eat ... . : its last modifier is the stop
    ids = [TABLES.id_of(category) for category in (VP, "NP", ".")]
    assert [moves.node_labels[-2][k] for k in (0, 1, 4)] == ids


def test_steps_that_a_grammar_lacks():
    odd = Derivation(tree("S[dcl]", "a|N", "b|N"))
    with pytest.raises(ValueError, match=r"does not have N N => S\[dcl\]: learn it"):
        TABLES.moves(odd)
    with pytest.raises(ValueError, match=r"sentence 2: .* does not have N => S: learn"):
        derivation_moves(SYSTEM, [derivations()[3], Derivation(tree("S", "a|N"))])
    with pytest.raises(ValueError, match=r"the category X: learn"):
        TABLES.moves(Derivation(leaf("a|X")))
    with pytest.raises(ValueError, match=r"N N N => N: learn"):
        TABLES.moves(Derivation(tree("N", "a|N", "b|N", "c|N")))
    deep = chain(5000)
    with pytest.raises(ValueError, match="more than 2 times to become N: leave"):
        RuleTables(Grammar.from_derivations([deep])).moves(deep)
    assert TABLES.id_of(r"((S[dcl]\NP)/NP)") == TABLES.id_of(TV) > 0


def test_tables_have_a_limit(monkeypatch):
    monkeypatch.setattr(shift_reduce, "RULE_TABLE", 100)
    with pytest.raises(ValueError, match="leave out rare rules"):
        RuleTables(GRAMMAR)
