"""Pretrained vectors that the word embeddings of every architecture start as."""

import math
from functools import cache

import numpy as np
import pytest
from conftest import DRY, TINY, WORDS_ONLY, computing_once, random_sentences, reloaded
from gensim.models import KeyedVectors
from keras import ops
from models.parsers import PLAIN, TRAIN
from models.parsers import TINY as SMALL

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.architectures import PARSERS
from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.encoding.vocabulary import FIRST_ID
from keras_tagging.models.given_vectors import joined_words
from keras_tagging.vectors import WordVectors

pytestmark = pytest.mark.usefixtures("eagerly")

TAGGED = random_sentences(12, 1, longest=3)
SHORT = [sentence for sentence in TRAIN if len(sentence) < 4]  # for few steps


def vectors_of(words, dim=6, seed=3):
    rng = np.random.default_rng(seed)
    return WordVectors(words, rng.normal(size=(len(words), dim)).astype("float32"))


def corpus(name):
    return SHORT if name in PARSERS else TAGGED


def build(name, **options):
    if name in PARSERS:
        sizes = SMALL | PLAIN
    else:
        known = keras_tagging.build(name).settings
        sizes = TINY | DRY | WORDS_ONLY
        sizes = {key: value for key, value in sizes.items() if key in known}
        sizes["seed"] = 1
    if "embeddings" in options:
        sizes.pop("word_dim")  # it is that of the vectors
    return keras_tagging.build(name, **sizes | options)


@cache
def example(name):
    """A word of training and two that are not there."""
    return vectors_of([corpus(name)[0].tokens[0].lower(), "zebra", "unicorn"])


def table_of(model, feature="word"):
    table = model.network.get_layer(f"{feature}_embedding").embeddings
    return np.array(ops.convert_to_numpy(table))


def rows_of(model, words):
    """What the network reads for some words."""
    columns = {name: ["N"] * len(words) for name in model.features.columns}
    ids = model.encode([Sentence(words, None, columns)]).ids
    return table_of(model)[ids[:, model.features.names.index("word")]]


def shapes(model):
    """Of all that the optimizer keeps, and of the weights it trains."""
    variables = [*model.optimizer.variables, *model.trainable_variables]
    return {tuple(variable.shape) for variable in variables}


@pytest.mark.parametrize(
    "name, feature, trainable",
    [
        ("bigru", "word", False),
        ("i-rnn", "word", True),
        ("lstm-parser", "word", True),
        ("bigru", "vector", True),
        ("gru-parser", "vector", False),
    ],
)
def test_fit_save_and_load(name, feature, trainable, tmp_path):
    vectors, keyword = example(name), "embeddings" if feature == "word" else "vectors"
    trains = "trainable" if feature == "word" else "trainable_vectors"
    model = build(name, **{keyword: vectors, trains: trainable})
    model.adapt(corpus(name))
    before = table_of(model, feature)
    if feature == "vector":
        np.testing.assert_array_equal(before[-len(vectors.words) :], vectors.matrix)
    else:
        np.testing.assert_array_equal(rows_of(model, vectors.words), vectors.matrix)
    model.fit(corpus(name), epochs=1, verbose=0, restore_best=False)
    after = table_of(model, feature)
    assert np.array_equal(after, before) != trainable
    assert (after.shape in shapes(model)) == trainable
    assert model.settings[keyword] == "3 vectors given as an object"
    again = reloaded(model, tmp_path)
    np.testing.assert_array_equal(table_of(again, feature), after)
    assert (after.shape in shapes(again)) == trainable
    found, expected = (m.predict(corpus(name)) for m in (again, model))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])


# Which row a word finds


def adapted(words, vector_words, **options):
    options = {"normalise": "wu", "suffixes": (), "capitals": False} | options
    features = TokenFeatures(**options)
    features.adapt({"tokens": words})
    return features, joined_words(features, vector_words)


def test_words_are_found_by_their_normal_form():
    """As in the papers; worked out by hand."""
    training = ["The", "the", "12", "rare"]
    vectors = ["The", "the", "Paris", "PARIS", "17", "99", "1", "2"]
    _, (words, rows) = adapted(training, vectors)
    assert words == ["the", "99", "rare", "paris", "9"]
    assert rows == {"the": 1, "paris": 2, "99": 5, "9": 6}


def test_words_are_found_as_they_are_written():
    training = ["The", "the", "12", "rare", "paris", "34"]
    vectors = ["The", "the", "Paris", "PARIS", "17", "a", "a"]
    features, (words, rows) = adapted(training, vectors, lookup="cascade")
    assert words[:4] == ["99", "the", "paris", "rare"]
    assert words[4:] == ["The", "Paris", "PARIS", "17", "a"]
    # a training word without a vector has that of the first with its normal form
    expected = {"The": 0, "the": 1, "Paris": 2, "PARIS": 3, "17": 4, "a": 5}
    assert rows == expected | {"99": 4, "paris": 2}
    features.set_vocabularies({"word": words})
    tokens = ["The", "THE", "PARIS", "pARIS", "17", "18", "A", "zebra"]
    ids = features.encode({"tokens": tokens})[:, 0] - FIRST_ID
    found = [words[i] if i >= 0 else None for i in ids]
    expected = ["The", "the", "PARIS", "paris", "17", "99", "a", None]
    assert found == expected


@pytest.mark.parametrize("recipe", ["fast", "paper"])
def test_words_are_compared_in_nfc(recipe):
    vectors = vectors_of(["cafe\u0301", "caf\u00e9", "b"])
    model = build("bigru", recipe=recipe, embeddings=vectors)
    model.adapt(TAGGED)
    for word in ("cafe\u0301", "caf\u00e9"):
        np.testing.assert_array_equal(rows_of(model, [word]), vectors.matrix[:1])


def test_a_files_own_unknown_row():
    vectors = vectors_of(["a", "<unk>"])
    model = build("bigru", embeddings=vectors)
    model.adapt(TAGGED)
    np.testing.assert_array_equal(rows_of(model, ["x"]), vectors.matrix[1:])


# Evaluation, pretraining


@pytest.mark.parametrize("recipe", ["fast", "paper"])
def test_unseen_words_are_those_that_training_lacks(recipe, tmp_path):
    """Whatever the vectors know: counted as without vectors."""
    train = [Sentence(["the", "dog", "Paris", "12"], ["D", "N", "P", "M"])]
    # unseen: zebra, unicorn; in their normal form seen: PARIS, The, 34
    words = ["PARIS", "The", "34", "zebra", "unicorn", "dog"]
    dev = [Sentence(words, ["D"] * 6), Sentence([], []), Sentence(["zebra"], ["N"])]
    vectors = vectors_of(["the", "The", "PARIS", "zebra", "34", "dog"])
    for given in (None, vectors):
        model = build("bigru", recipe=recipe, embeddings=given)
        model.adapt(train)
        if given:
            model = reloaded(model, tmp_path)
        with computing_once(model):
            tagged = model.tag(dev)
            figures = model.evaluate(dev, return_dict=True)
        hits = [tagged[0][3] == "D", tagged[0][4] == "D", tagged[2][0] == "N"]
        assert figures["oov_accuracy"] == pytest.approx(np.mean(hits))
    bare = build("bigru", words=False, suffixes=(1,))
    bare.adapt(train)
    assert math.isnan(bare.evaluate(dev, return_dict=True)["oov_accuracy"])


def test_embeddings_and_the_feature_of_k18_are_two_tables():
    words, feature = vectors_of(["zebra", "dog"]), vectors_of(["zebra", "x"], 5, 4)
    options = {"embeddings": words, "vectors": feature, "trainable": False}
    model = build("bigru", recipe="paper", **options)
    model.adapt(TAGGED)
    assert model.features.names[:2] == ("word", "vector")
    np.testing.assert_array_equal(rows_of(model, words.words), words.matrix)
    table = model.network.get_layer("vector_embedding")
    np.testing.assert_array_equal(table.get_weights()[0][2:], feature.matrix)
    # the feature is trained further, as in the paper
    before = table.get_weights()[0].copy()
    model.fit([Sentence(["zebra"] * 2, ["N", "V"])], epochs=1, verbose=0)
    assert abs(table.get_weights()[0] - before).max() > 0
    np.testing.assert_array_equal(rows_of(model, words.words), words.matrix)


# Sources


@pytest.mark.parametrize("kind", ["file", "keyed"])
def test_sources(kind, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))
    vectors = example("bigru")
    source, text = KeyedVectors(6), "3 vectors given as an object"
    source.add_vectors(vectors.words, vectors.matrix)
    if kind == "file":
        text = str(tmp_path / "vectors")
        source.save_word2vec_format(text)
        source = text
    model = build("bigru", embeddings=source)
    model.adapt(TAGGED)
    found = rows_of(model, vectors.words)
    np.testing.assert_allclose(found, vectors.matrix, rtol=1e-6)
    assert model.settings["embeddings"] == text
    (tmp_path / "vectors").unlink(missing_ok=True)  # no file is needed again
    again = reloaded(model, tmp_path)
    np.testing.assert_array_equal(rows_of(again, vectors.words), found)
