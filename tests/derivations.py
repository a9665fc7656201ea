"""Six small derivations, which a CCG parser learns by heart."""

from ccg.trees import tree
from conftest import WORDS_ONLY

from keras_tagging.ccg import Derivation
from keras_tagging.data.records import sentence_of

NP, VP = "NP", r"S\NP"


def np_of(adjective, noun):
    return tree(NP, f"{adjective}|NP/NP", f"{noun}|NP", head=1)


def clause(subject, verb, thing=None):
    verb = f"{verb}|{VP}" if thing is None else tree(VP, f"{verb}|({VP})/NP", thing)
    return tree("S", tree("S", subject, verb, head=1), ".|.")


def sentences():
    roots = [
        clause("she|NP", "sleeps"),
        clause("he|NP", "sees", "her|NP"),
        clause(np_of("the", "cat"), "sees", np_of("a", "dog")),
        clause(np_of("a", "cat"), "sleeps"),
        clause("she|NP", "likes", np_of("the", "dog")),
        clause(np_of("the", "old"), "likes", "him|NP"),
    ]
    found = []
    for root in roots:
        derivation = Derivation(root)
        leaves = derivation.leaves
        words, tags = ([x[i] for x in leaves] for i in (3, 0))
        assert [leaf.word for leaf in leaves] == words
        found.append(sentence_of(words, tags, derivation=derivation))
    return found


GOLD = sentences()
SETTINGS = {"units": 12, "num_layers": 1, "word_dim": 12, "head_units": 8}
SETTINGS |= {"dropout": 0.0, "layer_dropout": 0.0, "head_dropout": 0.0}
SETTINGS |= WORDS_ONLY | {"learning_rate": 0.05, "token_budget": 60, "seed": 1}
