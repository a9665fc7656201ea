"""The settings of the taggers that read their labels, and what they start from."""

from itertools import product

import numpy as np
import pytest
from conftest import WORDS_ONLY, check_close, random_sentences
from keras import ops

import keras_tagging
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.models.tagger import tagger

pytestmark = pytest.mark.usefixtures("eagerly")

SENTENCES = random_sentences(12, 4, longest=3)
SIZES = {"units": 5, "word_dim": 4, "label_dim": 3, "window": 3, "label_context": 2}
SIZES |= {"seed": 3, "batch_size": 16, **WORDS_ONLY}
EPOCHS = {"word_epochs": 2, "label_epochs": 2}


def build(name="i-rnn", **overrides):
    return keras_tagging.build(name, **SIZES | overrides)


# Settings


@pytest.mark.parametrize(
    "name, overrides, message",
    [
        ("i-rnn", {"direction": "sideways"}, "direction='sideways'.* 'bidirectional'"),
        ("i-rnn", {"feedback": (1.0, 1.5)}, "feedback=.*1.5"),
        ("i-rnn", {"feedback": (0.5,)}, r"feedback=\(0.5,\)"),
        ("elman-rnn", {"beam_width": 8}, "has no effect with label_input"),
        ("bigru", {"beam_width": 4}, "is of decoder='i-rnn'"),
    ],
    ids=str,
)
def test_impossible_settings_are_refused_in_one_line(name, overrides, message):
    with pytest.raises(ValueError, match=message) as error:
        keras_tagging.build(name, **overrides)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name, size", [("elman-rnn", 10), ("ie-rnn", 10), ("i-rnn", 5)]
)
def test_what_goes_through_r_may_stand_beside_the_rest(name, size):
    """Section 3.4; I-RNN has no R."""
    model = build(name, combine="concat")
    model.adapt(SENTENCES)
    layer = model.network.get_layer("forward")
    assert layer.hidden_size == size == layer.output_kernel.shape[0]
    assert list(map(len, model.tag(SENTENCES))) == list(map(len, SENTENCES))


# Pretraining


def tables(model):
    """The tables of words and labels, by path."""
    return {
        v.path: np.array(ops.convert_to_numpy(v))
        for v in model.network.trainable_variables
        if v.name == "label_embeddings" or v.path == "word_embedding/embeddings"
    }


CASES = {
    "forward": ("i-rnn", {}, ["word", "forward"]),
    "both": ("ie-rnn", {"direction": "bidirectional"}, ["word", "backward", "forward"]),
    "words": ("elman-rnn", {}, ["word"]),
    "decoder": ("bigru", {"decoder": "i-rnn", "label_units": 4}, ["word", "label_rnn"]),
    "columns": ("i-rnn", {"words": False, "columns": "pos"}, ["forward"]),
}


@pytest.mark.parametrize(
    "case, method", [*product(CASES, ["window"]), ("both", "cbow")]
)
def test_pretraining_sets_the_tables(case, method):
    name, overrides, expected = CASES[case]
    adapted, model = build(name, **overrides), build(name, **overrides)
    adapted.adapt(SENTENCES)
    before = tables(adapted)
    found = model.pretrain(SENTENCES, method=method, **EPOCHS)  # adapts
    after = tables(model)
    paths = [
        f"{x}_embedding/embeddings" if x == "word" else f"{x}/label_embeddings"
        for x in expected
    ]
    assert found == paths and set(paths) == set(before) == set(after)
    for path, table in after.items():
        first = FIRST_ID if path.startswith("word") else 0
        np.testing.assert_array_equal(table[:first], before[path][:first])
        moved = abs(table[first:] - before[path][first:]).max(-1)
        assert np.isfinite(table).all() and (moved > 1e-4).all()
    of_labels = [table for path, table in after.items() if "label" in path]
    for table in of_labels[1:]:
        np.testing.assert_array_equal(table, of_labels[0])
    pairs = zip(adapted.trainable_variables, model.trainable_variables, strict=True)
    for old, new in pairs:
        if new.path not in paths:
            old, new = map(ops.convert_to_numpy, (old, new))
            np.testing.assert_array_equal(old, new)


def test_equal_seeds_give_all_networks_the_same_words():
    method = "cbow"
    first, second, other = build("i-rnn"), build("jordan-rnn"), build("i-rnn", seed=4)
    for model in (first, second, other):
        model.pretrain(SENTENCES, method, **EPOCHS)
    words = [tables(m)["word_embedding/embeddings"] for m in (first, second, other)]
    # padding and unknown are no words: they are drawn with the network
    np.testing.assert_array_equal(words[0][FIRST_ID:], words[1][FIRST_ID:])
    assert abs(words[0] - words[2])[FIRST_ID:].max(-1).min() > 1e-4
    first.pretrain(SENTENCES, method, seed=4, **EPOCHS)
    found = tables(first)["word_embedding/embeddings"]
    np.testing.assert_array_equal(found[FIRST_ID:], words[2][FIRST_ID:])


def test_the_first_fit_pretrains_if_the_settings_say_so(monkeypatch):
    method, calls = "window", []

    def count(*args, **kwargs):
        calls.append(kwargs["epochs"])
        return method_itself(*args, **kwargs | {"epochs": 2})

    method_itself = tagger.METHODS[method]
    monkeypatch.setitem(tagger.METHODS, method, count)
    still = {"learning_rate": 0.0, "decay": None, "dropout": 0.0, "layer_dropout": 0.0}
    model, expected = build(pretrain=method, **still), build(**still)
    model.run_eagerly = True
    model.fit(SENTENCES, epochs=1, verbose=0)
    assert calls == [20, 10]  # of words and labels: section 3.2
    expected.pretrain(SENTENCES, method)
    check_close(model.get_weights(), expected.get_weights())
    calls.clear()
    model.fit(SENTENCES, epochs=1, verbose=0)
    plain = build(pretrain=None)
    plain.run_eagerly = True
    plain.fit(SENTENCES, epochs=1, verbose=0)
    assert calls == []


def test_pretraining_follows_an_adapt_of_its_own_and_not_a_training(monkeypatch):
    methods = []

    def pretrain(self, sentences, method, **options):
        methods.append(method)

    model = build(pretrain="window")
    model.adapt(SENTENCES)
    with monkeypatch.context() as patched:
        patched.setattr(tagger.Tagger, "pretrain", pretrain)
        for _ in range(2):
            model.fit(SENTENCES, epochs=1, verbose=0)
    assert methods == ["window"]
    with pytest.raises(ValueError, match="this model is trained"):
        model.pretrain(SENTENCES)


def test_no_epochs_leave_a_table_as_it_is():
    model = build()
    model.adapt(SENTENCES)
    labels = model.network.get_layer("forward").label_embeddings
    before = ops.convert_to_numpy(labels).copy()
    tables = model.pretrain(SENTENCES, word_epochs=1, label_epochs=0)
    assert tables == ["word_embedding/embeddings"]
    np.testing.assert_array_equal(ops.convert_to_numpy(labels), before)
    without = build("elman-rnn", words=False, columns="pos")
    assert without.pretrain(SENTENCES, **EPOCHS) == []
