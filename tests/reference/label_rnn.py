"""Networks that read their labels, in NumPy, one position at a time.

Written from Dinarelli and Tellier (2016), sections 2.2 to 2.4, in float64.
"""

from itertools import product

import numpy as np
from scipy.special import expit as sigmoid
from scipy.special import log_softmax, softmax

DEFAULTS = {
    "label_input": "embedding",
    "label_context": 6,
    "hidden_context": 0,
    "future_label_context": 0,
    "future_hidden_context": 0,
    "combine": "sum",
    "activation": "sigmoid",
}


def label_vector(label, weights, settings):
    """What the network reads of a context label: an id, -1, or probabilities."""
    num_labels = len(weights["output_bias"])
    if settings["label_input"] == "embedding":
        table = weights["label_embeddings"]
    else:
        table = np.eye(num_labels)
    if np.ndim(label) == 1:
        return label @ table
    return table[label] if label >= 0 else np.zeros(table.shape[1])


def around(sequence, positions, nothing):
    """The vectors at some positions, concatenated; `nothing` outside the sentence."""
    found = [sequence[p] if 0 <= p < len(sequence) else nothing for p in positions]
    return np.concatenate([*found, []])


def hidden(t, words, past, future, weights, settings):
    """h_t from the vectors at positions 0..t-1 of `past` and t+1.. of `future`."""
    c = {name: value for name, value in settings.items() if name.endswith("_context")}
    if settings["label_input"] is None:
        c |= {"label_context": 0, "future_label_context": 0}

    def both_sides(name, kind, nothing):
        before = range(t - c[f"{kind}_context"], t)
        after = range(t + 1, t + 1 + c[f"future_{kind}_context"])
        sides = (past[name], before), (future[name], after)
        return [around(*side, nothing) for side in sides]

    nothing = np.zeros_like(label_vector(-1, weights, settings))
    labels = both_sides("labels", "label", nothing)
    states = both_sides("states", "hidden", np.zeros(len(weights["bias"])))
    if settings["label_input"] == "embedding":
        below, recurrent = [words[t], *labels], states
    else:
        below, recurrent = [words[t]], [*labels, *states]
    below = np.concatenate(below) @ weights["kernel"]
    total = below
    if "recurrent_kernel" in weights:
        recurrent = np.concatenate(recurrent) @ weights["recurrent_kernel"]
        joined = settings["combine"] == "concat"
        total = np.concatenate([below, recurrent]) if joined else below + recurrent
    activation = {"sigmoid": sigmoid, "tanh": np.tanh}[settings["activation"]]
    return activation(total + weights["bias"])


def labels_of(outputs, settings):
    """The labels that a network of the other direction offers: ids or probabilities."""
    if settings.get("label_input") == "probabilities":
        return [softmax(row) for row in outputs["logits"]]
    return list(outputs["tags"])


def run(words, weights, settings, gold=None, future=None, frozen=None, backwards=False):
    """The network over one sentence without padding.

    Args:
        words: (time, features).
        weights: by name.
        settings: what differs from DEFAULTS.
        gold: the label of each position that later ones read: an id, -1 for a zero
            vector, or None for the network's own.
        future: "tags", "logits" and "states" of a network of the other direction; what
            is read of its labels may be given as "labels".
        frozen: a result of `run`: all contexts are read from it.
        backwards: whether the sentence is read from its end.

    Returns:
        A dict of "logits" (time, labels), "tags" (time,), "states" (time, hidden) and
        "read", the list of the labels that later positions read.
    """
    settings = DEFAULTS | settings
    weights = {name: np.asarray(w, "float64") for name, w in weights.items()}
    turn = slice(None, None, -1 if backwards else 1)
    words = np.asarray(words, "float64")[turn]
    gold = ([None] * len(words) if gold is None else list(gold))[turn]
    ahead = {"labels": [], "states": []}
    if future is not None:
        labels = future.get("labels") or labels_of(future, settings)
        ahead["labels"] = [label_vector(y, weights, settings) for y in labels[turn]]
        ahead["states"] = np.asarray(future["states"], "float64")[turn]
    fixed = frozen and {"read": frozen["read"][turn], "states": frozen["states"][turn]}

    past = {"labels": [], "states": []}
    read, all_states, all_logits = [], [], []
    for t in range(len(words)):
        h = hidden(t, words, past, ahead, weights, settings)
        logits = h @ weights["output_kernel"] + weights["output_bias"]
        label = gold[t]
        if label is None:
            label = int(np.argmax(logits))
            if settings["label_input"] == "probabilities":
                label = softmax(logits)
        if frozen is not None:
            label = fixed["read"][t]
        past["labels"].append(label_vector(label, weights, settings))
        past["states"].append(h if frozen is None else fixed["states"][t])
        read.append(label)
        all_states.append(h)
        all_logits.append(logits)
    return {
        "logits": np.array(all_logits[turn]),
        "tags": np.argmax(all_logits[turn], -1),
        "states": np.array(all_states[turn]),
        "read": read[turn],
    }


def score(words, path, weights, settings, **contexts):
    """The sum of log p(y_t | history) along a path; contexts: future, backwards."""
    logits = run(words, weights, settings, gold=path, **contexts)["logits"]
    return sum(log_softmax(row)[tag] for row, tag in zip(logits, path, strict=True))


def along(path, words, weights, settings, **contexts):
    """What `run` gives where a path is fed back, the path as "tags"."""
    found = run(words, weights, settings, gold=path, **contexts)
    return found | {"tags": np.array(path)}


def best_path(words, weights, settings, **contexts):
    """What `run` gives along the path with the highest score of all."""
    num_labels = len(weights["output_bias"])
    paths = product(range(num_labels), repeat=len(words))
    scored = [(score(words, p, weights, settings, **contexts), p) for p in paths]
    return along(max(scored)[1], words, weights, settings, **contexts)


def beam_search(words, weights, settings, width, backwards=False, **contexts):
    """What `run` gives along the path that a beam of `width` hypotheses finds."""
    contexts["backwards"] = backwards
    n, turn = len(words), slice(None, None, -1 if backwards else 1)
    beam = [(0.0, [])]
    for t in range(n):
        longer = []
        for total, path in beam:
            history = (path + [None] * (n - t))[turn]
            found = run(words, weights, settings, gold=history, **contexts)
            log_p = log_softmax(found["logits"][turn][t])
            longer += [(total + p, [*path, k]) for k, p in enumerate(log_p)]
        beam = sorted(longer, reverse=True)[:width]
    return along(beam[0][1][turn], words, weights, settings, **contexts)


def differences(function, points):
    """The gradient of a function of named arrays, by central differences."""
    found = {}
    for name, point in points.items():
        found[name] = np.zeros_like(point)
        for place in np.ndindex(point.shape):
            middle, around = point[place], []
            for step in (1e-5, -1e-5):
                point[place] = middle + step
                around.append(function(points))
            point[place] = middle
            found[name][place] = (around[0] - around[1]) / 2e-5
    return found
