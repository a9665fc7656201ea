"""Biaffine parsers of some hundred weights, and sentences whose arcs often cross."""

from dataclasses import replace

from conftest import WORDS_ONLY, randomize
from transitions import crossing

import keras_tagging
from keras_tagging import Sentence

TINY = {"units": 4, "word_dim": 5, "feed_dim": 3, "head_units": 4, "label_units": 3}
TINY |= {"tags": ("upos", "xpos"), "seed": 1, **WORDS_ONLY}
DRY = {"dropout": 0.0, "layer_dropout": 0.0, "head_dropout": 0.0, "unknown_rate": 0.0}
#: learns a few sentences by heart within seconds
LEARNING = TINY | DRY | {"units": 24, "word_dim": 16, "head_units": 24}
LEARNING |= {"learning_rate": 0.03, "decay": None, "token_budget": 40}


def random_sentences(count, seed=0, **options):
    """Of `transitions.crossing`, with tags."""
    return [
        replace(s, columns={"pos": s.columns["deprel"], "xpos": s.tokens} | s.columns)
        for s in crossing.random_sentences(count, seed, **options)
    ]


TRAIN = random_sentences(5)
EMPTY = Sentence([], None, {name: [] for name in ("pos", "xpos", "head", "deprel")})


def build(**options):
    return keras_tagging.build("biaffine-parser", **TINY | options)


def random_parser(**options):
    model = build(**options)
    model.adapt(TRAIN)
    return randomize(model, 3)


def trees(sentences):
    return [(s.columns["head"], s.columns["deprel"]) for s in sentences]
