"""The transition system of docs/architecture.rst, through every road."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
import tensorflow as tf
from layers.scorers import random_tree as projective_tree
from reference import arc_standard
from transitions.crossing import LEARNING, random_sentences
from transitions.page import CODE, PAGE, hybrid
from transitions.walks import replayed

import keras_tagging
from keras_tagging import Sentence, runtime
from keras_tagging.transitions import (
    Action,
    Outputs,
    gold_moves,
    register,
    system,
    transition_system,
    transition_systems,
)
from keras_tagging.utils import installed

SENTENCES = random_sentences(10, tree=lambda n, rng: projective_tree(n, rng)[0])


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(system, "_REGISTERED", {})
    names = {}
    exec(compile(CODE, PAGE.name, "exec"), names)
    return names


def test_the_page_is_enough(tmp_path):
    """Trained, searched with a beam, saved, served and exported, with no edit."""
    model = keras_tagging.build("gru-parser", system="arc-hybrid", **LEARNING)
    model.fit(SENTENCES, epochs=40, verbose=0)
    assert model.evaluate(SENTENCES, return_dict=True, verbose=0)["las"] == 1
    words = [s.tokens for s in random_sentences(10, seed=1)]
    for width in (1, 3):
        model.beam_width = width
        expected = model.parse(words)
        model.save(tmp_path / "toy.keras")
        again = keras_tagging.load(tmp_path / "toy.keras")
        assert again.parse(words) == expected
        assert again.scorer.system.name == again.settings["system"] == "arc-hybrid"
        model.export(tmp_path / "toy.onnx", format="onnx")
        assert runtime.load(tmp_path / "toy.onnx").parse(words) == expected
    model.export(tmp_path / "served")
    serve = tf.saved_model.load(str(tmp_path / "served")).signatures["serving_default"]
    for sentence in expected:
        n = len(sentence)
        found = serve(tokens=tf.constant([sentence.tokens]), lengths=tf.constant([n]))
        heads = [str(head) for head in found["heads"].numpy()[0]]
        assert heads == sentence.columns["head"]


def test_every_projective_tree_comes_back():
    hybrid = transition_system("arc-hybrid")
    trees = [
        heads
        for length in range(6)
        for heads in arc_standard.trees(length)
        if arc_standard.is_projective(heads)
    ]
    labels = [np.arange(1, len(heads) + 1) for heads in trees]
    moves = gold_moves(hybrid, trees, labels)
    assert [len(some.actions) for some in moves] == [2 * len(tree) for tree in trees]
    expected = [
        [list(pair[0]), pair[1].tolist()] for pair in zip(trees, labels, strict=True)
    ]
    assert replayed(hybrid, moves) == expected


def test_a_file_needs_the_system(tmp_path, monkeypatch):
    model = keras_tagging.build("ffn-parser", system="arc-hybrid", **LEARNING)
    model.adapt(SENTENCES)
    model.save(tmp_path / "toy.keras")
    monkeypatch.setattr(system, "_REGISTERED", {})
    with pytest.raises(ValueError, match="system='arc-hybrid': known are.*install"):
        keras_tagging.load(tmp_path / "toy.keras")


def test_a_tree_that_it_cannot_build(registered):
    """The sentence is named by its number among all, also those that are left out."""

    def oracle(heads, labels):
        if len(heads) == 3:
            raise ValueError("it is too long")
        return transition_system("arc-hybrid").oracle(heads, labels)

    register(hybrid(oracle=oracle))
    sentences = [
        Sentence([*"abcd"[: len(heads)]], None, {"head": heads, "deprel": heads})
        for heads in map(list, ("3403", "01", "20", "202", "20"))
    ]
    model = keras_tagging.build("ffn-parser", system="toy", **LEARNING)
    with pytest.raises(ValueError, match="^sentence 4: it is too long$"):
        model.fit(sentences, epochs=1, verbose=0)


def test_a_system_that_reads_no_labels(tmp_path, recwarn):
    """There are no embeddings of labels, which would never be trained."""

    def features(state, xp):
        nodes, labels = full.features(state, xp)
        return nodes, labels[:, :0]

    full = hybrid()
    register(hybrid(features=features, num_labels=0))
    model = keras_tagging.build("gru-parser", system="toy", **LEARNING)
    model.fit(SENTENCES, epochs=2, verbose=0)
    assert not any("Gradients" in str(some.message) for some in recwarn)
    assert not any("label" in v.path for v in model.trainable_variables)
    expected = model.parse(words := [s.tokens for s in SENTENCES])
    model.save(tmp_path / "toy.keras")
    assert keras_tagging.load(tmp_path / "toy.keras").parse(words) == expected
    model.export(tmp_path / "toy.onnx", format="onnx")
    assert runtime.load(tmp_path / "toy.onnx").parse(words) == expected
    ffn = keras_tagging.build("ffn-parser", system="toy", **LEARNING)
    ffn.fit(SENTENCES, epochs=1, verbose=0)
    started = keras_tagging.build("gru-parser", system="toy", **LEARNING)
    started.bootstrap(ffn)
    kernels = (m.scorer.output_kernel.numpy() for m in (ffn, started))
    assert np.array_equal(*kernels)


# The names


def test_a_system_of_an_installed_package(registered, monkeypatch):
    hybrid = transition_system("arc-hybrid")
    system._REGISTERED.clear()
    entries = [
        EntryPoint("arc-hybrid", "its_package:VALUE", system.GROUP),
        EntryPoint("other", "its_package:VALUE", system.GROUP),
        EntryPoint("code", "its_package:print", system.GROUP),
    ]
    loaded = {"its_package:VALUE": hybrid, "its_package:print": print}
    monkeypatch.setattr(installed, "entry_points", lambda group: entries)
    monkeypatch.setattr(EntryPoint, "load", lambda self: loaded[self.value])
    assert transition_systems()[2:] == ["arc-hybrid", "code", "other"]
    assert transition_system("arc-hybrid") is hybrid
    for name in ("other", "code"):
        with pytest.raises(ValueError, match=f"'{name}': its_package:.* no transition"):
            transition_system(name)


def test_a_package_that_cannot_be_imported(monkeypatch):
    entries = [EntryPoint("far", "not_installed:VALUE", system.GROUP)]
    monkeypatch.setattr(installed, "entry_points", lambda group: entries)
    with pytest.raises(ValueError, match="'far': not_installed:VALUE .* No module .*;"):
        transition_system("far")


def test_two_packages_with_one_name(monkeypatch):
    entries = [EntryPoint("far", f"{name}:VALUE", system.GROUP) for name in "ba"]
    monkeypatch.setattr(installed, "entry_points", lambda group: entries)
    assert transition_systems().count("far") == 1
    with pytest.raises(ValueError, match="'far': .*: a:VALUE and b:VALUE offer the sa"):
        transition_system("far")


def test_a_name_of_the_package_is_taken(registered):
    changed = registered["TransitionSystem"](
        **{**vars(transition_system("arc-hybrid")), "name": "swap"}
    )
    with pytest.raises(ValueError, match="'swap' is a system of this package"):
        register(changed)


def test_a_system_may_be_defined_again(registered):
    first = transition_system("arc-hybrid")
    again = registered["TransitionSystem"](**{**vars(first), "num_labels": 1})
    assert register(again) is transition_system("arc-hybrid") is not first


def test_each_action_has_labels_of_its_own(registered):
    """As SHIFT with a category, and REDUCE with a rule, need them."""
    given = vars(transition_system("arc-hybrid"))
    actions = (Action("SHIFT", "categories"), Action("WAIT"), Action("REDUCE", "rules"))
    outputs = Outputs(
        registered["TransitionSystem"](**{**given, "actions": actions}),
        {"categories": 2, "rules": 3},
    )
    assert outputs.actions.tolist() == [0, 0, 1, 2, 2, 2]
    assert outputs.labels.tolist() == [1, 2, 0, 1, 2, 3]
    numbers = outputs.of(outputs.actions, outputs.labels)
    assert numbers.tolist() == list(range(len(outputs)))
    with pytest.raises(ValueError, match="labels {'rules'}: a parser has only 'cat"):
        Outputs(
            registered["TransitionSystem"](**{**given, "actions": actions}),
            {"categories": 2},
        )
