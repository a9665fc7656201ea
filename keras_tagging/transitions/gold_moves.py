"""The moves that build given trees, and what the network reads before each."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from keras_tagging.data.trees import check_tree, is_projective
from keras_tagging.transitions.system import Outputs, TransitionSystem

CHUNK = 256  # sentences advanced at once
READ = ("the nodes of features (num_nodes)", "the labels of features (num_labels)")


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
            projective, there is not one label, counted from 1, for each word, the
            oracle refuses a tree, or its moves do not build the tree. The message names
            the sentence.
    """
    heads, labels = ([[*map(int, row)] for row in rows] for rows in (heads, labels))
    pairs = list(zip(heads, labels, strict=True))
    names = names or [f"sentence {number}" for number in range(1, len(pairs) + 1)]
    _of_each(partial(_check, system), pairs, names)
    lengths = [len(some_heads) for some_heads in heads]
    return replayed(system, pairs, lengths, names, _check_trees)


def replayed(
    system: TransitionSystem,
    answers: Sequence[tuple],
    lengths: Sequence[int],
    names: Sequence[str],
    check: Callable = lambda *_: None,
) -> list[Moves]:
    """The moves of the oracle, and what the network reads before each.

    Args:
        system: a `TransitionSystem`.
        answers: for each sentence the arguments of the oracle.
        lengths: the number of its words.
        names: how messages name it.
        check: function of the system, some answers, their lengths `(sentences,)`, the
            state after the last move, and a function that refuses the first of the
            sentences with a flag, with the text that another one gives for its number.

    Raises:
        ValueError: as `gold_moves` does.
    """
    # sentences of like length are advanced together
    order = np.argsort(lengths, kind="stable")
    moves: list = [None] * len(lengths)
    for begin in range(0, len(order), CHUNK):
        chunk = order[begin : begin + CHUNK]
        some = ([x[i] for i in chunk] for x in (answers, lengths, names))
        for i, part in zip(chunk, _replayed(system, *some, check), strict=True):
            moves[i] = part
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
    order = np.argsort(lengths, kind="stable")
    found: list = [None] * len(lengths)
    for begin in range(0, len(order), CHUNK):
        chunk = order[begin : begin + CHUNK]
        words = np.array([lengths[i] for i in chunk], "int32")
        counts = [len(sentences[i].actions) for i in chunk]
        actions, labels = np.zeros((2, len(chunk), max(counts)), "int32")
        for row, (i, count) in enumerate(zip(chunk, counts, strict=True)):
            actions[row, :count] = sentences[i].actions
            labels[row, :count] = sentences[i].labels
        state, steps = system.initial(words, int(words.max()) + 2, np), []
        for step in range(max(counts)):
            may = system.legal(state, np)[:, outputs.actions]
            if system.legal_outputs is not None:
                may &= system.legal_outputs(state, np)
            steps.append(may)
            state = system.advance(state, actions[:, step], labels[:, step], np)
        none = np.zeros((len(chunk), len(outputs)), bool)
        of_steps = np.stack([*steps, none], 1)  # there may be no step
        for row, (i, count) in enumerate(zip(chunk, counts, strict=True)):
            found[i] = of_steps[row, :count]
    return found


def _of_each(function, answers, names):
    """The results of a function for each answer; its errors name the sentence."""
    found = []
    for answer, name in zip(answers, names, strict=True):
        try:
            found.append(function(*answer))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    return found


def _check(system, heads, labels):
    check_tree(heads)
    if not system.nonprojective and not is_projective(heads):
        raise ValueError("the tree is not projective: leave it out, or lift its arcs")
    if len(labels) != len(heads) or min(labels, default=1) < 1:
        raise ValueError(
            f"the labels of {len(heads)} words are {labels}: give one a word, counted "
            "from 1"
        )


def _replayed(system, answers, lengths, names, check):
    given = _of_each(system.oracle, answers, names)
    lengths = np.array(lengths, "int32")
    counts = np.array([len(actions) for actions, _ in given], "int32")

    def refuse(wrong, what):
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(f"{names[i]}: {system.name!r}: {what(i)}")

    actions, labels = _arrays(system, given, lengths, counts, refuse)
    steps, width = actions.shape[1], int(lengths.max(initial=0)) + 2
    nodes = np.zeros((len(given), steps, system.num_nodes), "int32")
    node_labels = np.zeros((len(given), steps, system.num_labels), "int32")
    state = system.initial(lengths, width, np)
    check_state(system, state, len(given), width)
    for step in range(steps):
        found = system.features(state, np)
        if not step:
            for what, x, into in zip(READ, found, (nodes, node_labels), strict=True):
                check_shape(system, what, x, into[:, 0].shape)
        nodes[:, step], node_labels[:, step] = found
        state = system.advance(state, actions[:, step], labels[:, step], np)
    check_state(system, state, len(given), width)
    check(system, answers, lengths, state, refuse)
    _check_end(system, state, refuse)
    for i, count in enumerate(counts):
        parts = (actions, labels, nodes, node_labels)
        yield Moves(*(part[i, :count] for part in parts))


def _arrays(system, given, lengths, counts, refuse):
    """The actions and labels of oracles, `(sentences, steps)` each."""
    of_labels = np.array([len(labels) for _, labels in given], "int32")
    refuse(
        counts != of_labels,
        lambda i: f"its oracle gives {counts[i]} actions with {of_labels[i]} labels",
    )
    most = np.broadcast_to(system.steps(lengths), lengths.shape)
    refuse(
        counts != most if system.fixed_steps else counts > most,
        lambda i: (
            f"its oracle takes {counts[i]} moves for {lengths[i]} words, where steps "
            f"says {'exactly' if system.fixed_steps else 'at most'} {most[i]}"
        ),
    )
    # a sentence that is parsed does not change, whatever the action
    actions, labels = np.zeros((2, len(given), counts.max(initial=0)), "int32")
    for i, (some_actions, some_labels) in enumerate(given):
        actions[i, : counts[i]], labels[i, : counts[i]] = some_actions, some_labels
    labelled = np.array([action.labels is not None for action in system.actions])
    refuse(
        ((actions < 0) | (actions >= len(labelled))).any(1),
        lambda i: f"its oracle gives the actions {given[i][0]}, of {len(labelled)}",
    )
    real = np.arange(actions.shape[1]) < counts[:, None]
    wrong = real & ((labels > 0) != labelled[actions])

    def first_wrong(i):
        step = int(wrong[i].argmax())
        action, label = system.actions[actions[i, step]], labels[i, step]
        needed = "one, counted from 1" if action.labels else "none, which is 0"
        return f"its oracle gives {action.name} the label {label}: it needs {needed}"

    refuse(wrong.any(1), first_wrong)
    return actions, labels


def _check_trees(system, trees, lengths, state, refuse):
    """Refuse trees that are not those given."""
    words = np.arange(lengths.max(initial=0)) < lengths[:, None]

    def another(what, kind, found):
        return lambda i: (
            f"the moves of its oracle build another tree: {what} "
            f"{found[i, : lengths[i]].tolist()} instead of {trees[i][kind]}"
        )

    for kind, found in enumerate(system.result(state, np)):
        what = ("heads", "labels")[kind]
        check_shape(system, f"the {what} of result", found, words.shape)
        gold = chain.from_iterable(tree[kind] for tree in trees)
        wrong = found[words] != np.fromiter(gold, "int32", lengths.sum())
        if wrong.any():
            rows = np.nonzero(words)[0][wrong]
            refuse(np.isin(np.arange(len(trees)), rows), another(what, kind, found))


def _check_end(system, state, refuse):
    """Refuse moves that are left."""
    of_actions = (len(state[0]), len(system.actions))
    if system.from_root is not None:
        check_shape(system, "from_root", system.from_root(state, np), of_actions)
    legal = system.legal(state, np)
    check_shape(system, "legal", legal, of_actions)
    refuse(
        legal.any(1),
        lambda i: (
            "after the last move of its oracle "
            f"{system.actions[int(legal[i].argmax())].name} is legal"
        ),
    )


def check_shape(system: TransitionSystem, what: str, x, shape: tuple) -> None:
    """Raise a ValueError unless what a function of a system gives has a shape."""
    if np.shape(x) != shape:
        raise ValueError(
            f"{system.name!r}: {what}: the shape is {np.shape(x)} instead of {shape}"
        )


def check_state(system: TransitionSystem, state, batch: int, width: int) -> None:
    """Raise a ValueError unless a state has integers, in the shapes of `fields`."""
    named, found = (getattr(x, "_fields", None) for x in (system.fields, state))
    if named is None or named != found:
        raise ValueError(
            f"{system.name!r}: fields has the names {named}, but a state {found}: both "
            "must be the same named tuple"
        )
    for name, shape, x in zip(state._fields, system.fields, state, strict=True):
        shape = (batch, *(width if size is None else size for size in shape))
        check_shape(system, f"{name!r} of a state (fields)", x, shape)
        check_integers(system, f"{name!r} of a state", x)


def check_integers(system: TransitionSystem, what: str, x) -> None:
    """Raise a ValueError unless an array has integers; NumPy's may be of 64 bits."""
    if x.dtype.kind != "i":
        raise ValueError(f"{system.name!r}: {what} is {x.dtype}: arrays must be int32")
