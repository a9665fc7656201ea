"""Taggers that read all characters of their words.

SavedModels that do are in test_saved_model.py, parsers in test_parser_saved.py.
"""

import keras
import numpy as np
import pytest
from cells.cases import named_weights as named
from conftest import TINY, WORDS_ONLY, random_sentences, randomize, short
from models.test_crf_tagger import field
from reference import characters, coupled_lstm, skip_stack

import keras_tagging
from keras_tagging import Sentence

SMALL = {"character_units": 3, "character_embedding_dim": 4, "max_characters": 8}
WORDS = ["the", "Dog", "unheard-of", "barks", "ß", "the", "wife\\/mother-in-law"]


def build(name="bigru", kind="lstm", **options):
    return keras_tagging.build(name, character_network=kind, **TINY | SMALL | options)


# a loop and a convolution: `tests/layers` has all kinds
@pytest.fixture(scope="module", params=["gru", "cnn"])
def model(request, train_sentences):
    """Random weights: to be read, not changed."""
    model = build(kind=request.param, **WORDS_ONLY)
    model.adapt(train_sentences)
    model.run_eagerly = True
    return randomize(model, 2)


# Lample et al. (2016)


@pytest.fixture(scope="module")
def lample(train_sentences):
    sizes = {"units": 5, "word_dim": 4, "character_units": 3}
    sizes |= {"character_embedding_dim": 2, "seed": 1}
    model = keras_tagging.build("bilstm-crf", recipe="paper", **sizes)
    model.adapt(train_sentences)
    model.run_eagerly = True
    return randomize(model, 5)


@pytest.mark.parametrize("words", [WORDS, WORDS[:1], ["x" * 50]])
def test_the_recipe_paper_is_the_network_of_lample_et_al(lample, words):
    """From the ids of words and characters to the scores that the CRF is given."""
    layer = lample.network.get_layer
    encoder = layer("character_network")
    [table] = encoder.table.get_weights()
    letters = {c: i for i, c in enumerate(lample.vocabularies["letters"], 2)}
    known = {word: i for i, word in enumerate(lample.vocabularies["word"], 2)}
    vectors = []
    for word in words:
        read = word if len(word) <= 40 else word[:20] + word[-20:]
        spelled = table[[letters.get(c, 1) for c in read]].astype("float64")
        both = [named(rnn.cell) for rnn in encoder.directions]
        normal = word.lower().split("\\/")[-1]
        row = layer("word_embedding").get_weights()[0][known.get(normal, 1)]
        of_characters = characters.recurrent("coupled-lstm", spelled, *both)
        vectors.append(np.concatenate([row, of_characters]))
    stack = layer("stack")
    layers = [(named(stack.forward_layers[0]), named(stack.backward_layers[0]))]
    h = skip_stack.stack(coupled_lstm, np.array(vectors), layers, {}, "top")
    kernel, bias = layer("hidden_layer").get_weights()
    h = np.tanh(h @ kernel + bias)
    kernel, bias = layer("logits").get_weights()
    emissions, _ = field(lample, words)
    np.testing.assert_allclose(emissions, h @ kernel + bias, rtol=1e-4, atol=1e-4)


def test_sizes_of_the_paper():
    """Section 5.1: LSTMs of 100 and 25, dropout 0.5, SGD at 0.01, clipping at 5."""
    model = keras_tagging.build("bilstm-crf", recipe="paper", seed=1)
    model.adapt(random_sentences(3, 1))
    encoder = model.network.get_layer("character_network")
    assert [rnn.cell.units for rnn in encoder.directions] == [25, 25]
    [(_, size)] = [w.shape for w in encoder.table.weights]
    assert size == 25
    stack = model.network.get_layer("stack")
    assert type(stack.forward_layers[0].cell).__name__ == "CoupledLSTMCell"
    kernel = stack.forward_layers[0].cell.kernel
    assert tuple(kernel.shape) == (100 + 2 * 25, 3 * 100)
    hidden = model.network.get_layer("hidden_layer")
    assert tuple(hidden.kernel.shape) == (200, 100)
    assert hidden.activation is keras.activations.tanh
    assert model.network.get_layer("input_dropout").rate == 0.5


# Tags


def test_a_token_alone_and_beside_long_ones(model):
    long = Sentence(["the", "y" * 100_000, "dog"])
    many = [long, *random_sentences(4, 9, longest=4), Sentence([])]
    rows = model.predict(many)
    for sentence, together in zip(many, rows, strict=True):
        [alone] = model.predict([sentence])
        np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-5)


def test_rows_of_padding_change_nothing(model):
    encoded = model.encode(random_sentences(5, 3))
    [one, _, mask], [other, _, _] = (
        encoded.batch(np.arange(5), *sizes, **more)
        for sizes, more in (((1,), {}), ((8,), {"batch_size": 8}))
    )
    assert one["letters"].shape != other["letters"].shape
    real = mask > 0
    found = np.asarray(model.predict_on_batch(one))[real]
    padded = np.asarray(model.predict_on_batch(other))[:5, : real.shape[1]][real]
    np.testing.assert_allclose(padded, found, rtol=1e-4, atol=1e-5)


# Training


@pytest.mark.usefixtures("eager")
def test_every_weight_is_trained(train_sentences):
    model = build(dropout=0.0, unknown_rate=0.0, **WORDS_ONLY)
    model.adapt(train_sentences)
    randomize(model, 4)
    encoder = model.network.get_layer("character_network")
    before = encoder.get_weights()
    model.fit(short(train_sentences, 5), epochs=1, verbose=0)
    assert len(before) == 7
    for variable, old, new in zip(
        encoder.weights, before, encoder.get_weights(), strict=True
    ):
        assert np.abs(new - old).max() > 0, variable.path
