import keras
import numpy as np
import pytest
from cells.cases import as_model, randomize
from keras import ops
from reference import context_window

from keras_tagging.layers import ContextWindow

FEATURES = 3
LENGTHS = np.array([6, 1, 4, 0, 2])
TIME = 6
MASK = np.arange(TIME) < LENGTHS[:, None]
GATED = pytest.mark.parametrize("gated", [False, True])


def make(size, gated=False, **kwargs):
    """A built layer with random weights."""
    layer = ContextWindow(size, gated, **kwargs)
    layer.build((None, None, FEATURES))
    return randomize(layer)


def random_inputs(time=TIME, seed=1):
    """Random at padding too: what stands there must not be read."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(LENGTHS), time, FEATURES)).astype("float32")


@GATED
@pytest.mark.parametrize(
    "size, compiled", [(0, False), (1, False), (3, True), (3, False), (7, False)]
)
def test_equals_the_reference_on_each_sentence_alone(size, gated, compiled):
    layer, x = make(size, gated), random_inputs()
    if compiled:
        found = as_model(layer, FEATURES).predict([x, MASK], verbose=0)
    else:
        found = ops.convert_to_numpy(layer(x, mask=MASK))
    assert found.shape == layer.compute_output_shape(x.shape)
    for row, sentence, length in zip(found, x, LENGTHS, strict=True):
        words = sentence[:length]
        expected = context_window.run(words, max(size, 1), *layer.get_weights())
        np.testing.assert_allclose(row[:length], expected, rtol=1e-5, atol=1e-6)


@GATED
@pytest.mark.parametrize("time", [0, 1, 2, 6])
def test_without_mask_every_position_is_read(time, gated):
    layer, x = make(5, gated), random_inputs(time)
    found = ops.convert_to_numpy(layer(x))
    assert found.shape == (len(x), time, 5 * FEATURES)
    for row, words in zip(found, x, strict=True):
        expected = context_window.run(words, 5, *layer.get_weights())
        np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-6)


def test_one_training_step_changes_every_weight_and_padding_gets_no_gradient():
    table = keras.layers.Embedding(20, FEATURES)
    ids = keras.Input((None,), dtype="int32")
    layer = ContextWindow(3, gated=True)
    windows = layer(table(ids), mask=ops.not_equal(ids, 0))
    model = keras.Model(ids, windows)
    rng = np.random.default_rng(0)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    before = model.get_weights()
    model.compile(keras.optimizers.SGD(1.0), "mse", jit_compile=False)
    words = np.where(MASK, rng.integers(1, 20, MASK.shape), 0)
    model.train_on_batch(words, np.ones((*MASK.shape, 3 * FEATURES)))
    after = model.get_weights()
    assert [w.shape for w in after] == [(20, FEATURES), (3 * FEATURES, 3), (3,)]
    for old, new in zip(before[1:], after[1:], strict=True):
        assert (abs(new - old) > 1e-7).all()
    changed = abs(after[0] - before[0]).max(axis=1) > 0
    assert changed[np.unique(words[MASK])].all() and not changed[0]


@GATED
def test_dropout_drops_whole_positions_of_each_window(gated):
    layer = make(3, gated, dropout=0.25, seed=1)
    x = np.tile(random_inputs(), (40, 1, 1))
    found = ops.convert_to_numpy(layer(x, training=True))
    # (batch, time, size, features)
    blocks = found.reshape(*x.shape[:2], 3, FEATURES)
    plain = np.array([context_window.windows(words, 3) for words in x])
    inside = plain.any(axis=-1)
    kept = blocks.any(axis=-1)
    assert (blocks.all(axis=-1) == kept).all()
    # 3200 draws: five standard deviations are 0.04
    assert 0.21 < 1 - kept[inside].mean() < 0.29
    # one draw for every token and every place in its window
    assert (kept[:, 1:, 0] != kept[:, :-1, 1])[inside[:, 1:, 0]].any()
    scaled = plain * kept[..., None] / 0.75
    if gated:
        kernel, bias = layer.get_weights()
        read = scaled.reshape(found.shape) @ kernel + bias
        scaled = scaled / (1 + np.exp(-read))[..., None]
    np.testing.assert_allclose(blocks, scaled, rtol=1e-4, atol=1e-6)
