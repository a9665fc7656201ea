"""The parser of docs/lambeq_parser.py, in an environment of its own that has lambeq."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from derivations import GOLD

from keras_tagging.ccg import Leaf

ROOT = Path(__file__).parents[2]
PYTHON = "KERAS_TAGGING_LAMBEQ"
RULES = {"<": "BA", ">": "FA", "rp": "RP"}
PROGRAM = """
import json, sys
import keras_tagging
from lambeq_parser import DerivingParser
path, sentences = sys.argv[1], json.loads(sys.argv[2])
parser = DerivingParser(keras_tagging.load(path))
trees = parser.sentences2trees(sentences, tokenised=True, suppress_exceptions=True)
diagrams = [parser.sentence2diagram(" ".join(words)) for words in sentences[:-1]]
told = [tree and tree.to_json() for tree in trees], [str(x.cod) for x in diagrams]
print(json.dumps([*told, "tensorflow" in sys.modules]))
"""


def same(tree, node):
    """Whether a tree of lambeq is a node of ours: types, rules and words."""
    if tree["type"] != node.category.lower().replace(".", "punc"):
        return False
    if isinstance(node, Leaf):
        return tree["text"] == node.word
    pairs = zip(tree["children"], node.children, strict=True)
    return tree["rule"] == RULES[node.rule] and all(same(*pair) for pair in pairs)


@pytest.mark.slow
def test_lambeq_has_our_derivations(ccg_file):
    if PYTHON not in os.environ:
        pytest.skip(
            f"{PYTHON} names no interpreter: make an environment with lambeq, "
            "onnxruntime, onnxruntime_extensions, lazy-loader and wrapt"
        )
    words = [s.tokens for s in GOLD]
    sentences = json.dumps([*words, [".", "."]])  # the last one is no sentence
    command = [os.environ[PYTHON], "-c", PROGRAM, str(ccg_file), sentences]
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "docs")))
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}
    )
    assert done.returncode == 0, done.stderr
    trees, ends, loaded = json.loads(done.stdout.splitlines()[-1])
    assert trees.pop() is None and not loaded
    for tree, sentence in zip(trees, GOLD, strict=True):
        assert same(tree, sentence.derivation.root)
    assert ends == ["Ty(s)"] * len(GOLD) or ends == ["s"] * len(GOLD)
