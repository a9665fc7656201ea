"""States of ours beside those of the reference."""

import numpy as np
from reference import arc_standard as reference

from keras_tagging.transitions import ARC_STANDARD
from keras_tagging.transitions.arc_standard import BELOW, HEAD, LABEL, NONE


def row(node):
    """The row of a node of the reference, for which ROOT is 0."""
    return NONE if node is None else node + 1


def start_both(lengths, width=None):
    lengths = np.array(lengths, "int32")
    ours = ARC_STANDARD.initial(lengths, width or lengths.max(initial=0) + 2, np)
    return ours, [reference.start(int(length)) for length in lengths]


def advance_both(ours, theirs, actions, labels):
    arrays = np.array(actions, "int32"), np.array(labels, "int32")
    theirs = [
        reference.advance(one, reference.MOVES[action], label)
        for one, action, label in zip(theirs, actions, labels, strict=True)
    ]
    return ARC_STANDARD.advance(ours, *arrays, np), theirs


def as_lists(configuration, i):
    """Stack, buffer and arcs of sentence `i`, like those of the reference."""
    nodes = configuration.nodes[i]
    last = int(configuration.lengths[i])

    def chain(node):
        words = []
        while node != NONE:
            words.append(node - 1)
            node = int(nodes[node, BELOW])
        return words

    arcs = {
        (int(nodes[word + 1, HEAD]) - 1, word, int(nodes[word + 1, LABEL]))
        for word in range(1, last + 1)
        if nodes[word + 1, HEAD] != NONE
    }
    front = int(configuration.front[i])
    buffer = [*range(front - 1, last + 1)]
    return chain(int(configuration.top[i]))[::-1], buffer, arcs


def assert_same(ours, theirs):
    for i, (stack, buffer, arcs) in enumerate(theirs):
        assert as_lists(ours, i) == (stack, buffer, set(arcs))


def random_walk(lengths, seed):
    """Random legal moves until all sentences are parsed: yields the states, the actions
    and the labels; a sentence that is parsed has None for an action."""
    rng = np.random.default_rng(seed)
    count = len(ARC_STANDARD.actions)
    ours, theirs = start_both(lengths)
    while any(map(reference.legal, theirs)):
        legal = [reference.legal(one) for one in theirs]
        actions = [
            reference.MOVES.index(rng.choice(moves)) if moves else None
            for moves in legal
        ]
        labels = rng.integers(1, 9, len(theirs)).tolist()
        yield ours, theirs, actions, labels
        # what is not a move leaves a parsed sentence as it is
        given = [rng.integers(count) if a is None else a for a in actions]
        given = np.array(given, "int32"), np.array(labels, "int32")
        ours = ARC_STANDARD.advance(ours, *given, np)
        theirs = [
            one
            if action is None
            else reference.advance(one, reference.MOVES[action], label)
            for one, action, label in zip(theirs, actions, labels, strict=True)
        ]
    yield ours, theirs, [None] * len(theirs), [0] * len(theirs)
