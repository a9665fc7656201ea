"""Arrays of an ONNX graph, with the functions and operators of array libraries.

The functions have the names and arguments of `keras.ops`. So what takes an array
library as an argument, as `keras_tagging.transitions` does, builds a graph.
"""

from collections.abc import Sequence
from functools import partialmethod

import numpy as np
from onnx import helper, numpy_helper

from keras_tagging.onnx.builder import TYPES, Builder, value_info
from keras_tagging.onnx.int8 import LARGEST, int8_product, rounded

#: dtypes that ONNX Runtime computes in, for those that it does not
PLAIN = {"float16": "float32", "bfloat16": "float32", "float64": "float32"}
PLAIN |= {"int8": "int32", "int16": "int32", "uint8": "int32"}
LAST = np.iinfo("int64").max


def _operator(function, swapped=False):
    """An operator of Python as a function of `Arrays`."""

    def operate(self, *others):
        arrays = (*others, self) if swapped else (self, *others)
        return getattr(self.xp, function)(*arrays)

    return operate


def _elementwise(operation, dtype=None, of=None):
    """An operation of two arrays, made alike or of one dtype.

    Args:
        operation: of ONNX.
        dtype: of the result; by default that of the arrays.
        of: the dtype of the arrays; by default the one that holds both.
    """

    def compute(self, x, y):
        arrays = [self.asarray(z, of) for z in (x, y)] if of else self._same(x, y)
        return self.node(operation, *arrays, dtype=dtype)

    return compute


class Array:
    """A value of a graph.

    Attributes:
        xp: the `Arrays` that made it.
        name: in the graph.
        dtype: one of `builder.TYPES`.
        shape: where it is known; None, or None for each axis of unknown length.
        reverse: the same with axis 1 turned, if a loop over it has given that.
        like: of a value in a loop, one before the loop that has the same shape.
        most: the largest absolute value that each component of the last axis can have,
            if that is known: see `int8.largest`.
    """

    reverse = like = most = None

    __array_priority__ = 100  # numpy's operators leave the work to these
    __array_ufunc__ = None

    def __init__(self, xp, name, dtype, shape=None):
        self.xp, self.name, self.dtype, self.shape = xp, name, dtype, shape

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("subtract"), _operator("subtract", swapped=True)
    __mul__ = __rmul__ = _operator("multiply")
    __and__, __or__ = _operator("logical_and"), _operator("logical_or")
    __invert__ = _operator("logical_not")
    __eq__ = _operator("equal")
    __gt__, __ge__ = _operator("greater"), _operator("greater_equal")
    __lt__, __le__ = _operator("less"), _operator("less_equal")
    __getitem__ = _operator("get_item")
    __hash__ = object.__hash__


class Arrays:
    """An array library whose functions add nodes to a graph.

    Args:
        builder: of the graph.
        int8: whether LSTM layers, what reads them, and tables have weights of 8 bits.
        token_ids: the number of ids of a token, if these are an input of the graph in
            the place of strings.
    """

    def __init__(self, builder: Builder, int8: bool = False, token_ids: int = 0):
        self.builder, self.int8, self.token_ids = builder, int8, token_ids

    # Inputs and outputs

    def input(self, name: str, dtype: str, axes: Sequence) -> "Array":
        """An input of the graph; axes of unknown length have names."""
        self.builder.inputs.append(value_info(name, dtype, axes))
        shape = tuple(n if isinstance(n, int) else None for n in axes)
        return Array(self, name, dtype, shape)

    def switch(self, name: str) -> "Array":
        """A boolean input that need not be given, and is then True.

        It is a constant that is listed among the inputs as well.
        """
        value = numpy_helper.from_array(np.array(True), name)
        self.builder.initializers.append(value)
        return self.input(name, "bool", ())

    def output(self, name: str, x: "Array", axes: Sequence) -> None:
        """An output of the graph, which is an array of it."""
        self.builder.nodes().append(helper.make_node("Identity", [x.name], [name]))
        self.builder.outputs.append(value_info(name, x.dtype, axes))

    # Nodes

    def node(self, operation, *inputs, dtype=None, outputs=1, **attributes):
        """The outputs of a node, as an `Array` or a list of them.

        Args:
            inputs: arrays, NumPy arrays, or None for one left out.
            dtype: of the outputs; by default that of the first input.
        """
        arrays = [None if x is None else self.asarray(x) for x in inputs]
        names = ["" if x is None else x.name for x in arrays]
        made = self.builder.node(operation, names, outputs, **attributes)
        made = [Array(self, name, dtype or arrays[0].dtype) for name in made]
        return made[0] if outputs == 1 else made

    def asarray(self, x, dtype=None) -> Array:
        """An array; numbers, NumPy arrays and tensors become constants."""
        if isinstance(x, Array):
            return x if dtype is None else self.cast(x, dtype)
        source = x if hasattr(x, "shape") and not isinstance(x, np.ndarray) else None
        values = x.numpy() if hasattr(x, "numpy") else np.asarray(x)
        if values.dtype.kind in "UO":
            values = values.astype(object)
            return Array(self, self.builder.constant(values), "string", values.shape)
        kind = values.dtype.name
        if np.isscalar(x) and kind == "int64":  # as in Keras
            kind = "int32"
        dtype = dtype or PLAIN.get(kind, kind)
        name = self.builder.constant(values.astype(dtype, copy=False), source)
        return Array(self, name, dtype, values.shape)

    def bytes(self, values: np.ndarray, source: object = None) -> Array:
        """A constant of integers of 8 bits: see `Builder.constant`."""
        return Array(self, self.builder.constant(values, source), values.dtype.name)

    def integers(self, x) -> Array:
        """int64, as the operations want shapes, axes and places.

        Args:
            x: an array, or a sequence of numbers and scalar arrays.
        """
        if isinstance(x, Array) or not any(isinstance(n, Array) for n in x):
            return self.asarray(x if isinstance(x, Array) else np.array(x), "int64")
        parts = [
            self.node("Reshape", self.asarray(n, "int64"), np.array([1])) for n in x
        ]
        return self.concatenate(parts, 0)

    def _same(self, *values):
        """The arrays in the one dtype that holds all; numbers take that of arrays."""
        arrays = [x for x in values if hasattr(x, "shape")]
        arrays = [self.asarray(x) for x in arrays]
        kinds = {x.dtype for x in arrays} or {self.asarray(x).dtype for x in values}
        if "float32" in kinds or (
            kinds <= {"int32", "int64"} and any(isinstance(x, float) for x in values)
        ):
            dtype = "float32"
        else:
            dtype = next(d for d in ("string", "int64", "int32", "bool") if d in kinds)
        return [self.asarray(x, dtype) for x in values]

    # Element by element

    add = _elementwise("Add")
    subtract = _elementwise("Sub")
    multiply = _elementwise("Mul")
    maximum = _elementwise("Max")
    minimum = _elementwise("Min")
    divide = _elementwise("Div", of="float32")
    logical_and = _elementwise("And", of="bool")
    logical_or = _elementwise("Or", of="bool")
    equal = _elementwise("Equal", "bool")
    greater = _elementwise("Greater", "bool")
    greater_equal = _elementwise("GreaterOrEqual", "bool")
    less = _elementwise("Less", "bool")
    less_equal = _elementwise("LessOrEqual", "bool")
    # of integers that are not negative
    floor_divide = _elementwise("Div")
    mod = _elementwise("Mod")

    def clip(self, x, least, most):
        x = self.asarray(x)
        ends = (self.asarray(np.array(end, x.dtype)) for end in (least, most))
        return self.node("Clip", x, *ends)

    def not_equal(self, x, y):
        return self.logical_not(self.equal(x, y))

    def logical_not(self, x):
        return self.node("Not", self.asarray(x, "bool"))

    def where(self, condition, x, y):
        x, y = self._same(x, y)
        return self.node("Where", self.asarray(condition, "bool"), x, y, dtype=x.dtype)

    def cast(self, x, dtype):
        dtype = PLAIN.get(dtype, dtype)
        x = self.asarray(x)
        if x.dtype == dtype:
            return x
        return self.node("Cast", x, dtype=dtype, to=TYPES[dtype])

    # Products and sums

    def matmul(self, x, y):
        most = getattr(x, "most", None)
        if most is not None and (most == 1).all() and hasattr(y, "numpy"):
            return int8_product(self, x, y.numpy().astype("float32"))
        return self.node("MatMul", *self._same(x, y))

    def reduce(self, operation, x, axis=None, keepdims=False):
        """ReduceSum, ReduceMax and so on, over one axis, some, or all."""
        axes = None if axis is None else np.atleast_1d(axis).astype("int64")
        return self.node(operation, x, axes, keepdims=int(keepdims))

    def sum(self, x, axis=None, keepdims=False):
        x = self.asarray(x)
        x = self.cast(x, "int32") if x.dtype == "bool" else x
        return self.reduce("ReduceSum", x, axis, keepdims)

    def any(self, x, axis=None, keepdims=False):
        # a sum of nothing is 0, a maximum of nothing the least number there is
        return self.greater(self.sum(self.cast(x, "int32"), axis, keepdims), 0)

    def max(self, x, axis=None, keepdims=False):
        return self.reduce("ReduceMax", x, axis, keepdims)

    isnan = partialmethod(node, "IsNaN", dtype="bool")

    def argmax(self, x, axis=-1, keepdims=False):
        return self.node("ArgMax", x, dtype="int64", axis=axis, keepdims=int(keepdims))

    def top_k(self, x, k):
        """The k largest along the last axis and their places; of equal ones the first
        come first."""
        k = self.node("Reshape", self.asarray(k, "int64"), np.array([1]))
        values, places = self.node("TopK", x, k, outputs=2, axis=-1)
        places.dtype = "int64"
        return values, places

    # Shapes

    def shape(self, x):
        """The lengths of the axes: numbers where they are known, else scalars."""
        x = self.asarray(x)
        # so that places computed with them stay int32
        lengths = self.cast(self.lengths(x), "int32")
        return [lengths[i] if n is None else n for i, n in enumerate(x.shape)]

    def lengths(self, x):
        """The lengths of the axes, int64."""
        return self.node("Shape", x.like or x, dtype="int64")

    def length(self, x, axis):
        """The length of one axis, a scalar."""
        return self.lengths(x)[axis]

    def reshape(self, x, shape):
        reshaped = self.node("Reshape", x, self.integers(shape))
        if not isinstance(shape, Array):
            are_lengths = [isinstance(n, int) and n > 0 for n in shape]
            reshaped.shape = tuple(
                n if fits else None for n, fits in zip(shape, are_lengths, strict=True)
            )
        return reshaped

    def expand_dims(self, x, axis):
        return self.node("Unsqueeze", x, np.atleast_1d(axis).astype("int64"))

    def squeeze(self, x, axis):
        return self.node("Squeeze", x, np.atleast_1d(axis).astype("int64"))

    def transpose(self, x, axes=None):
        options = {} if axes is None else {"perm": list(axes)}
        return self.node("Transpose", x, **options)

    def concatenate(self, parts: Sequence, axis=0):
        if len(parts) == 1:
            return self.asarray(parts[0])
        return self.node("Concat", *self._same(*parts), axis=axis)

    def stack(self, parts: Sequence, axis=0):
        parts = self._same(*parts)
        return self.concatenate([self.expand_dims(x, axis) for x in parts], axis)

    def broadcast_to(self, x, shape):
        return self.node("Expand", x, self.integers(shape))

    def tile(self, x, repeats):
        return self.node("Tile", x, self.integers(repeats))

    def pad(self, x, widths, value=None):
        """With zeros, or another value; `widths` are the pairs of all axes."""
        pads = self.integers([n for i in (0, 1) for n in (pair[i] for pair in widths)])
        value = None if value is None else self.asarray(value, self.asarray(x).dtype)
        return self.node("Pad", x, pads, value)

    def flip(self, x, axis):
        return self.get_item(x, (*[slice(None)] * axis, slice(None, None, -1)))

    def get_item(self, x, key):
        """`x[key]`: slices, numbers, arrays of places, None and Ellipsis."""
        keys = list(key) if isinstance(key, tuple) else [key]
        axes = list(range(len(keys)))
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            place = next(i for i, k in enumerate(keys) if k is Ellipsis)
            axes[place:] = [None, *range(place + 1 - len(keys), 0)]
        new = [axis for axis, part in zip(axes, keys, strict=True) if part is None]
        x = self.expand_dims(x, new) if new else x
        cut, picked = [], []
        for axis, part in zip(axes, keys, strict=True):
            if part is Ellipsis or part is None or _is_whole(part):
                continue
            if isinstance(part, slice):
                step = part.step or 1
                start = part.start if part.start is not None else [0, -1][step < 0]
                end = part.stop if part.stop is not None else [LAST, -LAST][step < 0]
                cut.append((start, end, axis, step))
            else:
                picked.append((part, axis))
        if cut:
            x = self.node("Slice", x, *map(self.integers, zip(*cut, strict=True)))
        # the last axes first: the others keep their numbers, but for those from behind
        for part, axis in sorted(picked, key=lambda pair: -(pair[1] % LAST)):
            x = self.node("Gather", x, self.asarray(part, "int64"), axis=axis)
        return x

    def take(self, x, indices, axis=0):
        indices = self.asarray(indices)
        if self.int8 and hasattr(x, "numpy") and str(x.dtype).startswith("float"):
            integers, scales = rounded(x.numpy(), LARGEST)
            taken = self.node("Gather", self.bytes(integers, x), indices, axis=axis)
            taken, x = self.cast(taken, "float32") * scales, integers
        else:
            x = self.asarray(x)
            taken = self.node("Gather", x, indices, axis=axis)
        if axis >= 0 and x.shape is not None and indices.shape is not None:
            taken.shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return taken

    def take_along_axis(self, x, indices, axis):
        x, indices = self.asarray(x), self.asarray(indices)
        if axis == 1 and x.shape and (indices.shape or ())[2:] == (1,) != x.shape[2:]:
            # whole rows: Keras takes the same place in each component
            places = self.cast(indices, "int64")
            return self.node("GatherND", x, places, batch_dims=1)
        return self.node("GatherElements", x, indices, axis=axis)

    def scatter_update(self, x, places, values):
        """x with other rows at places `(rows, axes)`."""
        x, places, values = (self.asarray(y) for y in (x, places, values))
        return self.node("ScatterND", x, self.cast(places, "int64"), values)

    def branches(self, condition, then, otherwise, shapes) -> list[Array]:
        """Choose between the arrays that two functions give, one of each shape."""
        dtypes = []

        def body(function):
            def make():
                arrays = [self.asarray(x) for x in function()]
                dtypes[:] = [x.dtype for x in arrays]
                return zip(arrays, shapes, strict=True)

            return self.builder.body([], make)

        bodies = {"then_branch": body(then), "else_branch": body(otherwise)}
        names = self.builder.node("If", [condition.name], len(shapes), **bodies)
        return [Array(self, *x) for x in zip(names, dtypes, shapes, strict=True)]

    # Made of nothing

    def zeros(self, shape, dtype="float32"):
        return self.broadcast_to(np.zeros((), dtype), shape)

    def zeros_like(self, x, dtype=None, value=0):
        x = self.asarray(x)
        value = self.asarray(np.array(value), dtype or x.dtype)
        return self.broadcast_to(value, self.lengths(x))

    def ones_like(self, x, dtype=None):
        return self.zeros_like(x, dtype, value=1)

    def arange(self, count, dtype="int32"):
        ends = (np.array(0), count, np.array(1))
        return self.node("Range", *(self.asarray(n, dtype) for n in ends))


def _is_whole(part):
    # no comparison of slices: that would compare arrays, which adds nodes
    ends = (part.start, part.stop, part.step) if isinstance(part, slice) else (0,)
    return all(end is None for end in ends)
