"""The objective of the next word in a tagger."""

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize, reloaded, short
from keras import ops

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.architectures import TAGGERS
from keras_tagging.architectures.stacked_network import StackedNetwork
from keras_tagging.layers.loop import right_padded

STACKED = [name for name, a in TAGGERS.items() if a.network is StackedNetwork]
STACKED = [n for n in STACKED if not n.startswith("bilstm")]  # those are in SETTINGS
#: a network that drops nothing, so that it may be compared in training
SMALL = {
    **{"units": 3, "num_layers": 2, "word_dim": 3, "affix_dim": 2, "seed": 3},
    **{"character_dim": 2, "dropout": 0, "layer_dropout": 0, "window": 0},
    **{"window_dropout": 0, "language_model": 0.1, "characters": 0},
    **WORDS_ONLY,
}
MERGES = [
    ("paper", {"merge": "top"}),
    ("best", {"merge": "layer", "input_layer": "tanh"}),
]
#: what could let a state see its neighbours: other inputs, cells, outputs
SETTINGS = [
    ("bigru", {"character_network": "cnn", "characters": 2, "columns": ("pos",)}),
    ("bigru", {"window": 1, "window_gated": True, "lookup": "cascade"}),
    ("bigru", {"decoder": "crf", "hidden_layer": "tanh", "label_smoothing": 0}),
    ("bigru", {"decoder": "i-rnn"}),
    ("skip-bilstm", {"skip": "internals", "num_layers": 3}),
    ("shortcut-bilstm", {"self_connection": True, "cell_shortcut": True}),
    ("shortcut-bilstm", {"gate": "below"}),
    ("bilstm", {"peepholes": True}),
    ("bilstm-crf", {"coupled": True}),
]
GATES = {"skip": "gates", "gate": None}
CASES = [
    *((name, *MERGES[i % 2]) for i, name in enumerate(STACKED)),
    *((name, "fast", more) for name, more in SETTINGS),
    pytest.param("skip-bilstm", "fast", GATES, marks=pytest.mark.slow),
]
LONG, SHORT = 5, 4


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    "decoder", ["softmax", pytest.param("crf", marks=pytest.mark.slow)]
)
def test_a_tagger_learns_words_too(decoder, train_sentences, tmp_path):
    options = TINY | WORDS_ONLY | {"num_layers": 2, "decoder": decoder}
    sentences = short(train_sentences, 6)
    model = keras_tagging.build("bigru", language_model=0.1, **options)
    model.adapt(sentences)
    layer = model.network.get_layer("language_model")
    before = [np.array(w) for w in layer.weights]
    history = model.fit(sentences, epochs=1, verbose=0).history
    for weight, old in zip(layer.weights, before, strict=True):
        assert np.abs(np.array(weight) - old).max() > 0, weight.path
    # the loss of training bears it; the figures of evaluation do not
    plain = keras_tagging.build("bigru", **options)
    others = plain.fit(sentences, epochs=1, verbose=0).history
    assert history["loss"][0] > others["loss"][0] + 0.1
    assert history["cross_entropy"][0] == pytest.approx(others["cross_entropy"][0], 0.2)
    loaded = reloaded(model, tmp_path)
    assert loaded.tag(sentences) == model.tag(sentences)


def states_of(model, sentences, training):
    """What predicts the words: `(sentences, time, direction, units)`."""
    predicted_from = model.network.get_layer("language_model").input[1]
    inputs = model.network.inputs
    network = keras.Model(inputs if len(inputs) > 1 else inputs[0], predicted_from)
    tokens, _, _ = model.encode(sentences).batch(np.arange(len(sentences)))
    given = list(tokens.values()) if isinstance(tokens, dict) else [tokens]
    if len(given) < len(inputs):
        given.append(np.zeros((len(sentences), LONG), "int32"))  # gold labels
    given = given if len(given) > 1 else given[0]
    states = ops.convert_to_numpy(network(given, training=training))
    return states.reshape(len(sentences), LONG, 2, -1)


@pytest.mark.one_backend
@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("name, recipe, more", CASES)
def test_no_state_has_seen_the_word_that_it_predicts(name, recipe, more):
    """Word t + 1 is not in what predicts it from the left, nor t - 1 from the right."""
    model = keras_tagging.build(name, recipe=recipe, **{**SMALL, **more})
    model.adapt(random_sentences(30, 4))
    randomize(model)
    changed, at = "quickly", 2
    words = ["the", "dog", "sees", "a", "dog", "barks"]
    pos = ["e", "g", "s", "a", "g", "s"]

    def batch(place=None):
        found = []
        for n in (LONG, SHORT):
            new = [*words[:n]], [*pos[:n]]
            if place is not None:
                new[0][place], new[1][place] = changed, changed[-1]
            found.append(Sentence(new[0], columns={"pos": new[1]}))
        return found

    for training in (True, False):
        with right_padded():
            states = states_of(model, [*batch(), *batch(at)], training)
        before, after = np.split(states, 2)
        moved = np.abs(before - after).max(-1) > 1e-5  # rounding is less
        assert not moved[:, :at, 0].any() and not moved[:, at + 1 :, 1].any()
        # and it is not blind: the word itself is seen, and what came before
        assert moved[:, at, 0].all() and moved[:, at + 1, 0].all()
        assert moved[:, at, 1].all() and moved[:, at - 1, 1].all()


@pytest.mark.one_backend
@pytest.mark.parametrize(
    "name, options", [("skip-bilstm", {"recipe": "paper"}), ("bigru", {"window": 3})]
)
def test_a_window_that_shows_the_next_word_is_refused(name, options):
    with pytest.raises(ValueError, match="window=3 shows beforehand: give window=0"):
        keras_tagging.build(name, language_model=0.1, **options)
    keras_tagging.build(name, **options | {"window": 0, "language_model": 0.1})
