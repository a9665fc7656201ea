"""The examples of docs/distillation.rst run as printed, but with fewer sentences."""

import re

import keras
import pytest
from conftest import WORDS_ONLY, short
from pages import examples

import keras_tagging


@pytest.fixture
def one_epoch():
    keras.config.set_max_epochs(1)
    yield
    keras.config.set_max_epochs(None)


@pytest.mark.filterwarnings("ignore:Limiting epochs")
@pytest.mark.filterwarnings("ignore:member 2 of the ensemble")
def test_pupils_learn(eager, one_epoch, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    corpus = keras_tagging.load_corpus("demo")
    train, dev = (sorted(short(x, 99), key=len) for x in (corpus.train, corpus.dev))
    corpus.train, corpus.dev = train[:8], dev[:4]
    monkeypatch.setattr(keras_tagging, "load_corpus", lambda name: corpus)
    build = keras_tagging.build

    def small(name, **settings):
        sizes = {"word_dim": 4, "units": 4, "num_layers": 1, **WORDS_ONLY}
        return build(name, **settings | sizes)

    monkeypatch.setattr(keras_tagging, "build", small)
    with_gold, without, files, several = examples("distillation")
    names: dict = {}
    exec(with_gold, names)
    exec(files, names)
    assert len(names["targets"]) == len(corpus.train)
    exec(without, names)
    assert set(names["pupil"].tags) <= set(names["teacher"].tags)
    several = re.sub(".*export.*", "", several)  # which takes a while; tested elsewhere
    members = dict.fromkeys(["first", "second", "third"], names["teacher"])
    members["pupil"] = keras_tagging.build("bigru")
    exec(several, {**names, **members, "sentences": corpus.dev})
    assert keras_tagging.load("runs/ensemble").tags == names["teacher"].tags
