"""Fine-tuning: which weights are carried over, and that a run goes on from them."""

import keras
import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, randomize, reloaded
from models.parsers import weights

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.encoding.vocabulary import FIRST_ID

pytestmark = pytest.mark.usefixtures("eagerly")

OLD = random_sentences(30, 1, longest=4)
# other words, one tag of the model and two that it lacks
NEW = [
    Sentence(["the", "chat", "dort"], ["D", "Nom", "Verbe"], {"pos": ["a", "b", "c"]}),
    Sentence(["le", "chat", "barks"], ["D", "Nom", "Verbe"], {"pos": ["a", "b", "c"]}),
]
KINDS = {
    "softmax": ("bigru", {}),
    "crf": ("bigru", {"decoder": "crf", "tables": True}),
    "i-rnn": ("bigru", {"decoder": "i-rnn"}),
    "characters": ("skip-bilstm", {"characters": 2}),
    "character network": (
        "bigru",
        {"character_network": "lstm", "words": False, "suffixes": (2,)},
    ),
    "column": ("bigru", {"columns": "pos", "words": False}),
    "classes": ("bigru", {"word_classes": {"dog": "01", "the": "1"}}),
    "label embeddings": ("ie-rnn", {"direction": "bidirectional"}),
}


def trained(name="bigru", tables=False, **options):
    """Random weights on the old sentences."""
    sizes = {k: TINY[k] for k in ("units", "seed")}
    if "rnn" not in name:
        sizes = TINY if tables else TINY | WORDS_ONLY
    model = keras_tagging.build(name, **sizes | options)
    model.adapt(OLD)
    return randomize(model, 3)


@pytest.mark.parametrize("kind", ["crf", "character network", "label embeddings"])
def test_the_same_sentences_give_the_same_model(kind):
    name, options = KINDS[kind]
    old = trained(name, **options)
    new = old.retarget(OLD)
    assert new.vocabularies == old.vocabularies
    for one, other, weight in zip(
        weights(old), weights(new), new.network.weights, strict=True
    ):
        if "seed" not in weight.name:
            np.testing.assert_array_equal(one, other)
    assert new.tag(OLD) == old.tag(OLD)


@pytest.mark.parametrize(
    "kind, keep_labels", [*((kind, True) for kind in KINDS), ("softmax", False)]
)
def test_rows_go_with_their_names(kind, keep_labels):
    """Every weight that belongs to a name is that of the name, wherever it stands."""
    name, options = KINDS[kind]
    old = trained(name, **options)
    new = old.retarget(NEW, keep_labels=keep_labels)
    expected = {"D", "Nom", "Verbe"} | (set(old.tags) if keep_labels else set())
    assert set(new.tags) == expected and len(new.tags) == len(expected)
    shared = [tag for tag in new.tags if tag in old.tags]
    before, after = ([m.tags.index(tag) for tag in shared] for m in (old, new))
    fresh = [i for i, tag in enumerate(new.tags) if tag not in old.tags]
    checked = set()
    for a, b in zip(old.network.weights, new.network.weights, strict=True):
        one, other = keras.ops.convert_to_numpy(a), keras.ops.convert_to_numpy(b)
        layer = a.path.split("/")[0]
        table = layer.removesuffix("_embedding")
        if "seed" in a.name:
            continue
        if layer == "character_network" and a.name == "embeddings":
            layer, table = "letters_embedding", "letters"
        if layer.endswith("_embedding") and table != "capital":
            rows = {w: i for i, w in enumerate(old.vocabularies[table], FIRST_ID)}
            np.testing.assert_array_equal(one[:FIRST_ID], other[:FIRST_ID])
            for i, word in enumerate(new.vocabularies[table], FIRST_ID):
                if word in rows:
                    np.testing.assert_array_equal(one[rows[word]], other[i])
                else:
                    checked.add("new row")
        elif one.shape == other.shape and len(old.tags) not in one.shape:
            np.testing.assert_array_equal(one, other)
        else:
            axes = [i for i, n in enumerate(one.shape) if n == len(old.tags)]
            for axis in axes:
                one = np.take(one, before, axis)
                other = np.take(other, after, axis)
            np.testing.assert_array_equal(one, other)
            checked.add(a.name)
    assert fresh and "new row" in checked and len(checked) >= 3
    new.fit(NEW, epochs=1, verbose=0)
    assert all(tag in new.tags for tags in new.tag(NEW) for tag in tags)


def test_labels_that_share_nothing_make_a_new_output():
    old = trained()
    other = [Sentence(["the", "dog"], ["X", "Y"])]
    assert set(old.retarget(other).tags) == {"X", "Y"}
    assert set(old.retarget(other, keep_labels=True).tags) == {"X", "Y", *old.tags}


def test_known_words_are_those_of_both_trainings(tmp_path):
    path = tmp_path / "vectors.txt"
    rows = ["chat 1 2 3 4", "rare 1 1 1 1", "le 0 0 0 1", "the 4 3 2 1"]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    old = keras_tagging.build("bigru", **TINY | WORDS_ONLY, embeddings=path)
    old.adapt(OLD)
    assert "chat" not in old.known_words()
    new = old.retarget(NEW)
    assert new.known_words() == old.known_words() | {"chat", "dort", "le"}
    assert set(new.vocabularies["word"]) >= {"rare"}
    assert len(set(new.vocabularies["word"])) == len(new.vocabularies["word"])
    table = keras.ops.convert_to_numpy(
        new.network.get_layer("word_embedding").embeddings
    )
    row = FIRST_ID + new.vocabularies["word"].index("chat")
    np.testing.assert_array_equal(table[row], [1, 2, 3, 4])


def test_frozen_layers_stay_also_in_a_file(tmp_path):
    old = trained()
    new = old.retarget(NEW, frozen=["word_embedding", "stack"])

    def values():
        return {
            name: np.concatenate(
                [np.ravel(w) for w in new.network.get_layer(name).get_weights()]
            )
            for name in ("word_embedding", "stack", "logits")
        }

    before = values()
    new.fit(NEW, epochs=2, verbose=0)
    moved = {name: (before[name] != after).any() for name, after in values().items()}
    assert moved == {"word_embedding": False, "stack": False, "logits": True}
    loaded = reloaded(new, tmp_path)
    assert loaded.frozen == ("word_embedding", "stack")
    assert len(loaded.trainable_variables) == len(new.trainable_variables)
    loaded.fit(NEW, epochs=1, verbose=0)


def test_the_old_model_stays_and_the_new_one_says_where_it_comes_from():
    old = trained()
    old.metadata["scores"] = {"dev": {"accuracy": 0.5}}
    tags, before = old.tag(OLD), weights(old)
    new = old.retarget(NEW, learning_rate=0.5, epochs=1, seed=7)
    new.fit(NEW, verbose=0)
    assert old.tag(OLD) == tags and all(map(np.array_equal, before, weights(old)))
    assert new.metadata["started_from"]["scores"] == {"dev": {"accuracy": 0.5}}
    assert (new.seed, new.settings["learning_rate"]) == (7, 0.5)
    assert new.metadata["epochs"] == 1
    again = new.retarget(OLD)
    assert "started_from" not in again.metadata["started_from"]


@pytest.fixture(scope="module")
def old():
    return trained()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"units": 9}, "keyword of a network that is kept 'units'.*learning_rate"),
        ({"frozen": ["word"]}, "layer to freeze 'word'.*word_embedding"),
        ({"frozen": ["input_dropout"]}, "layer to freeze 'input_dropout'"),
        ({"learning_rate": -1}, "learning_rate=-1"),
    ],
)
def test_what_cannot_be_is_refused(old, arguments, message):
    with pytest.raises(ValueError, match=message):
        old.retarget(NEW, **arguments)


def test_a_network_that_reads_probabilities_keeps_its_tags():
    model = keras_tagging.build("jordan-rnn", units=5, seed=1)
    model.adapt(OLD)
    with pytest.raises(ValueError, match="has a weight for each tag"):
        model.retarget(NEW)
    assert model.retarget(OLD[:5]).tags == model.tags
