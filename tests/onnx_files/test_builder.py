"""Constants of an ONNX graph in half precision."""

import numpy as np
import pytest
from onnx import TensorProto
from onnx_files.odd import session_of

from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import COMPARED_BYTES, Builder

ROWS = COMPARED_BYTES // 4 + 1
HALF = np.random.default_rng(1).normal(size=ROWS).astype("float16")


@pytest.mark.parametrize(
    "values, is_half",
    [
        (HALF.astype("float32"), True),
        (np.float32([-0.0, 65504, -65504, 6e-8])[np.arange(ROWS) % 4], False),
        (np.float32([-0.0, 65504, -65504, 2**-24])[np.arange(ROWS) % 4], True),
        (np.append(HALF[1:].astype("float32"), np.float32(0.1)), False),
        (np.append(HALF[1:].astype("float32"), np.float32(7e4)), False),
        (HALF[: ROWS - 1].astype("float32"), False),  # a small one
        (np.arange(ROWS, dtype="int32"), False),
    ],
)
def test_constants_of_half_precision(values, is_half):
    xp = Arrays(Builder())
    name = xp.builder.constant(values, source="weights")
    assert xp.builder.constant(values, source="weights") == name
    [stored] = xp.builder.initializers
    assert (stored.data_type == TensorProto.FLOAT16) == is_half
    xp.output("y", Array(xp, name, values.dtype.name), [None])
    [found] = session_of(xp).run(None, {})
    assert found.dtype == values.dtype and found.tobytes() == values.tobytes()
