"""An ONNX file before ONNX Runtime reads it: whether `export` can have written it.

The file is one message of protocol buffers. It is walked through as bytes, without a
copy of it and without the package onnx: what is to be known are the operations, and
that nothing lies outside of the file.
"""

from collections.abc import Iterator

from keras_tagging.utils import limits

#: the operations of our graphs, by domain
OPERATIONS = {
    "": frozenset(
        "Abs Add And ArgMax Cast Concat CumSum Div Elu Equal Erf Exp Expand GRU "
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
}
# numbers of fields in onnx.proto
MODEL_GRAPH, MODEL_OPSET, MODEL_TRAINING, MODEL_FUNCTIONS = 7, 8, 20, 25
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_SPARSE = 1, 5, 15
NODE_OPERATION, NODE_ATTRIBUTE, NODE_DOMAIN = 4, 5, 7
ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_TENSORS, ATTRIBUTE_GRAPHS = 5, 6, 10, 11
ATTRIBUTE_SPARSE = (22, 23)
TENSOR_EXTERNAL, TENSOR_LOCATION = 13, 14
OPSET_DOMAIN = 1
VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5


def check(content: bytes) -> None:
    """Refuses what `export` cannot have written.

    Raises:
        ValueError: naming it.
    """
    graphs = 0
    for number, value in fields(memoryview(content)):
        if number in (MODEL_TRAINING, MODEL_FUNCTIONS):
            raise ValueError("has functions or training of its own")
        if number == MODEL_OPSET:
            domains = [_text(v) for n, v in fields(value) if n == OPSET_DOMAIN]
            if unknown := set(domains) - set(OPERATIONS):
                raise ValueError(f"needs operations of {min(unknown)!r}")
        if number == MODEL_GRAPH:
            graphs += 1
            _check_graph(value, 1)
    if graphs != 1:
        raise ValueError("is no ONNX file" if not graphs else "has more than one graph")


def fields(message: memoryview) -> Iterator[tuple[int, object]]:
    """The numbers and values of the fields of a message.

    A value is a `memoryview`, or an integer.

    Raises:
        ValueError: if the bytes are no message.
    """
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
        elif kind in (BYTES, EIGHT_BYTES, FOUR_BYTES):
            size = {EIGHT_BYTES: 8, FOUR_BYTES: 4}.get(kind)
            if size is None:
                size, at = _varint(message, at)
            value = message[at : at + size]
            at += size
            if len(value) < size:
                raise ValueError("is cut short, or no ONNX file")
        else:
            raise ValueError("is no ONNX file")
        yield number, value


def _varint(message, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            raise ValueError("is cut short, or no ONNX file")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("is no ONNX file")


def _text(value) -> str:
    return bytes(value[:100]).decode("utf-8", "replace")


def _check_graph(graph, depth):
    if depth > limits.ONNX_DEPTH:
        raise ValueError(f"has graphs inside of graphs, {depth} deep")
    for number, value in fields(_message(graph)):
        if number == GRAPH_SPARSE:
            raise ValueError("has sparse constants")
        if number == GRAPH_INITIALIZER:
            _check_tensor(value)
        if number == GRAPH_NODE:
            _check_node(value, depth)


def _check_node(node, depth):
    operation = domain = ""
    for number, value in fields(_message(node)):
        if number == NODE_OPERATION:
            operation = _text(value)
        if number == NODE_DOMAIN:
            domain = _text(value)
        if number == NODE_ATTRIBUTE:
            _check_attribute(value, depth)
    if operation not in OPERATIONS.get(domain, ()):
        name = f"{domain}.{operation}" if domain else operation
        raise ValueError(f"has an operation {name!r}, which no export writes")


def _check_attribute(attribute, depth):
    for number, value in fields(_message(attribute)):
        if number in (ATTRIBUTE_TENSOR, ATTRIBUTE_TENSORS):
            _check_tensor(value)
        if number in (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS):
            _check_graph(value, depth + 1)
        if number in ATTRIBUTE_SPARSE:
            raise ValueError("has sparse constants")


def _check_tensor(tensor):
    for number, value in fields(_message(tensor)):
        if number == TENSOR_EXTERNAL or (number == TENSOR_LOCATION and value != 0):
            raise ValueError("keeps weights in another file, which is not opened")


def _message(value) -> memoryview:
    if not isinstance(value, memoryview):
        raise ValueError("is no ONNX file")
    return value
