"""The taggers that read their own labels: their road, sizes, equations and search.

Dinarelli & Tellier (2016), sections 2.2 to 2.5.
"""

import keras
import numpy as np
import pytest
from conftest import WORDS_ONLY, check_close, computing_once, random_sentences, reloaded
from models.served import check_served
from reference import context_window, label_rnn
from scipy.special import log_softmax, softmax

import keras_tagging
from keras_tagging import Sentence

SENTENCES = random_sentences(16, 4, longest=4)
STRANGE = [["zebra", "the", "dog", "sees", "a", "cat", "1984"], [], ["Paris"]]
SIZES = {"units": 5, "word_dim": 4, "label_dim": 3, "window": 3, "label_context": 2}
SIZES |= {"seed": 3, "batch_size": 16, "learning_rate": 0.05}
SIZES |= {"dropout": 0.1, "layer_dropout": 0.0, "pretrain": None}
# Network -> the settings that tell it from the others
NETWORKS = {
    "elman-rnn": {"label_input": None, "hidden_context": 2},
    "jordan-rnn": {"label_input": "probabilities", "hidden_context": 0},
    "i-rnn": {"label_input": "embedding", "hidden_context": 0},
    "ie-rnn": {"label_input": "embedding", "hidden_context": 2},
}
DECODER = {"decoder": "i-rnn", "label_units": 4, "label_dim": 3, "label_context": 2}
DECODER |= {"units": 4, "num_layers": 1, "word_dim": 4, "seed": 3, **WORDS_ONLY}
DECODER |= {"batch_size": 16, "learning_rate": 0.05}
DECODER |= {"dropout": 0.0, "layer_dropout": 0.0}
DIRECTIONS = ("forward", "backward", "bidirectional")
# Everything that is fed back, and each direction, once; then the I-RNN as a decoder.
ROADS = [
    ("elman-rnn", {"direction": "backward"}),
    ("jordan-rnn", {"direction": "forward"}),
    ("ie-rnn", {"direction": "bidirectional"}),
    ("bigru", {"beam_width": 3, "learning_rate": 0.1}),
    pytest.param(
        "shortcut-bilstm",
        {"beam_width": 3, "learning_rate": 0.1},
        marks=pytest.mark.slow,
    ),
]
networks = pytest.mark.parametrize("name", NETWORKS)


def randomize(model, seed):
    """Random weights with which many tags come out: small biases."""
    rng = np.random.default_rng(seed)
    model.network.set_weights(
        [
            rng.normal(0, 1.5 if w.ndim > 1 else 0.3, w.shape)
            for w in model.network.get_weights()
        ]
    )
    return model


def build(name, **overrides):
    """A small model, which has seen the sentences; its weights are random.

    Nothing is run often enough to be worth compiling.
    """
    contexts = {"hidden_context": 2} if NETWORKS[name]["hidden_context"] else {}
    model = keras_tagging.build(name, **SIZES | contexts | overrides)
    model.adapt(SENTENCES)
    model.run_eagerly = True
    return randomize(model, 5)


def build_decoder(name="bigru", **overrides):
    """The same of another architecture with an I-RNN as its output layer."""
    model = keras_tagging.build(name, **DECODER | overrides)
    model.adapt(SENTENCES)
    model.run_eagerly = True
    return randomize(model, 2)


def weights_of(model, layer):
    layer = model.network.get_layer(layer)
    return {w.name: keras.ops.convert_to_numpy(w) for w in layer.weights}


# The whole road


@pytest.mark.parametrize("name, options", ROADS)
def test_the_whole_road(name, options, tmp_path):
    """Fit, tag, save, load and build a graph, each against the one before."""
    model = (build if name in NETWORKS else build_decoder)(name, **options)
    dev = [*SENTENCES[:4], Sentence(["zebra", "the"], ["N", "D"])]
    history = model.fit(SENTENCES, validation_data=dev, epochs=2, verbose=0).history
    assert {"loss", "cross_entropy", "val_loss", "val_oov_accuracy"} <= set(history)
    assert all(np.isfinite(values).all() for values in history.values()), history
    assert history["loss"][1] < history["loss"][0]
    assert history["cross_entropy"][1] < history["cross_entropy"][0]

    randomize(model, 7)  # else few tags come out
    sentences = [s.tokens for s in SENTENCES] + STRANGE
    with computing_once(model):
        tags, rows = model.tag(sentences), model.predict(sentences)
    assert [*map(len, tags)] == [*map(len, sentences)]
    assert len({tag for found in tags for tag in found}) > 1
    for p in rows:
        np.testing.assert_allclose(p.sum(-1), 1, atol=1e-5)

    again = reloaded(model, tmp_path)
    with computing_once(again):
        assert again.tag(sentences) == tags
        check_close(again.predict(sentences), rows, atol=1e-6)
        if name == "shortcut-bilstm":  # a graph is built of the others
            check_served(again, tmp_path / "served", sentences)
            return
    again.run_eagerly = False
    check_close(again.predict(sentences), rows, atol=1e-5)


# The number of parameters: section 2.5

VOCABULARY = 2 + len({word.lower() for s in SENTENCES for word in s.tokens})
TAGS = len({tag for s in SENTENCES for tag in s.tags})
D, H, W, C = 4, 7, 3, 6
FORMULAS = {
    "jordan-rnn": lambda c: ((2 * W + 1) * D + c * TAGS) * H + H * TAGS,
    "elman-rnn": lambda c: ((2 * W + 1) * D + c * H) * H + H * TAGS,
    "i-rnn": lambda c: TAGS * D + ((2 * W + 1) * D + c * D) * H + H * TAGS,
    "ie-rnn": lambda c: TAGS * D + ((2 * W + 1) * D + c * D + c * H) * H + H * TAGS,
}


@networks
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_number_of_parameters_is_the_papers(name, direction):
    dims = {"word_dim": D, "label_dim": D, "units": H}
    model = keras_tagging.build(name, recipe="paper", direction=direction, **dims)
    model.adapt(SENTENCES)
    formula, biases = FORMULAS[name], H + TAGS
    expected = VOCABULARY * D + formula(C) + biases
    if direction == "bidirectional":  # a backward network, and its labels and states
        expected += formula(2 * C) + biases
    assert sum(np.prod(v.shape) for v in model.trainable_variables) == expected


# Equations


def reference(model, words, name, direction, label_context, hidden_context):
    """What the layer of `logits` gives for a sentence, by NumPy."""
    (table,) = model.network.get_layer("word_embedding").get_weights()
    ids = model.encode([Sentence(words)]).ids
    x = context_window.run(table[ids[:, 0]], model.settings["window"])
    settings = {"label_context": label_context, "hidden_context": hidden_context}
    settings["label_input"] = NETWORKS[name]["label_input"]
    if direction == "forward":
        return label_rnn.run(x, weights_of(model, "forward"), settings)
    backward = weights_of(model, "backward")
    found = label_rnn.run(x, backward, settings, backwards=True)
    if direction == "backward":
        return found
    settings["future_label_context"] = label_context
    settings["future_hidden_context"] = hidden_context
    return label_rnn.run(x, weights_of(model, "forward"), settings, future=found)


@pytest.mark.parametrize(
    "name, direction",
    [
        ("i-rnn", "forward"),
        ("i-rnn", "backward"),
        *[(name, "bidirectional") for name in NETWORKS],
    ],
)
def test_network_equals_the_papers_equations(name, direction):
    hidden = {"hidden_context": 5} if NETWORKS[name]["hidden_context"] else {}
    sizes = {"window": 7, "label_context": 6, "batch_size": 10}
    model = build(name, recipe="paper", direction=direction, **sizes | hidden)
    sentences = [s.tokens for s in SENTENCES[:6]] + [STRANGE[0] * 2, ["zebra"]]
    with computing_once(model):
        tags, rows = model.tag(sentences), model.predict(sentences)
    assert len({tag for found in tags for tag in found}) > 2
    for words, found, p in zip(sentences, tags, rows, strict=True):
        expected = reference(model, words, name, direction, 6, *hidden.values() or [0])
        np.testing.assert_allclose(p, softmax(expected["logits"], -1), atol=1e-5)
        assert found == [model.tags[k] for k in expected["tags"]]


# The decoder and the beam


@pytest.mark.parametrize("make", [build, build_decoder])
def test_a_beam_finds_paths_that_are_more_probable(make):
    def scores(**beam):
        model = make("i-rnn" if make is build else "bigru", **beam)
        layer = model.network.get_layer("forward" if make is build else "label_rnn")
        layer.label_embeddings.assign(layer.label_embeddings * 4)  # labels matter
        with computing_once(model):
            tagged, rows = model.tag(SENTENCES), model.predict(SENTENCES)
        found = [
            sum(np.log(p[model.tags.index(tag)]) for p, tag in zip(*pair, strict=True))
            for pair in zip(rows, tagged, strict=True)
        ]
        return tagged, np.array(found)

    greedy, greedy_scores = scores()
    assert scores(beam_width=1)[0] == greedy
    few, few_scores = scores(beam_width=8)
    widened = make("i-rnn" if make is build else "bigru")
    layer = widened.network.get_layer("forward" if make is build else "label_rnn")
    layer.label_embeddings.assign(layer.label_embeddings * 4)
    assert widened.tag(SENTENCES) == greedy
    widened.beam_width = 8  # of a model that has been used
    assert widened.tag(SENTENCES) == few and widened.settings["beam_width"] == 8
    assert few != greedy and few_scores.mean() > greedy_scores.mean() + 1e-3
    # as many as there are contexts of 2 labels: the best path is never left out
    _, all_scores = scores(beam_width=TAGS**2)
    assert (all_scores >= np.maximum(greedy_scores, few_scores) - 1e-4).all()


# The two losses of a bidirectional network


def cross_entropy(logits, targets):
    """The sum over the tokens whose gold tag has an id."""
    known = targets >= 0
    rows = log_softmax(logits[known], -1)
    return -rows[np.arange(len(rows)), targets[known]].sum()


@networks
def test_both_directions_are_trained_and_one_is_evaluated(name):
    model = build(name, direction="bidirectional", dropout=0.0)
    gold = [*SENTENCES[:5], Sentence(["the", "dog", "barks"], ["D", "X", "V"])]
    encoded = model.encode(gold, targets=True)
    ids, targets, mask = encoded.batch(np.arange(len(gold)))
    assert (mask == 0).any() and (targets[mask > 0] < 0).sum() == 1
    outputs = model((ids, targets), training=True)
    of = {k: keras.ops.convert_to_numpy(v) for k, v in outputs.items()}
    one, other = (cross_entropy(of[k], targets) for k in ("logits", "other_logits"))
    assert abs(one - other) > 0.1
    tensors = [keras.ops.convert_to_tensor(x) for x in (targets, mask)]
    found = model.compute_loss(None, tensors[0], outputs, tensors[1])
    found = float(keras.ops.convert_to_numpy(found))
    assert found == pytest.approx((one + other) / mask.sum(), rel=1e-5)

    of = model.predict_on_batch(ids)
    one, other = (cross_entropy(of[k], targets) for k in ("logits", "other_logits"))
    loss = model.evaluate(gold, return_dict=True)["loss"]
    assert loss == pytest.approx(one / (mask.sum() - 1), rel=1e-5)
    assert abs(one - other) > 0.1
