"""Combinatory categorial grammar: categories, derivations, grammars. No Keras here."""

from keras_tagging.ccg.auto import Leaf, Node
from keras_tagging.ccg.categories import Atom, Category, Functor, parse_category
from keras_tagging.ccg.combinators import combine
from keras_tagging.ccg.dependencies import Dependency, dependencies
from keras_tagging.ccg.derivation import Derivation
from keras_tagging.ccg.grammar import Grammar

__all__ = [
    "Atom",
    "Category",
    "Dependency",
    "Derivation",
    "Functor",
    "Grammar",
    "Leaf",
    "Node",
    "combine",
    "dependencies",
    "parse_category",
]
