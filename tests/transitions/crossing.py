"""Sentences with random trees, most of them with crossing arcs."""

import numpy as np

from keras_tagging import Sentence

#: learns a few sentences by heart within seconds
LEARNING = {"units": 32, "word_dim": 16, "label_dim": 4, "tags": None, "seed": 1}
LEARNING |= {"input_dropout": 0.0, "hidden_dropout": 0.0, "unknown_rate": 0.0}
LEARNING |= {"learning_rate": 0.03, "token_budget": 20, "decay": None}


def random_tree(length, rng):
    """Every word but the first, in random order, hangs from one before it."""
    order = rng.permutation(length) + 1
    heads = np.zeros(length, int)
    for i in range(1, length):
        heads[order[i] - 1] = rng.choice(order[:i])
    return heads


def random_sentences(count, seed=0, tree=random_tree, longest=8):
    """Each of 2 to `longest` words that no other has."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        heads = tree(int(rng.integers(2, longest + 1)), rng)
        first = "abcdefghijklmnopqrst"[number]
        words = [first + "x" * i for i in range(len(heads))]
        deprels = ["root" if head == 0 else rng.choice(["a", "b"]) for head in heads]
        columns = {"head": list(map(str, heads)), "deprel": list(map(str, deprels))}
        found.append(Sentence(words, None, columns))
    return found
