"""The nodes of an ONNX graph while it is built, and the graphs inside of it."""

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from onnx import GraphProto, TensorProto, helper, numpy_helper

#: the version of each set of operations; the last are those of onnxruntime-extensions
OPSETS = {"": 20, "ai.onnx.ml": 4, "ai.onnx.contrib": 1}
STRINGS = "ai.onnx.contrib"
IR_VERSION = 9
TYPES = {
    "float32": TensorProto.FLOAT,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
    "string": TensorProto.STRING,
}
# Constants of at most so many bytes are compared, so that equal ones are one; larger
# ones are stored in half precision if that changes none of them.
COMPARED_BYTES = 1 << 16


class Builder:
    """Collects nodes, constants and bodies of loops.

    A node that is there already, with the same inputs and attributes, is not added
    again. What a body of a loop or a branch computes is not seen outside of it. A node
    in a loop that reads nothing of the loop stands before it, and is computed once.

    Attributes:
        initializers: the constants, of all graphs.
    """

    def __init__(self):
        self.initializers: list[TensorProto] = []
        # the nodes of each graph, by what they are, and of a loop what it computes
        self._scopes: list[tuple[list, dict, set | None]] = [([], {}, None)]
        self._constants: dict = {}
        self._numbers = count()

    def node(
        self,
        operation: str,
        inputs: Sequence[str],
        outputs: int = 1,
        domain: str = "",
        name: str | None = None,
        **attributes,
    ) -> list[str]:
        """The names of the outputs of a node; "" stands for an input left out."""
        key = None
        if not any(isinstance(value, GraphProto) for value in attributes.values()):
            # lists of strings may be vocabularies: their identity is told soonest
            listed = [
                (k, id(v) if isinstance(v, list) else v) for k, v in attributes.items()
            ]
            key = domain, operation, name, tuple(inputs), tuple(sorted(listed))
            for _, known, _ in self._scopes:
                if key in known:
                    return known[key][0]
        names = [self.name(operation) for _ in range(outputs)]
        nodes, known, own = self._scopes[-1 if key is None else self._place(inputs)]
        if own is not None:
            own.update(names)
        nodes.append(
            helper.make_node(
                operation, inputs, names, name or names[0], domain=domain, **attributes
            )
        )
        if key:
            known[key] = names, attributes  # kept, so that no identity is used again
        return names

    def _place(self, inputs) -> int:
        """The outermost graph in which a node can stand."""
        place = len(self._scopes) - 1
        while (own := self._scopes[place][2]) is not None and own.isdisjoint(inputs):
            place -= 1
        return place

    def constant(self, values: np.ndarray, source: object = None) -> str:
        """The name of a constant.

        Args:
            values: of one of `TYPES`, or strings as objects.
            source: what the values are of, such as a variable, if that is at hand:
                large ones of one source are stored once.
        """
        if values.nbytes <= COMPARED_BYTES and values.dtype != object:
            key = values.dtype.str, values.shape, values.tobytes()
        else:
            key = id(values if source is None else source)
        if key not in self._constants:
            name = self.name("constant")
            if values.nbytes > COMPARED_BYTES and _is_half(values):
                # ONNX Runtime computes this once, when it loads the file
                half, cast = values.astype("float16"), {"to": TYPES["float32"]}
                stored = self.name("half")
                self.initializers.append(_tensor(stored, half))
                node = helper.make_node("Cast", [stored], [name], **cast)
                self._scopes[0][0].append(node)
            else:
                self.initializers.append(_tensor(name, values))
            self._constants[key] = name, values, source
        return self._constants[key][0]

    def switch(self, name: str) -> None:
        """A boolean input of the whole graph that need not be given, and is then True.

        It is a constant that is listed among the inputs as well.
        """
        self.initializers.append(_tensor(name, np.array(True)))

    def name(self, of: str) -> str:
        """A name that nothing has."""
        return f"{of}_{next(self._numbers)}"

    def body(
        self, inputs: list, make: Callable[[], list], loops: bool = False
    ) -> GraphProto:
        """The graph inside a loop or a branch.

        Args:
            inputs: `value_info` of what it is given.
            make: adds its nodes, and returns the `value_info` of what it gives.
            loops: whether it is computed more than once; what is in a branch may not
                be computed at all.
        """
        own = {value.name for value in inputs} if loops else None
        self._scopes.append(([], {}, own))
        outputs = make()
        nodes, _, _ = self._scopes.pop()
        return helper.make_graph(nodes, self.name("body"), inputs, outputs)

    def output(self, name: str, taken: set[str]) -> str:
        """The name of an output of the body that is made: each has a node of its own.

        Args:
            name: of the value, which may come from outside.
            taken: the names of the outputs before, to which this one is added.
        """
        nodes = self._scopes[-1][0]
        if name in taken or not any(name in node.output for node in nodes):
            inside = self.name("output")
            nodes.append(helper.make_node("Identity", [name], [inside], inside))
            name = inside
        taken.add(name)
        return name

    def nodes(self) -> list:
        """Those of the outermost graph."""
        return self._scopes[0][0]


def value_info(name: str, dtype: str, shape: Sequence[int | str | None]):
    """ONNX's description of an input or output."""
    return helper.make_tensor_value_info(name, TYPES[dtype], list(shape))


def _is_half(values) -> bool:
    """Whether an array of single precision fits half precision as it is.

    So do the weights of models that were saved so.
    """
    if values.dtype != np.float32:
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(values.astype("float16"), values)


def _tensor(name, values):
    if values.dtype != object:
        return numpy_helper.from_array(np.asarray(values, order="C"), name)
    flat = [text.encode() for text in values.ravel().tolist()]
    return helper.make_tensor(name, TensorProto.STRING, values.shape, flat)
