"""The objective of the next word in a tagger."""

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY

import keras_tagging


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("decoder", ["softmax", "crf"])
def test_a_tagger_learns_words_too(decoder, train_sentences, tmp_path):
    options = TINY | WORDS_ONLY | {"num_layers": 2, "decoder": decoder}
    model = keras_tagging.build("bigru", language_model=0.1, **options)
    model.adapt(train_sentences)
    layer = model.network.get_layer("language_model")
    before = [np.array(w) for w in layer.weights]
    history = model.fit(train_sentences, epochs=2, verbose=0).history
    for weight, old in zip(layer.weights, before, strict=True):
        assert np.abs(np.array(weight) - old).max() > 0, weight.path
    # the loss of training bears it; the figures of evaluation do not
    plain = keras_tagging.build("bigru", **options)
    others = plain.fit(train_sentences, epochs=2, verbose=0).history
    assert history["loss"][0] > others["loss"][0] + 0.1
    assert history["cross_entropy"][0] == pytest.approx(others["cross_entropy"][0], 0.2)
    model.save(tmp_path / "model.keras")
    loaded = keras_tagging.load(tmp_path)
    assert loaded.tag(train_sentences) == model.tag(train_sentences)


def test_it_needs_words():
    with pytest.raises(ValueError, match="language_model= predicts words"):
        keras_tagging.build("bigru", words=False, language_model=0.1)
    with pytest.raises(ValueError, match="language_model=-1"):
        keras_tagging.build("bigru", language_model=-1)
