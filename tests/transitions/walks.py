"""States of ours beside those of the reference."""

import numpy as np
from reference import arc_standard, swap

from keras_tagging.transitions import ARC_STANDARD, ARC_STANDARD_WITH_SWAP
from keras_tagging.transitions.arc_standard import BELOW, HEAD, LABEL, NONE

#: each system with its reference, whose moves are in the order of our actions
PAIRS = {
    "arc-standard": (ARC_STANDARD, arc_standard),
    "swap": (ARC_STANDARD_WITH_SWAP, swap),
}


def row(node):
    """The row of a node of the reference, for which ROOT is 0."""
    return NONE if node is None else node + 1


def start_both(lengths, width=None, name="arc-standard"):
    system, reference = PAIRS[name]
    lengths = np.array(lengths, "int32")
    ours = system.initial(lengths, width or lengths.max(initial=0) + 2, np)
    return ours, [reference.start(int(length)) for length in lengths]


def advance_both(ours, theirs, actions, labels, name="arc-standard"):
    system, reference = PAIRS[name]
    arrays = np.array(actions, "int32"), np.array(labels, "int32")
    theirs = [
        reference.advance(one, reference.MOVES[action], label)
        for one, action, label in zip(theirs, actions, labels, strict=True)
    ]
    return system.advance(ours, *arrays, np), theirs


def as_lists(configuration, i, name="arc-standard"):
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
    words = range(front - 1, last + 1)
    buffer = chain(front) if name == "swap" else list(words)
    return chain(int(configuration.top[i]))[::-1], buffer, arcs


def assert_same(ours, theirs, name="arc-standard"):
    for i, (stack, buffer, arcs, *_) in enumerate(theirs):
        assert as_lists(ours, i, name) == (stack, buffer, set(arcs))


def random_walk(lengths, seed, name="arc-standard"):
    """Random legal moves until all sentences are parsed: yields the states, the actions
    and the labels; a sentence that is parsed has None for an action."""
    rng = np.random.default_rng(seed)
    system, reference = PAIRS[name]
    count = len(system.actions)
    ours, theirs = start_both(lengths, name=name)
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
        ours = system.advance(ours, *given, np)
        theirs = [
            one
            if action is None
            else reference.advance(one, reference.MOVES[action], label)
            for one, action, label in zip(theirs, actions, labels, strict=True)
        ]
    yield ours, theirs, [None] * len(theirs), [0] * len(theirs)
