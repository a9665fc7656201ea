"""Weights of tokens and tags for a CRF, its targets, and losses that it refuses."""

import keras
import numpy as np
import pytest
from keras import ops
from layers.gradients import gradients
from reference import crf as reference

from keras_tagging.layers import CRF, CRFLoss

NUM_TAGS, TIME = 3, 5
LENGTHS = np.array([5, 1, 3, 4])
MASK = np.arange(TIME) < LENGTHS[:, None]
HOLES = np.array([[1, 0, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 0, 1, 0], [0] * 5]) > 0
RNG = np.random.default_rng(1)
SCORES = RNG.normal(0, 2, (*MASK.shape, NUM_TAGS)).astype("float32")
TAGS = RNG.integers(0, NUM_TAGS, MASK.shape).astype("int32")
WEIGHTS = RNG.uniform(0.2, 3, MASK.shape) * RNG.integers(0, 2, MASK.shape)
BACKEND = keras.backend.backend()


def array(tensor):
    return ops.convert_to_numpy(tensor)


def random_crf():
    layer = CRF()
    layer.build((None, None, NUM_TAGS))
    rng = np.random.default_rng(0)
    layer.set_weights([rng.normal(0, 1.5, w.shape) for w in layer.weights])
    return layer


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
    of_sentences = WEIGHTS[:, :1]
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


def make_model(loss=None, **kwargs):
    ids = keras.Input((None,), dtype="int32")
    crf = CRF(NUM_TAGS)
    h = keras.layers.Embedding(9, 4, mask_zero=True)(ids)
    model = keras.Model(ids, crf(h))
    model.compile("sgd", loss or crf.loss, metrics=[crf.accuracy], **kwargs)
    return model


IDS = RNG.integers(1, 9, MASK.shape) * MASK


@pytest.mark.one_backend
def test_class_weight_of_fit_is_refused():
    """Keras would weight each sentence by the position of its largest id."""
    model = make_model(run_eagerly=True)
    with pytest.raises(ValueError, match="give class_weight to CRFLoss"):
        model.fit(IDS, TAGS, class_weight={0: 0.1, 1: 1.0, 2: 1.0}, verbose=0)
    with pytest.raises(ValueError, match=r"sample_weight \(batch, 1\)"):
        model.fit(IDS, TAGS, sample_weight=np.ones(len(IDS)), verbose=0)


@pytest.mark.one_backend
def test_fit_with_weights_and_targets_of_three_axes(tmp_path):
    model = make_model(run_eagerly=True)
    crf = model.layers[-1]
    model.compile("sgd", CRFLoss(crf, {1: 2.0}), metrics=[crf.accuracy])
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
    model = make_model("sparse_categorical_crossentropy", run_eagerly=eagerly)
    with pytest.raises(ValueError, match="probabilities for another loss than its own"):
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
    model = make_model(jit_compile=jit_compile)
    tags = np.full(MASK.shape, NUM_TAGS)
    if jit_compile:
        assert np.isnan(model.train_on_batch(IDS, tags)[0])
    else:
        with pytest.raises(Exception, match="a gold tag id is not below num_tags=3"):
            model.train_on_batch(IDS, tags)
