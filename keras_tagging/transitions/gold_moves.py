"""The moves that build given trees, and what the network reads before each."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from keras_tagging.data.trees import check_tree, is_projective
from keras_tagging.transitions.system import Outputs, TransitionSystem

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


def gold_moves(system: TransitionSystem, heads, labels, names=None) -> list[Moves]:
    """The moves that build trees, by the oracle of the system.

    Args:
        system: a `TransitionSystem`.
        heads: for each sentence an integer array with the head of every word, counted
            from 1, and 0 for ROOT. The trees must have one root, and be projective
            unless the system builds others too.
        labels: for each sentence an array of label ids, counted from 1.
        names: how messages name each sentence; by default "sentence 1" and so on.

    Raises:
        ValueError: if heads do not form a tree (see `check_tree`), a tree is not
            projective, or the oracle refuses one. The message names the sentence.
    """
    heads, labels = ([[*map(int, row)] for row in rows] for rows in (heads, labels))
    trees = list(zip(heads, labels, strict=True))
    names = names or [f"sentence {number}" for number in range(1, len(trees) + 1)]
    _of_each(partial(_check, system), trees, names)
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
    moves: list = [None] * len(lengths)
    for chunk in _chunks(lengths):
        some_answers, some_lengths, some_names = (
            [x[i] for i in chunk] for x in (answers, lengths, names)
        )
        gold = _of_each(system.oracle, some_answers, some_names)
        states = _states(system, some_lengths, gold)
        features = [system.features(state, np) for state in states]
        nodes, node_labels = (np.stack(x, 1) for x in zip(*features, strict=True))
        for row, (i, pair) in enumerate(zip(chunk, gold, strict=True)):
            actions, labels = (np.array(x, "int32") for x in pair)
            before = nodes[row, : len(actions)], node_labels[row, : len(actions)]
            moves[i] = Moves(actions, labels, *before)
    return moves


def legal_outputs(
    system: TransitionSystem,
    outputs: Outputs,
    sentences: Sequence[Moves],
    lengths: Sequence[int],
) -> list[np.ndarray]:
    """Which outputs are legal before each of some moves.

    Args:
        system: the `TransitionSystem` of the moves.
        outputs: of a network.
        sentences: the `Moves` of each sentence.
        lengths: the number of its words.

    Returns:
        For each sentence `(moves, outputs)` bool.
    """
    legal: list = [None] * len(lengths)
    for chunk in _chunks(lengths):
        moves, steps = [sentences[i][:2] for i in chunk], []
        for state in _states(system, [lengths[i] for i in chunk], moves):
            may = system.legal(state, np)[:, outputs.actions]
            if system.legal_outputs is not None:
                may &= system.legal_outputs(state, np)
            steps.append(may)
        of_steps = np.stack(steps, 1)
        for row, (i, (actions, _)) in enumerate(zip(chunk, moves, strict=True)):
            legal[i] = of_steps[row, : len(actions)]
    return legal


def _chunks(lengths: Sequence[int]) -> list[np.ndarray]:
    """The places of sentences of like length, which are advanced together."""
    order = np.argsort(lengths, kind="stable")
    return [order[begin : begin + CHUNK] for begin in range(0, len(order), CHUNK)]


def _states(system, lengths, moves) -> Iterator[NamedTuple]:
    """The states before each move, and after the last one.

    Args:
        system: a `TransitionSystem`.
        lengths: of some sentences.
        moves: of each the actions and their labels.
    """
    counts = [len(actions) for actions, _ in moves]
    # a sentence that is parsed does not change, whatever the action
    padded = np.zeros((2, len(moves), max(counts)), "int32")
    for i, count in enumerate(counts):
        padded[:, i, :count] = moves[i]
    lengths = np.array(lengths, "int32")
    state = system.initial(lengths, int(lengths.max()) + 2, np)
    for step in range(max(counts)):
        yield state
        state = system.advance(state, *padded[:, :, step], np)
    yield state


def _of_each(function, answers, names):
    """The results of a function for each answer; its errors name the sentence."""
    results = []
    for answer, name in zip(answers, names, strict=True):
        try:
            results.append(function(*answer))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return results


def _check(system, heads, labels):
    check_tree(heads)
    if not system.nonprojective and not is_projective(heads):
        raise ValueError("the tree is not projective: leave it out, or lift its arcs")
