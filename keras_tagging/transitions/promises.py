"""The promises of a transition system, tried out by brute force; NumPy only."""

from itertools import product
from types import SimpleNamespace

import numpy as np

from keras_tagging.data.trees import check_tree, is_projective
from keras_tagging.transitions.gold_moves import (
    READ,
    check_integers,
    check_shape,
    check_state,
    gold_moves,
)
from keras_tagging.transitions.system import DEPRELS, Outputs, TransitionSystem

#: the functions that NumPy, `keras.ops` and an ONNX graph share, and a system may use
FUNCTIONS = (
    *("where", "stack", "concatenate", "take", "reshape", "expand_dims", "tile"),
    *("arange", "zeros", "ones_like", "zeros_like", "minimum", "maximum", "max", "any"),
    *("sum", "mod", "floor_divide", "shape", "take_along_axis"),
)
LABELS = 5  # so many, drawn at random
LONGEST_TREES, LONGEST_WALKS = 5, 8  # words
WALKS = 60  # of each length


def check(system: TransitionSystem, seed: int = 0) -> None:
    """Raise an error unless a system keeps its promises.

    Random legal moves of sentences of up to 8 words, together in one batch, must end
    within `steps`, in a tree with one root; states, features and results must have
    their shapes and ranges, states that are parsed stay as they are, moves that are not
    legal be no error, and a sentence parsed alone get the same tree. Then the oracle
    gets these trees and every tree of up to 5 words: its moves must be legal and build
    the tree. A tree that it refuses with a ValueError must not be one of the first.

    The functions get NumPy, and of it only what `keras.ops` and an ONNX graph have too.
    It takes about a second.

    Args:
        system: a `TransitionSystem`.
        seed: of the random moves.

    Raises:
        ValueError: if a promise is broken. The message says which, and by which tree or
            in which state.

    Example:
        >>> from keras_tagging.transitions import check, transition_system
        >>> check(transition_system("arc-standard"))
    """
    Outputs(system, {DEPRELS: LABELS})  # refuses labels of other sets
    rng = np.random.default_rng(seed)
    tried = _Tried(system)
    lengths = np.repeat(np.arange(LONGEST_WALKS + 1, dtype="int32"), WALKS)
    trees, walks = _walked(tried, lengths, rng)
    for i in range(0, len(lengths), WALKS // 2):
        _alone(tried, lengths[i], walks[:, :, i : i + 1], trees[i])
    _stray(tried, lengths, rng)
    _built(tried, trees, rng)


class _Tried:
    """The functions of a system, whose errors say where they come from.

    The arrays that they get cannot be written to.
    """

    def __init__(self, system):
        self.system = system
        self.xp = SimpleNamespace(**{name: getattr(np, name) for name in FUNCTIONS})

    def fail(self, what):
        raise ValueError(f"{self.system.name!r}: {what}")

    def call(self, name, *given):
        try:
            found = getattr(self.system, name)(*given, self.xp)
        except Exception as error:  # of somebody else's code
            text = " ".join(str(error).split())
            if isinstance(error, AttributeError) and error.obj is self.xp:
                text = (
                    f"xp.{error.name} is not among what all engines have: "
                    f"{', '.join(FUNCTIONS)}"
                )
            what = f"{name} raises {type(error).__name__}: {text}"
            raise ValueError(f"{self.system.name!r}: {what}") from error
        return found

    def state(self, name, *given, batch, width):
        """The state after `initial` or `advance`."""
        state = self.call(name, *given)
        check_state(self.system, state, batch, width)
        for x in state:
            x.flags.writeable = False
        return state

    def flags(self, name, state):
        """The flags that `legal` or `from_root` gives for each action."""
        found, system = self.call(name, state), self.system
        check_shape(system, name, found, (len(state[0]), len(system.actions)))
        if found.dtype != bool:
            self.fail(f"{name} is {found.dtype} instead of bool")
        return found

    def features(self, state, limits, where):
        """Checks nodes against the largest one of each sentence, and labels."""
        found = self.call("features", state)
        sizes = self.system.num_nodes, self.system.num_labels
        for what, x, size, most in zip(
            READ, found, sizes, (limits[:, None], LABELS), strict=True
        ):
            check_shape(self.system, what, x, (len(state[0]), size))
            check_integers(self.system, what, x)
            wrong = ((x < 0) | (x > most)).any(1)
            if wrong.any():
                i = int(wrong.argmax())
                self.fail(f"{what} are {x[i].tolist()}, out of range, {where(i)}")

    def result(self, state, width):
        found = self.call("result", state)
        for what, x in zip(("heads", "labels"), found, strict=True):
            what = f"the {what} of result"
            check_shape(self.system, what, x, (len(state[0]), width - 2))
            check_integers(self.system, what, x)
        return found


def _said(system, moves):
    """Moves in words, for messages."""
    return f"after {' '.join(system.actions[a].name for a in moves) or 'no move'}"


def _walked(tried, lengths, rng):
    """Walk at random: the heads that it ends in, and all moves `(2, steps, batch)`."""
    system, batch, width = tried.system, len(lengths), int(lengths.max()) + 4
    sizes = {"batch": batch, "width": width}
    most = np.broadcast_to(system.steps(lengths), lengths.shape)
    walks, taken = [], [[] for _ in lengths]

    def where(i):
        return f"{_said(system, taken[i])} in a sentence of length {lengths[i]}"

    def refuse(wrong, what):
        if wrong.any():
            i = int(wrong.argmax())
            tried.fail(f"{what}, {where(i)}")

    state = tried.state("initial", lengths, width, **sizes)
    for step in range(int(most.max()) + 1):
        legal = tried.flags("legal", state)
        going = legal.any(1)
        refuse(going & (step >= most), "a move is legal when all of steps are made")
        if system.fixed_steps:
            refuse(~going & (step < most), "no move is legal, though steps are fixed")
        tried.features(state, lengths + 1, where)
        moves = _drawn(system, legal | ~going[:, None], rng)
        after = tried.state("advance", state, *moves, **sizes)
        for field, changed in _changed(system, state, after):
            refuse(~going & changed, f"advance changes {field!r} of a parsed sentence")
        if system.from_root is not None:
            root = tried.flags("from_root", state)[np.arange(batch), moves[0]]
            before, heads = (tried.result(x, width)[0] for x in (state, after))
            made = (heads != before) & (heads >= 0) & (moves[1] > 0)[:, None]
            wrong = made.any(1) & (root != (made & (heads == 0)).any(1))
            refuse(wrong, "from_root is wrong of an arc that is made")
        for i in np.flatnonzero(going):
            taken[i].append(moves[0][i])
        walks.append(moves)
        state = after
    heads, labels = tried.result(state, width)
    words = np.arange(width - 2) < lengths[:, None]
    wrong = words & (heads >= 0) & ((labels < 1) | (labels > LABELS))
    refuse(wrong.any(1), "the labels of result are not those of the moves")
    wrong = ~words & ((heads != -1) | (labels != 0))
    refuse(wrong.any(1), "result is not -1 and 0 beyond the sentence's end")
    trees = [row[:n].tolist() for row, n in zip(heads, lengths, strict=True)]
    for i, tree in enumerate(trees):
        try:
            check_tree(tree)
        except ValueError as error:
            what = f"the heads {tree} are no tree with one root"
            tried.fail(f"{what}, {where(i)}: {error}")
        if not system.nonprojective and not is_projective(tree):
            what = f"arcs of the heads {tree} cross, though nonprojective is False"
            tried.fail(f"{what}, {where(i)}")
    return trees, np.array(walks).swapaxes(0, 1)


def _drawn(system, may, rng):
    """An action of each sentence, and its label."""
    labelled = np.array([action.labels is not None for action in system.actions])
    actions = np.where(may, rng.random(may.shape), -1).argmax(1).astype("int32")
    labels = rng.integers(1, LABELS + 1, len(may)) * labelled[actions]
    return actions, labels.astype("int32")


def _changed(system, state, after):
    """The sentences in which each field differs, but for row 0 of a table."""
    for field, shape, *both in zip(
        state._fields, system.fields, state, after, strict=True
    ):
        changed = both[0] != both[1]
        if shape[:1] == (None,):
            changed = changed[:, 1:]
        yield field, changed.reshape(len(changed), -1).any(1)


def _alone(tried, length, moves, expected):
    """The same moves without the others of the batch, in the narrowest table."""
    width = int(length) + 2
    lengths = np.full(1, length, "int32")
    state = tried.state("initial", lengths, width, batch=1, width=width)
    for actions, labels in zip(*moves, strict=True):
        state = tried.state("advance", state, actions, labels, batch=1, width=width)
    heads = tried.result(state, width)[0][0].tolist()
    if heads != expected:
        tried.fail(
            f"after the same moves the heads of a sentence are {expected} in a batch "
            f"and {heads} alone"
        )


def _stray(tried, lengths, rng):
    """Moves that are not legal, as hypotheses that are out of the race make them."""
    system, batch, width = tried.system, len(lengths), int(lengths.max()) + 2
    last = np.full(batch, width - 1)  # they may read any row of the table
    state = tried.state("initial", lengths, width, batch=batch, width=width)
    for _ in range(int(np.max(system.steps(lengths)))):
        tried.features(state, last, lambda _: "after a move that is not legal")
        moves = _drawn(system, np.ones_like(tried.flags("legal", state)), rng)
        state = tried.state("advance", state, *moves, batch=batch, width=width)


def _built(tried, walked, rng):
    """The trees of the oracle, small ones and those of walks."""
    system = tried.system
    reached = {tuple(heads) for heads in walked}
    given, labels, names = [], [], []
    for heads in sorted(reached | set(_small_trees(system)), key=lambda h: (len(h), h)):
        heads, some_labels = (
            list(heads),
            rng.integers(1, LABELS + 1, len(heads)).tolist(),
        )
        try:
            system.oracle(list(heads), list(some_labels))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            if not isinstance(error, ValueError):
                tried.fail(f"the oracle of the heads {heads} raises {what}")
            if tuple(heads) in reached:
                tried.fail(
                    f"the oracle refuses the heads {heads}, which legal moves build: "
                    f"{error}"
                )
            continue
        given.append(heads)
        labels.append(some_labels)
        names.append(f"the heads {heads}")
    moves = gold_moves(system, given, labels, names)
    lengths = np.array([len(heads) for heads in given], "int32")
    width, batch = int(lengths.max()) + 2, len(given)
    state = tried.state("initial", lengths, width, batch=batch, width=width)
    for step in range(max(len(some.actions) for some in moves)):
        legal = tried.flags("legal", state)
        actions, labels = np.zeros((2, batch), "int32")
        for i, some in enumerate(moves):
            if step < len(some.actions):
                actions[i], labels[i] = some.actions[step], some.labels[step]
                if not legal[i, actions[i]]:
                    tried.fail(
                        f"the oracle of the heads {given[i]} takes a move that is not "
                        f"legal: {_said(system, some.actions[: step + 1])}"
                    )
        state = tried.state("advance", state, actions, labels, batch=batch, width=width)


def _small_trees(system):
    """All trees that the oracle may be asked for."""
    for length in range(LONGEST_TREES + 1):
        for heads in product(range(length + 1), repeat=length):
            if heads.count(0) != min(length, 1):
                continue
            try:
                check_tree(heads)
            except ValueError:
                continue
            if system.nonprojective or is_projective(heads):
                yield heads
