"""A functional graph of Keras, computed in ONNX node by node.

The equations stand in the cells and layers, and nowhere else. What a layer computes is
recorded by Keras itself: called with symbolic tensors, it leaves a node for every
operation. Each of these has its counterpart below, and the layers that ONNX
knows as a whole, or that run a loop, have theirs in `layers`.
"""

import inspect
import math
import re
from collections import ChainMap
from contextlib import contextmanager

import keras
import numpy as np

from keras_tagging.onnx.arrays import PLAIN, Array, Arrays
from keras_tagging.onnx.int8 import largest


class Tracer:
    """Computes symbolic tensors of Keras as arrays of an ONNX graph.

    Args:
        xp: the array library of the graph.
        layers: by class, functions of the tracer, the layer and its arguments.
    """

    def __init__(self, xp: Arrays, layers: dict):
        self.xp = xp
        self.layers = layers
        # by the identity of a symbolic tensor, which is kept with its array
        self._values = ChainMap()

    def give(self, tensor, array: Array) -> None:
        """Says what a symbolic tensor is."""
        array.shape = tuple(tensor.shape)
        self._values[id(tensor)] = tensor, array
        if self.xp.int8 and array.most is None:
            array.most = largest(tensor, self._values)

    def call(self, function, *args, **kwargs):
        """Call a function of symbolic tensors with arrays."""
        args, kwargs = keras.tree.map_structure(self._as_symbol, (args, kwargs))
        outputs = function(*args, **kwargs)
        return keras.tree.map_structure(self.value, outputs)

    def _as_symbol(self, x):
        """A symbolic tensor that stands for an array; anything else stays as it is."""
        if not isinstance(x, Array):
            return x
        tensor = keras.KerasTensor(x.shape, PLAIN.get(x.dtype, x.dtype))
        self._values[id(tensor)] = tensor, x
        return tensor

    @contextmanager
    def inside(self):
        """Computes what a body of a loop needs in that body."""
        self._values = self._values.new_child()
        try:
            yield
        finally:
            self._values = self._values.parents

    def value(self, x):
        """The array of a symbolic tensor; anything else stays as it is."""
        if not isinstance(x, keras.KerasTensor):
            return x
        waiting = [x]
        while waiting:  # no recursion: a graph may be deeper than Python's stack
            tensor = waiting[-1]
            if id(tensor) in self._values:
                waiting.pop()
                continue
            history = tensor._keras_history
            node = history.operation._inbound_nodes[history.node_index]
            inputs = node.arguments.keras_tensors
            needed = [t for t in inputs if id(t) not in self._values]
            waiting += needed
            if not needed:
                self._compute(node)
        return self._values[id(x)][1]

    def _compute(self, node):
        args, kwargs = keras.tree.map_structure(
            self.value, (node.arguments.args, node.arguments.kwargs)
        )
        arrays = self._result(node.operation, args, kwargs)
        arrays = keras.tree.flatten(arrays)
        for tensor, array in zip(node.outputs, arrays, strict=True):
            dtype = keras.backend.standardize_dtype(tensor.dtype)
            array = self.xp.asarray(array, PLAIN.get(dtype, dtype))
            self.give(tensor, array)

    def _result(self, operation, args, kwargs):
        for base in type(operation).__mro__:
            if base in self.layers:
                return self.layers[base](self, operation, *args, **kwargs)
        if isinstance(operation, keras.layers.Layer):
            return self.trace(operation, *args, **kwargs)
        function = find(operation)
        if function is None:
            raise NotImplementedError(type(operation).__name__)
        return function(self.xp, operation, *args, **kwargs)

    def trace(self, layer, *args, **kwargs):
        """Trace a layer's `call`, operation by operation."""
        if "training" in inspect.signature(layer.call).parameters:
            kwargs["training"] = False
        with recordable(layer):
            return self.call(layer.call, *args, **kwargs)


@contextmanager
def recordable(layer):
    """Has a layer compute mish from what Keras records: mish itself it does not."""
    if getattr(layer, "activation", None) is not keras.activations.mish:
        yield
        return
    layer.activation = lambda x: x * keras.ops.tanh(keras.ops.softplus(x))
    try:
        yield
    finally:
        layer.activation = keras.activations.mish


@contextmanager
def unchanged(*models):
    """Takes back the nodes that layers of the models have got in a block.

    A layer remembers each of its symbolic calls; the model that is exported must not.
    """
    layers = [layer for model in models for layer in model._flatten_layers()]
    kinds = ("_inbound_nodes", "_outbound_nodes")
    before = [
        (layer, kind, len(getattr(layer, kind))) for layer in layers for kind in kinds
    ]
    try:
        yield
    finally:
        for layer, kind, count in before:
            del getattr(layer, kind)[count:]


# The ONNX form of each operation of Keras. Most have the name and the arguments of a
# method of `Arrays`: those are called with the attributes of the operation as last
# arguments. The others are here.

OPERATIONS = {}
#: the names of methods that are no other spelling of the operation's
METHODS = {"TrueDivide": "divide"}
#: operations of one array, and those of ONNX if they have another name
UNARY = {"Negative": "Neg", "Absolute": "Abs", "StopGradient": "Identity"}
#: attributes of ONNX, and those of Keras
ATTRIBUTES = {
    **dict.fromkeys(("Softmax", "LogSoftmax"), {"axis": "axis"}),
    "LeakyRelu": {"alpha": "negative_slope"},
    "Elu": {"alpha": "alpha"},
}
UNARY |= {
    name: name
    for name in (
        *("Abs", "Exp", "Log", "Relu", "Round", "Selu", "Sigmoid", "Softplus"),
        *("Softsign", "Tanh", *ATTRIBUTES),
    )
}


def find(op: keras.Operation):
    """The function of `Arrays`, the operation and its arguments, or None."""
    name = type(op).__name__
    if name in OPERATIONS:
        return OPERATIONS[name]
    if name in UNARY:
        names = ATTRIBUTES.get(name, {}).items()
        options = {onnx: getattr(op, attribute) for onnx, attribute in names}
        return lambda xp, op, x: xp.node(UNARY[name], x, **options)
    spelled = re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
    method = getattr(Arrays, METHODS.get(name, spelled), None)
    if method is None:
        return None
    attributes = [*inspect.signature(type(op).__init__).parameters][1:]

    def call(xp, op, *args, **options):
        values = (getattr(op, x) for x in attributes if x != "name")
        return method(xp, *args, *values, **options)

    return call


def operation(*names):
    """Registers a function of `Arrays`, the Keras operation and its arguments."""

    def register(function):
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return register


@operation("TopK")
def top_k(xp, op, x):
    return xp.top_k(x, op.k)


@operation("ReLU")
def relu(xp, op, x):
    options = op.negative_slope, op.max_value, op.threshold
    if options != (0.0, None, 0.0):
        raise NotImplementedError(f"ReLU with {options}")
    return xp.node("Relu", x)


@operation("Gelu")
def gelu(xp, op, x):
    if op.approximate:
        raise NotImplementedError("gelu that is approximate")
    return 0.5 * (x * (1.0 + xp.node("Erf", x * (1 / math.sqrt(2)))))


@operation("Silu", "Swish")
def silu(xp, op, x):
    return x * xp.node("Sigmoid", x)


@operation("HardSigmoid")
def hard_sigmoid(xp, op, x):
    return xp.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)


REDUCTIONS = {"Max": "ReduceMax", "Logsumexp": "ReduceLogSumExp"}


@operation(*REDUCTIONS)
def reduction(xp, op, x):
    return xp.reduce(REDUCTIONS[type(op).__name__], x, op.axis, op.keepdims)


@operation("Cumsum")
def cumsum(xp, op, x):
    return xp.node("CumSum", x, np.array(op.axis))


@operation("OneHot")
def one_hot(xp, op, x):
    values = np.array([0, 1], "float32")
    if op.axis != -1:
        raise NotImplementedError(f"one_hot along axis {op.axis}")
    # below 0 there is none, where ONNX would count from the end
    here = xp.expand_dims(x, -1)
    classes = xp.asarray(np.arange(op.num_classes), xp.asarray(x).dtype)
    return xp.where(xp.equal(here, classes), values[1], values[0])


@operation("Reshape")
def reshape(xp, op, x):
    # a length that is not known is that of the same axis before
    shape = [0 if n is None else n for n in op.newshape]
    return xp.reshape(x, shape)


@operation("Split")
def split(xp, op, x):
    size = x.shape[op.axis]
    ends = op.indices_or_sections
    if isinstance(ends, int):
        ends = [size // ends * i for i in range(1, ends)]
    lengths = np.diff([0, *ends, size])
    if (lengths < 0).any() or size is None:
        raise NotImplementedError(f"split of {x.shape} at {ends}")
    axis, count = op.axis % len(x.shape), len(lengths)
    parts = xp.node("Split", x, xp.integers(lengths), outputs=count, axis=axis)
    return parts if count > 1 else [parts]


@operation("Pad")
def pad(xp, op, x, constant_values=None):
    if op.mode != "constant":
        raise NotImplementedError(f"pad with mode {op.mode}")
    return xp.pad(x, op.pad_width, constant_values)


@operation("Flip")
def flip(xp, op, x):
    axis = op.axis % len(x.shape)
    if x.reverse is not None and axis == 1:  # there and back
        return x.reverse
    return xp.flip(x, axis)


@operation("FullLike")
def full_like(xp, op, x, fill_value, dtype=None):
    return xp.zeros_like(x) + fill_value


@operation("Tensordot")
def tensordot(xp, op, x, y):
    """Over the last axis of x and the first of y."""
    if op.axes != 1:
        raise NotImplementedError(f"tensordot over {op.axes}")
    first, *rest = y.shape
    product = xp.matmul(x, xp.reshape(y, [first, -1]))
    return xp.reshape(product, [*[0] * (len(x.shape) - 1), *rest])
