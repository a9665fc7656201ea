"""Stacks over packed tokens give what they give over padded ones."""

import numpy as np
import pytest
from keras import ops

from keras_tagging.cells import GRUCell, HighwayLSTMCell, ShortcutBlockCell
from keras_tagging.layers import BidirectionalStack
from keras_tagging.layers.loop import packed, packing

pytestmark = pytest.mark.one_backend
UNITS = 4
#: sentences of 5, 0, 1 and 3 tokens, with gaps before, between and behind them
MASK = np.array([[1, 1, 1, 1, 1], [0] * 5, [0, 0, 1, 0, 0], [1, 0, 1, 1, 0]], bool)
CELLS = {
    "gru": lambda **kw: GRUCell(UNITS, **kw),
    "highway": lambda **kw: HighwayLSTMCell(UNITS, **kw),
    "shortcut": lambda **kw: ShortcutBlockCell(UNITS, self_connection=True, **kw),
}


def outputs(stack, x, mask, wanted):
    with packed(wanted):
        found = stack(x, mask=mask)
    return [ops.convert_to_numpy(part) for part in found]


@pytest.mark.parametrize("merge", ["top", "layer"])
@pytest.mark.parametrize("cell", CELLS)
def test_equals_the_padded_stack(cell, merge):
    stack = BidirectionalStack(
        CELLS[cell](),
        num_layers=2,
        merge=merge,
        input_layer="tanh",
        return_directions=True,
    )
    x = np.random.default_rng(1).normal(size=(*MASK.shape, 3)).astype("float32")
    expected = outputs(stack, x, MASK, False)
    found = outputs(stack, x, MASK, True)
    for one, other in zip(found, expected, strict=True):
        assert abs(other[MASK]).min() > 0 and not one[~MASK].any()
        np.testing.assert_allclose(one, other, atol=1e-6)
    for other in outputs(stack, x, ~MASK & MASK, True):
        assert other.shape == expected[0].shape and not other.any()


def test_half_precision():
    stack = BidirectionalStack(GRUCell(UNITS, dtype="mixed_float16"), dtype="float16")
    x = np.random.default_rng(1).normal(size=(*MASK.shape, 3)).astype("float16")
    with packed():
        found = stack(x, mask=MASK)
    assert found.dtype == "float16"
    expected = ops.convert_to_numpy(stack(x, mask=MASK))
    np.testing.assert_allclose(ops.convert_to_numpy(found), expected, atol=1e-2)


def test_padding_is_computed_unless_asked():
    assert packing(MASK) is None
    with packed(False):
        assert packing(MASK) is None
    with packed():
        assert packing(None) is None and packing(MASK, training=True) is None
        assert packing(MASK) is not None
    assert packing(MASK) is None
