"""The check of an ONNX file: what it believes, other readers read in the same way."""

import struct
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hostile.onnx_files import check_believed, files, indexed
from hostile.protobuf import BYTES, END, START, field, key, replaced, varint
from onnx import helper, numpy_helper

from keras_tagging import runtime
from keras_tagging.runtime.file_check import check

ENTRY = field(1, b"location") + field(2, b"/etc/passwd")
#: by message: a field that opens another file, or needs what is not ours
EVIL = {
    "TensorProto": (13, ENTRY),
    "NodeProto": (4, b"PyOp"),
    "GraphProto": (5, field(2, 1) + field(13, ENTRY) + field(14, 1)),
    "ModelProto": (8, field(1, b"com.stranger") + field(2, 1)),
    "AttributeProto": (6, field(1, field(4, b"PyOp"))),
}


def large(bits):
    def written(number, value):
        return varint((number << 3 | BYTES) + bits) + varint(len(value)) + value

    return written


WAYS = {
    "as it is": field,
    "key + 2^32": large(1 << 32),
    "key + 2^34": large(1 << 34),
    "key + 2^64": large(1 << 64),
    "number + 2^29": large(1 << 32 | 1 << 33),
    "long key": lambda number, value: field(number, value, (1, 0)),
    "long key of five bytes": lambda number, value: field(number, value, (4, 0)),
    "long length": lambda number, value: field(number, value, (0, 2)),
    "in a group": lambda n, value: key(n, START) + field(n, value) + key(n, END),
    "after the end of a group": lambda n, value: key(n, END) + field(n, value),
    "after a key of zero": lambda number, value: b"\0\0" + field(number, value),
}


@pytest.fixture(scope="module")
def tagger():
    return files()[0]


def with_field(data, message, new):
    """The file with a field more, in the first such message."""
    found = next(
        every[0] for (name, _), every in indexed(data).items() if name == message
    )
    return replaced(data, found, data[found.key : found.end] + new)


def test_files_of_exports_are_believed():
    for data in files():
        check(data)
        check_believed(data)
    folder = Path(__file__).parents[1] / "fixtures/v0_2"
    assert len([*folder.rglob("*.onnx")]) == len(files())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("message", EVIL)
def test_no_field_is_hidden(tagger, message, way):
    hidden = with_field(tagger, message, WAYS[way](*EVIL[message]))
    with pytest.raises(ValueError):
        check(hidden)


@pytest.mark.parametrize("way", [*WAYS][1:])
def test_harmless_fields_are_not_written_otherwise(tagger, way):
    name = indexed(tagger)["ModelProto", 2][0]
    assert name.of(tagger) == b"keras_tagging"
    with pytest.raises(ValueError, match="is not written as an export is"):
        check(replaced(tagger, name, WAYS[way](2, b"keras_tagging")))


@pytest.mark.parametrize(
    "message, new",
    [
        ("ModelProto", field(1, 9)),  # a second version
        ("ModelProto", field(30, b"new")),
        ("ModelProto", field(25, field(1, b"f"))),  # a function
        ("GraphProto", field(15, b"")),  # sparse weights
        ("NodeProto", field(4, 1)),  # the operation as a number
        ("NodeProto", key(3, 5) + b"name"),
        ("AttributeProto", field(21, b"reference")),
        ("AttributeProto", field(20, 2**32)),  # types have 32 bits
        ("TensorProto", field(14, 2**32 + 1)),
        ("TensorProto", field(4, struct.pack("<f", 1))),
        ("TensorProto", field(2, 1, (0, 1))),
        ("Dimension", field(1, 3) + field(2, b"three")),
        ("ValueInfoProto", field(2, field(1, field(2, field(1, field(1, 10**9)))))),
        ("GraphProto", field(2, b"again")),
    ],
)
def test_what_no_export_writes(tagger, message, new):
    with pytest.raises(ValueError):
        check(with_field(tagger, message, new))


@pytest.mark.parametrize("place", ["input", "output"])
@pytest.mark.parametrize("operation", ["StringRegexReplace", "StringLower", "Gather"])
def test_what_an_operation_lacks(operation, place):
    """onnxruntime-extensions would end the process."""
    made = onnx.ModelProto.FromString(files()[0])
    node = next(node for node in made.graph.node if node.op_type == operation)
    getattr(node, place)[-1] = ""
    with pytest.raises(ValueError, match=f"leaves out what an operation '{operation}'"):
        check(made.SerializeToString())


@pytest.mark.parametrize("operation", ["Scan", "If"])
def test_what_nothing_computes(operation):
    """ONNX Runtime would end the process where a loop gives a step that it is given."""
    made = onnx.ModelProto.FromString(files()[0])
    node = next(node for node in made.graph.node if node.op_type == operation)
    body = next(a.g for a in node.attribute if a.HasField("g"))
    body.output[0].name = body.input[-1].name if body.input else "tokens"
    with pytest.raises(ValueError, match="an output that nothing computes"):
        check(made.SerializeToString())


@pytest.mark.parametrize(
    "content", [b"\x0b", b"\xff" * 20, b"\x0a\x05ab", b"\x80", b""]
)
def test_bytes_that_are_no_message(content):
    with pytest.raises(ValueError, match="no ONNX file"):
        check(content)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_weights_that_are_no_numbers(tmp_path, wrong, dtype):
    made = onnx.ModelProto.FromString(files()[0])
    for value in (1, wrong):
        del made.graph.initializer[1:]
        weights = np.array([1, value, 2], dtype)
        made.graph.initializer.append(numpy_helper.from_array(weights, "w"))
        content = made.SerializeToString()
        if value == 1:
            check(content)
    path = tmp_path / "tagger.onnx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="tagger.onnx has weights that are no numbers"):
        runtime.load(path)


def test_onnxruntime_opens_no_file_by_itself(tmp_path, monkeypatch):
    """For programs that do not check: versions below our floor opened both."""
    folder = tmp_path / "model"
    folder.mkdir()
    monkeypatch.chdir(folder)
    secret = tmp_path / "secret.bin"
    np.ones(2, "float32").tofile(secret)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for location in (str(secret), "../secret.bin"):
        weights = onnx.TensorProto(name="w", data_type=1, dims=[2], data_location=1)
        weights.external_data.add(key="location", value=location)
        nodes = [helper.make_node("Identity", ["w"], ["y"])]
        found = [helper.make_tensor_value_info("y", 1, [2])]
        graph = helper.make_graph(nodes, "g", [], found, [weights])
        opsets = [helper.make_opsetid("", 20)]
        made = helper.make_model(graph, ir_version=9, opset_imports=opsets)
        with pytest.raises(ValueError, match="keeps weights in another file"):
            check(made.SerializeToString())
        Path("model.onnx").write_bytes(made.SerializeToString())
        with pytest.raises(Exception, match="External data path"):
            onnxruntime.InferenceSession("model.onnx", options)
