"""Products with weights of 8 bits, several times as fast as those of float32."""

from contextlib import contextmanager

import numpy as np

# Processors without VNNI add two products in 16 bits: with 7 bits of the weights they
# are right as well.
LARGEST_WEIGHT = 63
LARGEST, ZERO = 127, 128  # of what the weights are multiplied with, in unsigned bytes
LEAST = 1e-9  # so that zeros have a scale


@contextmanager
def int8_products(xp):
    """Has products with matrices of weights computed in integers, in a block."""
    xp.product = int8_product
    try:
        yield
    finally:
        xp.product = None


def int8_product(xp, x, weights):
    """`x @ weights`, each row of x and each column of the weights with its own scale.

    So a token's answer does not depend on the others of its batch.

    Args:
        xp: the `Arrays` of the graph.
        x: `(..., rows)` float32.
        weights: NumPy array `(rows, columns)`.
    """
    rows, columns = weights.shape
    of_columns = np.maximum(np.abs(weights).max(0), LEAST) / LARGEST_WEIGHT
    integers = np.round(weights / of_columns).astype("int8")
    flat = xp.reshape(x, [-1, rows])
    of_rows = xp.reduce("ReduceMax", xp.node("Abs", flat), -1, keepdims=True)
    of_rows = xp.maximum(of_rows, LEAST) * (1 / LARGEST)
    scales = xp.squeeze(of_rows, -1)
    zero = xp.builder.constant(np.array(ZERO, "uint8"))
    shape = xp.node("Shape", scales, dtype="int64")
    [zeros] = xp.builder.node("Expand", [zero, shape.name])
    inputs = [flat.name, scales.name, zeros]
    [bytes_] = xp.builder.node("QuantizeLinear", inputs, axis=0)
    inputs = [bytes_, xp.builder.constant(integers), zero]
    [sums] = xp.builder.node("MatMulInteger", inputs)
    product = xp.cast(type(x)(xp, sums, "int32"), "float32")
    product = product * (of_rows * of_columns.astype("float32"))
    if x.shape is not None and len(x.shape) == 2:
        return product
    before = xp.node("Shape", x, dtype="int64")[:-1]
    return xp.reshape(product, xp.concatenate([before, np.array([columns])], 0))
