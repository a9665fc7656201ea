"""The moves that build given trees, and what the network reads before each."""

from typing import NamedTuple

import numpy as np

from keras_tagging.data.projectivity import check_tree, is_projective
from keras_tagging.transitions.system import TransitionSystem

CHUNK = 256  # sentences advanced at once


class Moves(NamedTuple):
    """The moves of a sentence, and the features before each.

    Attributes:
        actions: `(moves,)` numbers of actions of the system.
        labels: `(moves,)` their labels, counted from 1; 0 for an action without.
        nodes: `(moves, num_nodes)` from `features`.
        node_labels: `(moves, num_labels)` from `features`.
    """

    actions: np.ndarray
    labels: np.ndarray
    nodes: np.ndarray
    node_labels: np.ndarray


def gold_moves(system: TransitionSystem, heads, labels) -> list[Moves]:
    """The moves that build trees, by the oracle of the system.

    Args:
        system: a `TransitionSystem`.
        heads: for each sentence an integer array with the head of every word, counted
            from 1, and 0 for ROOT. The trees must have one root, and be projective
            unless the system builds others too.
        labels: for each sentence an array of label ids, counted from 1.

    Raises:
        ValueError: if heads do not form a tree (see `check_tree`), a tree is not
            projective, or there is not one label, counted from 1, for each word. The
            message has the number of the sentence, counted from 1.
    """
    heads, labels = ([[*map(int, row)] for row in rows] for rows in (heads, labels))
    pairs = list(zip(heads, labels, strict=True))
    for number, (some_heads, some_labels) in enumerate(pairs, 1):
        try:
            _check(system, some_heads, some_labels)
        except ValueError as error:
            raise ValueError(f"sentence {number}: {error}") from None
    # sentences of like length are advanced together
    order = np.argsort([len(some_heads) for some_heads in heads], kind="stable")
    moves: list = [None] * len(pairs)
    for begin in range(0, len(order), CHUNK):
        chunk = order[begin : begin + CHUNK]
        parts = _replayed(system, [pairs[i] for i in chunk])
        for i, part in zip(chunk, parts, strict=True):
            moves[i] = part
    return moves


def _check(system, heads, labels):
    check_tree(heads)
    if not system.nonprojective and not is_projective(heads):
        raise ValueError("the tree is not projective: leave it out, or lift its arcs")
    if len(labels) != len(heads) or min(labels, default=1) < 1:
        raise ValueError(
            f"the labels of {len(heads)} words are {labels}: give one a word, counted "
            "from 1"
        )


def _replayed(system, trees):
    lengths = np.array([len(heads) for heads, _ in trees], "int32")
    given = [system.oracle(*tree) for tree in trees]
    counts = [len(actions) for actions, _ in given]
    steps = max(counts, default=0)
    # a sentence that is parsed does not change, whatever the action
    actions, labels = np.zeros((2, len(trees), steps), "int32")
    for i, (some_actions, some_labels) in enumerate(given):
        actions[i, : counts[i]], labels[i, : counts[i]] = some_actions, some_labels
    nodes = np.zeros((len(trees), steps, system.num_nodes), "int32")
    node_labels = np.zeros((len(trees), steps, system.num_labels), "int32")
    state = system.initial(lengths, int(lengths.max(initial=0)) + 2, np)
    for step in range(steps):
        nodes[:, step], node_labels[:, step] = system.features(state, np)
        state = system.advance(state, actions[:, step], labels[:, step], np)
    for i, count in enumerate(counts):
        parts = (actions, labels, nodes, node_labels)
        yield Moves(*(part[i, :count] for part in parts))
