"""Derivations for tests, written as nested lists."""

from itertools import product

from keras_tagging.ccg import Derivation, Grammar, Leaf, Node

ATOMS = "ABCD"


def leaf(text):
    """A leaf of `word|category`."""
    word, category = text.rsplit("|", 1)
    return Leaf(category, "X", "X", word, category)


def tree(category, *children, head=0):
    """A node; a child may be the text of a leaf."""
    made = [leaf(child) if isinstance(child, str) else child for child in children]
    return Node(category, head, tuple(made))


def chain(depth):
    """A derivation that is deeper than Python can follow."""
    root = leaf("w|N")
    for _ in range(depth):
        root = Node("N", 0, (root,))
    return Derivation(root, "ID=deep")


def drawn(rng):
    """A random grammar, without circles of changes."""
    rules = {}
    for parts in rng.sample([*product(ATOMS, repeat=2)], 9):
        wholes = rng.sample(ATOMS, 2)
        rules[parts] = {whole: rng.randint(1, 5) for whole in wholes}
    rules["D",] = {"A": 1, "C": rng.randint(1, 3)}
    return Grammar(rules, {"A": 3, "B": 1})
