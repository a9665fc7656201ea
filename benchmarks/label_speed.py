"""Speed of the I-RNN: one parallel pass in training against a loop, and tagging.

    python benchmarks/label_speed.py --corpus "$KERAS_TAGGING_DATA/atis"

Training with gold labels and no hidden context reads all positions at once. The peer is
the same tagger, the same batches, with a loop over time that reads the gold labels one
after the other, as the equation stands: h_t = f([I_t L_t] H), where I_t H is computed
beforehand for all positions. Part of what the parallel pass gains is that it multiplies
each label with H once and not at every position. First the two losses and gradients are
compared, then rounds of the two alternate in one process: of the whole training step,
and of the label layer alone, forward and backward. Then greedy and beam search tag the
test sentences.
"""

import argparse
import itertools
import statistics
import time

import keras
import numpy as np
import tensorflow as tf
from keras import ops

import keras_tagging
from keras_tagging.data.batching import TrainingBatches
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.layers.loop import over_time


class LoopedRNN(LabelEmbeddingRNN):
    """Reads gold labels position by position: h_t = f([I_t L_t] H), L_t the state."""

    def _with_contexts(self, x, labels, mask):
        size, dim = self.hidden_size, self.label_dim
        rows = ops.convert_to_tensor(self.kernel)[self.features :]

        def step(x, states):
            [context] = states
            here = x[:, :size] + ops.matmul(context, rows)
            return here, [ops.concatenate([context[:, dim:], x[:, size:]], -1)]

        embedded = ops.take(self.label_embeddings, ops.maximum(labels, 0), axis=0)
        embedded = ops.where(ops.expand_dims(labels, -1) >= 0, embedded, 0.0)
        nothing = ops.concatenate(
            [ops.zeros_like(embedded[:, 0])] * self.label_context, -1
        )
        return over_time(step, ops.concatenate([x, embedded], -1), [nothing], mask)


def twins(corpus, **settings):
    """Two taggers with equal weights, the second with the loop."""
    models = []
    for looped in (False, True):
        model = keras_tagging.build("i-rnn", seed=0, feedback="gold", **settings)
        model.adapt(corpus.train)
        if looped:
            model.network.get_layer("forward").__class__ = LoopedRNN
        models.append(model)
    return models


def layer_step(layer):
    """A function that computes the gradients of the label layer."""

    @tf.function(reduce_retracing=True)
    def step(x, labels, mask):
        with tf.GradientTape() as tape:
            tape.watch(x)
            logits = layer(x, labels=labels, mask=mask, training=True)["logits"]
            loss = tf.reduce_sum(tf.where(mask[:, :, None], logits, 0.0) ** 2)
        return loss, tape.gradient(loss, [x, *layer.trainable_variables])

    return step


def alternate(names, steps, rounds):
    """Seconds of each, one round after the other, the first left out."""
    times = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name, step in zip(names, steps, strict=True):
            start = time.perf_counter()
            step()
            if turn:
                times[name].append(time.perf_counter() - start)
    ratios = [b / a for a, b in zip(*times.values(), strict=True)]
    for name, seconds in times.items():
        print(f"  {name:9} {1000 * statistics.median(seconds):9.1f} ms a round")
    print(
        f"  ratio median {statistics.median(ratios):.2f}, from {min(ratios):.2f} to "
        f"{max(ratios):.2f} in {rounds} rounds"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, help="sentences, else 400 tokens")
    args = parser.parse_args()
    corpus = keras_tagging.load_corpus(args.corpus)
    models = twins(corpus, dropout=0.0, unknown_rate=0.0)
    encoded = models[0].encode(corpus.train, targets=True)
    plan = {"batch_size": args.batch_size}
    if args.batch_size is None:
        plan = {"token_budget": 400}
    batches = list(itertools.islice(TrainingBatches(encoded, **plan), args.steps))
    tokens = sum(float(mask.sum()) for _, _, mask in batches)
    print(f"{len(batches)} batches of {tokens / len(batches):.0f} tokens")

    layers = [model.network.get_layer("forward") for model in models]
    width = layers[0].features
    rng = np.random.default_rng(0)
    data = [
        (tf.constant(rng.normal(size=(*y.shape, width)), "float32"), y, mask > 0)
        for _, y, mask in batches
    ]
    steps = [layer_step(layer) for layer in layers]
    found = [tf.nest.flatten(step(*data[0])) for step in steps]
    far = max(
        float(ops.max(ops.abs(a - b)) / (1 + ops.max(ops.abs(a))))
        for a, b in zip(*found, strict=True)
    )
    print(f"largest relative difference of loss and gradients {far:.1e}")

    def train(model):
        for ids, y, mask in batches:
            model.train_on_batch((ids, y), y, sample_weight=mask)

    def differentiate(step):
        for x, y, mask in data:
            step(x, y, mask)

    names = ("parallel", "loop")
    print("label layer, forward and backward")
    alternate(names, [lambda s=s: differentiate(s) for s in steps], args.rounds)
    print("whole training step")
    alternate(names, [lambda m=m: train(m) for m in models], args.rounds)

    test = corpus.test or corpus.dev
    total = sum(map(len, test))
    for width in (1, 4):
        model = keras_tagging.build("i-rnn", seed=0, beam_width=width)
        model.adapt(corpus.train)
        model.tag(test)
        seconds = []
        for _ in range(args.rounds):
            start = time.perf_counter()
            model.tag(test)
            seconds.append(time.perf_counter() - start)
        rate = total / statistics.median(seconds)
        print(f"tagging, beam {width}: {rate:,.0f} tokens/s ({total} tokens)")


if __name__ == "__main__":
    assert keras.backend.backend() == "tensorflow"
    main()
