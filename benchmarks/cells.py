"""Training steps of the Bi-GRU tagger's network: our layers against Keras' own.

    python benchmarks/cells.py [--jit] [--repeats 9] [--steps 5]

Two bidirectional layers of 300, 355 input features, batch 32, 30 time steps, masks.
Every network is timed once in every round, in turn, so that a ratio compares runs of
the same moment: medians of the per-round ratios are printed, and their range. The
floor makes the same matrix products and weight gradients without a loop.
"""

import argparse
import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

from keras_tagging.cells import GRUCell
from keras_tagging.layers import BidirectionalStack

FEATURES, TAGS = 355, 425


class MatrixProducts(keras.layers.Layer):
    """The products of one Bi-GRU layer in both directions, all steps at once."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.kernels = [
            self.add_weight(shape=(rows, columns))
            for _ in range(2)
            for rows, columns in (
                (input_shape[-1], 3 * self.units),
                (self.units, 2 * self.units),
                (self.units, self.units),
            )
        ]

    def call(self, inputs, mask=None):
        outputs = []
        for kernel, gates, candidate in (self.kernels[:3], self.kernels[3:]):
            projected = keras.ops.matmul(inputs, kernel)
            h = keras.ops.matmul(projected[..., : self.units], gates)
            h = keras.ops.matmul(h[..., : self.units], candidate)
            outputs.append(h + projected[..., self.units : 2 * self.units])
        return keras.ops.concatenate(outputs, axis=-1)


def stock(layer, units, num_layers, **kwargs):
    def network(x, mask):
        for _ in range(num_layers):
            rnn = layer(units, return_sequences=True, **kwargs)
            x = keras.layers.Bidirectional(rnn)(x, mask=mask)
        return x

    return network


def ours(cell, num_layers):
    def network(x, mask):
        stack = BidirectionalStack(cell, num_layers=num_layers, merge="layer")
        return stack(x, mask=mask)

    return network


def floor(units, num_layers):
    def network(x, mask):
        for _ in range(num_layers):
            x = MatrixProducts(units)(x)
        return x

    return network


def compile_network(network, length, jit_compile):
    inputs = keras.Input((length, FEATURES))
    mask = keras.Input((length,), dtype="bool")
    logits = keras.layers.Dense(TAGS)(network(inputs, mask))
    model = keras.Model([inputs, mask], logits)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=jit_compile)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jit", action="store_true", help="compile with XLA")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--steps", type=int, default=5, help="steps timed at once")
    parser.add_argument("--units", type=int, default=300)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=30)
    arguments = parser.parse_args()
    units, layers = arguments.units, arguments.layers
    gru, lstm = keras.layers.GRU, keras.layers.LSTM
    networks = {
        "ours: GRUCell": ours(GRUCell(units), layers),
        "stock GRU(reset_after=False)": stock(gru, units, layers, reset_after=False),
        "stock GRU(reset_after=True)": stock(gru, units, layers),
        "stock LSTM": stock(lstm, units, layers),
        "matrix products only": floor(units, layers),
    }
    rng = np.random.default_rng(0)
    lengths = rng.integers(arguments.length // 2, arguments.length + 1, size=32)
    mask = np.arange(arguments.length) < lengths[:, None]
    x = rng.normal(size=(*mask.shape, FEATURES)).astype("float32")
    y = rng.integers(0, TAGS, size=mask.shape)
    models = {
        name: compile_network(network, arguments.length, arguments.jit)
        for name, network in networks.items()
    }
    times = {name: [] for name in models}
    for round_number in range(arguments.repeats + 1):
        for name, model in models.items():
            start = time.perf_counter()
            for _ in range(arguments.steps):
                model.train_on_batch([x, mask], y)
            if round_number:  # the first traces and compiles
                elapsed = time.perf_counter() - start
                times[name].append(elapsed / arguments.steps)
    own = next(iter(times.values()))
    print(
        f"{keras.backend.backend()}, {'XLA' if arguments.jit else 'plain'}: "
        f"{layers} x {units}, batch 32, {arguments.length} steps"
    )
    for name, found in times.items():
        ratios = [other / mine for other, mine in zip(found, own, strict=True)]
        print(
            f"{name:30s} {1000 * statistics.median(found):7.1f} ms"
            f"  {statistics.median(ratios):5.2f} times ours"
            f"  ({min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
