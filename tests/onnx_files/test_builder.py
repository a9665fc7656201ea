"""Large constants of an ONNX graph, in half precision where that changes nothing."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import COMPARED_BYTES, IR_VERSION, Builder, value_info

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
    builder = Builder()
    name = builder.constant(values, source="weights")
    assert builder.constant(values, source="weights") == name
    [stored] = builder.initializers
    assert (stored.data_type == TensorProto.FLOAT16) == is_half
    dtype = values.dtype.name
    nodes = [*builder.nodes(), helper.make_node("Identity", [name], ["y"])]
    outputs = [value_info("y", dtype, [None])]
    graph = helper.make_graph(nodes, "half", [], outputs, builder.initializers)
    opset = [helper.make_opsetid("", 20)]
    made = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opset)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    [found] = session.run(None, {})
    assert found.dtype == values.dtype
    assert found.tobytes() == values.tobytes()


def test_neighbours_are_cut_out_as_one():
    builder, values = Builder(), np.arange(54.0, dtype="float32").reshape(6, 9)
    xp = Arrays(builder)
    x, joined = Array(xp, "x", "float32", (None, 9)), []
    for y, library in ((x, xp), (values, np)):
        parts = [y[:, 0:3], y[:, 3:5], y[:, 6:8], y[:, 8:9], y[:, 0:2]]
        joined.append(library.concatenate(parts, 1))
    [concat] = (node for node in builder.nodes() if node.op_type == "Concat")
    assert len(concat.input) == 3
    nodes = [*builder.nodes(), helper.make_node("Identity", [joined[0].name], ["y"])]
    inputs, outputs = ([value_info(n, "float32", [None, None])] for n in "xy")
    constants = builder.initializers
    graph = helper.make_graph(nodes, "cuts", inputs, outputs, constants)
    opset = [helper.make_opsetid("", 20)]
    made = helper.make_model(graph, ir_version=IR_VERSION, opset_imports=opset)
    session = onnxruntime.InferenceSession(made.SerializeToString())
    [found] = session.run(None, {"x": values})
    assert found.tolist() == joined[1].tolist()
