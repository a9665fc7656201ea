"""An ONNX file beside the model it was exported from: equal tags, and how fast.

    python benchmarks/onnx_equality.py MODEL CORPUS... [--limit 100000] [--capitals]
        [--no-latency]

MODEL is the `--out` of `keras-tagging train`, or a `.keras` file; each CORPUS is a
name, a file or a folder, of whose sentences only the words (and the columns that the
model reads) count. With `--capitals` every sentence comes again in capitals. Printed
are the sentences whose tags, or trees, differ, with the number of tokens in which they
do and, for tags, how much more probable the model takes its own one to be; the largest
difference of a probability; tokens a second of `tag` in both, in turn, on the same
sentences; and, without `--no-latency`, the latency of one sentence of 20 tokens beside
the SavedModel.
"""

import argparse
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
import tensorflow as tf

import keras_tagging
from keras_tagging import Sentence, runtime
from keras_tagging.encoding.batching import slices


def sentences(corpora, columns, capitals):
    """Those of all splits, their words and the columns that are read."""
    for name in corpora:
        corpus = keras_tagging.load_corpus(name, require_train=False)
        for _, split in corpus.splits():
            for sentence in split:
                kept = {column: sentence.columns[column] for column in columns}
                yield Sentence(sentence.tokens, None, kept)
                if capitals:
                    upper = [token.upper() for token in sentence.tokens]
                    yield Sentence(upper, None, kept)


def compare(model, found, given):
    """Counts over the sentences: slices of both, one after the other."""
    count = tokens = differ = 0
    worst, seconds, cpu = 0.0, {"model": [], "ONNX": []}, {"model": 0.0, "ONNX": 0.0}
    for chunk in slices(given):
        sizes = sum(map(len, chunk))
        answers = {}
        for name, tagger in (("model", model), ("ONNX", found)):
            start, used = time.perf_counter(), time.process_time()
            answers[name] = getattr(tagger, tagger.command)(chunk)
            cpu[name] += time.process_time() - used
            seconds[name].append((time.perf_counter() - start) / max(sizes, 1))
        pairs = zip(chunk, answers["model"], answers["ONNX"], strict=True)
        for sentence, one, other in pairs:
            if one != other:
                differ += 1
                print(
                    f"{len(sentence)} tokens: {difference(model, sentence, one, other)}"
                )
        count, tokens = count + len(chunk), tokens + sizes
        if model.command == "tag":
            some = chunk[::10]
            pairs = zip(model.predict(some), found.predict(some), strict=True)
            for one, other in pairs:
                worst = max(worst, np.abs(one - other).max(initial=0))
    print(f"{count:,} sentences, {tokens:,} tokens: {differ} answers differ")
    if model.command == "tag":
        print(f"largest difference of a probability, of 1 in 10 sentences: {worst:.1e}")
    for name, times in seconds.items():
        print(
            f"{name:6} {1 / statistics.median(times):9,.0f} tokens/s (median slice), "
            f"{tokens / cpu[name]:9,.0f} tokens per second of CPU"
        )


def difference(model, sentence, one, other):
    """In how many tokens two answers differ, and how near the tags were."""
    if model.command == "parse":
        counts = {
            name: sum(
                a != b
                for a, b in zip(one.columns[name], other.columns[name], strict=True)
            )
            for name in ("head", "deprel")
        }
        return ", ".join(f"{n} of {name}" for name, n in counts.items())
    [rows] = model.predict([sentence])
    gaps = [
        row[model.tags.index(a)] - row[model.tags.index(b)]
        for row, a, b in zip(rows, one, other, strict=True)
        if a != b
    ]
    return f"{len(gaps)} tags, more probable by {max(gaps):.1e} at most"


def latency(model, path, repeat=200):
    words = np.array([["the"] * 20], object)
    lengths = np.array([20], "int32")
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder + "/served")
        serve = tf.saved_model.load(folder + "/served").signatures["serving_default"]
    extra = dict.fromkeys(model.input_columns, words)
    tensors = {name: tf.constant(words) for name in ("tokens", *extra)}
    session = runtime.load(path).session
    main = [session.get_outputs()[0].name]
    calls = {
        "SavedModel": lambda: serve(lengths=tf.constant(lengths), **tensors),
        "ONNX": lambda: session.run(
            main, {"tokens": words, "lengths": lengths, **extra}
        ),
    }
    times = {name: [] for name in calls}
    for _ in range(repeat):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(1000 * (time.perf_counter() - start))
    for name, found in times.items():
        print(f"20 tokens, {name:10} median {statistics.median(found[10:]):6.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--limit", type=int, default=100_000)
    parser.add_argument("--capitals", action="store_true")
    parser.add_argument("--no-latency", action="store_true")
    args = parser.parse_args()
    model = keras_tagging.load(args.model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        start = time.perf_counter()
        model.export(path, format="onnx")
        written = time.perf_counter() - start
        found = runtime.load(path)
        loaded = time.perf_counter() - start - written
        size = path.stat().st_size / 1e6
        print(f"{model.size}: {size:.1f} MB, written in {written:.1f} s, ", end="")
        print(f"loaded in {loaded:.2f} s")
        given = sentences(args.corpora, model.input_columns, args.capitals)
        compare(model, found, islice(given, args.limit))
        if not args.no_latency:
            latency(model, path)


if __name__ == "__main__":
    main()
