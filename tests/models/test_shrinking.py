"""Models with fewer vectors, or vectors of half precision."""

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, random_tagger, reloaded
from models.parsers import TRAIN, random_parser

import keras_tagging
from keras_tagging import Pipeline, Sentence
from keras_tagging.vectors import WordVectors

TAGGED = random_sentences(12, 1)
OTHERS = ["zebra", "gnu", "yak", "emu"]
KNOWN = "dog"
GIVEN = WordVectors(
    [KNOWN, *OTHERS], np.random.default_rng(1).normal(size=(5, 4)).astype("float32")
)


@pytest.fixture(scope="module", params=["embeddings", "vectors"])
def model(request):
    found = random_tagger(TAGGED, **{request.param: GIVEN})
    found.run_eagerly = True
    return found


@pytest.fixture(scope="module")
def parser():
    """With a word of training, and others, among its vectors."""
    words = [OTHERS[0], TRAIN[0].tokens[1].lower(), *OTHERS[1:]]
    matrix = np.random.default_rng(2).normal(size=(5, 4)).astype("float32")
    return random_parser("ffn-parser", embeddings=WordVectors(words, matrix))


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
    again = reloaded(small, tmp_path)
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


@pytest.mark.usefixtures("eager")
def test_parsers_keep_their_trees(parser, tmp_path):
    small = parser.shrink_vectors(2, dtype="float32")
    words = parser.vocabularies["word"]
    assert words[parser.training_words :] == OTHERS
    assert small.vocabularies == parser.vocabularies | {"word": words[:-2]}
    assert small.training_words == parser.training_words
    known = [Sentence([*OTHERS[:2], *s.tokens[:1]], None, {}) for s in TRAIN[:9]]
    known = [Sentence(s.tokens, None, {"pos": ["N"] * len(s)}) for s in known]
    expected = parser.parse(known)
    assert small.parse(known) == expected
    small.save(tmp_path / "small.keras")
    assert keras_tagging.load(tmp_path / "small.keras").parse(known) == expected


def test_words_to_keep_by_name(model, parser):
    small = model.shrink_vectors(["emu", "gnu", "heard"])
    name = "vector" if "vector" in model.vocabularies else "word"
    known = [KNOWN] if name == "vector" else []  # of training, so it stays
    first = model.training_words if name == "word" else 0
    assert small.vocabularies[name][first:] == [*known, "gnu", "emu"]
    for a, b in zip(predict(small, "emu"), predict(model, "emu"), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)  # in half precision
    least = model.shrink_vectors(["emu", "gnu", "heard"], keep=None)
    assert least.vocabularies[name][first:] == ["gnu", "emu"]
    # whose words have one normal form
    last = parser.shrink_vectors({"YAK"}).vocabularies["word"]
    assert last[parser.training_words :] == ["yak"]


def cased_tagger(word, lookup="cascade", **given):
    """A tagger that learns from one word, with vectors of which most are cased."""
    words = [*OTHERS, "Rome", "ROME", "rome", "1999", "00", "0", "Oslo"]
    matrix = np.random.default_rng(1).normal(size=(11, 4)).astype("float32")
    options = {"normalise": "kadari", "lookup": lookup}
    options |= {"vectors": WordVectors(words, matrix)} | given
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY | options)
    tags = ["X", "Y"]
    model.adapt([Sentence([word, "unheard"], tags, {"pos": tags, "xpos": tags})])
    model.run_eagerly = True
    return model


@pytest.mark.parametrize(
    ("word", "lookup", "keep", "kept"),
    [
        # it has a vector of its own, but the model knows the word as rome only
        ("Rome", "cascade", (), ["Rome", "ROME", "rome"]),
        ("Rome", "normalised", (), ["rome"]),
        ("1999", "cascade", (), ["0"]),
        ("1999", "cascade", ["1999", "Oslo", "never"], ["1999", "0", "Oslo"]),
        ("1999", "cascade", [["1998"]], ["0"]),
        ("1999", "normalised", ["1999", "Oslo"], ["0"]),
    ],
)
def test_vectors_of_training_words_stay(word, lookup, keep, kept):
    model = cased_tagger(word, lookup)
    small = model.shrink_vectors(1, dtype="float32", keep=keep)
    assert small.vocabularies["vector"] == ["zebra", *kept]
    words = ["zebra", "unheard", *kept]
    for a, b in zip(predict(small, *words), predict(model, *words), strict=True):
        np.testing.assert_array_equal(a, b)


def test_all_parts_of_a_pipeline_are_shrunk(parser):
    words = [TRAIN[0].tokens[1].lower(), *OTHERS]
    matrix = np.random.default_rng(2).normal(size=(5, 4)).astype("float32")
    tagger = keras_tagging.build(
        "bigru", **TINY | WORDS_ONLY, vectors=WordVectors(words, matrix), tags="pos"
    )
    tagger.adapt(TRAIN)
    pipeline = Pipeline(tagger=tagger, parser=parser)
    pipeline.metadata = {"scores": {}}
    small = pipeline.shrink_vectors(3)
    assert small.tagger.vocabularies["vector"] == [words[0], "zebra", "gnu"]
    kept = small.parser.vocabularies["word"]
    assert kept[parser.training_words :] == OTHERS[:3]
    assert small.metadata == pipeline.metadata
    assert pipeline.tagger is tagger and pipeline.parser is parser
    plain = random_parser("ffn-parser")
    assert Pipeline(tagger=tagger, parser=plain).shrink_vectors(1).parser is plain
    with pytest.raises(ValueError, match="no model of this pipeline has vectors"):
        Pipeline(parser=plain).shrink_vectors(1)


def test_a_parser_of_an_earlier_version(parser):
    old = type(parser).from_config({**parser.get_config(), "training_words": None})
    with pytest.raises(ValueError, match="an earlier version saved it.*train it again"):
        old.shrink_vectors(1)
