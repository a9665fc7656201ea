"""NumPy parser, one sentence a time: Elkaref & Bohnet (2017), sections 3, 5 and 7.

Weights are those of our layers by name. A cell is known by its gates, in the order of
the blocks of its kernel: "h" is feed-forward or Elman, "ifoj" an LSTM, "zrh" a GRU.
"""

import numpy as np
from reference import arc_standard
from scipy.special import expit as sigmoid
from scipy.special import log_softmax


def by_gate(weights, gates):
    """Functions of x and h, by gate: W_x x + W_h h + b."""

    def function(columns):
        w_x, b = weights["kernel"][:, columns], weights["bias"][columns]
        if "recurrent_kernel" not in weights:
            return lambda x, h: x @ w_x + b
        w_h = weights["recurrent_kernel"][:, columns]
        return lambda x, h: x @ w_x + h @ w_h + b

    columns = np.split(np.arange(len(weights["bias"])), len(gates))
    return {gate: function(part) for gate, part in zip(gates, columns, strict=True)}


def step(x, states, weights, gates, activation=lambda a: np.maximum(a, 0)):
    """The states after one step, h_t first.

    Args:
        x: `(..., features)`.
        states: h_{t-1}, and of an LSTM c_{t-1}, `(..., units)`.
        weights: by name; without a recurrent kernel the layer is feed-forward. The
            bias of f holds the 1 of section 3.3.
        gates: see above.
        activation: of the feed-forward layer and of Elman's, by default the ReLU.
    """
    gate, h = by_gate(weights, gates), states[0]
    if gates == "h":  # 3.2, 7.1
        return [activation(gate["h"](x, h))]
    if gates == "zrh":  # 7.2
        r, z = sigmoid(gate["r"](x, h)), sigmoid(gate["z"](x, h))
        candidate = np.tanh(gate["h"](x, r * h))
        return [z * h + (1 - z) * candidate]
    i, f, o = (sigmoid(gate[name](x, h)) for name in "ifo")  # 3.3
    c = states[1] * f + i * np.tanh(gate["j"](x, h))
    return [np.tanh(c) * o, c]


def start_states(shape, gates):
    return [np.zeros(shape)] * (2 if gates == "ifoj" else 1)


def run(xs, weights, gates):
    """The states after every step: for each state `(..., time, units)`."""
    shape = (*xs.shape[:-2], len(weights["bias"]) // len(gates))
    states, found = start_states(shape, gates), []
    for t in range(xs.shape[-2]):
        states = step(xs[..., t, :], states, weights, gates)
        found.append(states)
    return [np.stack(state, -2) for state in zip(*found, strict=True)]


# Truncated backpropagation, section 5


def first_step(t, limit, truncation):
    """The first step whose states the error of step t reaches."""
    return max(t - limit, 0) if truncation == "sliding" else t // limit * limit


def truncated_gradients(xs, weights, errors, gates, limit, truncation):
    """Gradients by the weights and by the inputs, for given errors of the outputs.

    "Errors are propagated backwards to layers in previous time steps until a limit is
    reached": the error of step t meets a network of the steps from `first_step` to t,
    which starts from a state that is taken as it is. The derivatives are differences
    of that network's output.

    Args:
        xs: `(batch, time, features)`.
        weights: by name.
        errors: `(batch, time, units)`, dL/dh_t.
        gates: of the cell.
        limit, truncation: as in `run_truncated`.

    Returns:
        Arrays like `weights` and, under "inputs", like `xs`.
    """
    states = run(xs, weights, gates)
    given = {**weights, "inputs": xs}

    def loss(given):
        total = 0.0
        for t in range(xs.shape[1]):
            first = first_step(t, limit, truncation)
            now = start_states(errors[:, 0].shape, gates)
            if first:
                now = [state[:, first - 1] for state in states]
            for s in range(first, t + 1):
                now = step(given["inputs"][:, s], now, given, gates)
            total += np.sum(errors[:, t] * now[0])
        return total

    return {name: differences(loss, given, name) for name in given}


def differences(loss, given, name, width=1e-5):
    """The gradient of the loss by one of the arrays, as central differences."""
    found = np.zeros_like(given[name])
    for place in np.ndindex(found.shape):
        sides = []
        for shift in (width, -width):
            moved = given[name].copy()
            moved[place] += shift
            sides.append(loss({**given, name: moved}))
        found[place] = (sides[0] - sides[1]) / (2 * width)
    return found


# Parsing, section 3


def read(configuration, tokens, weights):
    """x of section 3.1: vectors of 18 nodes, then of 12 labels.

    Args:
        configuration: of `reference.arc_standard`.
        tokens: `(words, size)`.
        weights: `boundary` holds NULL and ROOT, `label_embeddings` NULL first.
    """
    null, root = weights["boundary"]
    table = {None: null, 0: root, **dict(enumerate(tokens, 1))}
    nodes, labels = arc_standard.features(configuration)
    parts = [table[node] for node in nodes]
    parts += [weights["label_embeddings"][label or 0] for label in labels]
    return np.concatenate(parts)


def outputs(num_labels):
    """What each output stands for: a move and a label."""
    labels = range(1, num_labels + 1)
    return [
        (move, label)
        for move in arc_standard.MOVES
        for label in (labels if move in arc_standard.ARCS else [None])
    ]


class Hypothesis:
    """Moves so far, their log probability, and the network's states."""

    def __init__(self, configuration, states, score=0.0):
        self.configuration = configuration
        self.states = states
        self.score = score

    @property
    def done(self):
        return not arc_standard.legal(self.configuration)

    def tree(self):
        """Heads and labels of all words."""
        found = {word: (head, label) for head, word, label in self.configuration.arcs}
        heads, labels = zip(*(found[word] for word in sorted(found)), strict=True)
        return list(heads), list(labels)

    def fits(self, move, arc_labels):
        arcs = arc_standard.advance(self.configuration, *move).arcs
        new = set(arcs) - set(self.configuration.arcs)
        return all(label in arc_labels[head > 0] for head, _, label in new)

    def successors(self, tokens, weights, gates, arc_labels=None):
        """One for each legal move, in the order of the outputs; one that is done is
        its own.

        `arc_labels` are those that an arc from ROOT, and one from a word, may have.
        """
        if self.done:
            return [self]
        x = read(self.configuration, tokens, weights)
        states = step(x, self.states, weights, gates)
        legal = arc_standard.legal(self.configuration)
        every = outputs(len(weights["label_embeddings"]) - 1)
        rows = [row for row, (move, _) in enumerate(every) if move in legal]
        if arc_labels:
            rows = [row for row in rows if self.fits(every[row], arc_labels)]
        scores = log_softmax((states[0] @ weights["output_kernel"])[rows])
        return [
            Hypothesis(
                arc_standard.advance(self.configuration, *every[row]),
                states,
                self.score + score,
            )
            for row, score in zip(rows, scores, strict=True)
        ]


def search(tokens, weights, gates, beam_width=None, arc_labels=None):
    """The hypotheses at the end, best first, with as many kept at every step.

    None keeps all: all legal sequences of moves.
    """
    states = start_states(len(weights["output_kernel"]), gates)
    beam = [Hypothesis(arc_standard.start(len(tokens)), states)]
    while not all(one.done for one in beam):
        given = tokens, weights, gates, arc_labels
        found = [new for old in beam for new in old.successors(*given)]
        beam = sorted(found, key=lambda one: -one.score)[:beam_width]
    return beam


def greedy(tokens, weights, gates):
    """The tree of the best move at every step."""
    states = start_states(len(weights["output_kernel"]), gates)
    state = Hypothesis(arc_standard.start(len(tokens)), states)
    while not state.done:
        state = max(state.successors(tokens, weights, gates), key=lambda one: one.score)
    return state.tree()


def oracle_logits(tokens, heads, labels, weights, gates):
    """The logits before each move to a tree: `(2 words, 2 V + 1)`."""
    configuration = arc_standard.start(len(tokens))
    xs = []
    for move in arc_standard.oracle(heads, labels):
        xs.append(read(configuration, tokens, weights))
        configuration = arc_standard.advance(configuration, *move)
    return run(np.stack(xs), weights, gates)[0] @ weights["output_kernel"]
