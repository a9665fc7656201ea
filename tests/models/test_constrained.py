"""Chunk tags that come out of a tagger are consistent: how it is chosen, and kept."""

import random
from itertools import product

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, randomize
from models.served import check_served
from models.test_crf_tagger import field
from reference import crf as reference

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.metrics import is_consistent
from keras_tagging.models.files.checks import checked_config

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
WORDS = "a b c d e".split()
decoders = pytest.mark.parametrize("decoder", ["softmax", "crf"])


def iob2(count, seed=1, longest=5):
    """Random sentences, each tagged by a random consistent path."""
    rng = random.Random(seed)
    found = []
    while len(found) < count:
        size = rng.randint(1, longest)
        tags = rng.choices(TAGS, k=size)
        if is_consistent(tags, "iob2"):
            found.append(Sentence(rng.choices(WORDS, k=size), tags))
    return found


def iob1(sentences):
    """B only where a chunk of the same type ends just before."""
    found = []
    for sentence in sentences:
        tags = [
            "I" + tag[1:] if tag[0] == "B" and (before[1:] != tag[1:]) else tag
            for before, tag in zip(["O", *sentence.tags], sentence.tags, strict=False)
        ]
        found.append(Sentence(sentence.tokens, tags))
    return found


def adapted(sentences, **options):
    model = keras_tagging.build("bigru", **TINY, **WORDS_ONLY, **options)
    model.adapt(sentences)
    model.run_eagerly = True
    return model


TRAINING = iob2(40)
SENTENCES = [s.tokens for s in iob2(25, 2)] + [[], ["never-seen"]]


@pytest.fixture(scope="module", params=["softmax", "crf"])
def model(request):
    """Random weights that contradict themselves: to be read, not changed."""
    model = randomize(adapted(TRAINING, decoder=request.param), 4)
    model.run_eagerly = False  # it predicts for many batches
    logits = model.network.get_layer("logits")
    logits.kernel.assign(3 * logits.kernel)
    return model


def scores(model, words):
    """The scores of one sentence, computed alone, and the weights of the chain."""
    if model.settings["decoder"] == "crf":
        return field(model, words)
    ids, _, _ = model.encode([Sentence(words)]).batch(np.array([0]))
    n = len(model.tags)
    weights = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    return model.predict_on_batch(ids)["logits"][0], weights


def test_the_best_consistent_path_comes_out(model):
    changed = 0
    assert model.chunk_scheme == "iob2" and sorted(model.tags) == sorted(TAGS)
    for words, tags in zip(SENTENCES, model.tag(SENTENCES), strict=True):
        if not words:
            assert tags == []
            continue
        paths, values = reference.paths(*scores(model, words))
        named = [[model.tags[i] for i in path] for path in paths]
        fine = np.array([is_consistent(path, "iob2") for path in named])
        assert tags == named[np.where(fine, values, -np.inf).argmax()]
        changed += values[~fine].max(initial=-np.inf) > values[fine].max()
    assert changed > 3


def test_probabilities_and_beta_are_those_of_the_tokens(model):
    rows = model.predict(SENTENCES)
    tags = model.tag(SENTENCES)
    for row, path, pairs, ranked in zip(
        rows,
        tags,
        model.tag(SENTENCES, probabilities=True),
        model.tag(SENTENCES, beta=1.0),
        strict=True,
    ):
        assert [tag for tag, _ in pairs] == path
        expected = [p[model.tags.index(tag)] for p, tag in zip(row, path, strict=True)]
        np.testing.assert_allclose([p for _, p in pairs], expected, rtol=1e-5)
        best = [model.tags[i] for i in row.argmax(-1)]
        assert [found[0][0] for found in ranked] == best


def test_a_file_from_before_decodes_as_it_did(model):
    """It has neither the keyword nor the scheme."""
    config = model.get_config()
    del config["chunk_scheme"]
    settings = {k: v for k, v in config["settings"].items() if k != "constrained"}
    before = type(model).from_config(config | {"settings": settings})
    before.set_weights(model.get_weights())
    before.run_eagerly = True
    assert before.chunk_scheme is None
    tags = before.tag(SENTENCES)
    assert not all(is_consistent(path, "iob2") for path in tags)
    assert tags != model.tag(SENTENCES)


def test_saved_model(model, tmp_path):
    if model.settings["decoder"] == "crf":  # the other is in test_served_columns.py
        check_served(model, tmp_path / "served", SENTENCES)


# How it is chosen


@decoders
@pytest.mark.parametrize("constrained", [None, True])
def test_the_scheme_is_that_of_the_training_tags(decoder, constrained):
    """The names alone would say IOB2: each type has a B."""
    sentences = iob1(TRAINING)
    assert {"B-X", "B-Y"} <= {tag for s in sentences for tag in s.tags}
    model = adapted(sentences, decoder=decoder, constrained=constrained)
    assert model.chunk_scheme == "iob1"
    randomize(model, 1)
    assert all(is_consistent(tags, "iob1") for tags in model.tag(SENTENCES))


def test_tags_that_are_no_chunks_are_free(train_sentences):
    model = adapted(train_sentences)
    assert model.chunk_scheme is None
    with pytest.raises(ValueError, match="constrained=True is for chunk tags, not"):
        adapted(train_sentences, constrained=True)


def test_inconsistent_training_tags_are_told():
    sentences = [*TRAINING, Sentence(["a", "b"], ["O", "I-X"])]
    with pytest.warns(UserWarning, match="1 of 41 training sentences .* IOB2") as found:
        model = adapted(sentences)
    assert model.chunk_scheme is None and len(found) == 1
    assert adapted(sentences, constrained=True).chunk_scheme == "iob2"
    with pytest.warns(UserWarning, match="'B_X' and the others are not read as tags"):
        adapted([Sentence(["a", "b"], ["B_X", "O"])], constrained=False)
    assert adapted(sentences, constrained=False).chunk_scheme is None


def test_rare_tags_that_are_left_out_leave_a_path():
    """Without B-Y no path leads to I-Y."""
    sentences = [s for s in TRAINING if "B-Y" not in s.tags]
    sentences += [Sentence(["a", "b", "c"], ["B-Y", "I-Y", "I-Y"])]
    model = randomize(adapted(sentences, min_count=2), 1)
    assert "I-Y" in model.tags and "B-Y" not in model.tags
    for path in model.tag(SENTENCES):
        assert is_consistent(path, "iob2") and "I-Y" not in path


@pytest.mark.parametrize("scheme", ["iob3", 2, ["iob2"]])
def test_a_scheme_that_cannot_be_is_refused(scheme):
    config = adapted(TRAINING).get_config() | {"chunk_scheme": scheme}
    with pytest.raises(ValueError, match="chunk_scheme is"):
        checked_config(keras_tagging.Tagger, config)


def test_all_pairs_under_xla():
    """Static shapes and a compiler change no tag."""
    model = randomize(adapted(TRAINING), 3)
    pairs = [list(pair) for pair in product(WORDS, repeat=2)]
    tags = model.tag(pairs)
    model.compile("adam", jit_compile=keras.backend.backend() == "tensorflow")
    assert model.tag(pairs) == tags
