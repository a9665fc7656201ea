"""A cell that reads other layers has to be told that they are appended to its input."""

import keras
import numpy as np
import pytest
from cells.cases import CASES, FEATURES, UNITS, make, random_inputs
from keras import ops

from keras_tagging.cells import LayeredCell
from keras_tagging.layers import ProjectedRNN

pytestmark = pytest.mark.one_backend

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
