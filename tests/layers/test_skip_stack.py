"""BidirectionalStack with every kind of cell: what reads what; seeds and dropout."""

from contextlib import nullcontext

import keras
import numpy as np
import pytest
from cells.cases import (
    BATCH,
    CASES,
    FEATURES,
    LENGTHS,
    MASK,
    TIME,
    UNITS,
    ZEROS,
    as_model,
    make,
    op_by_op_but,
    random_inputs,
    random_sentences,
    randomize,
    stack_weights,
)
from keras import ops
from reference import skip_stack

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack
from keras_tagging.layers.loop import right_padded

MERGES = pytest.mark.parametrize("merge", ["top", "layer"])
# One cell for every set of sequences that a layer reads, then the others.
WIRINGS = ["outputs-joint", "mixed-cell-shortcut", "highway-lstm-peepholes"]
STACKED = [
    *WIRINGS,
    "outputs-exclusive",
    "internals-vertical",
    "block",
    "block-recurrent",
    "mixed-highway",
    "rhn-coupled",
    "gru",
]
FUNCTIONS = {"tanh": np.tanh, "linear": lambda a: a}
CLOSE = {"rtol": 1e-4, "atol": 1e-4}
X = random_sentences(FEATURES)
loops = op_by_op_but("compiled", "gradients")  # gradients are slower so


def make_stack(name, features=FEATURES, **kwargs):
    settings = {"num_layers": 3, "input_layer": "tanh", **kwargs}
    stack = BidirectionalStack(make(CASES[name], **ZEROS), **settings)
    stack.build((None, TIME, features))
    return randomize(stack, scale=0.5)


def expected_rows(name, stack, x, lengths, layers=None, **kwargs):
    """The reference's output for each sentence alone, without its padding."""
    case, config = CASES[name], stack.get_config()
    input_layer = None
    if config["input_layer"]:
        kernel, bias = (w.astype("float64") for w in stack.input_layer.get_weights())
        input_layer = (kernel, bias, FUNCTIONS[config["input_layer"]])
    return [
        skip_stack.stack(
            case.reference,
            sentence[:length].astype("float64"),
            layers or stack_weights(stack),
            case.settings,
            config["merge"],
            input_layer,
            **kwargs,
        )
        for sentence, length in zip(x, lengths, strict=True)
    ]


def assert_equals_reference(name, stack, found, x, lengths=LENGTHS, **kwargs):
    """What was found is the reference's output, and 0 at padding."""
    found = ops.convert_to_numpy(found)
    expected = expected_rows(name, stack, x, lengths, **kwargs)
    assert found.shape == (len(x), TIME, 2 * UNITS)
    for row, alone, length in zip(found, expected, lengths, strict=True):
        np.testing.assert_allclose(row[:length], alone, **CLOSE)
        assert not row[length:].any()


@MERGES
@pytest.mark.parametrize(
    "name, num_layers",
    [(name, 3) for name in STACKED]
    + [(name, depth) for name in WIRINGS for depth in (1, 2, 4)],
)
def test_equals_the_reference_on_each_sentence_alone(name, merge, num_layers):
    stack = make_stack(name, merge=merge, num_layers=num_layers)
    assert_equals_reference(name, stack, stack(X, mask=MASK), X)


def test_compiled_loops_equal_the_reference():
    name = "highway-lstm"
    stack = make_stack(name, merge="top", num_layers=2)
    found = as_model(stack, FEATURES, TIME).predict([X, MASK], verbose=0)
    assert_equals_reference(name, stack, found, X)


@MERGES
def test_without_mask_every_position_is_read(merge):
    stack = make_stack("mixed-cell-shortcut", merge=merge)
    assert_equals_reference("mixed-cell-shortcut", stack, stack(X), X, [TIME] * BATCH)


@pytest.mark.one_backend
@MERGES
@pytest.mark.parametrize(
    "name, settings",
    [
        *[
            ("outputs-no-gate", {"input_layer": layer, "features": features})
            for layer in ("tanh", "linear")
            for features in (FEATURES, UNITS)
        ],
        # without that layer they skip from the input, or from nothing
        ("mixed-cell-shortcut", {"input_layer": None, "features": UNITS}),
        ("highway-lstm", {"input_layer": None}),
        ("rhn-depth-2", {"input_layer": None, "num_layers": 2}),
        ("skip-none", {"input_layer": None}),
        ("outputs-joint", {"input_layer": None, "num_layers": 1}),
    ],
)
def test_layer_2_skips_from_the_input_to_hidden_layer(name, settings, merge):
    stack = make_stack(name, merge=merge, **settings)
    x = random_sentences(settings.get("features", FEATURES))
    assert_equals_reference(name, stack, stack(x, mask=MASK), x)
    layers = {layer.name for layer in stack._flatten_layers()}
    assert ("input_layer" in layers) == (settings["input_layer"] is not None)


@pytest.mark.one_backend
def test_input_of_another_width_cannot_be_skipped_from():
    with pytest.raises(ValueError, match="input_layer"):
        make_stack("outputs-joint", input_layer=None)


@pytest.mark.one_backend
@pytest.mark.parametrize("name", WIRINGS)
@MERGES
def test_every_consumer_reads_the_dropped_output(name, merge, monkeypatch):
    """A dropout that follows the values, so that the reference can repeat it."""
    rates = (0.5, 0.2, 0.4)

    def call(self, inputs, training=False):
        kept = inputs / (1 - self.rate)
        return ops.where(inputs > 0, kept, 0.0) if training else inputs

    monkeypatch.setattr(keras.layers.Dropout, "call", call)
    stack = make_stack(name, merge=merge, dropout=rates)
    assert_equals_reference(
        name,
        stack,
        stack(X, mask=MASK, training=True),
        X,
        drop=lambda layer, h: np.where(h > 0, h / (1 - rates[layer - 1]), 0),
    )


class Product(keras.losses.Loss):
    """A loss whose gradient with respect to the output is the target."""

    def call(self, target, output):
        return ops.sum(target * output, axis=-1)


def assert_gradients_are_the_references(name, stack, **compile_options):
    """By differences of the reference, along a random direction.

    One direction for all weights of a name, in every layer.
    """
    rng = np.random.default_rng(3)
    x, target = random_sentences(FEATURES), random_inputs(BATCH, TIME, 2 * UNITS)
    before = stack_weights(stack)
    input_before = stack.input_layer.get_weights()

    def loss(size):
        layers = [
            [
                {key: w + size * step[key] for key, w in weights.items()}
                for weights, step in zip(*pairs, strict=True)
            ]
            for pairs in zip(before, steps, strict=True)
        ]
        rows = expected_rows(name, stack, x, LENGTHS, layers)
        return sum((target[i, : len(r)] * r).sum() for i, r in enumerate(rows))

    slopes = {}
    for key in {key for pair in before for weights in pair for key in weights}:
        steps = [
            [
                {k: rng.normal(size=w.shape) * (k == key) for k, w in weights.items()}
                for weights in pair
            ]
            for pair in before
        ]
        slopes[key] = steps, (loss(1e-5) - loss(-1e-5)) / 2e-5
    model = as_model(stack, FEATURES, TIME)
    model.compile(
        keras.optimizers.SGD(1.0), Product(reduction="sum"), **compile_options
    )
    model.train_on_batch([x, MASK], target)
    after = stack_weights(stack)
    for key, (steps, slope) in slopes.items():
        found = 0.0
        for layer, direction in np.ndindex(len(before), 2):
            start, end = (w[layer][direction].get(key) for w in (before, after))
            if start is not None:
                change = start - end
                found += (change * steps[layer][direction][key]).sum()
                assert (abs(np.atleast_2d(change)).max(axis=0) > 1e-7).all(), key
        np.testing.assert_allclose(found, slope, rtol=1e-3, atol=1e-3, err_msg=key)
    for old, new in zip(input_before, stack.input_layer.get_weights(), strict=True):
        assert (abs(np.atleast_2d(new - old)).max(axis=0) > 1e-7).all()


@pytest.mark.parametrize("name", [*WIRINGS, "block-recurrent", "gru"])
@MERGES
def test_gradients_are_those_of_the_reference(name, merge):
    stack = make_stack(name, merge=merge)
    eagerly = keras.backend.backend() != "jax"
    assert_gradients_are_the_references(name, stack, run_eagerly=eagerly)


def test_gradients_of_compiled_loops_are_those_of_the_reference():
    stack = make_stack("mixed-cell-shortcut", merge="layer", num_layers=2)
    assert_gradients_are_the_references("mixed-cell-shortcut", stack, jit_compile=False)


# Seeds and dropout


@pytest.mark.one_backend
@pytest.mark.parametrize("seed", [None, 11])
def test_copies_start_from_different_weights(seed):
    cell = GRUCell(
        UNITS,
        kernel_initializer=keras.initializers.GlorotUniform(seed=seed),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seed),
    )
    stack = BidirectionalStack(cell, num_layers=2)
    stack.build((None, None, UNITS))
    matrices = [w for w in stack.get_weights() if w.ndim == 2]
    blocks = [block for w in matrices for block in np.split(w, 3, axis=1)]
    assert len(blocks) == 2 * 4 * 3
    for i, block in enumerate(blocks):
        assert all(abs(block - other).max() > 1e-2 for other in blocks[:i])


def test_variational_dropout_drops_the_same_components_of_a_sentence():
    stack = make_stack("gru", dropout=0.5, seed=1, variational=True)
    dropped = ops.convert_to_numpy(stack(X, mask=MASK, training=True)) == 0
    sentences = [row[:n] for row, n in zip(dropped, LENGTHS, strict=True) if n]
    for row in sentences:
        assert (row == row[:1]).all() and 0 < row[0].mean() < 1
    assert any((row[0] != sentences[0][0]).any() for row in sentences)


@pytest.mark.one_backend
def test_layers_of_one_seed_drop_different_positions():
    ones = np.ones((4, TIME, 2 * UNITS), "float32")
    first, second = (
        ops.convert_to_numpy(layer(ones, training=True))
        for layer in make_stack("gru", num_layers=2, dropout=0.5, seed=1).dropout_layers
    )
    assert (first != second).any()


# Padding behind the tokens


@pytest.mark.one_backend
@MERGES
@pytest.mark.parametrize("name", ["gru", "highway-lstm", "mixed", "outputs-joint"])
def test_padding_behind_the_tokens_needs_no_masks(name, merge):
    import tensorflow as tf

    options = {"num_layers": 2, "return_directions": True}
    stack, x = make_stack(name, merge=merge, **options), random_sentences(FEATURES)
    target = np.random.default_rng(5).normal(size=(*MASK.shape, 1))

    def outputs_and_gradients(context, training):
        with tf.GradientTape() as tape, context:
            outputs = stack(x, mask=tf.constant(MASK), training=training)
            loss = tf.reduce_sum(outputs[0] * target)
        weights = [weight.value for weight in stack.trainable_weights]
        return [*outputs, *tape.gradient(loss, weights)]

    assert not MASK.all()
    for training in (False, True):
        masked = outputs_and_gradients(nullcontext(), training)
        found = outputs_and_gradients(right_padded(), training)
        assert not ops.convert_to_numpy(found[0])[~MASK].any()
        for one, other in zip(found, masked, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
            assert abs(ops.convert_to_numpy(other)).max() > 1e-3


@pytest.mark.one_backend
def test_padding_behind_tokens_of_half_precision():
    stack = BidirectionalStack(GRUCell(UNITS, dtype="mixed_float16"), dtype="float16")
    x = random_sentences(FEATURES).astype("float16")
    with right_padded():
        found = stack(x, mask=MASK)
    assert found.dtype == "float16"
    expected = ops.convert_to_numpy(stack(x, mask=MASK))
    np.testing.assert_allclose(ops.convert_to_numpy(found), expected, atol=1e-2)
