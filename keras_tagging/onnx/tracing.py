"""A functional graph of Keras, computed in ONNX node by node.

The equations stand in the cells and layers, and nowhere else. What a layer computes is
recorded by Keras itself: called with symbolic tensors, it leaves a node for every
operation. Each of these has its counterpart in `operations`, and the layers that ONNX
knows as a whole, or that run a loop, have theirs in `layers`.
"""

import inspect
from collections import ChainMap
from contextlib import contextmanager

import keras

from keras_tagging.onnx.arrays import PLAIN, Array, Arrays
from keras_tagging.onnx.operations import find


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

    def symbol(self, array: Array):
        """A symbolic tensor that stands for an array."""
        dtype = PLAIN.get(array.dtype, array.dtype)
        tensor = keras.KerasTensor(array.shape, dtype)
        self._values[id(tensor)] = tensor, array
        return tensor

    def call(self, function, *args, **kwargs):
        """Call a function of symbolic tensors with arrays."""
        args, kwargs = keras.tree.map_structure(self._as_symbol, (args, kwargs))
        outputs = function(*args, **kwargs)
        return keras.tree.map_structure(self.value, outputs)

    def _as_symbol(self, x):
        return self.symbol(x) if isinstance(x, Array) else x

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
