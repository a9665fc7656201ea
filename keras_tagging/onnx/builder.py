"""An ONNX graph while it is built: its nodes, and the graphs inside of it."""

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import count

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, helper, numpy_helper

#: the version of each set of operations: onnxruntime-extensions', ONNX Runtime's last
OPSETS = {"": 20, "ai.onnx.ml": 4, "ai.onnx.contrib": 1, "com.microsoft": 1}
STRINGS, QUANTISED = "ai.onnx.contrib", "com.microsoft"
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
    """Collects inputs, nodes, constants and bodies of loops.

    A node that is there already, with the same inputs and attributes, is not added
    again. What a body of a loop or a branch computes is not seen outside of it. A node
    in a loop that reads nothing of the loop stands before it, and is computed once.

    Attributes:
        inputs, outputs: of the outermost graph.
        initializers: the constants, of all graphs.
    """

    def __init__(self):
        self.inputs: list = []
        self.outputs: list = []
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
            for _, made, _ in self._scopes:
                if key in made:
                    return made[key][0]
        names = [self.name(operation) for _ in range(outputs)]
        nodes, made, of_loop = self._scopes[-1 if key is None else self._place(inputs)]
        if of_loop is not None:
            of_loop.update(names)
        nodes.append(
            helper.make_node(
                operation, inputs, names, name or names[0], domain=domain, **attributes
            )
        )
        if key:
            made[key] = names, attributes  # kept, so that no identity is used again
        return names

    def _place(self, inputs) -> int:
        """The outermost graph in which a node can stand."""
        place = len(self._scopes) - 1
        while self._scopes[place][2] is not None:
            if not self._scopes[place][2].isdisjoint(inputs):
                break
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

    def name(self, of: str) -> str:
        """A name that nothing has."""
        return f"{of}_{next(self._numbers)}"

    def body(
        self, inputs: list, make: Callable[[], Iterable], loops: bool = False
    ) -> GraphProto:
        """The graph inside a loop or a branch.

        Args:
            inputs: arrays that it is given.
            make: adds its nodes, and gives its outputs, each with its shape. One may be
                an output twice, or come from outside.
            loops: whether it is computed more than once; what is in a branch may not
                be computed at all.
        """
        of_loop = {x.name for x in inputs} if loops else None
        nodes, outputs = [], {}
        self._scopes.append((nodes, {}, of_loop))
        for x, shape in make():
            name = x.name
            # each output has a node of its own
            if name in outputs or not any(name in node.output for node in nodes):
                name = self.name("output")
                nodes.append(helper.make_node("Identity", [x.name], [name], name))
            outputs[name] = value_info(name, x.dtype, shape)
        self._scopes.pop()
        values = [value_info(x.name, x.dtype, x.shape) for x in inputs]
        return helper.make_graph(nodes, self.name("body"), values, [*outputs.values()])

    def nodes(self) -> list:
        """Those of the outermost graph."""
        return self._scopes[0][0]

    def model(self, name: str) -> ModelProto:
        """The ONNX model, with the nodes and constants that the outputs need."""
        nodes = _needed(self.nodes(), [value.name for value in self.outputs])
        read = {name for node in nodes for name in _reads(node)}
        constants = [t for t in self.initializers if t.name in read]
        graph = helper.make_graph(nodes, name, self.inputs, self.outputs, constants)
        _type_strings(graph)
        return helper.make_model(
            graph,
            ir_version=IR_VERSION,
            producer_name="keras_tagging",
            producer_version=version("keras-tagging"),
            opset_imports=[helper.make_opsetid(*item) for item in OPSETS.items()],
        )


def value_info(name: str, dtype: str, shape: Sequence[int | str | None] | None):
    """ONNX's description of a value; its shape may be unknown, and its axes."""
    return helper.make_tensor_value_info(name, TYPES[dtype], shape)


def _type_strings(graph: GraphProto) -> None:
    """Says that these nodes give strings: onnx's own tools do not know it.

    They would end the process where a `LabelEncoder` reads what has no type.
    """
    for node in graph.node:
        if node.op_type in ("StringLower", "StringRegexReplace", "StringSplit"):
            graph.value_info.append(value_info(node.output[0], "string", None))
        for attribute in node.attribute:
            _type_strings(attribute.g)


def _is_half(values) -> bool:
    """Whether an array of single precision fits half precision as it is.

    So do the weights of models that were saved so.
    """
    if values.dtype != np.float32:
        return False
    with np.errstate(over="ignore"):
        return np.array_equal(values.astype("float16"), values)


def _tensor(name: str, values) -> TensorProto:
    return numpy_helper.from_array(np.asarray(values), name)


def _needed(nodes: list, outputs: list[str]) -> list:
    """The nodes that the outputs depend on, in their order."""
    wanted, kept = set(outputs), []
    for node in reversed(nodes):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= _reads(node)
    return kept[::-1]


def _reads(node) -> set[str]:
    """Names that a node reads, those of the bodies in it too."""
    names = set(node.input)
    for attribute in node.attribute:
        graph = attribute.g
        kept = _needed(list(graph.node), [value.name for value in graph.output])
        if len(kept) < len(graph.node):
            del graph.node[:]
            graph.node.extend(kept)
        for inner in kept:
            names |= _reads(inner)
    return names - {""}
