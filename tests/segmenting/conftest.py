"""Segmenters that have learnt five treebanks."""

import pytest
from segmenting.treebanks import LANGUAGES, TINY, sentences_of

import keras_tagging


@pytest.fixture(scope="session")
def treebanks():
    return {language: sentences_of(language) for language in LANGUAGES}


@pytest.fixture(scope="session")
def everything(treebanks):
    return [sentence for sentences in treebanks.values() for sentence in sentences]


@pytest.fixture(scope="session")
def segmenter(everything):
    """One that learnt all five by heart: to be read, not changed."""
    model = keras_tagging.build(
        "segmenter",
        units=24,
        character_dim=16,
        window=40,
        context=20,
        batch_size=13,
        learning_rate=0.03,
        dropout=0.0,
        layer_dropout=0.0,
        unknown_rate=0.0,
        epochs=40,
        seed=1,
    )
    model.fit(everything, verbose=0)
    return model


@pytest.fixture(scope="session")
def untrained(everything):
    """Random labels: tokens and sentences end anywhere."""
    model = keras_tagging.build("segmenter", **TINY)
    model.adapt(everything)
    return model
