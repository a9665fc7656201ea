"""Training speed of the Bi-GRU tagger against the same network on Keras' own GRU.

    python benchmarks/training.py [--corpus demo] [--steps 20] [--repeat 7]

Both networks have the same features, sizes, batches, loss and optimiser; the peer has
`keras.layers.Bidirectional(keras.layers.GRU(reset_after=False))`. Rounds of the two
alternate in one process; printed are medians over rounds and their ratio, round by
round.
"""

import argparse
import ast
import itertools
import statistics
import time

import keras

import keras_tagging
from keras_tagging.architectures.embedding import embed_features
from keras_tagging.encoding.batching import TrainingBatches
from keras_tagging.training import compile_arguments


def stock_network(model) -> keras.Model:
    """The network of a `bigru` tagger with Keras' layers in the place of ours."""
    settings = model.settings
    ids = keras.Input((None, len(model.features.names)), dtype="int32")
    mask = keras.ops.not_equal(ids[:, :, 0], 0)
    x = embed_features(ids, None, model.features, settings, seed=0)
    x = keras.layers.Dropout(settings["dropout"], seed=0)(x)
    for _ in range(settings["num_layers"]):
        gru = keras.layers.GRU(
            settings["units"], reset_after=False, return_sequences=True
        )
        x = keras.layers.Bidirectional(gru)(x, mask=mask)
        x = keras.layers.Dropout(settings["layer_dropout"], seed=0)(x)
    return keras.Model(ids, keras.layers.Dense(len(model.tags))(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=7)
    args = parser.parse_args()
    options = dict(pair.split("=", 1) for pair in args.option)
    options = {key: ast.literal_eval(value) for key, value in options.items()}
    corpus = keras_tagging.load_corpus(args.corpus, **options)
    ours = keras_tagging.build("bigru", seed=0)
    ours.adapt(corpus.train)
    stock = stock_network(ours)
    stock.compile(**compile_arguments(ours.settings.optimizer))
    sentences = ours.encode(corpus.train, targets=True)
    plan = {k: ours.settings[k] for k in ("batch_size", "token_budget")}
    batches = list(itertools.islice(TrainingBatches(sentences, **plan), args.steps))
    tokens = sum(float(mask.sum()) for _, _, mask in batches)
    networks = {"projected": ours, "stock": stock}
    times = {name: [] for name in networks}
    for round in range(args.repeat + 1):  # the first one compiles
        for name, network in networks.items():
            start = time.perf_counter()
            for ids, targets, mask in batches:
                network.train_on_batch(ids, targets, sample_weight=mask)
            if round:
                times[name].append(time.perf_counter() - start)
    for name, seconds in times.items():
        median = statistics.median(seconds)
        count = networks[name].count_params()
        print(f"{name:10} {tokens / median:8.0f} tokens/s  {count:,} parameters")
    ratios = [b / a for a, b in zip(times["projected"], times["stock"], strict=True)]
    print(
        f"stock / projected: median {statistics.median(ratios):.2f}, "
        f"from {min(ratios):.2f} to {max(ratios):.2f} in {len(ratios)} rounds of "
        f"{len(batches)} steps"
    )


if __name__ == "__main__":
    main()
