"""How fast a trained model tags: the whole command, and one sentence served.

    python benchmarks/tag_speed.py MODEL_DIR FILE [--format conll] [--repeat 5]

MODEL_DIR is the `--out` of `keras-tagging train`; FILE is what to tag. Printed are the
tokens a second of the whole command (start-up included), the same without start-up
(the difference between the file once and five times over), the largest resident
memory, and the median latency of one sentence of 20 tokens through the SavedModel's
signature.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tensorflow as tf

import keras_tagging
from keras_tagging import data


def run_command(model: Path, file: Path, format: str) -> tuple[float, float]:
    """Seconds and GiB of resident memory of one `keras-tagging tag`."""
    command = [sys.executable, "-m", "keras_tagging", "tag", str(model), str(file)]
    start = time.perf_counter()
    child = subprocess.Popen([*command, "--format", format], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 2**20


def latency(model: Path, words: list[str], repeat: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        keras_tagging.load(model).export(folder + "/served")
        serve = tf.saved_model.load(folder + "/served").signatures["serving_default"]
    tokens, lengths = tf.constant([words]), tf.constant([len(words)])
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        serve(tokens=tokens, lengths=lengths)["tags"].numpy()
        times.append(time.perf_counter() - start)
    return times[repeat // 10 :]  # the first calls warm up


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--format", default="conll")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    sentences = list(data.read(args.file, args.format))
    count = sum(len(sentence) for sentence in sentences)
    once, five, memory = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        longer = Path(folder) / args.file.name
        longer.write_bytes((args.file.read_bytes().rstrip() + b"\n\n") * 5)
        for _ in range(args.repeat):
            seconds, gib = run_command(args.model, args.file, args.format)
            once.append(seconds)
            memory.append(gib)
            seconds, gib = run_command(args.model, longer, args.format)
            five.append(seconds)
            memory.append(gib)
    first, rest = statistics.median(once), statistics.median(five)
    print(f"{count} tokens, {args.repeat} repeats, medians")
    print(f"whole command         {first:6.2f} s  {count / first:8.0f} tokens/s")
    print(f"five times the file   {rest:6.2f} s  {5 * count / rest:8.0f} tokens/s")
    steady = 4 * count / (rest - first)
    print(f"without start-up                {steady:8.0f} tokens/s")
    print(f"largest resident memory {max(memory):.2f} GiB")
    words = [word for s in sentences for word in s.tokens][:20]
    times = latency(args.model, words, 200)
    print(
        f"one sentence of {len(words)} tokens served: median "
        f"{1000 * statistics.median(times):.1f} ms, slowest {1000 * max(times):.1f} ms"
    )


if __name__ == "__main__":
    main()
