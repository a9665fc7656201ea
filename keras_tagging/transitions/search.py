"""Greedy and beam search for the moves of a sentence, written once for all engines.

An engine is an array library with a loop: NumPy here, Keras in
`layers.transition_scorer`, an ONNX graph in `onnx.graphs`.
"""

from collections.abc import Callable

import numpy as np

from keras_tagging.transitions.system import Outputs, TransitionSystem

FORBIDDEN = -1e30  # a score below that of any sequence of legal moves
LARGEST = 1e6  # logit


class NumPy:
    """The engine of NumPy, and what the search needs of any."""

    #: the array library
    xp = np

    def loop(self, step: Callable, values: list, most, shapes: list) -> list:
        """The values after `most` steps, or fewer.

        Args:
            step: function of the values: whether to go on, and the values after.
            values: arrays.
            most: a scalar array.
            shapes: of the values, None for an axis that is not known.
        """
        for _ in range(int(most)):
            going, *values = step(*values)
            if not going:
                break
        return values

    def top_k(self, x, k: int):
        """The k largest along the last axis and their places; of equal ones the first
        come first."""
        places = np.argsort(-x, axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, places, -1), places

    def reordered(self, x, rows):
        """As many of the rows of x as there are, in another order."""
        return x[rows]

    def places(self, mask):
        """Where a mask `(rows,)` is True."""
        return np.flatnonzero(mask)

    def put(self, x, rows, values):
        """x with other values in these rows."""
        x = x.copy()
        x[rows] = values
        return x

    def log_softmax(self, x):
        """The logarithm of the softmax over the last axis."""
        x = x - x.max(-1, keepdims=True)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))


def search(
    engine,
    system: TransitionSystem,
    outputs: Outputs,
    score: Callable,
    states: list,
    lengths,
    width,
    beam_width: int = 1,
    masks=None,
    ranked: bool = False,
):
    """The most probable answer for every sentence, as far as the search finds it.

    The probability of a move is one among the legal moves. Each hypothesis has its own
    state of the system and of the network. Of hypotheses with equal scores the earlier
    one is better, then the smaller output. One that is parsed stays as it is.

    Args:
        engine: an engine as `NumPy`.
        system: a `TransitionSystem`.
        outputs: of the network.
        score: function of nodes `(hypotheses, num_nodes)`, labels `(hypotheses,
            num_labels)` and the list of the network's states: logits `(hypotheses,
            outputs)`, and the states after. The hypotheses of a sentence follow one
            another, the best first.
        states: of the network, each `(hypotheses, size)`.
        lengths: `(batch,)` int32.
        width: at least 2 more than the longest sentence has words.
        beam_width: hypotheses kept; 1 is greedy search.
        masks: None; or two arrays `(outputs,)` bool, whether an arc from ROOT, and one
            from a word, may be made by each output.
        ranked: whether to give all hypotheses.

    Returns:
        The arrays that `result` of the system gives, as a tuple: of most systems heads
        and labels `(batch, width - 2)` int32, -1 and 0 beyond a sentence's end. If
        `ranked`, those of all hypotheses, the best of each sentence first, and their
        log probabilities `(batch, beam_width)` float32; below `FORBIDDEN / 2` where
        there are not so many.
    """
    xp, number, fields = engine.xp, len(outputs), len(system.fields)
    batch = xp.shape(lengths)[0]
    # the first hypothesis of the sentence of each
    first = xp.expand_dims(xp.arange(batch, dtype="int32") * beam_width, 1)
    first = xp.reshape(xp.tile(first, (1, beam_width)), (-1,))
    most = xp.max(system.steps(lengths))
    lengths = xp.tile(xp.expand_dims(lengths, 1), (1, beam_width))
    initial = system.initial(xp.reshape(lengths, (-1,)), width, xp)
    scores = np.array([[0.0] + [FORBIDDEN] * (beam_width - 1)], "float32")
    allowed = allowed_outputs(system, outputs, masks)

    def step(*values):
        state = type(system.fields)(*values[:fields])
        scores, states = values[fields], list(values[fields + 1 :])
        logits, states = score(*system.features(state, xp), states)
        may = system.legal(state, xp)
        gains = log_probabilities(engine, logits, allowed(state, may, xp))
        totals = xp.reshape(scores, (-1, 1)) + gains
        totals = xp.reshape(totals, (-1, beam_width * number))
        scores, chosen = engine.top_k(totals, beam_width)
        output = chosen = xp.reshape(chosen, (-1,))
        if beam_width > 1:
            output = xp.mod(chosen, number)
            parents = first + xp.floor_divide(chosen, number)
            state = type(state)(*(engine.reordered(x, parents) for x in state))
            states = [engine.reordered(x, parents) for x in states]
        action, label = (
            xp.take(x, output, axis=0) for x in (outputs.actions, outputs.labels)
        )
        # one step more than needed, so that `legal` is computed once a step
        going = True if system.fixed_steps else xp.any(may)
        return going, *system.advance(state, action, label, xp), scores, *states

    values = [*initial, xp.tile(scores, (batch, 1)), *states]
    shapes = [(None, *shape) for shape in system.fields] + [(None, beam_width)]
    shapes += [tuple(x.shape) for x in states]
    values = engine.loop(step, values, most, shapes)
    trees = system.result(type(system.fields)(*values[:fields]), xp)
    if ranked:
        return (*trees, values[fields])
    if beam_width > 1:
        best = xp.arange(batch, dtype="int32") * beam_width
        trees = (xp.take(x, best, axis=0) for x in trees)
    return tuple(trees)


def allowed_outputs(system, outputs, masks=None) -> Callable:
    """A function that gives which outputs are legal: `(hypotheses, outputs)` bool.

    It takes a state, what `legal` of the system gives for it, and `xp`. If nothing is
    legal, the first output is.

    Args:
        system, outputs, masks: as in `search`.
    """

    def or_the_first(flags, may, xp):
        nothing = ~xp.any(may, 1, keepdims=True)
        return xp.concatenate([flags[:, :1] | nothing, flags[:, 1:]], 1)

    if cases := system.cases:
        flags = cases.may[:, outputs.actions]
        if masks is not None:
            flags &= np.where(cases.root[:, outputs.actions], *masks)
        in_case = or_the_first(flags, cases.may, np)
        return lambda state, may, xp: xp.take(in_case, cases.of(state, xp), axis=0)

    def allowed(state, may, xp):
        flags = or_the_first(xp.take(may, outputs.actions, axis=1), may, xp)
        if system.legal_outputs is not None:
            flags = flags & system.legal_outputs(state, xp)
        return flags

    return allowed


def log_probabilities(engine, logits, allowed):
    """Log probabilities of all outputs: `(hypotheses, outputs)`.

    Illegal ones are `FORBIDDEN`, whatever the logits are: a network that has diverged
    gives trees too. A sentence that is parsed does one thing, which changes nothing,
    with a score of 0.

    Args:
        engine: as in `search`.
        logits: `(hypotheses, outputs)`.
        allowed: the same, bool: from `allowed_outputs`.
    """
    xp = engine.xp
    logits = xp.where(xp.isnan(logits), np.float32(0), logits)
    logits = xp.clip(logits, -LARGEST, LARGEST)
    return engine.log_softmax(xp.where(allowed, logits, np.float32(FORBIDDEN)))
