"""Speed of the I-RNN: one parallel pass in training against loops, and tagging.

    python benchmarks/label_speed.py --corpus "$KERAS_TAGGING_DATA/atis"

Training with gold labels and no hidden context reads all positions at once. The peers
are the same tagger, the same batches, with a loop over time that reads the gold labels
one after the other, as the equation stands: h_t = f([I_t L_t] H). In the one I_t H is
computed beforehand for all positions, in the plain one inside the loop. Part of what
the parallel pass gains is that it multiplies each label with H once and not at every
position. First the losses and gradients are compared, then rounds of all alternate in
one process: of the whole training step, and of the label layer alone, forward and
backward. Then greedy and beam search tag the test sentences.
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
from keras_tagging.encoding.batching import TrainingBatches
from keras_tagging.layers import LabelEmbeddingRNN
from keras_tagging.layers.loop import over_time


def sequence(layer, x, labels):
    """What a loop reads at each position, the gold label's embedding last, and its
    first state: no labels."""
    embedded = ops.take(layer.label_embeddings, ops.maximum(labels, 0), axis=0)
    embedded = ops.where(ops.expand_dims(labels, -1) >= 0, embedded, 0.0)
    nothing = ops.concatenate(
        [ops.zeros_like(embedded[:, 0])] * layer.label_context, -1
    )
    return ops.concatenate([x, embedded], -1), [nothing]


class LoopedRNN(LabelEmbeddingRNN):
    """Reads gold labels position by position: h_t = f([I_t L_t] H), L_t the state."""

    def _with_contexts(self, x, labels, mask):
        size, dim = self.hidden_size, self.label_dim
        rows = ops.convert_to_tensor(self.kernel)[self.features :]

        def step(x, states):
            [context] = states
            here = x[:, :size] + ops.matmul(context, rows)
            return here, [ops.concatenate([context[:, dim:], x[:, size:]], -1)]

        return over_time(step, *sequence(self, x, labels), mask)


class PlainRNN(LabelEmbeddingRNN):
    """The same without preparation: the words are multiplied inside the loop, too."""

    def call(self, inputs, **kwargs):
        self._words = inputs
        return super().call(inputs, **kwargs)

    def _with_contexts(self, x, labels, mask):
        size, dim = self.features, self.label_dim
        kernel = ops.convert_to_tensor(self.kernel)

        def step(x, states):
            [context] = states
            here = ops.matmul(ops.concatenate([x[:, :size], context], -1), kernel)
            context = ops.concatenate([context[:, dim:], x[:, size:]], -1)
            return here + self.bias, [context]

        return over_time(step, *sequence(self, self._words, labels), mask)


def similar(corpus, **settings):
    """Taggers with equal weights: in parallel, with the loop, with the plain loop."""
    models = []
    for layer in (LabelEmbeddingRNN, LoopedRNN, PlainRNN):
        model = keras_tagging.build(
            "i-rnn", seed=0, feedback="gold", pretrain=None, **settings
        )
        model.adapt(corpus.train)
        model.network.get_layer("forward").__class__ = layer
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
    first, *others = names
    for name, seconds in times.items():
        print(f"  {name:10} {1000 * statistics.median(seconds):9.1f} ms a round")
    for name in others:
        ratios = [b / a for a, b in zip(times[first], times[name], strict=True)]
        print(
            f"  {name} / {first}: median {statistics.median(ratios):.2f}, from "
            f"{min(ratios):.2f} to {max(ratios):.2f} in {rounds} rounds"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="demo")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, help="sentences, else 400 tokens")
    args = parser.parse_args()
    corpus = keras_tagging.load_corpus(args.corpus)
    models = similar(corpus, dropout=0.0, layer_dropout=0.0, unknown_rate=0.0)
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
        for other in found[1:]
        for a, b in zip(found[0], other, strict=True)
    )
    print(f"largest relative difference of loss and gradients {far:.1e}")

    def train(model):
        for ids, y, mask in batches:
            model.train_on_batch((ids, y), y, sample_weight=mask)

    def differentiate(step):
        for x, y, mask in data:
            step(x, y, mask)

    names = ("parallel", "loop", "plain loop")
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
