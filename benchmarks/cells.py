"""Training steps of every recurrent layer against Keras' and PyTorch's own.

    python benchmarks/cells.py [--jit] [--units 512] [--layers 5] [--batch 32]
    python benchmarks/cells.py --batch 1 --length 25     # online learning
    python benchmarks/cells.py --memory                  # peak memory of a step

Every network has bidirectional layers, masks, a loss and SGD. All are timed once in
every round, in turn, so that a ratio compares runs of the same moment: medians of the
per-round ratios are printed, and their range. The floor makes the matrix products of
the LSTM and of its gradients, all time steps at once. PyTorch's fused `nn.LSTM`, which
reads no mask, joins where PyTorch is installed.

The bar for a layer is 1.5 times the speed of `keras.layers.LSTM`, scaled by the number
of its n x n products: 8 for an LSTM.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

from keras_tagging import cells
from keras_tagging.layers import BidirectionalStack

TAGS = 50


class MatrixProducts(keras.layers.Layer):
    """The products of one Bi-LSTM layer in both directions, all steps at once."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.kernels = [
            self.add_weight(shape=(rows, 4 * self.units))
            for rows in (input_shape[-1], self.units) * 2
        ]

    def call(self, inputs):
        outputs = []
        for kernel, recurrent in (self.kernels[:2], self.kernels[2:]):
            projected = keras.ops.matmul(inputs, kernel)
            h = projected[..., : self.units]
            outputs.append(keras.ops.matmul(h, recurrent)[..., : self.units])
        return keras.ops.concatenate(outputs, axis=-1)


def stock(layer, **kwargs):
    def network(x, mask, units, num_layers):
        for _ in range(num_layers):
            rnn = layer(units, return_sequences=True, **kwargs)
            x = keras.layers.Bidirectional(rnn)(x, mask=mask)
        return x

    return network


def ours(cell, **kwargs):
    def network(x, mask, units, num_layers):
        stack = BidirectionalStack(
            cell(units, **kwargs), num_layers=num_layers, merge="layer"
        )
        return stack(x, mask=mask)

    return network


def floor(x, mask, units, num_layers):
    for _ in range(num_layers):
        x = MatrixProducts(units)(x)
    return x


# name -> network, n x n products of a token (None: not barred)
NETWORKS = {
    "Keras LSTM": (stock(keras.layers.LSTM), None),
    "LSTM": (ours(cells.SkipLSTMCell, skip=None, gate=None), 8),
    "skip to outputs, gated": (ours(cells.SkipLSTMCell), 10),
    "skip to outputs, no gate": (ours(cells.SkipLSTMCell, gate=None), 8),
    "shortcut block": (ours(cells.ShortcutBlockCell), 8),
    "mixed block": (ours(cells.ShortcutBlockCell, self_connection=True), 10),
    "highway LSTM": (ours(cells.HighwayLSTMCell), 9),
    "RHN, depth 3": (ours(cells.RecurrentHighwayCell), None),
    "GRU": (ours(cells.GRUCell), None),
    "Keras GRU(reset_after=False)": (
        stock(keras.layers.GRU, reset_after=False),
        None,
    ),
    "matrix products of an LSTM": (floor, None),
}


def keras_step(network, data, args):
    """A function that trains on one batch."""
    x, mask, y = data
    inputs = keras.Input(x.shape[1:])
    masks = keras.Input(mask.shape[1:], dtype="bool")
    hidden = network(inputs, masks, args.units, args.layers)
    model = keras.Model([inputs, masks], keras.layers.Dense(TAGS)(hidden))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=args.jit)
    return lambda: model.train_on_batch([x, mask], y)


def torch_step(data, args):
    import torch

    x, y = torch.from_numpy(data[0]), torch.from_numpy(data[2]).reshape(-1)
    lstm = torch.nn.LSTM(
        args.units, args.units, args.layers, batch_first=True, bidirectional=True
    )
    dense = torch.nn.Linear(2 * args.units, TAGS)
    sgd = torch.optim.SGD([*lstm.parameters(), *dense.parameters()], 0.01)

    def step():
        sgd.zero_grad()
        logits = dense(lstm(x)[0]).reshape(-1, TAGS)
        torch.nn.functional.cross_entropy(logits, y).backward()
        sgd.step()

    return step


def make_data(args):
    rng = np.random.default_rng(0)
    lengths = rng.integers(args.length // 2, args.length + 1, size=args.batch)
    lengths[0] = args.length
    mask = np.arange(args.length) < lengths[:, None]
    x = rng.normal(size=(*mask.shape, args.units)).astype("float32")
    return x, mask, rng.integers(0, TAGS, size=mask.shape)


def make_step(name, args):
    data = make_data(args)
    if name == "PyTorch nn.LSTM":
        return torch_step(data, args)
    return keras_step(NETWORKS[name][0], data, args)


def time_all(names, args):
    steps, first = {}, {}
    for name in names:
        start = time.perf_counter()
        steps[name] = make_step(name, args)
        steps[name]()
        first[name] = time.perf_counter() - start
        steps[name]()
    times = {name: [] for name in names}
    for _ in range(args.repeats):
        for name, step in steps.items():
            start = time.perf_counter()
            for _ in range(args.steps):
                step()
            times[name].append((time.perf_counter() - start) / args.steps)
    reference = times[names[0]]
    print(f"{'':30s} {'ms':>8s} {'first s':>8s}  speed against {names[0]}")
    for name, found in times.items():
        ratios = [a / b for a, b in zip(reference, found, strict=True)]
        products = NETWORKS.get(name, (None, None))[1]
        bar = f"  bar {1.5 * 8 / products:.2f}" if products else ""
        print(
            f"{name:30s} {1000 * statistics.median(found):8.1f} {first[name]:8.1f}"
            f"  {statistics.median(ratios):5.2f}"
            f" ({min(ratios):.2f} to {max(ratios):.2f}){bar}"
        )


def peak_memory(name, args):
    """MiB by which three training steps raise the process's peak."""
    step = make_step(name, args)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        step()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jit", action="store_true", help="compile with XLA")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--steps", type=int, default=1, help="steps timed at once")
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--length", type=int, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the first is 1.00")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory_of:
        print(peak_memory(args.memory_of, args))
        return
    names = args.only or list(NETWORKS)
    if not args.only:
        try:
            import torch  # noqa: F401
        except ImportError:
            print("PyTorch is not installed: pip install torch")
        else:
            names.append("PyTorch nn.LSTM")
    print(
        f"{keras.backend.backend()}, {'XLA' if args.jit else 'plain'}: {args.layers} x "
        f"{args.units}, batch {args.batch}, {args.length} steps; load average "
        f"{os.getloadavg()[0]:.1f}"
    )
    if not args.memory:
        time_all(names, args)
        return
    for name in names:  # each in a process of its own
        command = [sys.executable, __file__, *sys.argv[1:], "--memory-of", name]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"{name:30s} {float(found.stdout.split()[-1]):8.0f} MiB")


if __name__ == "__main__":
    main()
