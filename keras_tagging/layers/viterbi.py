"""The best path through the tags of a sentence."""

import numpy as np
from keras import ops

from keras_tagging.layers.loop import over_time
from keras_tagging.metrics.chunks import allowed_transitions

# Added to the score of a path for each of its forbidden steps. No sum of scores comes
# near it, and float32 still tells how many there are.
FORBIDDEN = -1e30


def add_ends(scores, mask, start, end):
    """Scores with those of beginning and ending added at the ends of each sentence.

    Args:
        scores: `(batch, time, num_tags)`.
        mask: `(batch, time)` bool, False at tokens to skip.
        start, end: `(num_tags,)`, for the first and the last token that is not masked.
    """
    place = ops.cumsum(ops.cast(mask, "int32"), 1)
    for edge, added in ((1, start), (place[:, -1:], end)):
        here = ops.expand_dims(mask & ops.equal(place, edge), -1)
        scores = scores + ops.cast(here, scores.dtype) * added
    return scores


def best_path(scores, mask, transitions):
    """The tags with the largest sum of scores and transitions.

    Of equal paths the one with the lowest id at the last token is taken, then at the
    one before it, and so on.

    Args:
        scores: `(batch, time, num_tags)`; those of beginning and ending included.
        mask: `(batch, time)` bool, False at tokens to skip.
        transitions: `(num_tags, num_tags)`, from the row's to the column's tag.

    Returns:
        `(batch, time)` int32; 0 where masked.
    """
    sources = ops.transpose(transitions)
    num_tags = scores.shape[-1]

    def forward(scores, states):
        # `best`: of the paths up to the token before, one for each tag here
        [best] = states
        best = best + scores
        best = best - ops.max(best, -1, keepdims=True)
        ways = ops.expand_dims(best, -1) + transitions
        return best, [ops.max(ways, 1)]

    def backward(best, states):
        # `following`: the next token's tag, one-hot; zeros at the last token
        [following] = states
        chosen = ops.take(sources, ops.argmax(following, -1), axis=0)
        ways = best + chosen * ops.sum(following, -1, keepdims=True)
        tag = ops.one_hot(ops.argmax(ways, -1), num_tags, dtype=best.dtype)
        return tag, [tag]

    nothing = ops.zeros_like(scores[:, 0])
    best = over_time(forward, scores, [nothing], mask)
    path = over_time(backward, best, [nothing], mask, backwards=True)
    return ops.where(mask, ops.cast(ops.argmax(path, -1), "int32"), 0)


def chunk_penalties(tags, scheme=None):
    """Scores that a path gets for its first tag, its changes and its last tag.

    0 where the scheme of the chunks allows it, else `FORBIDDEN`: arrays of the shapes
    of :func:`keras_tagging.metrics.allowed_transitions`, which see for the arguments.
    """
    return tuple(
        np.where(allowed, 0, FORBIDDEN).astype("float32")
        for allowed in allowed_transitions(tags, scheme)
    )
