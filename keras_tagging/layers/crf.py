import keras
from keras import ops

from keras_tagging.cells.configuration import config_of
from keras_tagging.cells.precision import single_precision
from keras_tagging.layers.crf_objectives import (
    CRFAccuracy,
    CRFLoss,
    remember,
    with_gradient,
    with_path,
)
from keras_tagging.layers.loop import as_mask, over_time
from keras_tagging.layers.viterbi import add_ends, best_path, chunk_penalties

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

    It takes the place of the last `Dense` layer, `loss` that of the cross-entropy::

        crf = CRF(num_tags)
        model = keras.Model(token_ids, crf(hidden))
        model.compile("adam", loss=crf.loss, metrics=[crf.accuracy])
        model.fit(token_ids, tag_ids)
        tags = model.predict(token_ids).argmax(-1)

    Departures: Lample et al. hold b and e in a matrix A enlarged by two tags. A, b and
    e start at zero, where the layer is a softmax for each token.

    Messages are products with exp(A - max A) and carried as probabilities, each step
    scaled to the sum 1. So rounding errors do not grow with the length of a sentence,
    and no `(batch, num_tags, num_tags)` tensor is needed but in the Viterbi search.
    A tag whose message is less than exp(-41) of the largest possible one, which takes
    transitions that differ by as much, counts with that share, and a gold transition
    beyond it has no gradient. The Viterbi search knows no such limit.

    Args:
        num_tags: int, for a linear layer from the inputs to the scores P; None if the
            inputs are the scores.
        tags: names of the tags by id; needed for `constrained`.
        constrained: whether decoding gives only sequences that are consistent in the
            tags' chunk scheme: in IOB2 no I-X after O, for instance. The likelihood
            counts all sequences, as gold tags may be inconsistent.
        scheme: "iob2", "iob1" or "iobes" (BILOU too); by default the names tell, see
            :func:`keras_tagging.metrics.allowed_transitions`.
        initializer: of A, b and e.
        kernel_initializer: of the linear layer.
        return_dict: whether to return what a model with a loss of its own needs.
        dtype: float32 or float64; half precision becomes float32.

    Call arguments:
        inputs: `(batch, time, features)`, or the scores `(batch, time, num_tags)`.
        mask: `(batch, time)`, False at tokens to skip; all are real by default. A
            sentence may have no real token at all.

    Returns:
        `(batch, time, num_tags)`: the largest value of each token is that of its tag
        on the best path, so `argmax` decodes, and stock metrics see the path. The
        tag on the path has a value of at least 1, all others of at most -1, and masked
        tokens have zeros. Without the sign and 1 the values say how far the scores P
        are below the token's largest, which is all that `loss` has to know of P.
        They are not probabilities: those are `softmax` of `log_marginals`.

        With `return_dict` a dict, whose entries beyond a sentence's end mean nothing:
        "logits" `(batch, time, num_tags)`: log p(y_t | x), the marginals; "tags"
        `(batch, time)` int32: the best path, in training (where it would cost much
        for little) the tags with the best marginals; "emissions": P, for
        `log_likelihood`.

    Weights:
        kernel, bias: `(features, num_tags)` and `(num_tags,)`, with `num_tags`.
        transitions: A, `(num_tags, num_tags)`, from the row's to the column's tag.
        start: b, `(num_tags,)`.
        end: e, `(num_tags,)`.

    Raises:
        ValueError: for `num_tags` below 1, `constrained` without `tags`, tags that are
            not those of chunks, or a number of scores other than that of the tags; in
            training if another loss than `loss` has read the output.
    """

    def __init__(
        self,
        num_tags=None,
        *,
        tags=None,
        constrained=False,
        scheme=None,
        initializer="zeros",
        kernel_initializer="glorot_uniform",
        return_dict=False,
        dtype="float32",
        **kwargs,
    ):
        if num_tags is not None and (not isinstance(num_tags, int) or num_tags < 1):
            raise ValueError(f"num_tags={num_tags!r}: give a positive integer, or None")
        if constrained and tags is None:
            raise ValueError("constrained=True needs the names of the tags: give tags=")
        if None not in (num_tags, tags) and len(tags) != num_tags:
            raise ValueError(f"{len(tags)} tags are not num_tags={num_tags}")
        super().__init__(dtype=single_precision(dtype), **kwargs)
        self.supports_masking = True
        self.num_tags = num_tags
        self.tags = None if tags is None else list(tags)
        self.constrained = constrained
        self.scheme = scheme
        self.initializer = keras.initializers.get(initializer)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.return_dict = return_dict
        remember(self)
        self._penalties = chunk_penalties(tags, scheme) if constrained else (0, 0, 0)

    @property
    def loss(self):
        """The loss to compile a model with that ends in this layer: a `CRFLoss`."""
        return CRFLoss(self)

    @property
    def accuracy(self):
        """A metric: the share of the real tokens with their gold tag."""
        return CRFAccuracy()

    def build(self, input_shape):
        num_tags = self.num_tags or input_shape[-1]
        if self.tags and len(self.tags) != num_tags:
            raise ValueError(
                f"{num_tags} scores for {len(self.tags)} tags: give num_tags="
                f"{len(self.tags)} for a linear layer"
            )
        if self.num_tags:
            shape = input_shape[-1], num_tags
            self.kernel = self.add_weight(shape, self.kernel_initializer, name="kernel")
            self.bias = self.add_weight((num_tags,), "zeros", name="bias")
        shapes = {"transitions": (num_tags, num_tags)}
        shapes |= {"start": (num_tags,), "end": (num_tags,)}
        for name, shape in shapes.items():
            weight = self.add_weight(shape, name=name, initializer=self.initializer)
            setattr(self, name, weight)

    def call(self, inputs, mask=None, training=False):
        emissions = inputs
        if self.num_tags:
            emissions = ops.matmul(inputs, self.kernel) + self.bias
        if not self.return_dict:
            scores, mask = self._real(emissions, mask)
            marked = with_path(scores, self.viterbi(emissions, mask), mask)
            return self._for_its_loss(marked) if training else marked
        logits = self.log_marginals(emissions, mask)
        if training:
            tags = ops.cast(ops.argmax(logits, -1), "int32")
        else:
            tags = self.viterbi(emissions, mask)
        return {"logits": logits, "tags": tags, "emissions": emissions}

    def _for_its_loss(self, marked):
        """`marked`, whose gradient only a `CRFLoss` may ask for.

        To any other loss, such as a cross-entropy, it is nonsense, and trains none of
        the transitions. A layer does not know its loss before there is a gradient.
        """
        self.has_loss = False  # the loss sets it, between the call and the gradient

        def gradient(upstream):
            if not self.has_loss:
                raise ValueError(
                    f"the output of {self.name} marks a path: it is no logits or "
                    "probabilities for another loss than its own, crf.loss"
                )
            return upstream

        return with_gradient(marked, gradient)

    def compute_mask(self, inputs, mask=None):
        return None if self.return_dict else mask

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.num_tags or input_shape[-1])

    def compute_output_spec(self, inputs, mask=None, training=False):
        shape = self.compute_output_shape(inputs.shape)
        dtype = self.compute_dtype
        if not self.return_dict:
            return keras.KerasTensor(shape, dtype)
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
        gold = gold_scores(scores, tags)
        chains = ops.concatenate([gold, scores], 0)
        sums = self._sums(chains, ops.concatenate([mask, mask], 0))
        gold, every = ops.split(sums, 2)
        return ops.sum(gold - every, -1) + self._unread()

    def token_log_likelihoods(self, emissions, tags, mask=None):
        """log p of each tag after the tags before it, `(batch, time)`; 0 where masked.

        By the chain rule their sum is `log_likelihood`. The tags that follow are free.
        A tag of -1 is unobserved: it has 0, and no later tag is conditioned on it.

        Args:
            emissions, tags, mask: as in `log_likelihood`.
        """
        scores, mask = self._scores(emissions, mask)
        gold = gold_scores(scores, tags)
        others = self._messages(gold, mask) + self._messages(scores, mask, True)
        found = ops.logsumexp(others + gold, -1) - ops.logsumexp(others + scores, -1)
        return ops.where(mask, found, 0.0) + self._unread()

    def _unread(self):
        # sentences of one token read no transition: then PyTorch has no gradient
        # for them, not even 0, and Keras warns
        return 0 * ops.sum(self.transitions)

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

        With `constrained` the best of those that are consistent, if there is one. Of
        equal paths the one with the lowest id at the last token is taken, then at the
        one before it, and so on.
        """
        scores, mask = self._real(emissions, mask)
        weights = zip(
            (self.start, self.transitions, self.end), self._penalties, strict=True
        )
        start, transitions, end = (
            ops.stop_gradient(ops.add(weight, penalty)) for weight, penalty in weights
        )
        scores = add_ends(ops.stop_gradient(scores), mask, start, end)
        return best_path(scores, mask, transitions)

    def _real(self, emissions, mask):
        """P in the layer's precision, and the mask."""
        scores = ops.cast(emissions, self.compute_dtype)
        return scores, as_mask(mask, scores)

    def _scores(self, emissions, mask):
        """P with b added at the first real token and e at the last; the mask."""
        scores, mask = self._real(emissions, mask)
        return add_ends(scores, mask, self.start, self.end), mask

    def _sums(self, scores, mask):
        """The contribution of each token to log Z, `(batch, time)`; 0 where masked.

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
        names = ("num_tags", "tags", "constrained", "scheme", "return_dict")
        names += ("initializer", "kernel_initializer")
        return {**super().get_config(), **config_of(self, *names)}

    @classmethod
    def from_config(cls, config):
        # layers saved before there was the keyword returned a dict
        return cls(**{"return_dict": True, **config})


def gold_scores(scores, tags):
    """The scores of gold tags; all others are impossible, and at -1 none is."""
    tags = ops.expand_dims(ops.cast(tags, "int32"), -1)
    possible = (tags < 0) | (tags == ops.arange(scores.shape[-1], dtype="int32"))
    return ops.where(possible, scores, ops.cast(IMPOSSIBLE, scores.dtype))
