"""The arguments of cells: what they start from, what is appended, what is refused."""

from itertools import islice

import keras
import numpy as np
import pytest
from cells.cases import CASES, FEATURES, UNITS, ZEROS, make, random_inputs, width
from keras import ops

from keras_tagging.cells import (
    GRUCell,
    HighwayLSTMCell,
    LayeredCell,
    RecurrentHighwayCell,
    ShortcutBlockCell,
    SkipLSTMCell,
)
from keras_tagging.cells.initializers import gaussian, gaussian_table, per_gate
from keras_tagging.layers import ProjectedRNN
from keras_tagging.utils.seeds import seeds

pytestmark = pytest.mark.one_backend


# Initial biases of single gates, and settings that make no sense

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
    for (_, gate), bias in initial_biases(make(CASES[name], **ZEROS)).items():
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


# A cell that reads other layers has to be told that they are appended to its input

READING = [name for name, case in CASES.items() if make(case).reads]


def built(cell, features, seed=0):
    cell.build((None, features))
    rng = np.random.default_rng(seed)
    cell.set_weights([rng.normal(size=w.shape) for w in cell.weights])
    return cell


@pytest.mark.parametrize("name", READING)
def test_untold_it_is_the_cell_of_layer_1(name):
    """The trap: the last features of a wide input would have passed for the skip."""
    features = FEATURES + 2 * UNITS
    cell = make(CASES[name], appended_inputs=False)
    first = type(cell).from_config(make(CASES[name]).for_layer(1))
    assert cell.reads == first.reads == ()
    built(cell, features)
    built(first, features)
    assert [w.shape for w in cell.weights] == [w.shape for w in first.weights]
    assert cell.kernel.shape[0] == features
    x = random_inputs(2, 3, features)
    found, expected = (
        ops.convert_to_numpy(keras.layers.RNN(each)(x)) for each in (cell, first)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["outputs-joint", "mixed-cell-shortcut"])
def test_configurations_without_the_keyword_read_what_is_appended(name):
    """So were cells saved before there was the keyword."""
    config = make(CASES[name]).get_config()
    del config["appended_inputs"]
    cell = type(make(CASES[name])).from_config(config)
    assert cell.reads == make(CASES[name]).reads != ()
    assert ProjectedRNN(cell).get_config()["cell"]["config"]["appended_inputs"]


@pytest.mark.parametrize("wrap", [list, keras.layers.StackedRNNCells])
@pytest.mark.parametrize("name", ["outputs-joint", "block", "highway-lstm"])
@pytest.mark.parametrize("told", [False, True])
def test_a_list_in_a_stock_layer_is_refused(name, wrap, told):
    """It hands a cell the output below it: the skips would silently be missing."""
    case = CASES[name]
    cells = [make(case, appended_inputs=told and i > 0) for i in range(3)]
    with pytest.raises(ValueError, match="SkipStackCell"):
        keras.layers.Bidirectional(keras.layers.RNN(wrap(cells))).build((2, 5, UNITS))


def test_a_list_in_a_stock_layer_may_hold_cells_without_skips():
    names = ["skip-none", "block-first-layer", "highway-lstm-first-layer"]
    cells = [make(CASES[name], appended_inputs=False) for name in names]
    assert all(isinstance(cell, LayeredCell) for cell in cells)
    layer = keras.layers.RNN(cells)
    assert layer(random_inputs(2, 3, FEATURES)).shape == (2, UNITS)


# Initial weights


@pytest.mark.parametrize("shape", [(16, 20_000), (400, 800), (10_000, 32)])
def test_gaussian_has_the_papers_standard_deviation(shape):
    values = ops.convert_to_numpy(gaussian(1)(shape)).astype("float64").ravel()
    sigma = 0.1 / np.sqrt(shape[0])
    # of 320,000 draws; the bounds are five standard errors wide
    error = 5 / np.sqrt(values.size)
    assert values.std() == pytest.approx(sigma, rel=error / np.sqrt(2))
    assert abs(values.mean()) < sigma * error
    # not truncated: the normal distribution's share beyond two and three sigma
    for bound, share in [(2, 0.0455), (3, 0.0027)]:
        assert (abs(values) > bound * sigma).mean() == pytest.approx(share, rel=0.2)


def test_gaussian_of_each_gate_has_the_fan_in_of_the_whole_kernel():
    kernel = ops.convert_to_numpy(per_gate(gaussian(1), 4)((100, 4 * 200)))
    blocks = np.split(kernel, 4, axis=1)
    for i, block in enumerate(blocks):
        assert block.std() == pytest.approx(0.01, rel=0.03)
        assert all(abs(block - other).max() > 0.01 for other in blocks[:i])


def test_gaussian_table_has_a_fan_in_of_one():
    values = ops.convert_to_numpy(gaussian_table(1)((40_000, 8)))
    assert values.std() == pytest.approx(0.1, rel=0.01)


def test_gaussian_is_repeatable_by_seed():
    one, again, other = (ops.convert_to_numpy(gaussian(s)((3, 4))) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert abs(one - other).max() > 1e-3


def test_seeds_repeat_and_differ():
    first = list(islice(seeds(7), 200))
    assert first == list(islice(seeds(7), 200))
    others = [seed for s in (0, 6, 8, 10**6) for seed in islice(seeds(s), 200)]
    assert len({*first, *others}) == 1000
    assert all(type(seed) is int and 0 <= seed < 2**30 for seed in first + others)


class Scaled(keras.initializers.Initializer):
    """Of a user, without `get_config`: Keras' own of the base class is empty."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, shape, dtype=None):
        return ops.full(shape, self.scale, dtype)


def test_an_initializer_that_does_not_say_what_it_is():
    cell = GRUCell(2, kernel_initializer=Scaled(0.5), recurrent_initializer=Scaled(2))
    cell.build((None, 3))
    assert (ops.convert_to_numpy(cell.kernel) == 0.5).all()
    assert (ops.convert_to_numpy(cell.recurrent_kernel) == 2).all()
