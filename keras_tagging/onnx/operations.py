"""The ONNX form of each operation of Keras."""

import math

import keras
import numpy as np

from keras_tagging.onnx.arrays import Arrays

OPERATIONS = {}


def operation(*names):
    """Registers a function of `Arrays`, the Keras operation and its arguments."""

    def register(function):
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return register


# Keras operations that have the arguments of a method of `Arrays`
SAME = {
    "Add": Arrays.add,
    "Subtract": Arrays.subtract,
    "Multiply": Arrays.multiply,
    "Divide": Arrays.divide,
    "TrueDivide": Arrays.divide,
    "FloorDivide": Arrays.floor_divide,
    "Mod": Arrays.mod,
    "Maximum": Arrays.maximum,
    "Minimum": Arrays.minimum,
    "Equal": Arrays.equal,
    "NotEqual": Arrays.not_equal,
    "Greater": Arrays.greater,
    "GreaterEqual": Arrays.greater_equal,
    "Less": Arrays.less,
    "LessEqual": Arrays.less_equal,
    "LogicalAnd": Arrays.logical_and,
    "BitwiseAnd": Arrays.logical_and,
    "LogicalOr": Arrays.logical_or,
    "BitwiseOr": Arrays.logical_or,
    "LogicalNot": Arrays.logical_not,
    "BitwiseNot": Arrays.logical_not,
    "Where": Arrays.where,
    "Matmul": Arrays.matmul,
    "GetItem": Arrays.get_item,
}
# and those whose further arguments are attributes of the operation
WITH_ATTRIBUTES = {
    "Any": (Arrays.any, "axis", "keepdims"),
    "Argmax": (Arrays.argmax, "axis", "keepdims"),
    "Cast": (Arrays.cast, "dtype"),
    "Concatenate": (Arrays.concatenate, "axis"),
    "ExpandDims": (Arrays.expand_dims, "axis"),
    "Squeeze": (Arrays.squeeze, "axis"),
    "Stack": (Arrays.stack, "axis"),
    "Sum": (Arrays.sum, "axis", "keepdims"),
    "Take": (Arrays.take, "axis"),
    "Tile": (Arrays.tile, "repeats"),
    "TopK": (Arrays.top_k, "k"),
    "Transpose": (Arrays.transpose, "axes"),
}


def _called(method, *attributes):
    """A method of `Arrays` with the attributes of an operation as last arguments."""

    def call(xp, op, *args):
        return method(xp, *args, *(getattr(op, name) for name in attributes))

    return call


OPERATIONS |= {name: _called(method) for name, method in SAME.items()}
OPERATIONS |= {name: _called(*given) for name, given in WITH_ATTRIBUTES.items()}

# those of one array
UNARY = {
    "Negative": "Neg",
    "Absolute": "Abs",
    "Abs": "Abs",
    "Exp": "Exp",
    "Log": "Log",
    "Sqrt": "Sqrt",
    "Tanh": "Tanh",
    "Sigmoid": "Sigmoid",
    "Relu": "Relu",
    "Round": "Round",
    "Selu": "Selu",
    "Softplus": "Softplus",
    "Softsign": "Softsign",
    "StopGradient": "Identity",
}
for _name, _operation in UNARY.items():
    OPERATIONS[_name] = lambda xp, op, x, name=_operation: xp.unary(name, x)


@operation("ReLU")
def relu(xp, op, x):
    options = op.negative_slope, op.max_value, op.threshold
    if options != (0.0, None, 0.0):
        raise NotImplementedError(f"ReLU with {options}")
    return xp.unary("Relu", x)


@operation("LeakyRelu")
def leaky_relu(xp, op, x):
    return xp.unary("LeakyRelu", x, alpha=float(op.negative_slope))


@operation("Elu")
def elu(xp, op, x):
    return xp.unary("Elu", x, alpha=float(op.alpha))


@operation("Gelu")
def gelu(xp, op, x):
    if op.approximate:
        cubed = x + 0.044715 * (x * x * x)
        return 0.5 * (x * (1.0 + xp.unary("Tanh", math.sqrt(2 / math.pi) * cubed)))
    return 0.5 * (x * (1.0 + xp.unary("Erf", x * (1 / math.sqrt(2)))))


@operation("Silu", "Swish")
def silu(xp, op, x):
    return x * xp.unary("Sigmoid", x)


@operation("HardSigmoid")
def hard_sigmoid(xp, op, x):
    return xp.unary("HardSigmoid", x, alpha=1 / 6, beta=0.5)


@operation("NanToNum")
def nan_to_num(xp, op, x):
    return xp.where(xp.isnan(x), 0.0, x)


@operation("Clip")
def clip(xp, op, x):
    return xp.minimum(xp.maximum(x, op.x_min), op.x_max)


@operation("Softmax", "LogSoftmax")
def softmax(xp, op, x):
    return xp.unary(type(op).__name__, x, axis=op.axis)


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
    inputs = [x.name, xp.integers(lengths).name]
    axis = op.axis % len(x.shape)
    names = xp.builder.node("Split", inputs, len(lengths), axis=axis)
    return [type(x)(xp, name, x.dtype) for name in names]


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


@operation("ZerosLike")
def zeros_like(xp, op, x, dtype=None):
    return xp.zeros_like(x if dtype is None else xp.cast(x, dtype))


@operation("OnesLike")
def ones_like(xp, op, x, dtype=None):
    return xp.ones_like(x if dtype is None else xp.cast(x, dtype))


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


def find(op: keras.Operation):
    """The function of an operation, or None."""
    return OPERATIONS.get(type(op).__name__)
