"""Our CCG parser in lambeq (Kartsaklis et al. 2021), which makes diagrams of trees.

    python docs/lambeq_parser.py parser.onnx "she sees the dog ."

It runs in an environment that has `lambeq`, and of this package what ONNX files need:
no TensorFlow.
"""

import sys

from lambeq import CCGParser, CCGRule, CCGTree, CCGType

import keras_tagging
from keras_tagging.ccg import Leaf, Node
from keras_tagging.ccg.auto import FRAGMENTS, unescaped


class DerivingParser(CCGParser):
    """A parser of lambeq whose trees are our derivations.

    Args:
        model: a CCG parser, or a pipeline with one, which segments strings.
        **kwargs: of lambeq's class.
    """

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        self.model = model

    def sentences2trees(
        self, sentences, tokenised=False, suppress_exceptions=False, verbose=None
    ):
        """See lambeq's class. A string that is not tokenised has blanks between words.

        Raises:
            ValueError: for a sentence that has no derivation of the whole, unless
                exceptions are suppressed, which gives None for it.
        """
        words = [s if tokenised else s.split() for s in sentences]
        found = []
        for sentence in self.model.annotate(words):
            derivation = sentence.derivation
            if derivation is None or derivation.category == FRAGMENTS:
                if not suppress_exceptions:
                    raise ValueError(f"no derivation of {' '.join(sentence.tokens)!r}")
                found.append(None)
                continue
            found.append(tree_of(derivation.root))
        return found


def tree_of(node: Node | Leaf) -> CCGTree:
    """A node of ours, with all below it, as lambeq has it."""
    category = type_of(node.category)
    if isinstance(node, Leaf):
        return CCGTree(unescaped(node.word), biclosed_type=category)
    children = [tree_of(child) for child in node.children]
    parts = [child.biclosed_type for child in children]
    rule = CCGRule.infer_rule(parts, category)
    return CCGTree(rule=rule, biclosed_type=category, children=children)


ATOMS = {
    "N": CCGType.NOUN,
    "NP": CCGType.NOUN_PHRASE,
    "S": CCGType.SENTENCE,
    "PP": CCGType.PREPOSITIONAL_PHRASE,
    "conj": CCGType.CONJUNCTION,
}


def type_of(category: str) -> CCGType:
    """A category as lambeq has it: without features, punctuation as one type."""

    def atom(text: str) -> str:
        found = ATOMS.get(text.split("[")[0], CCGType.PUNCTUATION)
        return found.name

    return CCGType.parse(category, map_atomic=atom)


if __name__ == "__main__":
    path, *texts = sys.argv[1:]
    parser = DerivingParser(keras_tagging.load(path))
    for text in texts:
        print(parser.sentence2tree(text).deriv())
        print(parser.sentence2diagram(text))
