"""The way of a CRF through a tagger: training, prediction, evaluation."""

import math

import keras
import numpy as np
import pytest
from conftest import DRY, TINY, WORDS_ONLY, random_sentences, random_tagger
from reference import crf as reference

import keras_tagging
from keras_tagging import Sentence

SENTENCES = [s.tokens for s in random_sentences(12, 5, longest=4)] + [[], ["zebra"]]


@pytest.fixture(scope="module")
def model(train_sentences):
    """Random weights: to be read, not changed."""
    return random_tagger(train_sentences, 2, "bilstm-crf")


def field(model, words):
    """The emissions of one sentence, computed alone, and the weights of the CRF."""
    encoded = model.encode([Sentence(words)])
    ids, _, _ = encoded.batch(np.array([0]))
    emissions = np.asarray(model.predict_on_batch(ids)["emissions"][0])
    return emissions, model.network.get_layer("crf").get_weights()


# Prediction


def test_tag_gives_the_best_path_and_predict_the_marginals(model):
    tagged, rows = model.tag(SENTENCES), model.predict(SENTENCES)
    differ = 0
    for words, tags, found in zip(SENTENCES, tagged, rows, strict=True):
        assert found.shape == (len(words), len(model.tags))
        if not words:
            assert tags == []
            continue
        emissions, weights = field(model, words)
        path = reference.best_path(emissions, weights)
        assert tags == [model.tags[i] for i in path]
        marginals = reference.marginals(emissions, weights)
        np.testing.assert_allclose(found, marginals, rtol=1e-3, atol=1e-6)
        differ += path != marginals.argmax(-1).tolist()
    assert differ > 0  # the path is not the best of predict everywhere


def test_evaluate_counts_the_path_and_sums_the_marginals(model):
    sentences = random_sentences(9, 6) + [Sentence(["the", "dog"], ["D", "X"])]
    sentences += [Sentence([], [])]
    words = ["the", "dog", "barks"]
    sentences += [Sentence(words, model.tag([words])[0])]  # right for sure
    right, losses = [], []
    rows, tagged = model.predict(sentences), model.tag(sentences)
    for sentence, row, tags in zip(sentences, rows, tagged, strict=True):
        right += [a == b for a, b in zip(sentence.tags, tags, strict=True)]
        for tag, p in zip(sentence.tags, row, strict=True):
            if tag in model.tags:
                losses.append(-math.log(p[model.tags.index(tag)]))
    found = model.evaluate(sentences, return_dict=True)
    assert found["loss"] == pytest.approx(np.mean(losses), rel=1e-4)
    assert found["accuracy"] == pytest.approx(np.mean(right))
    assert 0 < found["accuracy"] < 1


# Training


@pytest.fixture(scope="module")
def batch(train_sentences):
    """Sentences of several lengths, two gold tags unknown."""
    sentences = [Sentence(s.tokens, list(s.tags)) for s in train_sentences[:6]]
    sentences[0].tags[0] = sentences[3].tags[-1] = "X"
    return [s for s in sentences if len(s.tokens) < 6]


def test_the_loss_is_the_mean_over_real_tokens(model, batch):
    encoded = model.encode(batch, targets=True)
    ids, targets, mask = encoded.batch(np.arange(len(batch)))
    assert (mask == 0).any() and (targets[mask > 0] < 0).any()
    total = 0
    for i, sentence in enumerate(batch):
        emissions, weights = field(model, sentence.tokens)
        gold = targets[i, : len(sentence.tokens)]
        total -= reference.log_likelihood(emissions, gold, weights)
    outputs = model(ids, training=False)
    tensors = [keras.ops.convert_to_tensor(x) for x in (targets, mask)]
    found = model.compute_loss(None, tensors[0], outputs, tensors[1])
    found = float(keras.ops.convert_to_numpy(found))
    assert found == pytest.approx(total / mask.sum(), rel=1e-4)


def test_it_learns_what_only_transitions_can_tell():
    """Half of the sentences are A B A B ..., half B A B A ...; words tell nothing.

    Of a softmax the loss is log 2 a token at the least, of a CRF log 2 a sentence.
    """
    options = TINY | WORDS_ONLY | DRY
    options |= {"learning_rate": 0.3, "epochs": 18, "decay": None}
    model, tags = keras_tagging.build("bilstm-crf", **options), ["A", "B"] * 3
    sentences = [Sentence(["w"] * 6, tags), Sentence(["w"] * 6, tags[::-1])]
    history = model.fit([*sentences, Sentence([], [])], verbose=0)
    last = {name: values[-1] for name, values in history.history.items()}
    assert math.log(2) / 6 <= last["loss"] < 0.15
    # the metrics of training are those of the marginals, which are even
    assert last["cross_entropy"] == pytest.approx(math.log(2), rel=0.05)
    assert last["accuracy"] == pytest.approx(0.5, abs=0.1)
    model.run_eagerly = True
    [found] = model.tag([["w"] * 6])
    assert found in (tags, tags[::-1])


def test_the_metrics_of_training_are_those_of_evaluate(train_sentences):
    """One batch, no dropout: what the epoch logs is what the start evaluates to."""
    options = {"decoder": "crf", "token_budget": 9999, **DRY}
    model = random_tagger(train_sentences, 5, **options)
    model.run_eagerly = True
    start = model.evaluate(train_sentences, return_dict=True)
    rows = model.predict(train_sentences)
    right = [
        model.tags[row.argmax()] == tag
        for sentence, matrix in zip(train_sentences, rows, strict=True)
        for tag, row in zip(sentence.tags, matrix, strict=True)
    ]
    logs = model.fit(train_sentences, epochs=1, verbose=0).history
    assert logs["cross_entropy"] == pytest.approx([start["loss"]], rel=1e-4)
    assert logs["accuracy"] == pytest.approx([np.mean(right)], abs=1e-6)
