"""An ONNX file before ONNX Runtime reads it: whether `export` can have written it.

The file is one message of protocol buffers, and readers of these differ: fields that
they do not know, numbers that are written longer than they need be, what is said twice.
Nothing of that is let through, so that whoever reads the file sees what is seen here.
It is walked through as bytes, without a copy and without the package onnx, which a test
compares.
"""

import numpy as np

from keras_tagging.utils import limits

#: the operations of our graphs, by domain
OPERATIONS = {
    "": frozenset(
        "Abs Add And ArgMax Cast Clip Concat CumSum Div Elu Equal Erf Exp Expand GRU "
        "Gather GatherElements GatherND Gelu Greater GreaterOrEqual HardSigmoid "
        "Identity If IsNaN LSTM LeakyRelu Less LessOrEqual Log LogSoftmax Loop MatMul "
        "MatMulInteger Max Min Mod Mul Neg NonZero Not Or Pad QuantizeLinear Range "
        "ReduceLogSumExp ReduceMax ReduceMin ReduceSum RegexFullMatch Relu Reshape "
        "Round Scan ScatterND Selu Shape Sigmoid Slice Softmax Softplus Softsign "
        "Split Sqrt Squeeze StringSplit Sub Tanh Tile TopK Transpose Unique Unsqueeze "
        "Where".split()
    ),
    "ai.onnx.ml": frozenset(["LabelEncoder"]),
    "ai.onnx.contrib": frozenset(["StringLower", "StringRegexReplace"]),
    "com.microsoft": frozenset(["DynamicQuantizeLSTM", "MatMulIntegerToFloat"]),
}
#: those that may lack an input between others: extensions read a null pointer then
OPTIONAL = frozenset(
    "DynamicQuantizeLSTM GRU LSTM Loop Pad ReduceLogSumExp ReduceMax ReduceMin "
    "ReduceSum".split()
)
VARINT, BYTES, FOUR_BYTES = 0, 2, 5
#: "e" is an enumeration, of whose numbers readers may drop bits: ours are below 15
WIRE = {"v": VARINT, "e": VARINT, "b": BYTES, "f": FOUR_BYTES}
ENUMERATED = 15


def _fields(once: str, often: str = "") -> dict[int, tuple[str, bool]]:
    """By its key: the message or type of each field, and whether it is repeated."""
    fields = {}
    for text, repeated in ((once, False), (often, True)):
        for field in text.split():
            number, inner = field.split(":")
            wire = WIRE.get(inner, BYTES)
            fields[int(number) << 3 | wire] = inner, repeated
    return fields


#: onnx.proto, as far as exports need it: the numbers and types of the fields
MESSAGES = {
    "model": _fields("1:v 2:b 3:b 4:b 5:v 6:b 7:graph", "8:opset 14:property"),
    "opset": _fields("1:b 2:v"),
    "property": _fields("1:b 2:b"),
    "graph": _fields("2:b 10:b", "1:node 5:tensor 11:value 12:value 13:value"),
    "node": _fields("3:b 4:b 6:b 7:b", "1:b 2:b 5:attribute"),
    "attribute": _fields("1:b 2:f 3:v 4:b 6:graph 13:b 20:e", "7:f 8:v 9:b"),
    "tensor": _fields("2:e 8:b 9:b 12:b 14:e", "1:v 6:b"),
    "value": _fields("1:b 2:type 3:b"),
    "type": _fields("1:array 6:b"),
    "array": _fields("1:e 2:shape"),
    "shape": _fields("", "1:size"),
    "size": _fields("1:v 2:b 3:b"),
}
UNUSUAL = "is no ONNX file, or is not written as an export is"
#: the field of a tensor that names another file
FILES = ("tensor", 13)
EXTERNAL = "keeps weights in another file, which is not opened"
# keys of fields
GRAPH = 7 << 3 | BYTES
NODE, OUTPUT, VALUE_NAME = 1 << 3 | BYTES, 12 << 3 | BYTES, 1 << 3 | BYTES
OPERATION, NODE_DOMAIN, OPSET_DOMAIN = 4 << 3 | BYTES, 7 << 3 | BYTES, 1 << 3 | BYTES
NODE_INPUT, NODE_OUTPUT = 1 << 3 | BYTES, 2 << 3 | BYTES
TENSOR_TYPE, TENSOR_LOCATION = 2 << 3 | VARINT, 14 << 3 | VARINT
RAW_DATA = 9 << 3 | BYTES
FIXED_SIZE = 1 << 3 | VARINT
#: repeated fields that a check looks at
KEPT = {
    ("graph", NODE),
    ("graph", OUTPUT),
    ("node", NODE_INPUT),
    ("node", NODE_OUTPUT),
}
#: by the number of a type of arrays
FLOATS = {1: np.dtype("<f4"), 10: np.dtype("<f2"), 11: np.dtype("<f8")}


def check(content: bytes) -> None:
    """Refuses what `export` cannot have written.

    Raises:
        ValueError: naming it.
    """
    try:
        values = _walk(content, 0, len(content), "model", 0)
    except IndexError:
        raise ValueError("is cut short, or no ONNX file") from None
    if GRAPH not in values:
        raise ValueError("is no ONNX file")


def _walk(content, at, end, message, depth) -> dict:
    """The fields that are not repeated, by their keys: integers, or starts and ends.

    Of those that are, `KEPT` are lists of these, or of the fields inside.
    """
    depth += message == "graph"
    if depth > limits.ONNX_DEPTH:
        raise ValueError(f"has graphs inside of graphs, {depth} deep")
    fields, values = MESSAGES[message], {}
    while at < end:
        key, value = content[at], None
        at += 1
        if key > 0x7F:
            key, at = _varint(content, at - 1)
        if key not in fields:
            raise ValueError(EXTERNAL if (message, key >> 3) == FILES else UNUSUAL)
        wire = key & 7
        if wire in (VARINT, BYTES):
            value = content[at]
            at += 1
            if value > 0x7F:
                value, at = _varint(content, at - 1)
        if wire == BYTES:
            value = at, at + value
            at = value[1]
        elif wire == FOUR_BYTES:
            at += 4
        if at > end:
            raise ValueError("is cut short, or no ONNX file")
        inner, repeated = fields[key]
        if not repeated:
            if key in values:
                raise ValueError(UNUSUAL)
            values[key] = value
        if inner in MESSAGES:
            value = _walk(content, *value, inner, depth)
        elif inner == "e" and value >= ENUMERATED:
            raise ValueError(UNUSUAL)
        if (message, key) in KEPT:
            values.setdefault(key, []).append(value)
    if message in CHECKS:
        CHECKS[message](content, values)
    return values


def _varint(content, at) -> tuple[int, int]:
    """A number of several bytes, and where it ends.

    Raises:
        ValueError: if it needs fewer bytes, or has more than 64 bits.
    """
    value = 0
    for shift in range(0, 70, 7):
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if byte and value < 1 << 64:
                return value, at
            break
    raise ValueError(UNUSUAL)


def _text(content, values, key) -> str:
    start, end = values.get(key, (0, 0))
    return content[start : min(end, start + 100)].decode("utf-8", "replace")


def _check_opset(content, values):
    if (domain := _text(content, values, OPSET_DOMAIN)) not in OPERATIONS:
        raise ValueError(f"needs operations of {domain!r}")


def _check_node(content, values):
    operation, domain = (_text(content, values, k) for k in (OPERATION, NODE_DOMAIN))
    if operation not in OPERATIONS.get(domain, ()):
        name = f"{domain}.{operation}" if domain else operation
        raise ValueError(f"has an operation {name!r}, which no export writes")
    inputs, outputs = (
        [content[start:end] for start, end in values.get(key, ())]
        for key in (NODE_INPUT, NODE_OUTPUT)
    )
    if b"" in outputs or (b"" in inputs and operation not in OPTIONAL):
        raise ValueError(f"leaves out what an operation {operation!r} needs")
    values[NODE_OUTPUT] = outputs


def _check_graph(content, values):
    """A node computes each output: else ONNX Runtime may end the process."""
    computed = {name for node in values.get(NODE, ()) for name in node[NODE_OUTPUT]}
    names = [value.get(VALUE_NAME, (0, 0)) for value in values.get(OUTPUT, ())]
    if not computed.issuperset(content[start:end] for start, end in names):
        raise ValueError("has an output that nothing computes")


def _check_tensor(content, values):
    if values.get(TENSOR_LOCATION):
        raise ValueError(EXTERNAL)
    kind = FLOATS.get(values.get(TENSOR_TYPE))
    if kind and RAW_DATA in values:
        start, end = values[RAW_DATA]
        count = (end - start) // kind.itemsize
        if not np.isfinite(np.frombuffer(content, kind, count, start)).all():
            raise ValueError("has weights that are no numbers, but NaN or infinite")


def _check_size(content, values):
    if len(values) > 1:  # the last of a choice is taken
        raise ValueError(UNUSUAL)
    if values.get(FIXED_SIZE, 0) > limits.ONNX_AXIS:  # it takes memory at once
        raise ValueError(f"has an array with an axis of {values[FIXED_SIZE]:,}")


CHECKS = {
    "graph": _check_graph,
    "opset": _check_opset,
    "node": _check_node,
    "tensor": _check_tensor,
    "size": _check_size,
}
