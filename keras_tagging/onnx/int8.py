"""Products with weights of 8 bits, several times as fast as those of float32.

What a token gets does not depend on the others of its batch. A scale is that of a row,
or a constant: ONNX Runtime's `DynamicQuantizeLSTM` has one for all that it multiplies
at a time, from the largest and the smallest number in it. So these are given to it.
"""

import keras
import numpy as np

from keras_tagging.layers import WordClassEmbedding
from keras_tagging.onnx.builder import QUANTISED

# Processors without VNNI add two products in 16 bits, 2 * 255 * 64 at most: with 7 bits
# of the weights they are right as well.
LARGEST_WEIGHT = 64
LARGEST, ZERO = 127, 128  # of what the weights are multiplied with, in unsigned bytes
LEAST = 1e-9  # so that zeros have a scale
MARGIN = 1.001  # by which rounding may exceed what is the largest value
SATURATED = 100  # whose sigmoid and tanh are 1


def int8_product(xp, x, weights):
    """`x @ weights`, each column of the weights with its own scale.

    So has each row of x, if it is not known what is `most` of all components.

    Args:
        xp: the `Arrays` of the graph.
        x: `(..., rows)` float32.
        weights: NumPy array `(rows, columns)`.
    """
    rows, columns = weights.shape
    integers, of_columns = rounded(weights)
    zero = xp.bytes(np.array(ZERO, "uint8"))

    def product(integers_of_x, scale):
        inputs = integers_of_x, xp.bytes(integers), scale, of_columns, zero
        operation, options = "MatMulIntegerToFloat", {"domain": QUANTISED}
        return xp.node(operation, *inputs, dtype="float32", **options)

    if is_even(x):
        scale = np.float32(x.most[0] / LARGEST)
        return product(xp.node("QuantizeLinear", x, scale, zero), scale)
    flat = xp.reshape(x, [-1, rows])
    of_rows = xp.reduce("ReduceMax", xp.node("Abs", flat), -1, keepdims=True)
    of_rows = xp.maximum(of_rows, LEAST) * (1 / LARGEST)
    scales = xp.squeeze(of_rows, -1)
    zeros = xp.node("Expand", zero, xp.lengths(scales))
    integers_of_x = xp.node("QuantizeLinear", flat, scales, zeros, axis=0)
    products = product(integers_of_x, np.float32(1)) * of_rows
    if x.shape is not None and len(x.shape) == 2:
        return products
    before = xp.lengths(x)[:-1]
    return xp.reshape(products, xp.concatenate([before, np.array([columns])], 0))


def is_even(x) -> bool:
    """Whether all components of an array are known to have the same largest value."""
    return x.most is not None and not np.ptp(x.most)


def rounded(weights) -> tuple[np.ndarray, np.ndarray]:
    """Weights `(rows, columns)` as integers, and the scale of each column."""
    scales = np.maximum(np.abs(weights).max(0), LEAST) / LARGEST_WEIGHT
    return np.round(weights / scales).astype("int8"), scales.astype("float32")


def int8_lstm(xp, weights, sequences, lengths, **options):
    """The outputs of a `DynamicQuantizeLSTM`, `(time, 1, batch, units)`, and the last.

    The sequences are divided by their largest values, and have two more components, 1
    and -1, without weights. Two more units have open gates and the candidates 1 and -1:
    after t steps their states are t and -t, and no other state exceeds them. So at each
    step all scales are constants.

    Args:
        xp: the `Arrays` of the graph.
        weights: kernel, recurrent kernel and bias, `(4, units, any)`.
        sequences: `(batch, time, features)`, with what is `most` of them.
        lengths: of the sentences, or None.
        **options: of the node.
    """
    kernel, recurrent, bias = weights
    units = kernel.shape[1]
    most = np.maximum(MARGIN * sequences.most, LEAST).astype("float32")
    ends = xp.zeros_like(sequences[:, :, :2]) + np.array([1, -1], "float32")
    sequences = xp.concatenate([sequences * (1 / most), ends], -1)
    inputs, scales = [], []
    for matrix in (kernel * most, recurrent):
        wider = np.pad(matrix, [(0, 0), (0, 2), (0, 2)])
        integers, of_columns = rounded(wider.reshape(4 * units + 8, -1).T)
        inputs.append(xp.bytes(integers[None]))
        scales += [of_columns[None], xp.bytes(np.zeros(1, "int8"))]
    gates = np.full((4, 2), SATURATED)
    gates[3, 1] *= -1
    bias = np.concatenate([bias[..., 0], gates], 1).reshape(1, -1).astype("float32")
    bias = np.concatenate([bias, np.zeros_like(bias)], 1)
    inputs += [bias, lengths, None, None, None, *scales]
    options |= {"hidden_size": units + 2, "domain": QUANTISED}
    sequences = xp.transpose(sequences, (1, 0, 2))
    outputs = xp.node("DynamicQuantizeLSTM", sequences, *inputs, **options)
    return [x[..., :units] for x in outputs]


def largest(tensor, arrays: dict) -> np.ndarray | None:
    """The largest absolute value that each component of a symbolic tensor can have.

    Args:
        tensor: of Keras.
        arrays: by the identity of a symbolic tensor, it and its `Array`.

    Returns:
        `(features,)`; None if it is not known.
    """
    operation, node, index = tensor._keras_history
    name = type(operation).__name__
    if isinstance(operation, keras.layers.Embedding):
        return _of_rows(operation.embeddings)
    if isinstance(operation, WordClassEmbedding):
        of_part = _of_rows(operation.table)
        return np.tile(of_part, tensor.shape[-1] // len(of_part))
    inputs = operation._inbound_nodes[node].arguments.keras_tensors
    if isinstance(operation, keras.layers.Dense):
        # convex combinations of the rows of the kernel
        of_shares = type(inputs[0]._keras_history.operation).__name__ == "Softmax"
        plain = operation.activation is keras.activations.linear
        fits = of_shares and plain and not operation.use_bias
        return _of_rows(operation.kernel) if fits else None
    parts = [arrays[id(x)][1].most for x in inputs if id(x) in arrays]
    if name not in ("Concatenate", "Split") or not parts or any(x is None for x in parts):
        return None
    if operation.axis not in (-1, len(tensor.shape) - 1):
        return None
    if name == "Split":
        return np.split(parts[0], operation.indices_or_sections)[index]
    return np.concatenate(parts)


def _of_rows(table):
    return np.abs(keras.ops.convert_to_numpy(table)).max(0)
