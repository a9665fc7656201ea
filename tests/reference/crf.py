"""A linear-chain CRF by the enumeration of all paths, in float64, one sentence a time.

Lafferty et al. (2001), section 3; Lample et al. (2016), Eq. 1.
"""

from itertools import product

import numpy as np
from scipy.special import logsumexp, softmax


def paths(emissions, weights):
    """All paths `(paths, time)` and their scores `(paths,)`.

    Args:
        emissions: `(time, num_tags)` of one sentence without padding.
        weights: (transitions, start, end).
    """
    emissions = np.asarray(emissions, "float64")
    weights = [np.asarray(w, "float64") for w in weights]
    time, num_tags = emissions.shape
    found = list(product(range(num_tags), repeat=time))
    found = np.array(found, int).reshape(len(found), time)
    if not time:  # the path through no token
        return found, np.zeros(1)
    transitions, start, end = weights
    scores = start[found[:, 0]] + end[found[:, -1]]
    scores += emissions[np.arange(time), found].sum(1)
    return found, scores + transitions[found[:, :-1], found[:, 1:]].sum(1)


def log_partition(emissions, weights):
    return logsumexp(paths(emissions, weights)[1])


def log_likelihood(emissions, tags, weights):
    """log p(tags); the sum over every value of a tag that is -1."""
    tags = np.asarray(tags, int)
    every, scores = paths(emissions, weights)
    agree = ((every == tags) | (tags < 0)).all(-1)
    return logsumexp(scores[agree]) - logsumexp(scores)


def chain_rule(emissions, tags, weights):
    """log p of each tag after those before it, `(time,)`; 0 of a tag that is -1."""
    every, scores = paths(emissions, weights)
    found = []
    for t, tag in enumerate(tags):
        agree = ((every == tags) | (np.asarray(tags) < 0))[:, :t].all(-1)
        chosen = agree & ((every[:, t] == tag) | (tag < 0))
        found.append(logsumexp(scores[chosen]) - logsumexp(scores[agree]))
    return np.array(found)


def marginals(emissions, weights):
    """`(time, num_tags)`: the share of the paths through each tag."""
    every, scores = paths(emissions, weights)
    shares = softmax(scores)
    found = np.zeros(np.shape(emissions))
    for t, k in np.ndindex(found.shape):
        found[t, k] = shares[every[:, t] == k].sum()
    return found


def best_path(emissions, weights):
    """The best path; of equal ones that with the lowest last tag, and so on back."""
    every, scores = paths(emissions, weights)
    best = every[scores == scores.max()].tolist()
    return min(best, key=lambda path: path[::-1])
