"""models/ccg_corpus.py: which half of a treebank each sentence is in."""

import importlib.util
from pathlib import Path

import pytest

from keras_tagging import Sentence

PATH = Path(__file__).parents[2] / "models" / "ccg_corpus.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("ccg_corpus", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sentences_are_in_the_half_of_the_same_ones(script, monkeypatch):
    monkeypatch.setattr(script, "BLOCK", 3)
    treebank = [Sentence(["w", str(i)]) for i in range(12)]
    halves = [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]
    assert [script.half_of(i) for i in range(12)] == halves
    assert script.halves_of(treebank, treebank) == halves
    # some are left out, and some have other words
    own = [s for i, s in enumerate(treebank) if i not in (1, 5, 6)]
    places = [0, 2, 3, 4, 7, 8, 9, 10, 11]
    for changed in (None, 0, 3, 8):
        found = [Sentence(["other"]) if i == changed else s for i, s in enumerate(own)]
        expected = [halves[i] for i in places]
        assert script.halves_of(found, treebank) == expected
