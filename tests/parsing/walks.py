"""Configurations of ours beside those of the reference."""

import numpy as np
from reference import arc_standard as reference

from keras_tagging.parsing import NONE, advance, start
from keras_tagging.parsing.transitions import BELOW, HEAD, LABEL

MOVES = reference.MOVES  # ours are the indices


def row(node):
    """The row of a node of the reference, for which ROOT is 0."""
    return NONE if node is None else node + 1


def start_both(lengths, width=None):
    lengths = np.array(lengths, "int32")
    ours = start(lengths, width or lengths.max(initial=0) + 2)
    return ours, [reference.start(int(length)) for length in lengths]


def advance_both(ours, theirs, moves, labels):
    ours = advance(ours, np.array(moves, "int32"), np.array(labels, "int32"))
    theirs = [
        reference.advance(one, MOVES[move], label)
        for one, move, label in zip(theirs, moves, labels, strict=True)
    ]
    return ours, theirs


def as_lists(configuration, i):
    """Stack, buffer and arcs of sentence `i`, like those of the reference."""
    nodes = configuration.nodes[i]
    last = int(configuration.lengths[i])
    stack, node = [], int(configuration.top[i])
    while node != NONE:
        stack.append(node - 1)
        node = int(nodes[node, BELOW])
    arcs = {
        (int(nodes[word + 1, HEAD]) - 1, word, int(nodes[word + 1, LABEL]))
        for word in range(1, last + 1)
        if nodes[word + 1, HEAD] != NONE
    }
    buffer = list(range(int(configuration.front[i]) - 1, last + 1))
    return stack[::-1], buffer, arcs


def assert_same(ours, theirs):
    for i, (stack, buffer, arcs) in enumerate(theirs):
        assert as_lists(ours, i) == (stack, buffer, set(arcs))


def random_walk(lengths, seed):
    """Random legal moves until all sentences are parsed: yields the configurations,
    the moves and the labels; a sentence that is parsed has None for a move."""
    rng = np.random.default_rng(seed)
    ours, theirs = start_both(lengths)
    while any(map(reference.legal, theirs)):
        legal = [reference.legal(one) for one in theirs]
        moves = [MOVES.index(rng.choice(m)) if m else None for m in legal]
        labels = rng.integers(1, 9, len(theirs)).tolist()
        yield ours, theirs, moves, labels
        # what is not a move leaves a parsed sentence as it is
        ours = advance(
            ours,
            np.array([rng.integers(3) if m is None else m for m in moves], "int32"),
            np.array(labels, "int32"),
        )
        theirs = [
            one if move is None else reference.advance(one, MOVES[move], label)
            for one, move, label in zip(theirs, moves, labels, strict=True)
        ]
    yield ours, theirs, [None] * len(theirs), [0] * len(theirs)
