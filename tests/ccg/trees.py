"""Derivations for tests, written as nested lists."""

from keras_tagging.ccg import Derivation, Leaf, Node


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
