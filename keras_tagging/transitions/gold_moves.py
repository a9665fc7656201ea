"""The moves that build given trees, and what the network reads before each."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from keras_tagging.data.trees import check_tree, is_projective
from keras_tagging.transitions.system import TransitionSystem

#: a row of numbers for each sentence
Rows = Sequence[Sequence[int] | np.ndarray]

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


def gold_moves(
    system: TransitionSystem, heads: Rows, labels: Rows, names: list[str] | None = None
) -> list[Moves]:
    """The moves that build trees, by the oracle of the system.

    Args:
        system: a `TransitionSystem`.
        heads: for each sentence an integer array with the head of every word, counted
            from 1, and 0 for ROOT. The trees must be projective, and have one root.
        labels: for each sentence an array of label ids, counted from 1.
        names: how messages name each sentence; by default "sentence 1" and so on.

    Raises:
        ValueError: if heads do not form a tree (see `check_tree`), a tree is not
            projective, or the oracle refuses one. The message names the sentence.
    """
    heads, labels = ([[*map(int, row)] for row in rows] for rows in (heads, labels))
    trees = list(zip(heads, labels, strict=True))
    names = names or [f"sentence {number}" for number in range(1, len(trees) + 1)]
    _of_each(_check, trees, names)
    return replayed(system, trees, [*map(len, heads)], names)


def replayed(
    system: TransitionSystem,
    answers: Sequence[tuple],
    lengths: Sequence[int],
    names: Sequence[str],
) -> list[Moves]:
    """The moves of the oracle, and what the network reads before each.

    Args:
        system: a `TransitionSystem`.
        answers: for each sentence the arguments of the oracle.
        lengths: the number of its words.
        names: how messages name it.

    Raises:
        ValueError: as `gold_moves` does.
    """
    gold = _of_each(system.oracle, answers, names)
    return [
        Moves(*(np.array(x, "int32") for x in pair), *before)
        for pair, before in zip(gold, _features(system, lengths, gold), strict=True)
    ]


def _features(system, lengths, moves) -> list[list[np.ndarray]]:
    """The features before each move.

    Args:
        system: a `TransitionSystem`.
        lengths: of the sentences.
        moves: of each the actions and their labels.
    """
    results: list = [None] * len(lengths)
    # those of like length are advanced together
    order = np.argsort(lengths, kind="stable")
    for begin in range(0, len(order), CHUNK):
        chunk = order[begin : begin + CHUNK]
        counts = [len(moves[i][0]) for i in chunk]
        # a sentence that is parsed does not change, whatever the action
        padded = np.zeros((2, len(chunk), max(counts)), "int32")
        for row, i in enumerate(chunk):
            padded[:, row, : counts[row]] = moves[i]
        some = np.array([lengths[i] for i in chunk], "int32")
        state = system.initial(some, int(some.max()) + 2, np)
        steps = [system.features(state, np)]  # also where there are no moves
        for step in range(max(counts) - 1):
            state = system.advance(state, *padded[:, :, step], np)
            steps.append(system.features(state, np))
        arrays = [np.stack(x, 1) for x in zip(*steps, strict=True)]
        for row, i in enumerate(chunk):
            results[i] = [x[row, : counts[row]] for x in arrays]
    return results


def _of_each(function, answers, names):
    """The results of a function for each answer; its errors name the sentence."""
    results = []
    for answer, name in zip(answers, names, strict=True):
        try:
            results.append(function(*answer))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return results


def _check(heads, labels):
    check_tree(heads)
    if not is_projective(heads):
        raise ValueError("the tree is not projective: leave it out, or lift its arcs")
