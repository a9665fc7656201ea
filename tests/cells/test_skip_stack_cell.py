"""SkipStackCell in the stock layers against the reference of whole stacks."""

import keras
import numpy as np
import pytest
from cells.cases import (
    CASES,
    FEATURES,
    LENGTHS,
    MASK,
    TIME,
    UNITS,
    ZEROS,
    make,
    named_weights,
    op_by_op,
    random_sentences,
    randomize,
)
from keras import ops
from reference import skip_stack

from keras_tagging.cells import GRUCell, SkipStackCell

OPTIONS = {"return_sequences": True, "zero_output_for_mask": True}
X = random_sentences(UNITS)


def make_cells(name, num_layers=3, **options):
    case = CASES[name]
    options = case.settings | options
    return [case.cell_class(UNITS, **options) for _ in range(num_layers)]


def make_layer(name, num_layers=3, features=UNITS):
    cell = SkipStackCell(make_cells(name, num_layers, **ZEROS))
    layer = keras.layers.Bidirectional(keras.layers.RNN(cell, **OPTIONS))
    layer.build((None, TIME, features))
    return randomize(layer, scale=0.5)


@pytest.mark.parametrize(
    "name, num_layers",
    [
        *[(name, 4) for name in ("outputs-joint", "mixed-cell-shortcut", "block")],
        *[("highway-lstm-peepholes", layers) for layers in (1, 2, 3)],
        ("rhn-coupled", 2),
    ],
)
def test_equals_the_reference_on_each_sentence_alone(name, num_layers):
    layer = make_layer(name, num_layers)
    with op_by_op():
        found = ops.convert_to_numpy(layer(X, mask=MASK))
    directions = (layer.forward_layer.cell.cells, layer.backward_layer.cell.cells)
    weights = [
        tuple(map(named_weights, pair)) for pair in zip(*directions, strict=True)
    ]
    case = CASES[name]
    for row, sentence, length in zip(found, X, LENGTHS, strict=True):
        sentence = sentence[:length].astype("float64")
        expected = skip_stack.stack(
            case.reference, sentence, weights, case.settings, "top"
        )
        np.testing.assert_allclose(row[:length], expected, rtol=1e-4, atol=1e-4)
        assert not row[length:].any()


def test_states_are_those_of_all_cells():
    cell = SkipStackCell([make_cells("outputs-joint", 1)[0], *make_cells("block", 2)])
    assert cell.state_size == [UNITS] * 4 and cell.output_size == UNITS
    layer = keras.layers.RNN(cell, return_state=True)
    output, *states = layer(X)
    assert len(states) == 4
    np.testing.assert_array_equal(*map(ops.convert_to_numpy, (output, states[0])))
    again, *_ = layer(X, initial_state=states)
    assert abs(ops.convert_to_numpy(again - output)).max() > 1e-3


def test_last_output_of_a_padded_sentence():
    """Where steps are masked at the end, Keras on JAX returns the first state."""
    layer = keras.layers.RNN(SkipStackCell(make_cells("outputs-joint", 2)))
    found = ops.convert_to_numpy(layer(X, mask=MASK))
    for row, sentence, length in zip(found, X, LENGTHS, strict=True):
        if length:
            alone = ops.convert_to_numpy(layer(sentence[None, :length]))
            np.testing.assert_allclose(row, alone[0], atol=1e-5)


@pytest.mark.one_backend
def test_cells_without_skips_may_differ():
    cell = SkipStackCell([GRUCell(3), make_cells("skip-none", 1)[0]])
    layer = keras.layers.RNN(cell)
    assert layer(random_sentences(FEATURES)).shape == (len(LENGTHS), UNITS)


@pytest.mark.one_backend
def test_dtype_is_that_of_the_cells():
    cells = [make(CASES["block"], dtype="mixed_bfloat16") for _ in range(2)]
    cell = SkipStackCell(cells)
    assert cell.compute_dtype == "bfloat16"
    layer = keras.layers.RNN(cell, dtype="mixed_bfloat16")
    x = ops.cast(random_sentences(UNITS), "bfloat16")
    assert keras.backend.standardize_dtype(layer(x).dtype) == "bfloat16"


@pytest.mark.one_backend
def test_input_of_another_width_cannot_be_skipped_from():
    with pytest.raises(ValueError, match="has 3 features, not units=4: put a Dense"):
        make_layer("outputs-joint", features=FEATURES)
    make_layer("highway-lstm", features=FEATURES)
