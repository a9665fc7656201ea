"""LabelEmbeddingRNN: decoding, mixed feedback, number formats, and in Keras."""

from functools import partial

import keras
import numpy as np
import pytest
from keras import ops
from layers.test_label_embedding_rnn import (
    FEATURES,
    MASK,
    NETWORKS,
    assert_same,
    build,
    call,
    directions,
    expected,
    make,
    networks,
    outputs,
    random_inputs,
    random_labels,
    sentences,
)
from reference import label_rnn


def beam(width):
    return partial(label_rnn.beam_search, width=width)


# Greedy


@directions
@networks
def test_greedy_decoding_equals_the_reference(network, direction):
    chain, x = build(network, direction), random_inputs()
    found = outputs(chain, x)
    assert found["tags"].dtype == "int32"
    for row, sentence in sentences(found, x):
        assert_same(row, expected(chain, sentence))
    assert len(set(found["tags"][MASK])) > 1


# Padding


@pytest.mark.parametrize(
    "network", ["jordan-probabilities", "jordan-elman", "improved"]
)
def test_what_the_other_direction_gives_at_padding_does_not_matter(network):
    first, last = build(network, "bidirectional")
    x, labels = random_inputs(), random_labels()
    given = outputs([first], x)
    pad = ~MASK
    spoilt = {name: np.array(value) for name, value in given.items()}
    spoilt["tags"][pad] = 1 + given["tags"][pad] % 4
    spoilt["logits"][pad] += random_inputs(5, given["logits"].shape)[pad]
    spoilt["states"][pad] += 100
    for training in (False, True):
        kwargs = {"labels": labels, "training": training}
        one, other = (outputs([last], x, future=y, **kwargs) for y in (given, spoilt))
        for (row,), (twin,) in zip(sentences(one), sentences(other), strict=True):
            assert_same(row, twin)


# Beams


@pytest.mark.one_backend
@directions
@pytest.mark.parametrize(
    "network, width",
    [("jordan-one-hot", 27), ("improved", 27), ("improved-elman", 30), ("tanh", 81)],
)
def test_full_beam_finds_the_best_path(network, direction, width):
    """27 hypotheses are all that 4 tokens with 3 labels need."""
    chain = build(network, direction, num_labels=3, beam_width=width)
    x = random_inputs(shape=(5, 4, FEATURES))
    lengths = np.array([4, 3, 2, 1, 0])
    found = outputs(chain, x, np.arange(4) < lengths[:, None])
    assert found["tags"].dtype == "int32"
    assert all(np.isfinite(value).all() for value in found.values())
    for i, n in enumerate(lengths[:-1]):
        row = {name: value[i, :n] for name, value in found.items()}
        assert_same(row, expected(chain, x[i, :n], label_rnn.best_path))


@pytest.mark.parametrize("width", [1, 2, 7])
@directions
@pytest.mark.parametrize("network", ["jordan-one-hot", "improved-elman"])
def test_beam_equals_the_reference(network, direction, width):
    chain, x = build(network, direction, beam_width=width), random_inputs()
    found = outputs(chain, x)
    for row, sentence in sentences(found, x):
        assert_same(row, expected(chain, sentence, beam(width)))


@pytest.mark.one_backend
@pytest.mark.parametrize("network", ["elman", "jordan-probabilities", "jordan-concat"])
def test_where_all_hypotheses_agree_a_beam_is_greedy(network):
    x = random_inputs()
    one, other = (
        outputs(build(network, "mirrored", beam_width=width), x) for width in (1, 4)
    )
    for (row,), (twin,) in zip(sentences(one), sentences(other), strict=True):
        assert_same(row, twin)


# Mixtures of gold and predicted labels


def choices(gold):
    """All ways to read each label but the last as gold or, None, as predicted."""
    for bits in np.ndindex((2,) * (len(gold) - 1)):
        yield [g if b else None for g, b in zip(gold, bits, strict=False)] + [None]


@pytest.mark.slow("jax")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "network", ["jordan-probabilities", "jordan-one-hot", "improved", "improved-elman"]
)
def test_each_label_of_a_mixture_is_gold_or_predicted(network, backwards):
    layer = make(NETWORKS[network], backwards, feedback=0.3, seed=5)
    n, count, turn = 4, 32, slice(None, None, -1 if backwards else 1)
    x = random_inputs(shape=(count, n, FEATURES))
    labels = random_labels(shape=(count, n))
    found = outputs([layer], x, None, labels=labels, training=True)
    gold_labels = told_apart = 0
    for logits, sentence, gold in zip(found["logits"], x, labels, strict=True):
        ways = [way[turn] for way in choices(gold.tolist()[turn])]
        results = [layer.reference(sentence, gold=way)["logits"] for way in ways]
        right = np.array([abs(logits - result).max() < 1e-5 for result in results])
        assert right.any()
        if right.sum() == 1:
            told_apart += n - 1
            gold_labels += sum(g is not None for g in ways[right.argmax()])
    assert told_apart > 40
    assert 0.1 < gold_labels / told_apart < 0.5


# Number formats


@pytest.fixture(params=["mixed_float16", "mixed_bfloat16"])
def half_precision(request):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(request.param)
    yield keras.config.dtype_policy().compute_dtype
    keras.config.set_dtype_policy(before)


@pytest.mark.one_backend
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("backwards", [False, True])
def test_many_labels_in_half_precision(half_precision, backwards, width):
    """Half precision has no odd integer beyond 2048 (float16) or 256 (bfloat16)."""
    kwargs = {"num_labels": 6000, "beam_width": width}
    layer = make(NETWORKS["improved-elman"], backwards, **kwargs)
    x = ops.cast(random_inputs(), half_precision)
    exact = ops.convert_to_numpy(ops.cast(x, "float32"))
    for training in (False, True):
        labels = random_labels(num_labels=6000)
        found = outputs([layer], x, labels=labels, training=training)
        read = labels if training else found["tags"]
        assert ((read > 2048) & (read % 2 == 1))[MASK].any()
        for row, sentence, gold in sentences(found, exact, read):
            wanted = layer.reference(sentence, gold=gold.tolist())
            np.testing.assert_allclose(row["logits"], wanted["logits"], atol=1e-4)
            if training or width == 1:
                np.testing.assert_array_equal(row["tags"], wanted["tags"])


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="ops.matmul of float64 is float32 on PyTorch, and JAX has no float64",
)
@pytest.mark.parametrize("width", [1, 3])
def test_double_precision(width):
    kwargs = {"dtype": "float64", "beam_width": width, "feedback": "predicted"}
    chain = build("improved-elman", "bidirectional", **kwargs)
    x = random_inputs().astype("float64")
    find = label_rnn.run if width == 1 else beam(width)
    found = outputs(chain, x)
    assert found["logits"].dtype == "float64"
    for row, sentence in sentences(found, x):
        wanted = expected(chain, sentence, find)
        np.testing.assert_allclose(row["logits"], wanted["logits"], atol=1e-12)
    outputs(chain, x, labels=random_labels(), training=True)


# Keras


@pytest.mark.skipif(
    keras.backend.backend() == "torch", reason="torch.compile takes minutes"
)
def test_compiled_it_is_the_same():
    kwargs = {"feedback": "predicted", "beam_width": 3}
    chain = build("improved-elman", **kwargs)
    x, labels = random_inputs(), random_labels()

    def both(x, labels, mask):
        kwargs = {"labels": labels, "mask": mask}
        return [call(chain, x, **kwargs, training=y) for y in (False, True)]

    if keras.backend.backend() == "jax":
        import jax

        compiled = jax.jit(both)(x, labels, MASK)
    else:
        import tensorflow as tf

        compiled = tf.function(both, jit_compile=True)(
            *map(tf.constant, (x, labels, MASK))
        )
    for training, found in zip((False, True), compiled, strict=True):
        eager = outputs(chain, x, labels=labels, training=training)
        found = {name: ops.convert_to_numpy(value) for name, value in found.items()}
        for (row,), (twin,) in zip(sentences(found), sentences(eager), strict=True):
            assert_same(row, twin)


@pytest.mark.one_backend
@pytest.mark.parametrize("feedback", ["gold", 0.5])
def test_gold_feedback_without_labels(feedback):
    layer = make(NETWORKS["improved"], feedback=feedback).layer
    with pytest.raises(ValueError, match="needs labels"):
        layer(random_inputs(), training=True)
    # a network that reads no labels needs none
    make(NETWORKS["elman"], feedback=feedback).layer(random_inputs(), training=True)
