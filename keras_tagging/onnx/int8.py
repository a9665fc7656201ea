"""LSTM layers and what reads them with weights of 8 bits: smaller, and faster.

What a token gets does not depend on the others of its batch, as all scales are
constants. ONNX Runtime's `DynamicQuantizeLSTM` has one for all that it multiplies at a
time, from the largest and the smallest number in it: these are given to it.
"""

import keras
import numpy as np

from keras_tagging.layers import CharacterEncoder, WordClassEmbedding
from keras_tagging.onnx.builder import QUANTISED

# Processors without VNNI add two products in 16 bits, 2 * 255 * 64 at most: with 7 bits
# of the weights they are right as well.
LARGEST_WEIGHT = 64
LARGEST, ZERO = 127, 128  # of what the weights are multiplied with, in unsigned bytes
LEAST = 1e-9  # so that zeros have a scale
MARGIN = 1.001  # by which rounding may exceed what is the largest value
SATURATED = 100  # whose sigmoid and tanh are 1


def rounded(weights, largest=LARGEST_WEIGHT) -> tuple[np.ndarray, np.ndarray]:
    """Weights `(rows, columns)` as integers, and the scale of each column."""
    scales = np.maximum(np.abs(weights).max(0), LEAST) / largest
    return np.round(weights / scales).astype("int8"), scales.astype("float32")


def int8_product(xp, x, weights):
    """`x @ weights`, where no component of x exceeds 1.

    Args:
        xp: the `Arrays` of the graph.
        x: `(..., rows)` float32.
        weights: NumPy array `(rows, columns)`.
    """
    integers, of_columns = rounded(weights)
    zero, scale = xp.bytes(np.array(ZERO, "uint8")), np.float32(1 / LARGEST)
    bytes_ = xp.node("QuantizeLinear", x, scale, zero)
    inputs = bytes_, xp.bytes(integers), scale, of_columns, zero
    options = {"domain": QUANTISED, "dtype": "float32"}
    return xp.node("MatMulIntegerToFloat", *inputs, **options)


def int8_lstm(xp, weights, sequences, lengths, **options):
    """The outputs of a `DynamicQuantizeLSTM`, `(time, 1, batch, units)`, and the last.

    The sequences are divided by their largest values, and have two more components, 1
    and -1, without weights. Two more units have open gates and the candidates 1 and -1:
    after t steps they hold t and -t, which no other unit exceeds. So the scales of each
    step are constants.

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
    open_gates = np.full((4, 2), SATURATED)
    open_gates[3, 1] *= -1
    bias = np.concatenate([bias[..., 0], open_gates], 1).reshape(1, -1)
    bias = np.concatenate([bias, np.zeros_like(bias)], 1).astype("float32")
    outputs = xp.node(
        "DynamicQuantizeLSTM",
        xp.transpose(sequences, (1, 0, 2)),
        *inputs,
        bias,
        lengths,
        *[None] * 3,
        *scales,
        hidden_size=units + 2,
        domain=QUANTISED,
        **options,
    )
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
    name, size = type(operation).__name__, tensor.shape[-1]
    if isinstance(operation, keras.layers.Embedding):
        return _of_rows(operation.embeddings)
    if isinstance(operation, WordClassEmbedding):
        return np.resize(_of_rows(operation.table), size)
    if isinstance(operation, CharacterEncoder):  # its outputs are those of tanh
        return np.ones(size)
    inputs = operation._inbound_nodes[node].arguments.keras_tensors
    if isinstance(operation, keras.layers.Dense):
        # of shares: no more than a row of the kernel
        of_shares = type(inputs[0]._keras_history.operation).__name__ == "Softmax"
        linear = operation.activation is keras.activations.linear
        fits = of_shares and linear and not operation.use_bias
        return _of_rows(operation.kernel) if fits else None
    parts = [arrays[id(x)][1].most for x in inputs if id(x) in arrays]
    along = getattr(operation, "axis", None) in (-1, len(tensor.shape) - 1)
    if name == "Take" and operation.axis == 0:
        return parts[0]
    if not parts or any(part is None for part in parts):
        return None
    if name == "Split" and along:
        return np.split(parts[0], operation.indices_or_sections)[index]
    return np.concatenate(parts) if name == "Concatenate" and along else None


def _of_rows(table):
    return np.abs(keras.ops.convert_to_numpy(table)).max(0)
