"""A CRF in a user's own functional model: compile, fit, evaluate, predict, save."""

from functools import partial

import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops
from layers import test_crf
from layers.gradients import gradients
from layers.test_crf import array
from reference import crf as reference

from keras_tagging.layers import CRF, CRFAccuracy, CRFLoss

NUM_TAGS, NUM_WORDS, TIME = 3, 7, 5
LENGTHS = np.array([5, 1, 3, 4])
MASK = np.arange(TIME) < LENGTHS[:, None]
# Gaps and a masked start: what is left of a sentence is one chain.
HOLES = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 0], [0] * 5]) > 0
TOKENS = int(LENGTHS.sum())


random_crf = partial(test_crf.random_crf, return_dict=False)


def random_emissions(seed=1, size=NUM_TAGS):
    return test_crf.random_emissions(seed, (*MASK.shape, size))


def random_tags(seed=2, lowest=0):
    return test_crf.random_tags(seed, lowest, MASK.shape)


def likelihoods(layer, emissions, tags, mask=MASK):
    """log p of each sentence, by the enumeration of all paths."""
    weights = [w.astype("float64") for w in layer.get_weights()]
    return np.array(
        [
            reference.log_likelihood(rows[real], row[real], weights)
            for rows, row, real in zip(emissions, tags, mask, strict=True)
        ]
    )


# The output


@pytest.mark.parametrize("mask", [MASK, HOLES, None], ids=["padding", "holes", "none"])
def test_the_largest_value_of_each_token_is_that_of_the_path(mask):
    layer, emissions = random_crf(), random_emissions()
    output = array(layer(emissions, mask=mask))
    path = array(layer.viterbi(emissions, mask))
    real = np.ones_like(MASK) if mask is None else mask
    assert output.shape == emissions.shape
    assert not output[~real].any()
    np.testing.assert_array_equal(output.argmax(-1)[real], path[real])
    assert (path[real] != emissions.argmax(-1)[real]).any()
    assert ((output > 0.9).sum(-1) == real).all()
    assert (abs(output[real]) > 0.9).all()
    distances = emissions.max(-1, keepdims=True) - emissions
    np.testing.assert_allclose((abs(output) - 1)[real], distances[real], atol=1e-5)


@pytest.mark.one_backend
def test_a_linear_layer_before_it():
    layer = CRF(NUM_TAGS)
    inputs = random_emissions(size=4)
    layer.build(inputs.shape)
    randomize(layer)
    kernel, bias, *weights = layer.get_weights()
    assert kernel.shape == (4, NUM_TAGS)
    assert [w.name for w in layer.weights[2:]] == ["transitions", "start", "end"]
    field = CRF()
    field.build((None, None, NUM_TAGS))
    field.set_weights(weights)
    expected = array(field(inputs @ kernel + bias, mask=MASK))
    np.testing.assert_allclose(array(layer(inputs, mask=MASK)), expected, atol=1e-5)


# The loss


def loss_of(layer, *arguments):
    return float(array(layer.loss(*arguments)))


@pytest.mark.parametrize("mask", [MASK, HOLES], ids=["padding", "holes"])
@pytest.mark.parametrize("lowest", [0, -1], ids=["all known", "some unknown"])
def test_loss_is_the_mean_over_the_real_tokens(mask, lowest):
    layer, emissions, tags = random_crf(), random_emissions(), random_tags(2, lowest)
    found = loss_of(layer, tags, layer(emissions, mask=mask))
    expected = -likelihoods(layer, emissions, tags, mask).sum() / mask.sum()
    assert found == pytest.approx(expected, rel=1e-5)
    # a data set may give the tags as floats
    given = ops.cast(tags, "float32"), layer(emissions, mask=mask)
    assert loss_of(layer, *given) == pytest.approx(expected, rel=1e-5)


def test_gradients_are_those_of_the_likelihood():
    """With respect to the scores, too, which the output tells in another form."""
    layer, tags = random_crf(), random_tags()
    scores = keras.Variable(random_emissions(), dtype="float32")
    variables = [scores, *layer.trainable_variables]

    def of_loss():
        return layer.loss(tags, layer(ops.convert_to_tensor(scores), mask=MASK))

    def of_likelihood():
        rows = layer.log_likelihood(ops.convert_to_tensor(scores), tags, MASK)
        return -ops.sum(rows) / TOKENS

    found, expected = gradients(variables, of_loss), gradients(variables, of_likelihood)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(array(one), array(other), atol=1e-5)
        assert abs(array(one)).max() > 0.01


# Whole models


def make_model(**kwargs):
    """Token ids, of which 0 pads, to a CRF."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(NUM_WORDS, 4, mask_zero=True)(ids)
    x = keras.layers.Dense(3, "tanh")(x)
    crf = CRF(NUM_TAGS, name="crf")
    model = keras.Model(ids, crf(x))
    randomize(model, scale=0.7)
    # batches are of one length here: then Keras' own accuracy is right, too
    stock = keras.metrics.SparseCategoricalAccuracy(name="stock")
    metrics = [crf.accuracy, stock]
    model.compile(keras.optimizers.SGD(1.0), crf.loss, metrics=metrics, **kwargs)
    return model, crf


def random_ids(mask=MASK):
    return np.random.default_rng(3).integers(1, NUM_WORDS, mask.shape) * mask


def emissions_of(model, ids):
    """The scores that the CRF gets."""
    crf = model.get_layer("crf")
    hidden = keras.Model(model.input, model.layers[-2].output)(ids)
    return array(hidden) @ array(crf.kernel) + array(crf.bias)


def field_of(crf):
    """The same CRF without the linear layer."""
    field = CRF()
    field.build((None, None, NUM_TAGS))
    field.set_weights(crf.get_weights()[2:])
    return field


def test_fit_evaluate_predict():
    model, crf = make_model(jit_compile=keras.backend.backend() == "jax")
    ids, tags = random_ids(), random_tags()
    field, emissions = field_of(crf), emissions_of(model, ids)
    path = array(field.viterbi(emissions, MASK))
    # predict
    np.testing.assert_array_equal(array(model(ids)).argmax(-1), path)
    # evaluate
    figures = model.evaluate(ids, tags, verbose=0, return_dict=True)
    expected = -likelihoods(field, emissions, tags).sum() / TOKENS
    assert figures["loss"] == pytest.approx(expected, rel=1e-4)
    right = (path == tags)[MASK].mean()
    assert 0 < right < 1
    assert figures["accuracy"] == pytest.approx(right)
    assert figures["stock"] == pytest.approx(right)
    # fit: the first epoch's loss is that of before, and all weights learn
    before = model.get_weights()
    history = model.fit(ids, tags, epochs=2, verbose=0, shuffle=False).history
    assert history["loss"][0] == pytest.approx(expected, rel=1e-4)
    assert history["loss"][1] < expected
    for old, new in zip(before, model.get_weights(), strict=True):
        assert abs(new - old).max() > 1e-6


@pytest.mark.one_backend
def test_accuracy_counts_each_token_of_batches_of_any_length_once():
    model, _ = make_model(run_eagerly=True)
    ids, tags = random_ids(), random_tags()
    batches = [(ids[i : i + 1, :n], tags[i : i + 1, :n]) for i, n in enumerate(LENGTHS)]
    right = sum((array(model(x)).argmax(-1) == y).sum() for x, y in batches)
    metric = CRFAccuracy()
    for (x, y), margin in zip(batches, (0, 4, 2, 1), strict=True):
        x, y = (np.pad(part, ((0, 0), (0, margin))) for part in (x, y))
        metric.update_state(y, model(x))
    assert 0 < right < TOKENS
    assert float(metric.result()) == pytest.approx(right / TOKENS)


@pytest.mark.one_backend
def test_weighted_accuracy():
    layer, tags = random_crf(), random_tags()
    marked = layer(random_emissions(), mask=MASK)
    right = array(marked).argmax(-1) == tags
    for weights, each in (
        (np.array([1, 0, 2, 1]), np.array([[1], [0], [2], [1]]) * MASK),
        (HOLES, HOLES * MASK),
    ):
        metric = CRFAccuracy()
        metric.update_state(tags, marked, weights)
        expected = (right * each).sum() / each.sum()
        assert float(metric.result()) == pytest.approx(expected)


def test_keras_file_round_trip(tmp_path):
    model, _ = make_model(run_eagerly=True)
    ids, tags = random_ids(), random_tags()
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    # the loss is one with the layer of the loaded model, not with the old one
    assert again.loss.layer() is again.get_layer("crf")
    for each in (model, again):
        each.train_on_batch(ids, tags)
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.one_backend
def test_layers_saved_without_the_keyword_return_a_dict():
    old = {"name": "crf", "initializer": "zeros", "dtype": "float32"}
    outputs = CRF.from_config(old)(random_emissions())
    assert set(outputs) == {"logits", "tags", "emissions"}


def test_mixed_precision():
    dtype = "mixed_bfloat16"
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(dtype)
    try:
        model, crf = make_model(run_eagerly=True)
    finally:
        keras.config.set_dtype_policy(before)
    assert model.layers[-2].compute_dtype == dtype.removeprefix("mixed_")
    assert crf.compute_dtype == CRF(dtype=dtype).compute_dtype == "float32"
    ids, tags = random_ids(), random_tags()
    found = model.train_on_batch(ids, tags)[0]
    expected = make_model(run_eagerly=True)[0].train_on_batch(ids, tags)[0]
    assert found == pytest.approx(expected, rel=0.05)
    assert all(np.isfinite(w).all() for w in model.get_weights())


# Errors


@pytest.mark.one_backend
def test_what_a_loss_refuses():
    """Another layer's output, and one whose layer the loaded model has not."""
    tags, scores = random_tags(), random_emissions()
    lost = CRFLoss.from_config(CRFLoss(CRF(name="long gone")).get_config())
    for loss in (lost, CRFLoss(CRF())):
        with pytest.raises(ValueError, match="the model's own layer"):
            loss(tags, scores)
    with pytest.raises(ValueError, match="returns no dict"):
        random_crf(return_dict=True).loss(tags, scores)
    with pytest.raises(ValueError, match="let the model end in that layer"):
        random_crf().loss(tags, random_emissions(size=4))


# Weights of tokens and tags, and losses that are refused

RNG = np.random.default_rng(1)
SCORES, TAGS = random_emissions(), random_tags()
WEIGHTS = RNG.uniform(0.2, 3, MASK.shape) * RNG.integers(0, 2, MASK.shape)
BACKEND = keras.backend.backend()


def mean(layer, tags, weights, mask=MASK):
    """The weighted mean of -log p(tag | tags before it), by enumeration."""
    arrays = [w.astype("float64") for w in layer.get_weights()]
    total = 0.0
    for rows, row, each, real in zip(SCORES, tags, weights, mask, strict=True):
        terms = reference.chain_rule(rows[real], row[real], arrays)
        total -= (each[real] * terms).sum()
    return total / weights[mask].sum()


@pytest.mark.parametrize("mask", [MASK, HOLES], ids=["padding", "holes"])
def test_the_chain_rule(mask):
    """Its terms are those of the enumeration, and their sum is the likelihood."""
    layer = random_crf()
    tags = np.where(RNG.integers(0, 4, TAGS.shape) > 0, TAGS, -1)
    found = array(layer.token_log_likelihoods(SCORES, tags, mask))
    arrays = [w.astype("float64") for w in layer.get_weights()]
    for terms, rows, row, real in zip(found, SCORES, tags, mask, strict=True):
        expected = reference.chain_rule(rows[real], row[real], arrays)
        np.testing.assert_allclose(terms[real], expected, rtol=1e-4, atol=1e-5)
        assert not terms[~real].any()
    sums = array(layer.log_likelihood(SCORES, tags, mask))
    np.testing.assert_allclose(found.sum(-1), sums, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axes", [2, 3])
def test_weights_of_tokens(axes):
    """A token of weight 0 has an unknown tag, which later tags do not read."""
    layer = random_crf()
    assert not WEIGHTS[MASK].all() and WEIGHTS[MASK].any()
    given = [x.reshape(*TAGS.shape, *[1] * (axes - 2)) for x in (TAGS, WEIGHTS)]
    found = layer.loss(given[0], layer(SCORES, mask=MASK), given[1])
    known = np.where(WEIGHTS > 0, TAGS, -1)
    expected = mean(layer, known, WEIGHTS)
    assert float(array(found)) == pytest.approx(expected, rel=1e-5)
    of_sentences = np.array([[1], [0], [2], [0.5]])
    found = layer.loss(TAGS, layer(SCORES, mask=MASK), of_sentences)
    known = np.where(of_sentences > 0, TAGS, -1)
    expected = mean(layer, known, of_sentences * np.ones(TAGS.shape))
    assert float(array(found)) == pytest.approx(expected, rel=1e-5)
    assert float(array(layer.loss(TAGS, layer(SCORES, mask=MASK & ~MASK)))) == 0


def test_equal_weights_change_nothing():
    """Neither the loss nor its gradients, by another formula."""
    layer = random_crf()
    scores = keras.Variable(SCORES, dtype="float32")
    variables = [scores, *layer.trainable_variables]
    losses = []

    def of_loss(weights):
        marked = layer(ops.convert_to_tensor(scores), mask=MASK)
        losses.append(layer.loss(TAGS, marked, weights))
        return losses[-1]

    found = gradients(variables, lambda: of_loss(np.full(MASK.shape, 2.0)))
    expected = gradients(variables, lambda: of_loss(None))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
        assert abs(one).max() > 0.01


@pytest.mark.one_backend
def test_weights_of_tags():
    """They multiply those of tokens, and are saved with the loss."""
    layer = random_crf()
    of_tag = {0: 0.1, 2: 3.0}
    loss = CRFLoss.from_config(CRFLoss(layer, class_weight=of_tag).get_config())
    marked = layer(SCORES, mask=MASK)
    weights = np.array([0.1, 1, 3])[TAGS]
    expected = mean(layer, TAGS, weights)
    assert float(array(loss(TAGS, marked))) == pytest.approx(expected, rel=1e-5)
    weights = weights * WEIGHTS
    expected = mean(layer, np.where(weights > 0, TAGS, -1), weights)
    assert float(array(loss(TAGS, marked, WEIGHTS))) == pytest.approx(expected)
    with pytest.raises(ValueError, match="class_weight of tag 3: ids are from 0 to 2"):
        CRFLoss(layer, class_weight={3: 1})(TAGS, marked)


def compiled_model(loss=None, **kwargs):
    model, crf = make_model()
    model.compile("sgd", loss or crf.loss, metrics=[crf.accuracy], **kwargs)
    return model


IDS = random_ids()


@pytest.mark.one_backend
def test_class_weight_of_fit_is_refused():
    """Keras would weight each sentence by the position of its largest id."""
    model = compiled_model(run_eagerly=True)
    with pytest.raises(ValueError, match="give class_weight to CRFLoss"):
        model.fit(IDS, TAGS, class_weight={0: 0.1, 1: 1.0, 2: 1.0}, verbose=0)
    with pytest.raises(ValueError, match=r"sample_weight \(batch, 1\)"):
        model.fit(IDS, TAGS, sample_weight=np.ones(len(IDS)), verbose=0)


@pytest.mark.one_backend
def test_fit_with_weights_and_targets_of_three_axes(tmp_path):
    model = compiled_model(run_eagerly=True)
    crf = model.layers[-1]
    loss = CRFLoss(crf, {1: 2.0})
    model.compile("sgd", loss, metrics=[crf.accuracy], run_eagerly=True)
    expected = model.predict(IDS, verbose=0).argmax(-1) == TAGS
    found = model.evaluate(IDS, TAGS[:, :, None], verbose=0, return_dict=True)
    assert found["accuracy"] == pytest.approx(expected[MASK].mean())
    for weights in (WEIGHTS, np.ones((len(IDS), 1))):
        model.fit(IDS, TAGS[:, :, None], sample_weight=weights, verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    assert again.loss.class_weight == {1: 2.0}


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_another_loss_is_refused(compiled):
    eagerly = BACKEND == "tensorflow" and not compiled
    model = compiled_model("sparse_categorical_crossentropy", run_eagerly=eagerly)
    with pytest.raises(ValueError, match="no other loss can train: pass its own"):
        model.fit(IDS, TAGS, verbose=0)


def loss_of_large_id():
    tags = TAGS.copy()
    tags[3, 4] = 9  # masked, so not read
    layer = random_crf()
    marked = layer(SCORES, mask=MASK)
    assert np.isfinite(array(layer.loss(tags, marked)))
    tags[2, 1] = NUM_TAGS
    return layer.loss(tags, marked)


def test_an_id_that_no_tag_has_is_refused():
    if BACKEND == "jax":  # which has no errors
        assert np.isnan(array(loss_of_large_id()))
        return
    with pytest.raises(Exception, match="a gold tag id is not below num_tags=3"):
        loss_of_large_id()


@pytest.mark.one_backend
@pytest.mark.parametrize("jit_compile", [False, True])
def test_an_id_that_no_tag_has_is_refused_in_a_graph(jit_compile):
    """XLA leaves out what raises the error: the loss is not a number."""
    import tensorflow as tf

    layer = random_crf()

    @tf.function(jit_compile=jit_compile)
    def loss(tags):
        return layer.loss(tags, layer(SCORES, mask=MASK))

    tags = np.full(MASK.shape, NUM_TAGS)
    if jit_compile:
        assert np.isnan(loss(tags))
    else:
        with pytest.raises(Exception, match="a gold tag id is not below num_tags=3"):
            loss(tags)
