"""The static oracle: the moves that build a given projective tree."""

from typing import NamedTuple

import numpy as np

from keras_tagging.data.projectivity import check_tree, is_projective
from keras_tagging.parsing.features import NUM_LABELS, NUM_NODES, features
from keras_tagging.parsing.transitions import (
    LEFT_ARC,
    RIGHT_ARC,
    SHIFT,
    advance,
    stack_top,
    start,
)

CHUNK = 256  # sentences advanced at once


class Moves(NamedTuple):
    """The 2n moves of a sentence of n words, and the features before each.

    Attributes:
        moves: `(2n,)` SHIFT, LEFT_ARC, RIGHT_ARC.
        labels: `(2n,)` labels of the arcs, counted from 1; 0 with SHIFT.
        nodes: `(2n, 18)` from `features`.
        node_labels: `(2n, 12)` from `features`.
    """

    moves: np.ndarray
    labels: np.ndarray
    nodes: np.ndarray
    node_labels: np.ndarray


def oracle(heads, labels) -> list[Moves]:
    """The moves that build trees.

    LEFT_ARC comes as early as possible, RIGHT_ARC once s_0 has all its children, and
    SHIFT otherwise.

    Args:
        heads: for each sentence an integer array with the head of every word, counted
            from 1, and 0 for ROOT. The trees must be projective and have one root.
        labels: for each sentence an array of label ids, counted from 1.

    Raises:
        ValueError: if heads do not form a tree (see `check_tree`), a tree is not
            projective, or there is not one label, counted from 1, for each word. The
            message has the number of the sentence, counted from 1.
    """
    for number, (some_heads, some_labels) in enumerate(
        zip(heads, labels, strict=True), 1
    ):
        try:
            _check(some_heads, some_labels)
        except ValueError as error:
            raise ValueError(f"sentence {number}: {error}") from None
    lengths = np.array([len(sentence) for sentence in heads], "int32")
    # sentences of like length are advanced together
    order = np.argsort(lengths, kind="stable")
    moves: list = [None] * len(lengths)
    for begin in range(0, len(order), CHUNK):
        chunk = order[begin : begin + CHUNK]
        parts = _oracle([heads[i] for i in chunk], [labels[i] for i in chunk])
        for i, part in zip(chunk, parts, strict=True):
            moves[i] = part
    return moves


def _check(heads, labels):
    check_tree(heads)
    if not is_projective(heads):
        raise ValueError("the tree is not projective: leave it out, or lift its arcs")
    if len(labels) != len(heads) or min(labels, default=1) < 1:
        raise ValueError(
            f"the labels of {len(heads)} words are {list(labels)}: give one a word, "
            "counted from 1"
        )


def _oracle(heads, labels):
    lengths = np.array([len(sentence) for sentence in heads], "int32")
    batch, width = len(lengths), int(lengths.max(initial=0)) + 2
    head = np.full((batch, width), -1, "int32")  # -1 for ROOT and for no node
    label = np.zeros((batch, width), "int32")
    for i, (some_heads, some_labels) in enumerate(zip(heads, labels, strict=True)):
        head[i, 2 : len(some_heads) + 2] = np.asarray(some_heads) + 1
        label[i, 2 : len(some_labels) + 2] = some_labels
    each = np.arange(batch)
    pending = np.zeros((batch, width), "int32")  # children not yet attached
    np.add.at(pending, (each[:, None], head), head > 0)
    steps = 2 * (width - 2)
    moves, move_labels = np.zeros((2, batch, steps), "int32")
    nodes = np.zeros((batch, steps, NUM_NODES), "int32")
    node_labels = np.zeros((batch, steps, NUM_LABELS), "int32")
    configuration = start(lengths, width)
    for step in range(steps):
        nodes[:, step], node_labels[:, step] = features(configuration)
        s0, s1, _ = stack_top(configuration)[0].T
        left = head[each, s1] == s0
        right = (head[each, s0] == s1) & (pending[each, s0] == 0)
        move = np.where(left, LEFT_ARC, np.where(right, RIGHT_ARC, SHIFT))
        # a finished sentence shifts from its empty buffer, so it does not change
        arc = move != SHIFT
        dependent = np.where(left, s1, s0)
        pending[each, np.where(arc, head[each, dependent], 0)] -= arc
        moves[:, step] = move
        move_labels[:, step] = np.where(arc, label[each, dependent], 0)
        configuration = advance(configuration, move, move_labels[:, step])
    for i, n in enumerate(lengths):
        parts = (moves, move_labels, nodes, node_labels)
        yield Moves(*(part[i, : 2 * n] for part in parts))
