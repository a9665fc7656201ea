"""Taggers with fewer vectors, or vectors of half precision."""

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize

import keras_tagging
from keras_tagging.vectors import WordVectors

TAGGED = random_sentences(12, 1)
OTHERS = ["zebra", "gnu", "yak", "emu"]
KNOWN = "dog"
GIVEN = WordVectors(
    [KNOWN, *OTHERS], np.random.default_rng(1).normal(size=(5, 4)).astype("float32")
)


@pytest.fixture(scope="module", params=["embeddings", "vectors"])
def model(request):
    found = keras_tagging.build("bigru", **TINY | WORDS_ONLY | {request.param: GIVEN})
    found.adapt(TAGGED)
    found.run_eagerly = True
    return randomize(found)


def predict(model, *words):
    model.run_eagerly = True
    return model.predict([[word] for word in words], verbose=0)


def test_the_first_words_stay_and_the_others_are_unknown(model, tmp_path):
    small = model.shrink_vectors(2, dtype="float32")
    name = "vector" if "vector" in model.vocabularies else "word"
    kept = ["zebra"] if name == "vector" else ["zebra", "gnu"]
    words = [KNOWN, *kept, "unheard"]
    for a, b in zip(predict(small, *words), predict(model, *words), strict=True):
        np.testing.assert_array_equal(a, b)
    lost, unknown = predict(small, "emu", "unheard")
    np.testing.assert_allclose(lost, unknown, atol=1e-6)
    before, after = small.metadata["shrunk"]["words"][name]
    assert (before, after) == tuple(len(m.vocabularies[name]) for m in (model, small))
    assert before - after == len(OTHERS) - len(kept)
    small.save(tmp_path / "model.keras")
    again = keras_tagging.load(tmp_path / "model.keras")
    assert again.vocabularies == small.vocabularies
    assert again.metadata["shrunk"]["dtype"] == "float32"


def test_half_precision_rounds_the_vectors_alone(model):
    small = model.shrink_vectors()
    assert small.vocabularies == model.vocabularies
    for a, b in zip(small.network.weights, model.network.weights, strict=True):
        a, b, name = np.asarray(a), np.asarray(b), a.path.split("/")[0]
        table = "vector" if "vector" in model.vocabularies else "word"
        if name == f"{table}_embedding":
            b = b.astype("float16").astype("float32")
        np.testing.assert_array_equal(a, b)


def test_what_is_refused(model, tagger):
    with pytest.raises(ValueError, match="words=-1: give the number"):
        model.shrink_vectors(-1)
    with pytest.raises(ValueError, match="dtype"):
        model.shrink_vectors(dtype="int8")
    with pytest.raises(ValueError, match="no vectors of words that training lacks"):
        tagger.shrink_vectors(1)
    with pytest.raises(ValueError, match="no vocabularies"):
        keras_tagging.build("bigru").shrink_vectors(1)
