"""A transition system as one value, and the systems by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

DEPRELS = "labels"  # the set of the dependency labels, which every parser has


class Action(NamedTuple):
    """The kind of a move, whatever its label.

    Attributes:
        name: for readers.
        labels: the name of the set that its label comes from; None for an action
            without a label.
    """

    name: str
    labels: str | None = None


class Cases:
    """Which actions are legal, where few cases decide it.

    The search looks up which outputs are allowed in a table of all cases, at once.

    Args:
        of: function of `state` and `xp`: the case of each sentence, `(batch,)` int32.
        may: whether each action is legal, `(cases, actions)` bool.
        root: whether the arc that it would make hangs from ROOT, `(cases, actions)`.
    """

    def __init__(self, of: Callable, may: np.ndarray, root: np.ndarray):
        self.of, self.may, self.root = of, may, root

    def legal(self, state, xp=np):
        """`TransitionSystem.legal`."""
        return xp.take(self.may, self.of(state, xp), axis=0)


@dataclass(frozen=True, kw_only=True)
class TransitionSystem:
    """How a parser builds a tree: states, and actions from one to the next.

    The functions are pure. They take the states of many sentences at once, one row a
    sentence, and the array library as `xp`: NumPy, `keras.ops` in a graph, or that of
    an ONNX graph. A state is a named tuple of int32 arrays. Nodes are row numbers: 0 is
    no node, 1 is ROOT, i + 1 is word i. Labels count from 1; 0 is no label.

    Args:
        name: of the system; models and settings name it so.
        actions: each an `Action`. Of moves with equal scores the search takes that of
            the earlier action, and of its smaller label.
        fields: a state with the shape of each array in its place, without the axis of
            sentences; None for an axis with a row for each node.
        initial: function of `lengths` `(batch,)` int32, `width` and `xp`: the state
            before the first move. The width is the number of rows of a table of nodes,
            at least 2 more than the longest sentence has words.
        legal: function of `state` and `xp`: whether each action is legal, `(batch,
            actions)` bool. A sentence is parsed when none is.
        advance: function of `state`, `actions` `(batch,)`, `labels` `(batch,)` and
            `xp`: the state after a legal move. A sentence that is parsed stays as it
            is (but for row 0), whatever the action.
        features: function of `state` and `xp`: what the network reads, nodes `(batch,
            num_nodes)` and labels `(batch, num_labels)`.
        num_nodes, num_labels: the number of each, 1 or more.
        steps: function of the number of words, or an array of them: the most moves
            that a sentence takes. Any sequence of legal moves ends within it, in a tree
            with one root.
        oracle: function of one sentence: from `heads` (a list, 0 for ROOT) and `labels`
            (a list of ids) to the gold actions and their labels, two lists. A
            ValueError for a tree that the system cannot build. That of a system that
            builds no trees of heads takes what it does build.
        result: function of `state` and `xp`: heads (0 is ROOT; -1 without one) and
            labels, `(batch, width - 2)` each; or other arrays, a row a sentence.
        cases: the `Cases` whose method `legal` is. None: legality is asked in each
            state, and arcs from ROOT may have any label, also in a parser that is
            `constrained`.
        legal_outputs: function of `state` and `xp`, where the label of a legal action
            decides too: whether each of `Outputs` may be taken if its action may,
            `(batch, outputs)` bool. Each legal action needs one, and the first output
            is always among them. None: a legal action may have any label.
        sizes: the number of labels of the sets that the system brings itself.
        fixed_steps: whether every sentence takes exactly `steps`.
    """

    name: str
    actions: tuple[Action, ...]
    fields: tuple
    initial: Callable[..., Any]
    legal: Callable[..., Any]
    advance: Callable[..., Any]
    features: Callable[..., Any]
    num_nodes: int
    num_labels: int
    steps: Callable[..., Any]
    oracle: Callable[..., Any]
    result: Callable[..., Any]
    cases: Cases | None = None
    legal_outputs: Callable[..., Any] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict, hash=False)
    fixed_steps: bool = False


class Outputs:
    """The meaning of a network's outputs: each action with each of its labels.

    Args:
        system: a `TransitionSystem`.
        sizes: the number of labels of each set; the system adds its own.

    Attributes:
        actions, labels: of each output, `(outputs,)` int32; label 0 where the action
            has none.

    Example:
        >>> from keras_tagging.transitions import Outputs, transition_system
        >>> outputs = Outputs(transition_system("arc-standard"), {"labels": 2})
        >>> outputs.actions.tolist(), outputs.labels.tolist()
        ([0, 1, 1, 2, 2], [0, 1, 2, 1, 2])
    """

    def __init__(self, system: TransitionSystem, sizes: Mapping[str, int]):
        sizes = {**sizes, **system.sizes}
        ids = [
            [0] if action.labels is None else range(1, sizes[action.labels] + 1)
            for action in system.actions
        ]
        counts = [len(of_action) for of_action in ids]
        self.actions = np.repeat(np.arange(len(ids), dtype="int32"), counts)
        self.labels = np.concatenate(ids).astype("int32")
        self._first = np.cumsum([0, *counts[:-1]])

    def __len__(self) -> int:
        return len(self.actions)

    def of(self, actions, labels) -> np.ndarray:
        """The outputs of actions with labels, arrays of the same shape."""
        return self._first[actions] + np.maximum(labels, 1) - 1


_SYSTEMS: dict[str, TransitionSystem] = {}
#: the systems of version 0.5 that are gone
REMOVED = ("arc-standard-core", "swap", "swap-core")


def register(system: TransitionSystem) -> TransitionSystem:
    """Offer a system by its name, in place of an earlier one of that name."""
    _SYSTEMS[system.name] = system
    return system


def transition_system(name: str) -> TransitionSystem:
    """The system of a name.

    Raises:
        ValueError: if there is none.
    """
    if name in REMOVED:
        raise ValueError(
            f"the transition system {name!r} is no longer part of keras-tagging: train "
            "a biaffine-parser, which is more accurate"
        )
    if name not in _SYSTEMS:
        raise ValueError(
            f"system={name!r}: known are {', '.join(map(repr, _SYSTEMS))}; install or "
            "import what registers any other"
        )
    return _SYSTEMS[name]
