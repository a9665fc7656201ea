"""models/pupil.py: what a teacher says of two texts, and of other columns, in one."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from keras_tagging import SoftTargets
from keras_tagging.data.sentence import as_sentences

PATH = Path(__file__).parents[2] / "models" / "pupil.py"
FIRST, SECOND = [["a"], ["b", "c"]], [["d", "e", "f"], ["g"]]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("pupil", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Stub:
    """A teacher whose probabilities depend on the word alone."""

    def __init__(self, **sizes):
        self.tags = {k: tuple(map(str, range(n))) for k, n in sizes.items()}

    def predict(self, sentences):
        for sentence in sentences:
            rows = {}
            for name, labels in self.tags.items():
                seeds = [ord(word) + len(labels) for word in sentence.tokens]
                drawn = [np.random.default_rng(x).random(len(labels)) for x in seeds]
                rows[name] = np.array([row / row.sum() for row in drawn], "float32")
            yield rows


def test_soft_targets_of_two_texts_become_one(script):
    teacher = Stub(upos=3, feats=12)
    one, other = (SoftTargets.of(teacher, x) for x in (FIRST, SECOND))
    both = as_sentences(FIRST + SECOND)
    found = script.joined(one, other, both)
    assert found.digest() == SoftTargets.of(teacher, both).digest()
    found.check(both)
    with pytest.raises(ValueError, match="of another order"):
        found.check(as_sentences(SECOND + FIRST))


def test_columns_of_two_teachers_become_one(script):
    one, other = (SoftTargets.of(Stub(**x), FIRST) for x in ({"upos": 3}, {"lemma": 4}))
    whole = SoftTargets.of(Stub(upos=3, lemma=4), FIRST)
    assert script.together(one, other).digest() == whole.digest()


def test_of_a_tagger_the_lemmas_alone_are_taken(script):
    lemmas = script.Lemmas(Stub(upos=3, lemma=4))
    found = SoftTargets.of(lemmas, FIRST)
    assert found.digest() == SoftTargets.of(Stub(lemma=4), FIRST).digest()
