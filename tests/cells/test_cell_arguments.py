"""Initial biases of single gates, and errors for settings that make no sense."""

import keras
import numpy as np
import pytest
from cells.cases import CASES, UNITS, make, width
from keras import ops

from keras_tagging.cells import (
    GRUCell,
    HighwayLSTMCell,
    RecurrentHighwayCell,
    ShortcutBlockCell,
    SkipLSTMCell,
)

pytestmark = pytest.mark.one_backend

STARTS = {"forget_bias": "f", "transform_bias": "t"}


def initial_biases(cell):
    """By gate, and by name for biases that serve no gate of `cell.gates`."""
    cell.build((None, width(cell)))
    biases = {}
    for weight in cell.weights:
        array = ops.convert_to_numpy(weight)
        if weight.name == "bias" or weight.name.startswith("bias_"):
            size = len(array) // UNITS
            for gate, part in zip(
                cell.gates[:size], np.split(array, size), strict=True
            ):
                biases[weight.name, gate] = part
        elif "bias" in weight.name:
            biases[weight.name, None] = array
    return biases


@pytest.mark.parametrize("name", CASES)
def test_biases_start_at_zero(name):
    settings = CASES[name].settings
    for (_, gate), bias in initial_biases(make(CASES[name])).items():
        starts = [settings.get(key, 0) for key, g in STARTS.items() if g == gate]
        np.testing.assert_array_equal(bias, np.full(UNITS, sum(starts)))


@pytest.mark.parametrize(
    "name, keyword",
    [
        ("outputs-joint", "forget_bias"),
        ("outputs-exclusive", "forget_bias"),
        ("skip-none", "forget_bias"),
        ("highway-lstm-peepholes", "forget_bias"),
        ("rhn-depth-3", "transform_bias"),
        ("rhn-coupled-no-output-gate", "transform_bias"),
    ],
)
def test_one_gate_starts_elsewhere(name, keyword):
    """The transform gate does in every micro-step."""
    moved = 0
    for (_, gate), bias in initial_biases(make(CASES[name], **{keyword: -3.0})).items():
        expected = -3.0 if gate == STARTS[keyword] else 0.0
        np.testing.assert_array_equal(bias, np.full(UNITS, expected))
        moved += gate == STARTS[keyword]
    assert moved == (CASES[name].settings.get("depth", 3) if "rhn" in name else 1)


@pytest.mark.parametrize(
    "cell_class, settings, message",
    [
        (SkipLSTMCell, {"skip": "output"}, "'output'"),
        (SkipLSTMCell, {"skip": "gates"}, "gate"),
        (ShortcutBlockCell, {"mapping": "relu"}, "'relu'"),
        (ShortcutBlockCell, {"internal": "plain", "output": None}, "gate"),
        (ShortcutBlockCell, {"internal": "plain", "gate": None}, "gate"),
        (ShortcutBlockCell, {"internal": "highway", "gate": "linear"}, "linear"),
        (ShortcutBlockCell, {"cell_shortcut": True}, "self_connection"),
        (ShortcutBlockCell, {"gate": "bernoulli", "bernoulli_p": 1.1}, "1.1"),
        (RecurrentHighwayCell, {"depth": 0}, "0"),
        (GRUCell, {"update": "old"}, "update='old': known are 'new', 'keep'"),
        (HighwayLSTMCell, {"skips": "outputs"}, "skips"),
    ],
)
def test_impossible_settings_are_named(cell_class, settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        cell_class(**{"units": UNITS, **settings})


@pytest.mark.parametrize("width", [3, 4])
def test_input_without_the_skipped_output_is_refused(width):
    cell = SkipLSTMCell(4, appended_inputs=True)
    with pytest.raises(ValueError, match=f"concatenated: {width} features are too few"):
        keras.layers.RNN(cell).build((2, 5, width))
