"""Layers and taggers under XLA against Keras' and PyTorch's own, on a GPU or the CPU.

    python benchmarks/gpu.py                            # the layers
    KERAS_BACKEND=jax python benchmarks/gpu.py --dtypes float32  # without TensorFlow
    python benchmarks/gpu.py --tagger bigru --corpus ud-en-ewt --sentences 500

The layers read masks, PyTorch's none. XLA compiles them, and Keras' own stand there
without it, too: cuDNN computes these on a GPU. Printed are seconds of compiling (the
first prediction and training step beyond later ones), tokens a second (medians), the
largest difference of logits from those of the same weights on the CPU in float32
without XLA, and the peak of the GPU's memory. With JAX the peak is that since the
process began: measure a layer alone (`--only`). Without a GPU it says so.

With `--tagger`, taggers are trained: printed are the shapes in all training sentences,
for each of which XLA compiles, the seconds of the first epoch beyond the later ones,
and those of an epoch with and without XLA.
"""

import argparse
import os
import statistics
import time
from importlib.util import find_spec

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from cells import TAGS, make_data, ours, stock

from keras_tagging import cells

BACKEND = keras.backend.backend()
DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")
# name -> network, whether XLA compiles it
NETWORKS = {
    "LSTM": (ours(cells.SkipLSTMCell, skip=None, gate=None), True),
    "GRU": (ours(cells.GRUCell), True),
    "Keras LSTM": (stock(keras.layers.LSTM), True),
    "Keras GRU": (stock(keras.layers.GRU), True),
    "Keras LSTM, no XLA": (stock(keras.layers.LSTM), False),
    "Keras GRU, no XLA": (stock(keras.layers.GRU), False),
    "PyTorch LSTM": ("LSTM", False),
    "PyTorch GRU": ("GRU", False),
}


def has_gpu():
    if BACKEND == "tensorflow":
        import tensorflow as tf

        return bool(tf.config.list_physical_devices("GPU"))
    if BACKEND == "jax":
        import jax

        return jax.default_backend() == "gpu"
    import torch

    return torch.cuda.is_available()


def peak_memory(name, reset=False):
    """The peak of the GPU's memory in MiB; with `reset` it begins anew, if it can."""
    if name.startswith("PyTorch") or BACKEND == "torch":
        import torch

        if reset:
            torch.cuda.reset_peak_memory_stats()
        peak = torch.cuda.max_memory_allocated()
    elif BACKEND == "jax":
        import jax

        peak = jax.devices()[0].memory_stats()["peak_bytes_in_use"]
    else:
        import tensorflow as tf

        if reset:
            tf.config.experimental.reset_memory_stats("GPU:0")
        peak = tf.config.experimental.get_memory_info("GPU:0")["peak"]
    return peak / 2**20


def keras_model(network, args, dtype, jit):
    """Bidirectional layers and a softmax layer, compiled for training."""
    keras.config.set_dtype_policy(dtype)
    keras.utils.set_random_seed(1)
    inputs = keras.Input((args.length, args.units))
    mask = keras.Input((args.length,), dtype="bool")
    hidden = network(inputs, mask, args.units, args.layers)
    logits = keras.layers.Dense(TAGS, dtype="float32")(hidden)
    model = keras.Model([inputs, mask], logits)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.01), loss, jit_compile=jit)
    return model


def keras_calls(network, args, dtype, jit):
    """Functions that predict and train; and one for the largest difference."""
    x, mask, y = make_data(args)
    model = keras_model(network, args, dtype, jit and BACKEND != "torch")
    with keras.device("cpu:0"):
        plain = keras_model(network, args, "float32", jit=False)
        plain.set_weights(model.get_weights())
        expected = plain.predict_on_batch([x, mask])[mask]

    def predict():
        return model.predict_on_batch([x, mask])

    def difference():
        return np.abs(predict()[mask].astype("float32") - expected).max()

    return predict, lambda: model.train_on_batch([x, mask], y), difference


def torch_calls(name, args, dtype):
    """The same of PyTorch's layers, whose weights are random."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, _, y = make_data(args)
    x, y = torch.tensor(x), torch.tensor(y.reshape(-1))
    torch.manual_seed(1)
    sizes = {"batch_first": True, "bidirectional": True}
    rnn = getattr(torch.nn, name)(args.units, args.units, args.layers, **sizes)
    dense = torch.nn.Linear(2 * args.units, TAGS)
    with torch.no_grad():
        expected = dense(rnn(x)[0]).numpy()
    rnn, dense, x, y = (part.to(device) for part in (rnn, dense, x, y))
    sgd = torch.optim.SGD([*rnn.parameters(), *dense.parameters()], 0.01)

    def logits():
        if dtype == "float32":
            return dense(rnn(x)[0])
        with torch.autocast(device, getattr(torch, dtype.removeprefix("mixed_"))):
            return dense(rnn(x)[0])

    def predict():
        with torch.no_grad():
            return logits().float().cpu().numpy()

    def train():
        sgd.zero_grad()
        found = logits().float().reshape(-1, TAGS)
        loss = torch.nn.functional.cross_entropy(found, y)
        loss.backward()
        sgd.step()
        return loss.item()  # waits for the GPU

    return predict, train, lambda: np.abs(predict() - expected).max()


def timed(call, steps):
    """Seconds of the first call beyond a later one, and of a later one."""
    times = [time.perf_counter()]
    for _ in range(steps + 1):
        call()
        times.append(time.perf_counter())
    first, *later = np.diff(times)
    median = statistics.median(later)
    return max(0.0, first - median), median


def layers(args):
    gpu = has_gpu()
    tokens = make_data(args)[1].sum()
    heads = ("compiling", "predicting", "training", "difference")
    print(" " * 35, *(f"{head:>10s}" for head in heads), "   MiB")
    for name in args.only or NETWORKS:
        network, jit = NETWORKS[name]
        is_torch = name.startswith("PyTorch")
        if is_torch and not find_spec("torch"):
            print(f"{name:20s} not measured: PyTorch is not installed")
            continue
        if BACKEND == "jax" and not jit and not is_torch:
            print(f"{name:20s} not measured: JAX compiles with XLA in any case")
            continue
        for dtype in args.dtypes:
            if gpu:
                peak_memory(name, reset=True)
            if is_torch:
                predict, train, difference = torch_calls(network, args, dtype)
            else:
                predict, train, difference = keras_calls(network, args, dtype, jit)
            first_prediction, predicting = timed(predict, args.steps)
            largest = difference()  # before the weights change
            first_step, training = timed(train, args.steps)
            memory = f"{peak_memory(name):6.0f}" if gpu else f"{'-':>6s}"
            print(
                f"{name:20s} {dtype:14s} {first_prediction + first_step:10.1f} "
                f"{tokens / predicting:10.0f} {tokens / training:10.0f} "
                f"{largest:10.1e} {memory}",
                flush=True,
            )


def epoch_seconds(model, sentences):
    """Seconds of each of three epochs."""
    times = []

    def note(*_):
        times.append(time.perf_counter())

    clock = keras.callbacks.LambdaCallback(on_train_begin=note, on_epoch_end=note)
    model.fit(sentences, epochs=3, verbose=0, callbacks=[clock])
    return np.diff(times)


def taggers(args):
    from keras_tagging import build, load_corpus  # which need TensorFlow

    corpus = load_corpus(args.corpus)
    train = corpus.train[: args.sentences]
    for name in args.tagger:
        found = {}
        for jit in (True,) if BACKEND == "jax" else (False, True):
            sizes = {"units": args.units, "num_layers": args.layers}
            model = build(name, seed=1, jit_compile=jit, **sizes)
            model.adapt(corpus.train)
            batches = model.batches(corpus.train, model.settings.fitting)
            shapes = {targets.shape for *_, targets, _ in batches}
            first, *later = epoch_seconds(model, train)
            found[jit] = statistics.median(later)
        print(
            f"{name}: {len(shapes)} shapes in {len(corpus.train):,} sentences; with "
            f"{len(train):,} of them, an epoch with XLA takes {found[True]:.1f} s, the "
            f"first one {first - found[True]:.1f} s more, to compile"
        )
        if False in found:
            times = found[False] / found[True]
            print(f"{name}: without XLA {found[False]:.1f} s, {times:.2f} times that")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sizes = {"units": 300, "layers": 2, "length": 32, "batch": 32, "steps": 7}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--only", nargs="+", choices=list(NETWORKS), metavar="NAME")
    parser.add_argument("--tagger", action="append", metavar="ARCH")
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--sentences", type=int, help="trained on; default: all")
    args = parser.parse_args()
    print(
        f"{BACKEND}, {'a GPU' if has_gpu() else 'no GPU here'}: {args.layers} x "
        f"{args.units}, load average {os.getloadavg()[0]:.1f}"
    )
    (taggers if args.tagger else layers)(args)


if __name__ == "__main__":
    main()
