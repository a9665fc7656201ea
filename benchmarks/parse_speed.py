"""Speed of a parser: words a second, and one sentence through the SavedModel.

    python benchmarks/parse_speed.py --corpus "$KERAS_TAGGING_DATA/ud-english-ewt"

The parsers have random weights, or are read from the folders of `--models`: the time is
the same. The peer reads every configuration as the equation stands, x_t = [embeddings],
x_t W; the parser makes the products of the input layer once for each token and place
(`TransitionScorer.tables`). Rounds of the two alternate in one process.

    python benchmarks/parse_speed.py --corpus demo --onnx --system arc-standard-core

measures the ONNX file of each parser alone, in one thread: words a CPU second, and of
them those that its file takes.
"""

import argparse
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import tensorflow as tf

import keras_tagging
from keras_tagging import runtime
from keras_tagging.layers import TransitionScorer

PARSERS = ("ffn-parser", "lstm-parser", "elman-parser", "gru-parser")


class Direct(TransitionScorer):
    """Without tables: embeds, concatenates and multiplies for every configuration."""

    def tables(self, tokens):
        return self._with_boundary(tokens)

    def look_up(self, tables, nodes, labels):
        return self._read(tables, nodes, labels, training=False)


def alternate(functions: dict, rounds: int) -> dict:
    """Median seconds of each, one round after the other, the first left out."""
    seconds = {name: [] for name in functions}
    for turn in range(rounds + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def by_onnx(model, test, words, rounds):
    """Print the words a CPU second of a model's ONNX file; the best round counts."""
    with tempfile.TemporaryDirectory() as folder:
        model.export(f"{folder}/parser.onnx", format="onnx")
        found = runtime.load(f"{folder}/parser.onnx", threads=1)
    run, spent = found.session.answers, []

    def answers(*given):
        start = time.process_time()
        answer = run(*given)
        spent[-1] += time.process_time() - start
        return answer

    found.session.answers, seconds = answers, []
    for _ in range(rounds):
        spent.append(0.0)
        start = time.process_time()
        found.parse(test)
        seconds.append(time.process_time() - start)
    print(
        f"{model.name}, ONNX: {words / min(seconds):,.0f} words a CPU second, "
        f"{words / min(spent):,.0f} of its file alone",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--parsers", nargs="+", default=PARSERS)
    parser.add_argument("--beam-width", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--system", default="arc-standard")
    parser.add_argument("--onnx", action="store_true")
    parser.add_argument("--served", type=Path, default=Path("served-parser"))
    args = parser.parse_args()
    corpus = keras_tagging.load_corpus(args.corpus)
    test = corpus.test
    words = sum(map(len, test))
    sentence = next(s for s in test if len(s) == 20)
    options = {"seed": 1, "beam_width": args.beam_width, "system": args.system}
    for name in args.parsers:
        models = []
        for cls in (TransitionScorer, Direct):
            model = keras_tagging.build(name, **options)
            model.adapt(corpus.train)
            model.scorer.__class__ = cls
            models.append(model)
        ours, peer = models
        if args.onnx:
            by_onnx(ours, test, words, args.rounds)
            continue
        same = ours.parse(test[:50]) == peer.parse(test[:50])
        functions = {"tables": partial(ours.parse, test)}
        functions["direct"] = partial(peer.parse, test)
        seconds = alternate(functions, args.rounds)
        ours.export(args.served)
        serve = tf.saved_model.load(str(args.served)).signatures["serving_default"]
        column = ours.features.columns[0]
        request = {
            "tokens": tf.constant([sentence.tokens]),
            column: tf.constant([sentence.columns[column]]),
            "lengths": tf.constant([20]),
        }
        answer = partial(serve, **request)
        latency = alternate({"serve": answer}, 50)["serve"]
        print(
            f"{name}: {words / seconds['tables']:,.0f} words/s, "
            f"{seconds['direct'] / seconds['tables']:.2f} times as fast as without "
            f"tables; {1000 * latency:.1f} ms for 20 words; equal trees: {same}",
            flush=True,
        )


if __name__ == "__main__":
    main()
