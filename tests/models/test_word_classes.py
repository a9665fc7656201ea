"""Classes of words, such as Brown clusters, as a feature of taggers and parsers."""

import numpy as np
import pytest
from conftest import TINY, WORDS_ONLY, random_sentences, random_tagger, reloaded
from models.parsers import PLAIN, TRAIN
from models.parsers import TINY as SMALL

import keras_tagging
from keras_tagging import Sentence

TAGGED = random_sentences(12, 1)
KNOWN = TAGGED[0].tokens[0]
CLASSES = {KNOWN: "0101", "zebra": "0101", "unicorn": "0110", "Paris": "111", "9": "1"}
OPTIONS = TINY | WORDS_ONLY | {"word_classes": CLASSES, "class_prefixes": (2,)}


@pytest.fixture(scope="module")
def model():
    found = random_tagger(TAGGED, **OPTIONS)
    found.run_eagerly = True
    return found


def probabilities(model, *words):
    return model.predict([list(words)], verbose=0)[0]


def test_words_that_training_lacks_have_the_class_of_the_file(model):
    # one word for the network: neither is in training, and their class is one
    other = {**CLASSES, "gnu": "0101"}
    again = random_tagger(TAGGED, **OPTIONS | {"word_classes": other})
    again.run_eagerly = True
    zebra, gnu, unicorn, none = (
        probabilities(again, w) for w in ("zebra", "gnu", "unicorn", "yeti")
    )
    np.testing.assert_allclose(zebra, gnu, atol=1e-6)
    assert np.abs(zebra - unicorn).max() > 1e-4 < np.abs(zebra - none).max()


def test_forms_are_tried_in_order(model):
    ids = model.encode([Sentence(["paris", "Paris", "PARIS", "Zebra", "12", "zebra"])])
    column = ids.ids[:, model.features.names.index("cluster")].tolist()
    # "paris" is not in the file; a number has its normal form only where it is known
    of = {entry.split("\t")[0]: i for i, entry in enumerate(vocabulary(model), 2)}
    assert column == [1, of["111"], 1, of["0101"], 1, of["0101"]]


def vocabulary(model):
    return model.vocabularies["cluster"]


def test_names_of_classes_as_one_feature():
    names = {KNOWN: "city_name", "boston": "city_name"}
    own = OPTIONS | {"word_classes": names, "class_prefixes": ()}
    model = keras_tagging.build("bigru", **own)
    model.adapt(TAGGED)
    assert vocabulary(model) == [f"city_name\t{KNOWN}\tboston"]
    table = model.network.get_layer("cluster_embedding").table
    assert tuple(table.shape) == (3, TINY["affix_dim"])


def test_a_parser_reads_them(tmp_path):
    options = SMALL | PLAIN | {"tags": None, "word_classes": {"the": "01", "dog": "11"}}
    parser = keras_tagging.build("ffn-parser", **options)
    parser.adapt(TRAIN[:5])
    parser.run_eagerly = True
    words = [["The", "dog", "barks"]]
    before = parser.parse(words)
    again = reloaded(parser, tmp_path)
    assert again.parse(words) == before
    assert vocabulary(again) == ["01\tthe", "11\tdog"]
    assert again.settings["word_classes"] == "2 word classes given as an object"
