"""The ONNX form of each operation of Keras.

Most have the name and the arguments of a method of `Arrays`: those are called with the
attributes of the operation as last arguments. The others are here.
"""

import inspect
import math
import re

import keras
import numpy as np

from keras_tagging.onnx.arrays import Arrays

OPERATIONS = {}
#: the names of methods that are no other spelling of the operation's
METHODS = {
    "TrueDivide": "divide",
    "BitwiseAnd": "logical_and",
    "BitwiseOr": "logical_or",
    "BitwiseNot": "logical_not",
}
#: operations of one array, and those of ONNX if they have another name
UNARY = {"Negative": "Neg", "Absolute": "Abs", "StopGradient": "Identity"}
UNARY |= {
    name: name
    for name in (
        *("Abs", "Exp", "Log", "Relu", "Round", "Selu", "Sigmoid", "Softplus"),
        *("Softsign", "Sqrt", "Tanh"),
    )
}


def find(op: keras.Operation):
    """The function of `Arrays`, the operation and its arguments, or None."""
    name = type(op).__name__
    if name in OPERATIONS:
        return OPERATIONS[name]
    if name in UNARY:
        return lambda xp, op, x: xp.node(UNARY[name], x)
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


@operation("LeakyRelu")
def leaky_relu(xp, op, x):
    return xp.node("LeakyRelu", x, alpha=float(op.negative_slope))


@operation("Elu")
def elu(xp, op, x):
    return xp.node("Elu", x, alpha=float(op.alpha))


@operation("Gelu")
def gelu(xp, op, x):
    if op.approximate:
        cubed = x + 0.044715 * (x * x * x)
        return 0.5 * (x * (1.0 + xp.node("Tanh", math.sqrt(2 / math.pi) * cubed)))
    return 0.5 * (x * (1.0 + xp.node("Erf", x * (1 / math.sqrt(2)))))


@operation("Silu", "Swish")
def silu(xp, op, x):
    return x * xp.node("Sigmoid", x)


@operation("HardSigmoid")
def hard_sigmoid(xp, op, x):
    return xp.node("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@operation("NanToNum")
def nan_to_num(xp, op, x):
    return xp.where(xp.isnan(x), 0.0, x)


@operation("Softmax", "LogSoftmax")
def softmax(xp, op, x):
    return xp.node(type(op).__name__, x, axis=op.axis)


REDUCTIONS = {"Max": "ReduceMax", "Min": "ReduceMin", "Logsumexp": "ReduceLogSumExp"}


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


@operation("Repeat")
def repeat(xp, op, x):
    rank, axis = len(x.shape), op.axis % len(x.shape)
    wide = xp.expand_dims(x, axis + 1)
    times = [1] * (rank + 1)
    times[axis + 1] = int(op.repeats)
    shape = [0 if n is None else n for n in x.shape]
    shape[axis] = -1
    return xp.reshape(xp.tile(wide, times), shape)


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
