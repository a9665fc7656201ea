import keras
from keras import ops

from keras_tagging.layers.loop import over_time

# A message below this share of the largest possible one (exp(-41)) is raised to it, so
# that the gradient, in which two factors 1 / message can meet, stays within float32.
LEAST_MESSAGE = 1e-18
# The score of a tag that is known to be wrong: exp of it is 0, and it is finite.
IMPOSSIBLE = -1e9


@keras.saving.register_keras_serializable("keras_tagging")
class CRF(keras.layers.Layer):
    r"""A linear-chain conditional random field over the tags of a sentence.

    .. math::
        s(x, y) &= b_{y_1} + \sum_{t=1}^n P_{t, y_t}
            + \sum_{t=2}^n A_{y_{t-1}, y_t} + e_{y_n} \\
        p(y \mid x) &= \exp s(x, y) / \textstyle\sum_{y'} \exp s(x, y')

    Lafferty et al. (2001), section 3, :cite:`lafferty2001`, with the scores P of a
    network as in Lample et al. (2016), section 2.2 and Eq. 1, :cite:`lample2016`.
    Departures: Lample et al. hold b and e in a matrix A enlarged by two tags. The
    weights start at zero, where the layer is a softmax for each token.

    Messages are products with exp(A - max A) and carried as probabilities, each step
    scaled to the sum 1. So rounding errors do not grow with the length of a sentence,
    and no `(batch, num_tags, num_tags)` tensor is needed but in the Viterbi search.
    A tag whose message is less than exp(-41) of the largest possible one, which takes
    transitions that differ by as much, counts with that share, and a gold transition
    beyond it has no gradient. The Viterbi search knows no such limit.

    Args:
        initializer: of all weights.

    Call arguments:
        emissions: `(batch, time, num_tags)`: P, the scores of the network.
        mask: `(batch, time)`, False at tokens to skip; all are real by default. A
            sentence may have no real token at all.

    Returns:
        A dict, whose entries beyond a sentence's end mean nothing:
        "logits" `(batch, time, num_tags)`: log p(y_t | x), the marginals; "tags"
        `(batch, time)` int32: the best path, in training (where it would cost much
        for little) the tags with the best marginals; "emissions": as given, for
        `log_likelihood`.

    Weights:
        transitions: A, `(num_tags, num_tags)`, from the row's to the column's tag.
        start: b, `(num_tags,)`.
        end: e, `(num_tags,)`.
    """

    def __init__(self, initializer="zeros", dtype="float32", **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        self.supports_masking = True
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape):
        num_tags = input_shape[-1]
        shapes = {"transitions": (num_tags, num_tags)}
        shapes |= {"start": (num_tags,), "end": (num_tags,)}
        for name, shape in shapes.items():
            weight = self.add_weight(shape, name=name, initializer=self.initializer)
            setattr(self, name, weight)

    def call(self, emissions, mask=None, training=False):
        logits = self.log_marginals(emissions, mask)
        if training:
            tags = ops.cast(ops.argmax(logits, -1), "int32")
        else:
            tags = self.viterbi(emissions, mask)
        return {"logits": logits, "tags": tags, "emissions": emissions}

    def compute_mask(self, inputs, mask=None):
        """None: what follows is no layer."""

    def compute_output_spec(self, emissions, mask=None, training=False):
        shape, dtype = emissions.shape, self.compute_dtype
        return {
            "logits": keras.KerasTensor(shape, dtype),
            "tags": keras.KerasTensor(shape[:-1], "int32"),
            "emissions": keras.KerasTensor(shape, dtype),
        }

    def log_likelihood(self, emissions, tags, mask=None):
        """log p(y | x) of each sentence, `(batch,)`; 0 without tokens.

        A tag of -1 is unobserved: the sum over all its values is taken. Both chains,
        of the gold tags and of all tags, go through one loop.

        Args:
            emissions, mask: as in `call`.
            tags: `(batch, time)` integers, gold tag ids or -1.
        """
        scores, mask = self._scores(emissions, mask)
        tags = ops.expand_dims(ops.cast(tags, "int32"), -1)
        possible = (tags < 0) | (tags == ops.arange(scores.shape[-1], dtype="int32"))
        gold = ops.where(possible, scores, ops.cast(IMPOSSIBLE, scores.dtype))
        chains = ops.concatenate([gold, scores], 0)
        sums = self._sums(chains, ops.concatenate([mask, mask], 0))
        gold, every = ops.split(sums, 2)
        # sentences of one token read no transition: then PyTorch has no gradient
        # for them, not even 0, and Keras warns
        unread = 0 * ops.sum(self.transitions)
        return ops.sum(gold - every, -1) + unread

    def log_partition(self, emissions, mask=None):
        """log of the sum over all paths of exp s(x, y), `(batch,)`."""
        scores, mask = self._scores(emissions, mask)
        steps = ops.maximum(ops.sum(ops.cast(mask, scores.dtype), -1) - 1, 0)
        shift = steps * ops.stop_gradient(ops.max(self.transitions))
        return ops.sum(self._sums(scores, mask), -1) + shift

    def log_marginals(self, emissions, mask=None):
        """log p(y_t | x), `(batch, time, num_tags)`, by the forward-backward rule."""
        scores, mask = self._scores(emissions, mask)
        before = self._messages(scores, mask)
        after = self._messages(scores, mask, backwards=True)
        return ops.log_softmax(before + scores + after)

    def viterbi(self, emissions, mask=None):
        """The path with the best score, `(batch, time)` int32; 0 where masked.

        Of equal paths the one with the lowest id at the last token is taken, then
        at the one before it, and so on.
        """
        scores, mask = self._scores(emissions, mask)
        transitions = ops.convert_to_tensor(self.transitions)
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

    def _scores(self, emissions, mask):
        """P with b added at the first real token and e at the last; the mask."""
        scores = ops.cast(emissions, self.compute_dtype)
        if mask is None:
            mask = ops.ones_like(scores[:, :, 0], dtype="bool")
        mask = ops.cast(mask, "bool")
        place = ops.cumsum(ops.cast(mask, "int32"), 1)
        for edge, weight in ((1, self.start), (place[:, -1:], self.end)):
            here = ops.expand_dims(mask & (place == edge), -1)
            scores = scores + ops.cast(here, scores.dtype) * weight
        return scores, mask

    def _sums(self, scores, mask):
        """What each token adds to log Z, `(batch, time)`; 0 where masked.

        Less max A at all but the first token. The gradient comes from the last one
        and runs back through the messages: the scale of all others is arbitrary.
        """
        sums = ops.logsumexp(self._messages(scores, mask) + scores, -1)
        place = ops.cumsum(ops.cast(mask, "int32"), 1)
        last = place == place[:, -1:]
        return ops.where(mask, ops.where(last, sums, ops.stop_gradient(sums)), 0.0)

    def _messages(self, scores, mask, backwards=False):
        """log of what the tokens before (or after) say of each token's tag."""
        transitions = ops.convert_to_tensor(self.transitions)
        if backwards:
            transitions = ops.transpose(transitions)
        # neither the result nor its gradient depends on what is subtracted here
        factors = ops.exp(transitions - ops.stop_gradient(ops.max(transitions)))
        best = ops.max(scores, -1, keepdims=True)
        potentials = ops.exp(scores - ops.stop_gradient(best))

        def step(potentials, states):
            [message] = states
            joint = message * potentials
            joint = joint / ops.stop_gradient(ops.sum(joint, -1, keepdims=True))
            return message, [ops.maximum(ops.matmul(joint, factors), LEAST_MESSAGE)]

        ones = ops.ones_like(scores[:, 0])
        messages = over_time(step, potentials, [ones], mask, backwards)
        return ops.log(ops.maximum(messages, LEAST_MESSAGE))  # 0 stands in the padding

    def get_config(self):
        initializer = keras.initializers.serialize(self.initializer)
        return {**super().get_config(), "initializer": initializer}
