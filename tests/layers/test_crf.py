"""Against the enumeration of all paths."""

import keras
import numpy as np
import pytest
from cells.cases import as_model, randomize
from keras import ops
from keras.ops import convert_to_numpy as array
from layers.gradients import gradients
from reference import crf as reference

from keras_tagging.layers import CRF

NUM_TAGS, TIME = 3, 5
LENGTHS = np.array([5, 1, 0, 3, 2, 4])
MASK = np.arange(TIME) < LENGTHS[:, None]
SHAPE = (*MASK.shape, NUM_TAGS)
WHOLE = np.ones_like(MASK)
# Gaps and a masked start: what is left of a sentence is one chain.
HOLES = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 0]] * 2, dtype=bool)
MASKS = pytest.mark.parametrize(
    "mask", [MASK, WHOLE, HOLES], ids=["padding", "whole", "holes"]
)


def random_crf(seed=0, scale=1.5, num_tags=NUM_TAGS, return_dict=True):
    layer = CRF(return_dict=return_dict)
    layer.build((None, None, num_tags))
    return randomize(layer, seed, scale)


def random_emissions(seed=1, shape=SHAPE, scale=2):
    return np.random.default_rng(seed).normal(0, scale, shape).astype("float32")


def random_tags(seed=2, lowest=-1, shape=MASK.shape):
    rng = np.random.default_rng(seed)
    return rng.integers(lowest, NUM_TAGS, shape).astype("int32")


# Values


@MASKS
def test_log_partition(mask):
    layer, emissions = random_crf(), random_emissions()
    found = array(layer.log_partition(emissions, mask))
    for value, rows, real in zip(found, emissions, mask, strict=True):
        expected = reference.log_partition(rows[real], layer.get_weights())
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-5)


@MASKS
@pytest.mark.parametrize("lowest", [0, -1], ids=["all known", "some unknown"])
def test_log_likelihood(mask, lowest):
    layer, emissions, tags = random_crf(), random_emissions(), random_tags(2, lowest)
    assert (tags[mask] < 0).any() == (lowest < 0)
    found = array(layer.log_likelihood(emissions, tags, mask))
    for value, rows, row, real in zip(found, emissions, tags, mask, strict=True):
        weights = layer.get_weights()
        expected = reference.log_likelihood(rows[real], row[real], weights)
        assert value == pytest.approx(expected, rel=1e-5, abs=1e-5)


@MASKS
@pytest.mark.parametrize("in_model", [False, True], ids=["eager", "compiled"])
def test_marginals_and_best_path(mask, in_model):
    layer, emissions = random_crf(), random_emissions()
    if in_model:
        found = as_model(layer, NUM_TAGS).predict([emissions, mask], verbose=0)
    else:
        found = {k: array(v) for k, v in layer(emissions, mask=mask).items()}
    weights = layer.get_weights()
    greedy = 0
    for i, (rows, real) in enumerate(zip(emissions, mask, strict=True)):
        marginals = reference.marginals(rows[real], weights)
        np.testing.assert_allclose(np.exp(found["logits"][i][real]), marginals, 1e-4)
        path = reference.best_path(rows[real], weights)
        assert found["tags"][i][real].tolist() == path
        greedy += path != rows[real].argmax(-1).tolist()
    assert greedy > 1  # the transitions matter
    assert found["tags"].dtype == "int32" and not found["tags"][~mask].any()
    np.testing.assert_array_equal(found["emissions"], emissions)


@pytest.mark.one_backend
@pytest.mark.parametrize("seed", range(8))
def test_many_random_fields(seed):
    layer = random_crf(seed, scale=3)
    emissions = random_emissions(100 + seed, scale=1)
    tags = array(layer.viterbi(emissions, MASK))
    rows = array(layer.log_marginals(emissions, MASK))
    for i, n in enumerate(LENGTHS):
        weights, sentence = layer.get_weights(), emissions[i, :n]
        assert tags[i, :n].tolist() == reference.best_path(sentence, weights)
        expected = reference.marginals(sentence, weights)
        np.testing.assert_allclose(np.exp(rows[i, :n]), expected, 1e-3, 1e-6)


def test_ties_are_broken_the_same_way_always():
    """Whole numbers are exact, so that many paths have exactly the same score."""
    rng = np.random.default_rng(0)
    layer = random_crf()
    ties = 0
    for _ in range(10):
        weights = [rng.integers(0, 2, w.shape) for w in layer.get_weights()]
        layer.set_weights(weights)
        emissions = rng.integers(0, 2, (len(MASK), TIME, NUM_TAGS)).astype("float32")
        found = array(layer.viterbi(emissions, MASK))
        for tags, rows, n in zip(found, emissions, LENGTHS, strict=True):
            assert tags[:n].tolist() == reference.best_path(rows[:n], weights)
            scores = reference.paths(rows[:n], weights)[1]
            ties += (scores == scores.max()).sum() > 1
    assert ties > 20


@pytest.mark.one_backend
def test_without_transitions_it_is_a_softmax():
    layer = CRF(return_dict=True)
    emissions, tags = random_emissions(), random_tags(2, 0)
    outputs = layer(emissions, mask=MASK)
    assert not any(w.any() for w in layer.get_weights())
    expected = array(ops.log_softmax(emissions))
    np.testing.assert_allclose(array(outputs["logits"])[MASK], expected[MASK], 1e-4)
    best = emissions.argmax(-1)
    np.testing.assert_array_equal(array(outputs["tags"])[MASK], best[MASK])
    gold = np.take_along_axis(expected, tags[:, :, None], -1)[:, :, 0]
    found = array(layer.log_likelihood(emissions, tags, MASK))
    np.testing.assert_allclose(found, (gold * MASK).sum(-1), rtol=1e-4)


def test_in_training_the_tags_have_the_best_marginals():
    layer, emissions = random_crf(), random_emissions()
    outputs = layer(emissions, mask=MASK, training=True)
    best = array(outputs["logits"]).argmax(-1)
    np.testing.assert_array_equal(array(outputs["tags"]), best)
    path = array(layer.viterbi(emissions, MASK))
    assert (path[MASK] != best[MASK]).any()


# Numbers that are long or large


def forward_in_float64(emissions, transitions, start, end):
    """log Z and the log marginals of one sentence, by sums over all pairs of tags."""
    scores = emissions.astype("float64")
    scores[0] += start
    scores[-1] += end
    before, after = np.zeros_like(scores), np.zeros_like(scores)
    for t in range(1, len(scores)):
        ways = (before[t - 1] + scores[t - 1])[:, None] + transitions
        before[t] = np.logaddexp.reduce(ways, 0)
    for t in reversed(range(len(scores) - 1)):
        after[t] = np.logaddexp.reduce(transitions + scores[t + 1] + after[t + 1], 1)
    log_z = np.logaddexp.reduce(before[-1] + scores[-1])
    return log_z, before + scores + after - log_z


def test_many_tags_and_tokens_are_as_exact_as_float32():
    scale = 5  # large scores
    layer = random_crf(3, scale, num_tags=60)
    emissions = random_emissions(4, (2, 150, 60), scale)
    weights = [w.astype("float64") for w in layer.get_weights()]
    found = array(layer.log_partition(emissions))
    rows = array(layer.log_marginals(emissions))
    for i in range(2):
        log_z, marginals = forward_in_float64(emissions[i], *weights)
        assert found[i] == pytest.approx(log_z, rel=1e-5)
        likely = marginals > -20
        assert likely.sum() > 500
        np.testing.assert_allclose(rows[i][likely], marginals[likely], atol=2e-3)


@pytest.mark.parametrize("size", [50, 1e4])
@pytest.mark.parametrize("where", ["emissions", "transitions", "both"])
def test_huge_scores_stay_finite(where, size):
    layer, emissions, tags = random_crf(1), random_emissions(), random_tags(1)
    if where != "emissions":
        layer.transitions.assign(size * array(layer.transitions))
    if where != "transitions":
        emissions = size * emissions
    likelihood, slopes = likelihood_and_gradients(layer, emissions, tags, MASK)
    assert np.isfinite(likelihood) and likelihood <= 0
    assert all(np.isfinite(g).all() for g in slopes)
    assert np.isfinite(array(layer.log_marginals(emissions, MASK))).all()
    found = array(layer.viterbi(emissions, MASK))
    for tags, rows, n in zip(found, emissions, LENGTHS, strict=True):
        assert tags[:n].tolist() == reference.best_path(rows[:n], layer.get_weights())


# Gradients


def likelihood_and_gradients(layer, emissions, tags, mask):
    """The batch's log-likelihood, its gradients by emissions and by each weight."""
    variables = [keras.Variable(emissions, dtype="float32"), *layer.trainable_variables]

    def total():
        scores = ops.convert_to_tensor(variables[0])
        return ops.sum(layer.log_likelihood(scores, tags, mask))

    return float(array(total())), gradients(variables, total)


def test_gradients_equal_finite_differences():
    """Of the reference, by every weight and emission, with unknown gold tags."""
    layer, emissions, tags = random_crf(), random_emissions(), random_tags()
    value, slopes = likelihood_and_gradients(layer, emissions, tags, MASK)
    points = [x.astype("float64") for x in (emissions, *layer.get_weights())]

    def total(emissions, *weights):
        return sum(
            reference.log_likelihood(emissions[i, :n], tags[i, :n], weights)
            for i, n in enumerate(LENGTHS)
        )

    assert value == pytest.approx(total(*points), rel=1e-5)
    for point, gradient in zip(points, slopes, strict=True):
        differences = np.zeros_like(point)
        for place in np.ndindex(point.shape):
            middle = point[place]
            around = []
            for step in (1e-4, -1e-4):
                point[place] = middle + step
                around.append(total(*points))
            point[place] = middle
            differences[place] = (around[0] - around[1]) / 2e-4
        np.testing.assert_allclose(gradient, differences, atol=2e-4)
        assert np.abs(gradient).max() > 0.1


# Keras


@pytest.mark.one_backend
def test_compiled_by_tensorflow_it_is_the_same():
    import tensorflow as tf

    layer, emissions, tags = random_crf(), random_emissions(), random_tags()

    @tf.function(jit_compile=True)
    def everything(emissions, tags, mask):
        with tf.GradientTape() as tape:
            found = tf.reduce_sum(layer.log_likelihood(emissions, tags, mask))
        variables = [v.value for v in layer.trainable_variables]
        outputs = layer(emissions, mask=mask)
        return found, tape.gradient(found, variables), outputs

    arguments = [tf.constant(x) for x in (emissions, tags, MASK)]
    value, slopes, outputs = everything(*arguments)
    expected, (_, *expected_slopes) = likelihood_and_gradients(
        layer, emissions, tags, MASK
    )
    assert float(value) == pytest.approx(expected, rel=1e-5)
    for one, other in zip(slopes, expected_slopes, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    eager = layer(emissions, mask=MASK)
    np.testing.assert_array_equal(outputs["tags"], eager["tags"])
    np.testing.assert_allclose(
        outputs["logits"][MASK], eager["logits"][MASK], atol=1e-5
    )
