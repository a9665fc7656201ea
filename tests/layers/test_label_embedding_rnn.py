"""LabelEmbeddingRNN: its equations in training, its gradients, and as a Keras layer."""

from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
from cells.cases import op_by_op
from keras import ops
from layers.gradients import gradients
from reference import label_rnn

from keras_tagging.layers import LabelEmbeddingRNN

UNITS, FEATURES, NUM_LABELS, LABEL_DIM = 4, 3, 5, 2
LENGTHS = np.array([6, 1, 4, 0, 2])
TIME = 6
MASK = np.arange(TIME) < LENGTHS[:, None]
NONE, PROBABILITIES = {"label_input": None}, {"label_input": "probabilities"}
RETURNED = {"feedback": "gold", "return_dict": True}
ONE_HOT, CONCAT = {"label_input": "one-hot"}, {"combine": "concat"}
# No two contexts of a network are equally long.
NETWORKS = {
    "elman": NONE | {"hidden_context": 2},
    "jordan-probabilities": PROBABILITIES | {"label_context": 2},
    "jordan-one-hot": ONE_HOT | {"label_context": 3},
    "jordan-elman": ONE_HOT | {"label_context": 3, "hidden_context": 2},
    "improved": {"label_context": 2},
    "improved-elman": {"label_context": 3, "hidden_context": 2},
    "tanh": {"label_context": 1, "hidden_context": 3, "activation": "tanh"},
    "elman-concat": NONE | CONCAT | {"hidden_context": 2},
    "jordan-concat": PROBABILITIES | CONCAT | {"label_context": 2},
    "improved-elman-concat": CONCAT | {"label_context": 2, "hidden_context": 1},
}
# The first of two layers gives the second, which is tested, its future.
DIRECTIONS = {
    "forward": [False],
    "backward": [True],
    "bidirectional": [True, False],
    "mirrored": [False, True],
}
# On other backends two suffice, as the others are made of the same layers.
directions = pytest.mark.parametrize(
    "direction",
    [
        pytest.param(name, marks=pytest.mark.one_backend)
        if name in ("backward", "bidirectional")
        else name
        for name in DIRECTIONS
    ],
)
networks = pytest.mark.parametrize("network", NETWORKS)


class Layer(NamedTuple):
    layer: LabelEmbeddingRNN
    settings: dict[str, Any]
    backwards: bool

    def weights(self):
        return {w.name: ops.convert_to_numpy(w) for w in self.layer.trainable_weights}

    def reference(self, sentence, find=label_rnn.run, **contexts):
        if self.backwards:
            contexts["backwards"] = True
        return find(sentence, self.weights(), self.settings, **contexts)


def randomize(layer, seed):
    """Gives every weight that is learned random values."""
    rng = np.random.default_rng(seed)
    values = {w.name: rng.normal(0, 0.7, w.shape) for w in layer.trainable_weights}
    # states of about 0.5 give no label an advantage
    values["output_bias"] *= 0.3
    values["output_bias"] -= values["output_kernel"].sum(0) / 2
    for weight in layer.trainable_weights:
        weight.assign(values[weight.name])


def make(settings, backwards=False, draw=3, num_labels=NUM_LABELS, **kwargs):
    layer = LabelEmbeddingRNN(
        UNITS,
        num_labels,
        **{"label_dim": LABEL_DIM, **RETURNED, **settings, **kwargs},
        go_backwards=backwards,
    )
    layer.build((None, None, FEATURES))
    randomize(layer, draw)
    return Layer(layer, settings, backwards)


def build(network, direction="forward", draw=3, **kwargs):
    """The layers of a direction, in the order in which they run."""
    settings = NETWORKS[network]
    chain = [make(settings, DIRECTIONS[direction][0], draw, **kwargs)]
    for backwards in DIRECTIONS[direction][1:]:
        future = {}
        if settings.get("label_context"):
            future["future_label_context"] = settings["label_context"] + 1
        if settings.get("hidden_context"):
            future["future_hidden_context"] = settings["hidden_context"] + 2
        chain.append(make(settings | future, backwards, draw + 1, **kwargs))
    return chain


def random_inputs(seed=1, shape=(*MASK.shape, FEATURES)):
    return np.random.default_rng(seed).normal(0, 3, shape).astype("float32")


def random_labels(seed=2, num_labels=NUM_LABELS, shape=MASK.shape):
    """Gold labels, some of them -1."""
    rng = np.random.default_rng(seed)
    return rng.integers(-1, num_labels, shape).astype("int32")


def call(chain, x, **kwargs):
    """What the last layer gives."""
    given = None
    for each in chain:
        kwargs |= {} if given is None else {"future": given}
        given = each.layer(x, **kwargs)
    return given


def outputs(chain, x, mask=MASK, **kwargs):
    with op_by_op():
        given = call(chain, x, mask=mask, **kwargs)
    return {name: ops.convert_to_numpy(value) for name, value in given.items()}


def expected(chain, sentence, find=label_rnn.run):
    """The same of one sentence by the reference, in decoding."""
    future = None
    for each in chain:
        future = each.reference(sentence, find, future=future)
    return future


def expected_of_gold(chain, sentence, gold):
    """The same in training with gold labels: those of the future are gold as well."""
    gold, future = gold.tolist(), None
    for each in chain:
        future = each.reference(sentence, gold=gold, future=future) | {"labels": gold}
    return future


def assert_same(found, wanted, names=("tags", "logits", "states")):
    for name in names:
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-5, err_msg=name)


def sentences(found, *arrays):
    """The outputs of each sentence that is not empty, without the padding."""
    for i, n in enumerate(LENGTHS):
        if n:
            row = {name: value[i, :n] for name, value in found.items()}
            yield row, *(array[i, :n] for array in arrays)


# Values in training


@directions
@networks
def test_gold_feedback_equals_the_reference_step_by_step(network, direction):
    chain, x, labels = build(network, direction), random_inputs(), random_labels()
    assert (labels[MASK] == -1).any()
    found = outputs(chain, x, labels=labels, training=True)
    for row, sentence, gold in sentences(found, x, labels):
        assert_same(row, expected_of_gold(chain, sentence, gold))


@directions
@networks
def test_predicted_feedback_in_training_equals_decoding(network, direction):
    chain = build(network, direction, feedback="predicted")
    x, labels = random_inputs(), random_labels()
    found = outputs(chain, x, labels=labels, training=True)
    decoded = outputs(chain, x)
    without = outputs(chain, x, training=True)
    for (row,), (other,), (third,) in zip(
        sentences(found), sentences(decoded), sentences(without), strict=True
    ):
        assert_same(row, other)
        assert_same(row, third)


@pytest.mark.parametrize("backwards", [False, True])
def test_dropout_is_of_what_the_output_layer_reads(backwards):
    x, labels = random_inputs(), random_labels()
    plain = make(NETWORKS["improved-elman"], backwards)
    layer = make(NETWORKS["improved-elman"], backwards, dropout=0.5, seed=1)
    one, other = (
        outputs([each], x, labels=labels, training=True) for each in (plain, layer)
    )
    for (row,), (dropped,) in zip(sentences(one), sentences(other), strict=True):
        assert_same(row, dropped, ["states"])
        weights = layer.weights()
        kept = np.array(list(np.ndindex((2,) * UNITS)))[:, None] * row["states"] / 0.5
        ways = kept @ weights["output_kernel"] + weights["output_bias"]
        assert (abs(ways - dropped["logits"]).max(-1).min(0) < 1e-5).all()
    assert abs(one["logits"] - other["logits"]).max() > 0.1
    assert_same(outputs([plain], x), outputs([layer], x))


# Gradients


@directions
@pytest.mark.parametrize("feedback", ["gold", "predicted"])
@pytest.mark.parametrize(
    "network", ["elman", "jordan-probabilities", "jordan-elman", "improved-elman"]
)
def test_what_is_fed_back_is_constant(network, feedback, direction):
    """The gradient is that of the reference with its contexts frozen."""
    chain = build(network, direction, feedback=feedback)
    last = chain[-1]
    x = random_inputs(shape=(1, 4, FEATURES))
    labels = np.array([[3, -1, 0, 4]], "int32")
    # of the last position mostly, where all contexts are full
    weighting = random_inputs(3, shape=(4, NUM_LABELS)) * [[1], [1], [1], [5]]

    def loss():
        given = call(chain, x, labels=labels, training=True)
        weights = ops.convert_to_tensor(weighting, "float32")
        return ops.sum(given["logits"][0] * weights)

    contexts = {"backwards": last.backwards}
    if feedback == "gold":
        contexts["gold"] = labels[0].tolist()
    if len(chain) > 1:
        contexts["future"] = chain[0].reference(x[0], gold=contexts.get("gold"))
        if feedback == "gold":
            contexts["future"]["labels"] = contexts["gold"]
    weights = {name: w.astype("float64") for name, w in last.weights().items()}
    frozen = label_rnn.run(x[0], weights, last.settings, **contexts)

    def total(weights, **more):
        found = label_rnn.run(x[0], weights, last.settings, **contexts, **more)
        return (found["logits"] * weighting).sum()

    variables = [v for each in chain for v in each.layer.trainable_variables]
    with op_by_op():
        found = gradients(variables, loss)
    wanted = label_rnn.differences(lambda w: total(w, frozen=frozen), weights)
    mine = len(last.layer.trainable_variables)
    for variable, gradient in zip(variables[-mine:], found[-mine:], strict=True):
        name = variable.name
        np.testing.assert_allclose(gradient, wanted[name], atol=1e-4, err_msg=name)
        assert abs(gradient).max() > 1e-2
    for gradient in found[:-mine]:
        assert not gradient.any()
    probabilities = last.settings.get("label_input") == "probabilities"
    if last.settings.get("hidden_context") or (
        probabilities and feedback == "predicted"
    ):
        through_time = label_rnn.differences(total, weights)["kernel"]
        assert abs(through_time - wanted["kernel"]).max() > 1e-3


# Networks that are others


@pytest.mark.one_backend
def test_without_contexts_it_is_two_dense_layers():
    layer, x = make(NONE), random_inputs()
    dense = [keras.layers.Dense(UNITS, "sigmoid"), keras.layers.Dense(NUM_LABELS)]
    model = keras.Sequential([keras.Input((None, FEATURES)), *dense])
    model.set_weights(layer.layer.get_weights())
    for training in (False, True):
        found = outputs([layer], x, labels=random_labels(), training=training)
        logits = ops.convert_to_numpy(model(x))
        np.testing.assert_allclose(found["logits"][MASK], logits[MASK], atol=1e-5)


@pytest.mark.one_backend
@pytest.mark.parametrize("backwards", [False, True])
def test_one_hidden_state_is_a_simple_rnn(backwards):
    layer, x = make(NONE | {"hidden_context": 1}, backwards), random_inputs()
    rnn = keras.layers.SimpleRNN(
        UNITS, "sigmoid", return_sequences=True, go_backwards=backwards
    )
    dense = keras.layers.Dense(NUM_LABELS)
    rnn.build(x.shape)
    dense.build((None, UNITS))
    weights = layer.weights()
    rnn.set_weights([weights[n] for n in ("kernel", "recurrent_kernel", "bias")])
    dense.set_weights([weights[n] for n in ("output_kernel", "output_bias")])
    with op_by_op():
        states = rnn(x)
        states = ops.flip(states, 1) if backwards else states
        logits = ops.convert_to_numpy(dense(states))
        states = ops.convert_to_numpy(states)
    for training in (False, True):
        found = outputs([layer], x, None, labels=random_labels(), training=training)
        np.testing.assert_allclose(found["states"], states, atol=1e-5)
        np.testing.assert_allclose(found["logits"], logits, atol=1e-5)


def test_a_share_of_the_labels_read_is_gold():
    layer = LabelEmbeddingRNN(UNITS, NUM_LABELS, feedback=0.8, seed=1)
    layer.build((None, None, FEATURES))
    labels = np.zeros((40, 50), "int32")
    drawn = ops.convert_to_numpy(layer._draw(labels))
    assert drawn.shape == (40, 50, 1) and abs(drawn.mean() - 0.8) < 0.05
    for share in (0.0, 1.0):
        layer.gold_share.assign(share)
        assert (ops.convert_to_numpy(layer._draw(labels)) == share).all()
