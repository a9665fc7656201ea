"""The transition system of docs/architecture.rst, through every road."""

from dataclasses import replace

import pytest
import tensorflow as tf
from conftest import exported
from layers.scorers import random_tree as projective_tree
from transitions.arc_hybrid import ARC_HYBRID
from transitions.crossing import LEARNING, random_sentences

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.transitions import Action, Outputs, register, system

SENTENCES = random_sentences(
    6, tree=lambda n, rng: projective_tree(n, rng)[0], longest=5
)
FAST = LEARNING | {"learning_rate": 0.1}


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(system, "_SYSTEMS", {**system._SYSTEMS})
    register(ARC_HYBRID)


def test_the_page_is_enough(tmp_path, monkeypatch):
    """Trained, searched with a beam, saved, served and exported, with no edit."""
    model = keras_tagging.build("gru-parser", system="arc-hybrid", **FAST)
    model.fit(SENTENCES, epochs=20, verbose=0)
    assert model.evaluate(SENTENCES, return_dict=True, verbose=0)["las"] == 1
    words = [s.tokens for s in random_sentences(6, seed=1, longest=5)]
    model.beam_width = 3
    expected = model.parse(words)
    model.save(tmp_path / "toy.keras")
    again = keras_tagging.load(tmp_path / "toy.keras")
    assert again.parse(words) == expected
    assert again.scorer.system.name == again.settings["system"] == "arc-hybrid"
    assert exported(model, tmp_path).parse(words) == expected
    model.export(tmp_path / "served")
    serve = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    for sentence in expected:
        n = len(sentence)
        found = serve(tokens=tf.constant([sentence.tokens]), lengths=tf.constant([n]))
        heads = [str(head) for head in found["heads"].numpy()[0]]
        assert heads == sentence.columns["head"]
    monkeypatch.delitem(system._SYSTEMS, "arc-hybrid")
    with pytest.raises(ValueError, match="system='arc-hybrid': .*install or import"):
        keras_tagging.load(tmp_path / "toy.keras")


def test_a_tree_that_it_cannot_build():
    """The sentence is named by its number among all, also those that are left out."""

    def oracle(heads, labels):
        if len(heads) == 3:
            raise ValueError("it is too long")
        return ARC_HYBRID.oracle(heads, labels)

    register(replace(ARC_HYBRID, name="toy", oracle=oracle))
    sentences = [
        Sentence([*"abcd"[: len(heads)]], None, {"head": heads, "deprel": heads})
        for heads in map(list, ("3403", "01", "20", "202", "20"))
    ]
    model = keras_tagging.build("ffn-parser", system="toy", **LEARNING)
    with pytest.raises(ValueError, match="^sentence 4: it is too long$"):
        model.fit(sentences, epochs=1, verbose=0)


def test_each_action_has_labels_of_its_own():
    """As SHIFT with a category, and REDUCE with a rule, need them."""
    actions = (Action("SHIFT", "categories"), Action("WAIT"), Action("REDUCE", "rules"))
    toy = replace(ARC_HYBRID, actions=actions)
    outputs = Outputs(toy, {"categories": 2, "rules": 3})
    assert outputs.actions.tolist() == [0, 0, 1, 2, 2, 2]
    assert outputs.labels.tolist() == [1, 2, 0, 1, 2, 3]
    numbers = outputs.of(outputs.actions, outputs.labels)
    assert numbers.tolist() == list(range(len(outputs)))
