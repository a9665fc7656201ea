"""A CRF, its loss and its metric for `compile`, and the one tensor that they read.

Keras gives a loss and a metric one tensor. A CRF has two outputs for each token: its
tag on the best path, and the scores of all tags, from which the likelihood is computed.
The likelihood does not change if a number is added to all scores of a token. So the
tensor holds only their distances to the largest score, and their signs mark the path.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

import keras
from keras import ops

from keras_tagging.cells.configuration import (
    Dtype,
    Named,
    Tensor,
    config_of,
    single_precision,
)
from keras_tagging.layers.chunk_decoder import add_ends, best_path, chunk_penalties
from keras_tagging.layers.loop import as_mask, over_time

# By name the CRF made last: when a saved model is loaded, its layers are made before
# its loss, which then belongs to the layer of the loaded model.
_LAST_MADE = WeakValueDictionary()


def with_path(scores, tags, mask):
    """Scores and a path as one tensor, `(batch, time, num_tags)`.

    Args:
        scores: `(batch, time, num_tags)`.
        tags: `(batch, time)`, the path.
        mask: `(batch, time)` bool, False at tokens to skip.

    Returns:
        1 and the distance to the token's largest score: positive for the tag on the
        path, negative for all others; 0 where masked.
    """
    # its gradient is that of a number added to all scores
    largest = ops.stop_gradient(ops.max(scores, -1, keepdims=True))
    signs = 2 * ops.one_hot(tags, scores.shape[-1], dtype=scores.dtype) - 1
    marked = signs * (1 + largest - scores)
    return ops.where(ops.expand_dims(mask, -1), marked, 0.0)


def with_gradient(x, gradient):
    """`x`, with `gradient(upstream)` called when its gradient is asked for."""
    if keras.backend.backend() == "jax":  # Keras' own would call it at once
        import jax

        same = jax.custom_vjp(lambda x: x)
        same.defvjp(lambda x: (x, None), lambda _, upstream: (gradient(upstream),))
        return same(x)

    def backwards(*args, upstream=None):
        return gradient(args[0] if upstream is None else upstream)

    return ops.custom_gradient(lambda x: (1 * x, backwards))(x)


def scores_and_mask(marked):
    """The scores, less the largest of each token, and the mask of `with_path`."""
    return 1 - ops.abs(marked), real_tokens(marked)


def real_tokens(marked):
    """The mask of `with_path`: no token that counts has a value near 0."""
    return ops.abs(marked[:, :, 0]) > 0.5


def of_tokens(x):
    """`(batch, time)`, of that or `(batch, time, 1)`."""
    return ops.squeeze(x, -1) if len(x.shape) == 3 and x.shape[-1] == 1 else x


def refuse_unknown_ids(tags, mask, num_tags):
    """Whether an id at a real token is too large, where that raises no error.

    Args:
        tags, mask: `(batch, time)`.
        num_tags: int.
    """
    too_large = ops.any(mask & (tags >= num_tags))
    message = f"a gold tag id is not below num_tags={num_tags}"
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.debugging.assert_equal(too_large, False, message=message)
    elif keras.backend.backend() == "torch" and bool(too_large):
        raise ValueError(message)
    return too_large


@keras.saving.register_keras_serializable("keras_tagging")
class CRFLoss(keras.losses.Loss):
    """-log p of the gold paths, as a mean over the real tokens.

    So its size, and with it the learning rate, is that of a mean cross-entropy. With
    weights it is the weighted mean: -log p of a path is the sum over its tokens of
    -log p(tag | tags before it), each times its weight, divided by the sum of the
    weights of the real tokens. Equal weights change nothing.

    `fit` has weights of sentences or tokens as `sample_weight`. Its `class_weight` is
    an error: Keras makes one weight a sentence of it, that of the position of its
    largest id. Give it to the loss: ``CRFLoss(crf, class_weight={0: 0.1})``.

    Args:
        crf: the `CRF` layer that the model ends in: the loss reads its transitions.
        class_weight: dict from tag ids to weights, 1 for all others, by which those of
            the tokens are multiplied.

    Call arguments:
        y_true: `(batch, time)` tag ids, or `(batch, time, 1)`. A negative one is an
            unknown tag: the sum over all its values is taken. What stands at masked
            tokens is not read.
        y_pred: the output of the layer.
        sample_weight: `(batch, 1)`, the weights of the sentences; or `(batch, time)`,
            also `(batch, time, 1)`, those of the tokens. A token of weight 0 has an
            unknown tag.

    Raises:
        ValueError: if `y_pred` is not the output of the layer, the layer belongs to no
            model, `class_weight` has another key than a tag id, for weights of other
            shapes, and on PyTorch for an id that no tag has. With TensorFlow that is an
            InvalidArgumentError; with JAX and XLA, which have no errors, the loss is
            NaN.
    """

    def __init__(
        self,
        crf: "CRF | dict[str, Any]",
        class_weight: Mapping[int, float] | None = None,
        name: str = "crf_loss",
        dtype: Dtype = None,
    ):
        super().__init__(name=name, dtype=dtype)
        # not an attribute that is a layer: Keras would save its weights as the loss's
        self._layer = lambda: crf
        # JSON, and so a saved model, has strings as keys
        items = (class_weight or {}).items()
        self.class_weight = {int(tag): float(weight) for tag, weight in items}

    def layer(self) -> "CRF":
        """The `CRF` that the loss belongs to; None if it was not found again."""
        return self._layer()

    def __call__(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor = None):
        crf = self.layer()
        if crf is None or not crf.built or crf.return_dict:
            raise ValueError(
                "CRFLoss needs a layer that the model ends in and that returns no dict"
                ": compile(loss=crf.loss) with the model's own layer crf"
            )
        num_tags = crf.transitions.shape[0]
        if len(y_pred.shape) != 3 or y_pred.shape[-1] != num_tags:
            raise ValueError(
                f"CRFLoss reads the output of {crf.name}, (batch, time, {num_tags}), "
                f"not {tuple(y_pred.shape)}: let the model end in that layer"
            )
        crf.has_loss = True
        y_true = of_tokens(ops.convert_to_tensor(y_true))
        tags = ops.cast(y_true, "int32")
        scores, mask = scores_and_mask(ops.convert_to_tensor(y_pred))
        unknown = refuse_unknown_ids(tags, mask, num_tags)
        counts = ops.cast(mask, scores.dtype)
        if sample_weight is None and not self.class_weight:
            total = ops.sum(crf.log_likelihood(scores, tags, mask))
        else:
            weights = self._weights(tags, sample_weight, num_tags, scores.dtype)
            counts = counts * weights
            tags = ops.where(counts > 0, tags, -1)
            total = ops.sum(counts * crf.token_log_likelihoods(scores, tags, mask))
        loss = -total / ops.maximum(ops.sum(counts), keras.config.epsilon())
        return ops.where(unknown, float("nan"), loss)

    def _weights(self, tags, sample_weight, num_tags, dtype):
        """The weight of each token, `(batch, time)`, or of each sentence."""
        weights = ops.ones_like(tags, dtype=dtype)
        if sample_weight is not None:
            factors = of_tokens(ops.cast(sample_weight, dtype))
            if len(factors.shape) != 2:
                raise ValueError(
                    "weights (batch,) may be what Keras makes of class_weight, one a "
                    "sentence by the position of its largest id: give class_weight to "
                    "CRFLoss, or weights of sentences as sample_weight (batch, 1)"
                )
            weights = weights * factors
        if self.class_weight:
            wrong = [tag for tag in self.class_weight if not 0 <= tag < num_tags]
            if wrong:
                raise ValueError(
                    f"class_weight of tag {wrong[0]}: ids are from 0 to {num_tags - 1}"
                )
            table = [self.class_weight.get(tag, 1.0) for tag in range(num_tags)]
            of_tag = ops.take(ops.convert_to_tensor(table, dtype), tags % num_tags)
            weights = weights * ops.where(tags < 0, 1.0, of_tag)
        return weights

    def get_config(self):
        name = self.layer() and self.layer().name
        return {"name": self.name, "crf": name, "class_weight": self.class_weight}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "crf": _LAST_MADE.get(config["crf"])})


@keras.saving.register_keras_serializable("keras_tagging")
class CRFAccuracy(keras.metrics.Mean):
    """Share of the real tokens of all batches whose tag on the path is the gold tag.

    Keras' own accuracy averages each sentence over its padded length first, so batches
    of short sentences count more. Here each token counts once; -1 is an error.
    """

    _direction = "up"  # for callbacks of Keras that monitor it

    def __init__(self, name: str = "accuracy", **kwargs: Any):
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight=None):
        best = ops.cast(ops.argmax(y_pred, -1), "int32")
        y_true = of_tokens(ops.cast(y_true, "int32"))
        right = ops.cast(best == y_true, self.dtype)
        weights = ops.cast(real_tokens(y_pred), self.dtype)
        if sample_weight is not None:
            factors = of_tokens(ops.cast(sample_weight, self.dtype))
            if len(factors.shape) != 2:
                factors = ops.expand_dims(factors, -1)
            weights = weights * factors
        return super().update_state(
            ops.reshape(right, (-1,)), ops.reshape(weights, (-1,))
        )


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
        ValueError: for `constrained` without `tags`, or tags that are not those of
            chunks; in training if another loss than `loss` has read the output.
    """

    def __init__(
        self,
        num_tags: int | None = None,
        *,
        tags: Sequence[str] | None = None,
        constrained: bool = False,
        scheme: str | None = None,
        initializer: Named = "zeros",
        kernel_initializer: Named = "glorot_uniform",
        return_dict: bool = False,
        dtype: Dtype = "float32",
        **kwargs: Any,
    ):
        if constrained and tags is None:
            raise ValueError("constrained=True needs the names of the tags: give tags=")
        super().__init__(dtype=single_precision(dtype), **kwargs)
        self.supports_masking = True
        self.num_tags = num_tags
        self.tags = None if tags is None else list(tags)
        self.constrained = constrained
        self.scheme = scheme
        self.initializer = keras.initializers.get(initializer)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.return_dict = return_dict
        _LAST_MADE[self.name] = self
        self._penalties = chunk_penalties(tags, scheme) if constrained else (0, 0, 0)

    @property
    def loss(self) -> "CRFLoss":
        """The loss to compile a model with that ends in this layer: a `CRFLoss`."""
        return CRFLoss(self)

    @property
    def accuracy(self) -> "CRFAccuracy":
        """A metric: the share of the real tokens with their gold tag."""
        return CRFAccuracy()

    def build(self, input_shape):
        num_tags = self.num_tags or input_shape[-1]
        if self.num_tags:
            shape = input_shape[-1], num_tags
            self.kernel = self.add_weight(shape, self.kernel_initializer, name="kernel")
            self.bias = self.add_weight((num_tags,), "zeros", name="bias")
        shapes = {"transitions": (num_tags, num_tags)}
        shapes |= {"start": (num_tags,), "end": (num_tags,)}
        for name, shape in shapes.items():
            weight = self.add_weight(shape, name=name, initializer=self.initializer)
            setattr(self, name, weight)

    def call(self, inputs: Tensor, mask: Tensor = None, training: bool = False):
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
                    f"the output of {self.name} marks the best path, which no other "
                    "loss can train: pass its own, crf.loss"
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

    def log_likelihood(
        self, emissions: Tensor, tags: Tensor, mask: Tensor = None
    ) -> Tensor:
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

    def token_log_likelihoods(
        self, emissions: Tensor, tags: Tensor, mask: Tensor = None
    ) -> Tensor:
        """log p of each tag after the tags before it, `(batch, time)`; 0 where masked.

        By the chain rule their sum is `log_likelihood`. The tags that follow are free.
        A tag of -1 is unobserved: it has 0, and no later tag is conditioned on it.

        Args:
            emissions, tags, mask: as in `log_likelihood`.
        """
        scores, mask = self._scores(emissions, mask)
        gold = gold_scores(scores, tags)
        others = self._messages(gold, mask) + self._messages(scores, mask, True)
        terms = ops.logsumexp(others + gold, -1) - ops.logsumexp(others + scores, -1)
        return ops.where(mask, terms, 0.0) + self._unread()

    def _unread(self):
        # sentences of one token read no transition: then PyTorch has no gradient
        # for them, not even 0, and Keras warns
        return 0 * ops.sum(self.transitions)

    def log_partition(self, emissions: Tensor, mask: Tensor = None) -> Tensor:
        """log of the sum over all paths of exp s(x, y), `(batch,)`."""
        scores, mask = self._scores(emissions, mask)
        steps = ops.maximum(ops.sum(ops.cast(mask, scores.dtype), -1) - 1, 0)
        shift = steps * ops.stop_gradient(ops.max(self.transitions))
        return ops.sum(self._sums(scores, mask), -1) + shift

    def log_marginals(self, emissions: Tensor, mask: Tensor = None) -> Tensor:
        """log p(y_t | x), `(batch, time, num_tags)`, by the forward-backward rule."""
        scores, mask = self._scores(emissions, mask)
        before = self._messages(scores, mask)
        after = self._messages(scores, mask, backwards=True)
        return ops.log_softmax(before + scores + after)

    def viterbi(self, emissions: Tensor, mask: Tensor = None) -> Tensor:
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
