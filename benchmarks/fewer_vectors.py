"""How many vectors a tagger needs, and whether the most frequent words are the best.

    python benchmarks/fewer_vectors.py models/ud-en-ewt-xpos.teacher.1.keras \
        --corpus ud-en-ewt --tag xpos

The tagger has vectors as a feature. It is evaluated on the development sentences with
all of them, with the first N, and with as many that are nearest to a word of training,
by cosine. Words of training keep their vectors in any case.
"""

import argparse

import numpy as np

import keras_tagging

BLOCK = 4096  # words whose similarities are in memory at once


def nearest_first(model, sentences) -> list[str]:
    """The words of the vectors, those first that are nearest to a word of training."""
    words = model.vocabularies["vector"]
    table = np.asarray(model.network.get_layer("vector_embedding").embeddings)
    table = table[-len(words) :]
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    tokens = sorted({token for sentence in sentences for token in sentence.tokens})
    forms = model.features.lookup_forms(tokens)
    known = frozenset(words)
    trained = {next(filter(known.__contains__, each), None) for each in forms}
    own = table[[word in trained for word in words]].T
    blocks = range(0, len(table), BLOCK)
    nearness = np.concatenate([(table[i : i + BLOCK] @ own).max(1) for i in blocks])
    return [words[row] for row in np.argsort(-nearness, kind="stable")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="a .keras file")
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--tag", default="upos")
    parser.add_argument(
        "--numbers", type=int, nargs="+", default=[100_000, 50_000, 20_000]
    )
    args = parser.parse_args()
    model = keras_tagging.load(args.model)
    corpus = keras_tagging.load_corpus(args.corpus, tag=args.tag)

    def show(name: str, model) -> None:
        found = model.evaluate(corpus.dev, return_dict=True, verbose=0)
        accuracy, unseen = 100 * found["accuracy"], 100 * found["oov_accuracy"]
        size = len(model.vocabularies["vector"])
        print(f"{name:8} {size:7} {accuracy:.2f} {unseen:.2f}", flush=True)

    ordered = nearest_first(model, corpus.train)
    show("all", model)
    for number in args.numbers:
        first = model.shrink_vectors(number, keep=corpus.train)
        show("first", first)
        size = len(first.vocabularies["vector"])
        show("nearest", model.shrink_vectors(ordered[:size], keep=corpus.train))
    show("training", model.shrink_vectors(0, keep=corpus.train))


if __name__ == "__main__":
    main()
