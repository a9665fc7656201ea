"""`evaluate` and `predict` take Keras' keywords."""

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences
from models.parsers import DEV, TRAIN, build

import keras_tagging


@pytest.fixture(scope="module")
def parser():
    model = build("ffn-parser")
    model.adapt(TRAIN)
    return model


@pytest.fixture(params=["tagger", "parser"])
def given(request, dev_sentences):
    """A model, and sentences for it, an empty one among them."""
    sentences = dev_sentences if request.param == "tagger" else DEV
    empty = keras_tagging.Sentence([], [], dict.fromkeys(sentences[0].columns, []))
    return request.getfixturevalue(request.param), [*sentences, empty]


def close(found, expected):
    return all(
        np.allclose(a, b, atol=1e-5) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize(
    "keywords",
    [{"verbose": 0}, {"verbose": "auto"}, {"batch_size": 3}, {"batch_size": None}]
    + [{"verbose": 1}, {"verbose": 2}],
    ids=str,
)
def test_keywords_of_keras_change_no_figure(given, keywords, capsys):
    model, sentences = given
    expected = model.evaluate(sentences), model.predict(sentences)
    assert not capsys.readouterr().out
    figures = model.evaluate(sentences, **keywords)
    printed = capsys.readouterr().out
    assert np.allclose(figures, expected[0], atol=1e-6, equal_nan=True)
    assert close(model.predict(sentences, **keywords), expected[1])
    verbose = keywords.get("verbose") in (1, 2)
    total = f"{len(sentences)}/{len(sentences)}"
    assert (total in printed and f"{model.figures[1]}: " in printed) == verbose
    assert (total in capsys.readouterr().out) == verbose


def test_batch_sizes_that_cannot_be_are_refused(given):
    model, sentences = given
    for call in (model.evaluate, model.predict):
        for size in (0, -1, 2.5, "3"):
            with pytest.raises(ValueError, match="batch_size"):
                call(sentences, batch_size=size)
        with pytest.raises(TypeError, match="unexpected keyword argument 'verbos'"):
            call(sentences, verbos=0)


def test_calls_have_the_size_that_is_asked_for(tagger, monkeypatch):
    rows = []
    own = type(tagger).predict_on_batch

    def call(self, ids):
        rows.append(len(ids))
        return own(self, ids)

    monkeypatch.setattr(type(tagger), "predict_on_batch", call)
    sentences = random_sentences(10, 3)
    tagger.predict(sentences, batch_size=4)
    assert len(rows) == 3 and max(rows) <= 4
    tagger.evaluate(sentences, batch_size=5)
    assert len(rows) == 5


@pytest.mark.parametrize("network", [None, "cnn"])
def test_one_graph_serves_batches_of_all_shapes(network, train_sentences):
    """Keras would trace one for the first batch, and one for all others."""
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY, character_network=network)
    model.adapt(train_sentences)
    step, traced = model.predict_step, []
    model.predict_step = lambda data: traced.append(data) or step(data)
    for sentences in (train_sentences[:3], train_sentences[:1], train_sentences):
        model.predict(sentences)
    assert len(traced) == 1
    model.compile(run_eagerly=True)
    model.predict(train_sentences[:2])
    assert len(traced) == 2 and model.predict_function is not None


def test_loss_and_accuracy_by_name_are_the_models_own(train_sentences):
    told = []
    named = {"loss": "sparse_categorical_crossentropy", "metrics": ["acc"]}
    for options in ({}, named):
        model = keras_tagging.build("bigru", **TINY)
        model.compile("sgd", **options)
        told.append(model.fit(train_sentences, epochs=1, verbose=0).history)
    assert told[0] == told[1] and "accuracy" in told[0]
    for refused in ("mse", keras.losses.SparseCategoricalCrossentropy()):
        with pytest.raises(ValueError, match="would count padding: give sparse"):
            model.compile("sgd", refused)


def test_calls_for_arrays_say_what_is_for_sentences(tagger, train_sentences):
    for given in ([["a"]], ["a"], train_sentences, train_sentences[0]):
        for name in ("__call__", "train_on_batch", "test_on_batch"):
            with pytest.raises(ValueError, match=f"^{name} takes arrays.*: call model"):
                getattr(tagger, name)(given)
