"""Parsers of some thousand weights, and a small part of the demo corpus."""

import numpy as np
from cells.cases import randomize
from conftest import short

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.data.trees import is_projective

TINY = {"units": 8, "word_dim": 6, "affix_dim": 4, "label_dim": 3, "seed": 1}
# without what draws random numbers
PLAIN = {"input_dropout": 0.0, "hidden_dropout": 0.0, "unknown_rate": 0.0}
# learns some sentences by heart in a few seconds
LEARNING = {"learning_rate": 0.03, "token_budget": 30, "decay": None, **PLAIN}
DEMO = keras_tagging.load_corpus("demo")
TRAIN, DEV = short(DEMO.train, 40), short(DEMO.dev, 14)
# "What did she say he read ?" and its like
CROSSING = [
    sentence
    for sentence in DEMO.train[:200]
    if not is_projective(list(map(int, sentence.columns["head"])))
][:2]
EMPTY = Sentence([], None, {"pos": [], "head": [], "deprel": []})


def build(name="lstm-parser", **options):
    sizes = dict(TINY)
    if "embeddings" in options:
        del sizes["word_dim"]  # it is that of the vectors
    return keras_tagging.build(name, **sizes | options)


def random_parser(name="lstm-parser", **options):
    """With vocabularies and random weights."""
    model = build(name, **options)
    model.adapt(TRAIN)
    return randomize(model, 3, 0.5)


def fitted(name="lstm-parser", sentences=TRAIN, epochs=1, fitting=(), **options):
    model = build(name, **options)
    model.fit(sentences, epochs=epochs, verbose=0, **dict(fitting))
    return model


def gold(sentences):
    """Heads and deprels of each."""
    return [(list(map(int, s.columns["head"])), s.columns["deprel"]) for s in sentences]


def weights(model):
    return [np.array(weight) for weight in model.get_weights()]


def equal(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))
