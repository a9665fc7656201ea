"""What holds of every cell, and of every table row of Wu et al. (2016, 2017).

Compiled models hold all cases at once: compiling each on its own takes minutes.
"""

from functools import cache

import keras
import numpy as np
import pytest
from cells.cases import (
    BATCH,
    CASES,
    FEATURES,
    LENGTHS,
    MASK,
    UNITS,
    ZEROS,
    after_step,
    build,
    expected_run,
    expected_step,
    make,
    named_weights,
    random_inputs,
    random_sentences,
    random_states,
    randomize,
    state_sizes,
    width,
)
from conftest import check_close
from keras import ops

from keras_tagging.cells import ElmanCell, FeedForwardCell
from keras_tagging.layers import ProjectedRNN

EVERY = pytest.mark.parametrize("name", CASES)
# Of each cell and gate one; the others differ in what the step alone computes.
WEIGHTS = "highway-lstm-peepholes rhn-depth-3 rhn-coupled-no-output-gate skip-none"
WEIGHTS += " skip-gates internals-joint internals-exclusive outputs-joint"
WEIGHTS += " outputs-vertical mixed-highway mixed-cell-shortcut mixed-linear block"
WEIGHTS += " block-scale block-below block-recurrent block-skip block-bernoulli-0.3"
WEIGHTS += " block-learned-bernoulli coupled-lstm gru gru-keep elman feed-forward"
SOME = {name: CASES[name] for name in WEIGHTS.split()}
EVERY_WEIGHT = pytest.mark.parametrize("name", SOME)
# The widest input; a cell that reads less takes the first columns.
SENTENCES = random_sentences(FEATURES + 2 * UNITS)
STEP_INPUTS = SENTENCES[:, 0]
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


SEQUENCES = {"return_sequences": True, "zero_output_for_mask": True}


@cache
def random_cell(name):
    """The built cell of a case. It is shared: read it only."""
    return build(make(CASES[name], **ZEROS))


@pytest.fixture(scope="module")
def compiled_steps():
    """Output and states of each case after one step, from one compiled model."""
    inputs = keras.Input(STEP_INPUTS.shape[1:])
    states = [keras.Input((UNITS,)), keras.Input((UNITS,))]
    outputs = {}
    for name in SOME:
        cell = random_cell(name)
        own = states[: len(state_sizes(cell))]
        output, new_states = cell(inputs[:, : width(cell)], own)
        outputs[name] = [output, *new_states]
    model = keras.Model([inputs, *states], outputs)
    values = [random_inputs(BATCH, UNITS, seed=2 + i) for i in range(2)]
    return model.predict([STEP_INPUTS, *values], verbose=0)


def check_step(name, found, weights, tolerance=1e-5, **settings):
    """The states after a step are those of the paper's equations."""
    case, cell = CASES[name], random_cell(name)
    inputs, states = STEP_INPUTS[:, : width(cell)], random_states(cell)
    expected = expected_step(case, inputs, states, weights, **settings)
    assert len(found) == len(expected) == len(states)
    check_close(found, expected, rtol=tolerance, atol=tolerance)


def step_of(cell):
    return after_step(cell, STEP_INPUTS[:, : width(cell)], random_states(cell))


@EVERY
def test_step_equals_the_papers_equations(name):
    cell = random_cell(name)
    assert cell.reads == CASES[name].reference.reads(CASES[name].settings)
    check_step(name, step_of(cell), named_weights(cell))


@pytest.mark.one_backend
@EVERY_WEIGHT
def test_compiled_step_equals_the_papers_equations(name, compiled_steps):
    output, *states = compiled_steps[name]
    np.testing.assert_array_equal(output, states[0])
    check_step(name, states, named_weights(random_cell(name)))


@pytest.mark.one_backend
@EVERY
def test_a_state_may_be_a_bare_tensor(name):
    """As in Keras' own cells. One tensor is never taken for two states."""
    cell = random_cell(name)
    inputs = STEP_INPUTS[:2, : width(cell)]
    projected = cell.project(ops.convert_to_tensor(inputs))
    state, *others = (ops.convert_to_tensor(x[:2]) for x in random_states(cell))
    for method, x in ((cell, inputs), (cell.step, projected)):
        if others:
            with pytest.raises((ValueError, IndexError)):
                method(x, state)
            continue
        (one, [new]), (other, _) = method(x, state), method(x, [state])
        for found in (one, new):
            np.testing.assert_array_equal(*map(ops.convert_to_numpy, (found, other)))


@pytest.mark.one_backend
@EVERY
def test_without_bias(name):
    cell = build(make(CASES[name], use_bias=False, **ZEROS))
    weights = named_weights(cell)
    assert not [key for key in weights if "bias" in key]
    check_step(name, step_of(cell), weights)


@pytest.mark.one_backend
@pytest.mark.parametrize("name", [name for name in CASES if "gru" not in name])
def test_activations_are_used(name):
    settings = {"activation": "relu", "recurrent_activation": "hard_sigmoid"}
    if CASES[name].cell_class in (ElmanCell, FeedForwardCell):  # which have the ReLU
        settings["activation"] = "tanh"
    cell = build(make(CASES[name], **settings, **ZEROS))
    check_step(name, step_of(cell), named_weights(cell), 1e-4, **settings)


def outputs_of_sequences(make_layer):
    """By case: the outputs and states of a layer with its cell on padded sentences.

    One set of weights serves all layers, and both directions of a bidirectional one.
    """
    layers = {}
    for name, case in SOME.items():
        layers[name] = layer = make_layer(
            make(case, **ZEROS), return_state=True, **SEQUENCES
        )
        layer.build((None, None, width(random_cell(name))))
        forward = getattr(layer, "forward_layer", layer)
        for one in {forward, getattr(layer, "backward_layer", forward)}:
            randomize(one)

    def computed(sentences, mask):
        return {
            name: layer(sentences[..., : width(random_cell(name))], mask=mask)
            for name, layer in layers.items()
        }

    if keras.backend.backend() == "jax":
        # it compiles loops in any case; all at once is the quicker way
        inputs = keras.Input((None, SENTENCES.shape[-1]))
        masks = keras.Input((None,), dtype="bool")
        model = keras.Model([inputs, masks], computed(inputs, masks))
        return model.predict([SENTENCES, MASK], verbose=0)
    return keras.tree.map_structure(ops.convert_to_numpy, computed(SENTENCES, MASK))


@pytest.fixture(scope="module")
def projected():
    return outputs_of_sequences(ProjectedRNN)


@pytest.fixture(scope="module")
def stock():
    def both_ways(cell, **options):
        return keras.layers.Bidirectional(keras.layers.RNN(cell, **options))

    return outputs_of_sequences(both_ways)


# JAX compiles the loops of the stock layers for minutes: see `make test-slow`.
slow_on_jax = pytest.mark.slow("jax")


def check_alone(name, outputs, backwards=False):
    case, cell = CASES[name], random_cell(name)
    for row, length in enumerate(LENGTHS):
        sentence = SENTENCES[row, :length, : width(cell)]
        expected = expected_run(case, sentence, named_weights(cell), backwards)
        np.testing.assert_allclose(
            outputs[row, :length], expected, rtol=1e-4, atol=1e-5
        )
        assert not outputs[row, length:].any()


@EVERY_WEIGHT
def test_masked_batch_equals_each_sentence_alone(name, projected):
    found, *_ = projected[name]
    check_alone(name, found)
    assert abs(found[0] - found[1]).max() > 1e-2


@slow_on_jax
@EVERY_WEIGHT
def test_stock_layers_with_the_cell_agree_with_projected(name, projected, stock):
    (found, *states), (outputs, *stock_states) = projected[name], stock[name]
    np.testing.assert_allclose(found, outputs[..., :UNITS], **CLOSE)
    stock_states = stock_states[: len(states)]  # then those of the backward layer
    assert len(states) == len(stock_states) > 0
    check_close(states, stock_states, **CLOSE)


@slow_on_jax
@EVERY_WEIGHT
def test_stock_layers_backwards(name, projected, stock):
    """Equal to each sentence alone, and to forwards on the mirrored sentence."""
    (found, *_), (outputs, *_) = projected[name], stock[name]
    check_alone(name, outputs[..., UNITS:], backwards=True)
    backward = outputs[:, ::-1, UNITS:]
    np.testing.assert_allclose(backward[0], found[1], **CLOSE)
    np.testing.assert_allclose(backward[1], found[0], **CLOSE)


# Unrolled over a few steps, loops run fast without being compiled.
STEPS = 3
FEW = [SENTENCES[:, :STEPS], MASK[:, :STEPS]]


def make_unrolled(layer_class):
    """A model with a layer of each of some cases, and these layers by case."""
    inputs = keras.Input((STEPS, SENTENCES.shape[-1]))
    masks = keras.Input((STEPS,), dtype="bool")
    layers, outputs = {}, []
    for name, case in SOME.items():
        layers[name] = layer = layer_class(
            make(case, **ZEROS), unroll=True, **SEQUENCES
        )
        outputs.append(layer(inputs[..., : width(layer.cell)], mask=masks))
        randomize(layer, scale=0.5)  # no saturated gates
        if case.cell_class in (ElmanCell, FeedForwardCell):  # no dead unit
            layer.cell.bias.assign(1 + abs(ops.convert_to_numpy(layer.cell.bias)))
    return keras.Model([inputs, masks], keras.layers.Concatenate()(outputs)), layers


@pytest.fixture(scope="module")
def unrolled():
    return make_unrolled(ProjectedRNN)


def test_keras_file_round_trip(unrolled, tmp_path):
    model, _ = unrolled
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    found, expected = (ops.convert_to_numpy(m(FEW)) for m in (again, model))
    np.testing.assert_array_equal(found, expected)
    layers = [layer for layer in again.layers if isinstance(layer, ProjectedRNN)]
    assert len(layers) == len(SOME)
    for layer, case in zip(layers, SOME.values(), strict=True):
        assert type(layer.cell) is case.cell_class
        assert case.settings.items() <= layer.cell.get_config().items()


def weights_around_training(model, layers):
    """By case and weight name: the values before and after one step of SGD."""
    model.compile(
        keras.optimizers.SGD(10.0),
        keras.losses.MeanSquaredError(reduction="sum"),
        run_eagerly=True,
    )
    before = {name: named_weights(layer.cell) for name, layer in layers.items()}
    target = np.ones((BATCH, STEPS, UNITS * len(SOME)), "float32")
    model.train_on_batch(FEW, target)
    return before, {name: named_weights(layer.cell) for name, layer in layers.items()}


@pytest.fixture(scope="module")
def projected_training(unrolled):
    return weights_around_training(*unrolled)


@pytest.fixture(scope="module")
def stock_training():
    return weights_around_training(*make_unrolled(keras.layers.RNN))


@EVERY_WEIGHT
def test_one_training_step_changes_every_column_of_every_weight(
    name, projected_training
):
    before, after = (weights[name] for weights in projected_training)
    assert len(before) >= 3 - (name == "feed-forward")
    for key in before:
        assert np.isfinite(after[key]).all()
        change = abs(np.atleast_2d(after[key] - before[key]))
        assert (change.max(axis=0) > 1e-6).all(), key


@pytest.mark.one_backend
@pytest.mark.parametrize("name", [name for name in SOME if "bernoulli" not in name])
def test_gradients_equal_those_of_the_stock_layer(
    name, projected_training, stock_training
):
    _, found = projected_training
    _, expected = stock_training
    assert found[name].keys() == expected[name].keys()
    for key, array in found[name].items():
        np.testing.assert_allclose(array, expected[name][key], **CLOSE)


@pytest.mark.one_backend
@EVERY
def test_config_round_trip_and_initial_state(name):
    keywords = {
        "name": "cell",
        "activation": "relu",
        "recurrent_activation": "hard_sigmoid",
        "use_bias": False,
        "kernel_initializer": "he_normal",
        "recurrent_initializer": "glorot_normal",
        "bias_initializer": "ones",
        "kernel_regularizer": "l2",
        "recurrent_regularizer": keras.regularizers.L1L2(0.1, 0.2),
        "bias_regularizer": "l1",
        "kernel_constraint": "max_norm",
        "recurrent_constraint": keras.constraints.UnitNorm(axis=1),
        "bias_constraint": "non_neg",
    }
    cell = make(CASES[name], **keywords)
    config = cell.get_config()
    again = type(cell).from_config(config)
    assert again.get_config() == config
    assert again.recurrent_regularizer.l2 == 0.2 and again.bias_constraint is not None
    for key, value in (CASES[name].settings | {"activation": "relu"}).items():
        assert config[key] == value
    registered = keras.saving.serialize_keras_object(cell)["registered_name"]
    assert registered == f"keras_tagging>{type(cell).__name__}"
    states = [ops.convert_to_numpy(s) for s in cell.get_initial_state(batch_size=2)]
    assert [s.shape for s in states] == [(2, n) for n in state_sizes(cell)]
    assert not np.any(states) and cell.output_size == cell.units == UNITS


@pytest.mark.one_backend
@pytest.mark.parametrize("layer", [1, 2, 3])
@EVERY
def test_config_for_a_layer_of_a_stack(name, layer):
    case = CASES[name]
    cell = make(case, activation="relu", **ZEROS)
    config = cell.for_layer(layer)
    if layer >= 3:
        assert config == cell.get_config()
    expected = case.reference.for_layer(layer, case.settings | {"activation": "relu"})
    for key, value in expected.items():
        assert config[key] == value, key
    copy = build(type(cell).from_config(config))
    assert copy.reads == case.reference.reads(expected)
    if layer == 1:
        words = {word for w in copy.weights for word in w.name.split("_")}
        assert copy.reads == () and not words & {"gate", "depth", "skip", "cell"}


@pytest.mark.one_backend
@EVERY
def test_matrices_are_initialised_by_what_they_read(name):
    """Those that read h_{t-1} have "recurrent" in their name."""
    cell = make(CASES[name], kernel_initializer="ones", recurrent_initializer="zeros")
    cell.build((None, width(cell)))
    matrices = [w for w in cell.weights if len(w.shape) == 2]
    assert len(matrices) >= 2 - (name == "feed-forward")
    for matrix in matrices:
        expected = 0 if "recurrent" in matrix.name else 1
        assert (ops.convert_to_numpy(matrix) == expected).all(), matrix.name


@pytest.mark.one_backend
@pytest.mark.parametrize("seed", [None, 7])
@EVERY
def test_no_two_matrices_start_equal(name, seed):
    """One seeded initializer serves several matrices of the same shape.

    Each gate has an orthogonal recurrent matrix of its own.
    """
    cell = make(
        CASES[name],
        kernel_initializer=keras.initializers.RandomNormal(seed=seed),
        recurrent_initializer=keras.initializers.Orthogonal(seed=seed),
    )
    cell.build((None, width(cell)))
    kinds = {True: [], False: []}
    for weight in cell.weights:
        if len(weight.shape) == 2:
            matrix = ops.convert_to_numpy(weight)[:FEATURES]
            recurrent = "recurrent" in weight.name
            if recurrent:
                matrix = ops.convert_to_numpy(weight)
            blocks = np.split(matrix, matrix.shape[1] // UNITS, axis=1)
            kinds[recurrent].extend(blocks)
    for block in kinds[True]:
        np.testing.assert_allclose(block @ block.T, np.eye(UNITS), atol=1e-5)
    for blocks, apart in ((kinds[True], 1e-2), (kinds[False], 1e-3)):
        for i, block in enumerate(blocks):
            assert all(abs(block - other).max() > apart for other in blocks[:i])


@pytest.mark.one_backend
@EVERY
def test_mixed_precision(name):
    cell = build(make(CASES[name], dtype="mixed_bfloat16", **ZEROS))
    inputs = ops.cast(STEP_INPUTS[:, : width(cell)], "bfloat16")
    states = [ops.cast(state, "bfloat16") for state in random_states(cell)]
    for training in (False, True):
        output, new_states = cell(inputs, states, training=training)
        for tensor in (output, *new_states):
            assert keras.backend.standardize_dtype(tensor.dtype) == "bfloat16"
    assert {w.dtype for w in cell.weights} == {"float32"}
