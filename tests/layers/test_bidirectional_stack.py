import keras
import numpy as np
import pytest
from cells.cases import randomize
from keras import ops
from reference import gru

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack

UNITS, FEATURES = 5, 3
LENGTHS = np.array([6, 1, 4, 0])
TIME = 6
MASK = np.arange(TIME) < LENGTHS[:, None]


def random_inputs(seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(LENGTHS), TIME, FEATURES)).astype("float32")


def make(merge="layer", num_layers=2, **kwargs):
    stack = BidirectionalStack(
        GRUCell(UNITS), num_layers=num_layers, merge=merge, **kwargs
    )
    stack.build((None, None, FEATURES))
    return randomize(stack)


def as_model(stack):
    inputs = keras.Input((None, FEATURES))
    masks = keras.Input((None,), dtype="bool")
    return keras.Model([inputs, masks], stack(inputs, mask=masks))


def layer_weights(stack):
    """The weights as the reference takes them: (forward, backward) a layer."""
    layers = zip(stack.forward_layers, stack.backward_layers, strict=True)
    return [tuple(rnn.get_weights() for rnn in pair) for pair in layers]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("num_layers", [1, 3])
@pytest.mark.parametrize("merge", ["top", "layer"])
def test_equals_the_reference_on_each_sentence_alone(merge, num_layers, compiled):
    stack = make(merge, num_layers)
    x = random_inputs()
    if compiled:
        found = as_model(stack).predict([x, MASK], verbose=0)
    else:
        found = ops.convert_to_numpy(stack(x, mask=MASK))
    assert found.shape == stack.compute_output_shape(x.shape)
    for row, sentence, length in zip(found, x, LENGTHS, strict=True):
        expected = gru.stack(sentence[:length], layer_weights(stack), merge)
        np.testing.assert_allclose(row[:length], expected, atol=1e-5)
        assert not row[length:].any()


@pytest.mark.parametrize("merge", ["top", "layer"])
def test_without_mask_every_position_is_read(merge):
    stack = make(merge)
    x = random_inputs()
    found = ops.convert_to_numpy(stack(x))
    for row, sentence in zip(found, x, strict=True):
        expected = gru.stack(sentence, layer_weights(stack), merge)
        np.testing.assert_allclose(row, expected, atol=1e-5)


@pytest.mark.parametrize("merge", ["top", "layer"])
def test_mirrored_sentence_and_swapped_directions_give_mirrored_output(merge):
    stack, mirror = make(merge), make(merge)
    swapped = []
    for layer, (forward, backward) in enumerate(layer_weights(stack)):
        pair = [backward, forward]
        if merge == "layer" and layer:
            # The two halves of the input are swapped too.
            for weights in pair:
                weights[0] = np.roll(weights[0], UNITS, axis=0)
        swapped.append(pair)
    for layer, pair in enumerate(swapped):
        mirror.forward_layers[layer].set_weights(pair[0])
        mirror.backward_layers[layer].set_weights(pair[1])
    x = random_inputs()
    found = ops.convert_to_numpy(mirror(np.ascontiguousarray(x[:, ::-1])))
    expected = np.roll(ops.convert_to_numpy(stack(x))[:, ::-1], UNITS, axis=-1)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("merge", ["top", "layer"])
def test_keras_file_round_trip(tmp_path, merge):
    model = as_model(make(merge, dropout=(0.25, 0.5), seed=3))
    expected = model.predict([random_inputs(), MASK], verbose=0)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        again.predict([random_inputs(), MASK], verbose=0), expected
    )
    config = again.layers[-1].get_config()
    assert (config["merge"], config["seed"]) == (merge, 3)
    assert list(config["dropout"]) == [0.25, 0.5]


@pytest.mark.parametrize("merge", ["top", "layer"])
def test_one_training_step_changes_every_weight(merge):
    stack = make(merge)
    model = as_model(stack)
    before = [w.copy() for w in model.get_weights()]
    model.compile(keras.optimizers.SGD(1.0), "mse", jit_compile=False)
    target = np.ones((len(LENGTHS), TIME, 2 * UNITS), "float32")
    model.train_on_batch([random_inputs(), MASK], target)
    assert len(before) == 2 * 2 * 3
    for old, new in zip(before, model.get_weights(), strict=True):
        assert (abs(new - old).max(axis=0) > 1e-7).all()


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


@pytest.mark.one_backend
def test_seeded_initializers_repeat():
    cell = GRUCell(UNITS, recurrent_initializer=keras.initializers.Orthogonal(seed=1))
    first, second = (BidirectionalStack(cell) for _ in range(2))
    for stack in (first, second):
        stack.build((None, None, FEATURES))
    for one, other in zip(layer_weights(first), layer_weights(second), strict=True):
        for direction in range(2):
            np.testing.assert_array_equal(one[direction][1], other[direction][1])


def test_dropout_only_in_training_and_repeatable_by_seed():
    x = random_inputs()
    first, second, third, plain = (
        ops.convert_to_numpy(make(dropout=rate, seed=seed)(x, mask=MASK, training=True))
        for rate, seed in [(0.5, 1), (0.5, 1), (0.5, 2), (0.0, None)]
    )
    np.testing.assert_array_equal(first, second)
    assert abs(first - third).max() > 1e-3
    dropped = (first == 0)[MASK].mean()
    assert 0.3 < dropped < 0.7 and not (plain == 0)[MASK].any()
    at_inference = ops.convert_to_numpy(make(dropout=0.5, seed=1)(x, mask=MASK))
    np.testing.assert_array_equal(
        at_inference, ops.convert_to_numpy(make()(x, mask=MASK))
    )


def test_variational_dropout_drops_the_same_components_of_a_sentence():
    x, length = random_inputs(), MASK.sum(1)
    stack = make(dropout=0.5, seed=1, variational=True)
    again = type(stack).from_config(stack.get_config())
    assert again.dropout_layers[0].noise_shape == stack.dropout_layers[0].noise_shape
    dropped = ops.convert_to_numpy(stack(x, mask=MASK, training=True)) == 0
    sentences = [row[:n] for row, n in zip(dropped, length, strict=True) if n]
    for row in sentences:
        assert (row == row[:1]).all() and 0 < row[0].mean() < 1
    assert any((row[0] != sentences[0][0]).any() for row in sentences)


@pytest.mark.one_backend
def test_dropout_rates_apply_to_their_own_layer():
    """Dropped on the last layer only, what is kept is the output times 1 / 0.5."""
    x = random_inputs()
    kept = ops.convert_to_numpy(make(dropout=(0.0, 0.5), seed=1)(x, training=True))
    plain = ops.convert_to_numpy(make()(x))
    np.testing.assert_allclose(kept[kept != 0], 2 * plain[kept != 0], rtol=1e-4)


@pytest.mark.one_backend
def test_layers_of_one_seed_drop_different_positions():
    ones = np.ones((4, TIME, 2 * UNITS), "float32")
    first, second = (
        ops.convert_to_numpy(layer(ones, training=True))
        for layer in make(dropout=0.5, seed=1).dropout_layers
    )
    assert (first != second).any()


@pytest.mark.one_backend
def test_prototype_cell_is_left_alone():
    cell = GRUCell(UNITS)
    BidirectionalStack(cell).build((None, None, FEATURES))
    assert not cell.built


def test_mixed_precision():
    stack = BidirectionalStack(
        GRUCell(UNITS, dtype="mixed_bfloat16"), dropout=0.1, dtype="mixed_bfloat16"
    )
    outputs = stack(random_inputs(), mask=MASK)
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"
    assert stack.weights[0].dtype == "float32"


@pytest.mark.one_backend
@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"merge": "sum"}, "merge='sum': known are 'top', 'layer'"),
        ({"num_layers": 0}, "num_layers=0"),
        ({"cell": keras.layers.GRUCell(3)}, "GRUCell is no RecurrentCell"),
        ({"dropout": (0.5,)}, "1 dropout rates for 2 layers"),
    ],
)
def test_wrong_arguments_are_named(kwargs, message):
    with pytest.raises(ValueError, match=message):
        BidirectionalStack(**{"cell": GRUCell(3), **kwargs})
