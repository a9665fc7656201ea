"""The states of a trained network, below a head of a user."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from conftest import TINY, WORDS_ONLY
from models.biaffine import TRAIN, random_parser

import keras_tagging
from keras_tagging.pipelines.backbone import Backbone

pytestmark = pytest.mark.one_backend
WORDS = tf.ragged.constant([s.tokens for s in TRAIN]).to_tensor()


@pytest.fixture(scope="module", params=["bigru", "characters", "biaffine-parser"])
def trained(request):
    if request.param == "biaffine-parser":
        return random_parser()
    letters = {"character_network": "lstm"} if request.param == "characters" else {}
    model = keras_tagging.build("bigru", **TINY, **letters, tags=("pos",))
    model.adapt(TRAIN)
    return model


def test_states_are_those_of_the_network(trained, tmp_path):
    layer = keras_tagging.backbone(trained)
    stack = trained.network.get_layer("stack").output
    inner = keras.Model(trained.network.inputs, stack)
    for row, sentence in enumerate(TRAIN):
        found = trained.features.encode({"tokens": sentence.tokens})
        ids, *letters = found.values() if isinstance(found, dict) else [found]
        expected = inner([ids[None], *letters])
        length = len(sentence.tokens)
        np.testing.assert_allclose(layer(WORDS)[row, :length], expected[0], atol=1e-5)
    mask = layer.compute_mask(WORDS).numpy()
    assert mask.sum(1).tolist() == list(map(len, TRAIN))


def test_a_model_of_its_own_learns_and_is_saved(trained, tmp_path):
    words = keras.Input((None,), dtype="string")
    layer = keras_tagging.backbone(trained, name="below")
    model = keras.Model(words, keras.layers.Dense(3)(layer(words)))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    before = [w.numpy() for w in layer.trainable_weights]
    model.fit(WORDS, np.ones(WORDS.shape, "int32"), verbose=0)
    after = [w.numpy() for w in layer.trainable_weights]
    assert all((a != b).any() for a, b in zip(before, after, strict=True))
    model.save(tmp_path / "own.keras")
    again = keras.saving.load_model(tmp_path / "own.keras")
    np.testing.assert_allclose(again(WORDS), model(WORDS), atol=1e-5)
    assert not keras_tagging.backbone(trained, trainable=False).trainable_weights


def test_what_is_no_backbone():
    reads = keras_tagging.build("bigru", **TINY, tags=("xpos",), columns=("pos",))
    reads.adapt(TRAIN)
    with pytest.raises(ValueError, match="the model reads pos, too"):
        Backbone(reads)
    for other in (
        keras.Sequential(),
        keras_tagging.build("bigru", **TINY | WORDS_ONLY),
    ):
        with pytest.raises(ValueError, match="a backbone is of a tagger or a biaffine"):
            keras_tagging.backbone(other)
