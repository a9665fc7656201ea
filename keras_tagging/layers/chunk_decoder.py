"""The best path through the tags of a sentence, and that of consistent chunks."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_tagging.cells.configuration import Dtype, Tensor, config_of, single_precision
from keras_tagging.layers.loop import as_mask, over_time
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


#: below that of any positive number in float64
LEAST_LOGARITHM = -1e3


@keras.saving.register_keras_serializable("keras_tagging")
class ChunkDecoder(keras.layers.Layer):
    """The best tags that are consistent as chunks, for a network with a softmax.

    The tags with the best probability of each token may contradict each other: I-X
    after O, for instance. This layer, which has no weights, finds the most probable
    sequence that does not, by the Viterbi search of the `CRF`. It is put behind a
    trained network, or beside the logits of one that is trained: in training, where
    the search would cost much for little, it gives the best tag of each token.

    A path that has a probability comes before all that have a tag of probability 0.
    If every consistent path has one, those with the fewest come first.

    Args:
        tags: names of the tags by id.
        scheme: "iob2", "iob1" or "iobes" (BILOU too); by default the names tell, see
            :func:`keras_tagging.metrics.allowed_transitions`.
        from_logits: whether the inputs are logits; else they are probabilities.
        dtype: float32 or float64; half precision becomes float32.

    Call arguments:
        inputs: `(batch, time, num_tags)`.
        mask: `(batch, time)`, False at tokens to skip.

    Returns:
        `(batch, time)` int32 tag ids, 0 where masked.

    Raises:
        ValueError: for tags that are not those of chunks.
    """

    def __init__(
        self,
        tags: Sequence[str],
        scheme: str | None = None,
        from_logits: bool = False,
        dtype: Dtype = "float32",
        **kwargs: Any,
    ):
        super().__init__(dtype=single_precision(dtype), **kwargs)
        self.supports_masking = True
        self.tags = list(tags)
        self.scheme = scheme
        self.from_logits = from_logits
        self._penalties = chunk_penalties(self.tags, scheme)

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
        scores = ops.cast(inputs, self.compute_dtype)
        mask = as_mask(mask, scores)
        if training:
            return ops.where(mask, ops.cast(ops.argmax(scores, -1), "int32"), 0)
        if not self.from_logits:
            scores = logarithms(scores, mask)
        start, transitions, end = (
            ops.convert_to_tensor(penalty, scores.dtype) for penalty in self._penalties
        )
        scores = add_ends(ops.stop_gradient(scores), mask, start, end)
        return best_path(scores, mask, transitions)

    def compute_output_spec(self, inputs, mask=None, training=False):
        return keras.KerasTensor(inputs.shape[:-1], "int32")

    def get_config(self):
        options = config_of(self, "tags", "scheme", "from_logits")
        return {**super().get_config(), **options}


def logarithms(probabilities, mask):
    """log p, whose sums order the paths of a sentence as the products of p do.

    For p = 0 it is less than what any path through the other tags can lose, and finite.
    All tags of a token have the same subtracted: near 0 logarithms tell numbers apart
    that differ in the last digit.

    Args:
        probabilities: `(batch, time, num_tags)`.
        mask: `(batch, time)` bool, False at tokens to skip.
    """
    least = np.finfo(keras.backend.standardize_dtype(probabilities.dtype)).tiny
    best = ops.max(probabilities, -1, keepdims=True)
    # not `maximum`, whose result of a float and a float64 is float32 on PyTorch
    logs = ops.log(probabilities / ops.where(best > float(least), best, 1.0))
    # not p > 0: some backends take a denormal number for 0, but not in comparisons
    real = logs > LEAST_LOGARITHM
    span = ops.sum(ops.where(mask, ops.max(ops.where(real, -logs, 0.0), -1), 0.0), -1)
    # twice, so that no rounding of the sums makes it too little
    nothing = ops.expand_dims(ops.expand_dims(-1.0 - 2.0 * span, -1), -1)
    return ops.where(real, logs, nothing)
