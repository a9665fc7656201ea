"""The ids that an ONNX graph gives for strings, beside those of `TokenFeatures`."""

import numpy as np
import pytest
import tensorflow as tf
from onnx_files.odd import PLANES, WORDS, session_of, words
from selection import slow_but

from keras_tagging.encoding.tokens_to_ids import TokenFeatures
from keras_tagging.onnx.arrays import Arrays
from keras_tagging.onnx.builder import Builder
from keras_tagging.onnx.strings import ids_of_strings
from keras_tagging.runtime.token_forms import encodable

FEATURES = {
    "kadari": {
        "normalise": "kadari",
        "lookup": "cascade",
        "suffixes": (1, 2, 3),
        "prefixes": (1, 3),
        "shapes": True,
    },
    "wu": {"normalise": "wu", "characters": 5, "characters_of": "normalised"},
    "dinarelli": {"normalise": "dinarelli", "columns": ("pos",), "suffixes": (70,)},
    "vectors": {
        "normalise": "lower",
        "vectors": True,
        "lookup": "cascade",
        "characters": 2,
    },
    "classes": {
        "normalise": "wu",
        "word_classes": "given",
        "characters": 1,
        "characters_of": "normalised",
    },
    "no words": {"words": False, "suffixes": ()},
    "letters": {"letters": 6, "normalise": "wu", "characters_of": "normalised"},
    "one letter": {
        "letters": 1,
        "words": False,
        "capitals": False,
        "suffixes": (),
        "columns": ("pos",),
    },
}
VECTORS = ["Éa", "éA", "ẞ", "Οδος", "THE", "the", "ΟΔΟΣ", "e\u0301"]


def graph(features):
    """A session from strings to ids, and letters."""
    xp = Arrays(Builder())
    axes, names = ("batch", "time"), ["tokens", *features.columns]
    strings = {name: xp.input(name, "string", axes) for name in names}
    ids = ids_of_strings(xp, features, strings)
    ids = ids if features.letters else {"ids": ids}
    for name, array in ids.items():
        xp.output(name, array, (*axes, None) if name == "ids" else axes)
    return session_of(xp)


def differing(session, features, texts, alone=False):
    """The texts whose ids differ, if ONNX has all at once, or each `alone`."""
    names = ["tokens", *features.columns]
    encoded = tf.constant([text.encode() for text in texts])
    expected = features(dict.fromkeys(names, encoded))
    spelled = np.zeros((len(texts), 0))
    if features.letters:
        spelled = np.array(expected["letters"])
        expected = expected["ids"]
    expected = np.array(expected)
    if features.letters:
        column = features.names.index("letters")
        spelled = spelled[expected[:, column]]
        expected = np.delete(expected, column, -1)
    differ = []
    step = 1 if alone else len(texts)
    for i in range(0, len(texts), step):
        given = np.array([encodable(text) for text in texts[i : i + step]], object)
        ids, *letters = session.run(None, dict.fromkeys(names, given[None]))
        ids, wrong = ids[0], np.zeros(len(given), bool)
        if features.letters:
            theirs = spelled[i : i + step]
            theirs = theirs[:, : max(1, (theirs != 0).sum(-1).max())]
            assert letters[0].shape[1] == theirs.shape[1] and not letters[0][0].any()
            wrong = (letters[0][ids[:, column]] != theirs).any(-1)
            ids = np.delete(ids, column, -1)
        differ += [*(wrong | (ids != expected[i : i + step]).any(-1))]
    return [texts[i] for i in np.flatnonzero(differ)]


# "classes" are in a network of `test_architectures`, and normalised as "wu"
@pytest.mark.parametrize("name", slow_but(FEATURES.keys() - {"classes"}, FEATURES))
def test_ids_are_those_of_tensorflow(name):
    features = TokenFeatures(**FEATURES[name])
    train = [w for w in [*words(300, 1), *VECTORS] if len(w) < 100]
    columns = {column: train for column in features.columns}
    classes = ["0\tÉa\tthe", "101\tẞ\t9", "11\tΟΔΟΣ", "1"]
    features.adapt({"tokens": train, **columns}, VECTORS, [1, len(train) - 1], classes)
    session = graph(features)
    assert differing(session, features, words(800, 2)) == []
    assert differing(session, features, train) == []
    # classes are cut down to the usual characters where a word has no others
    assert differing(session, features, WORDS, alone=True) == []


def test_characters_of_all_planes():
    """Every one of the first, where nearly all letters are."""
    features = TokenFeatures(normalise="wu", shapes=True, suffixes=(1,))
    features.adapt({"tokens": [*PLANES[:0x2000]]})
    characters = [*PLANES[:0x20000], *PLANES[0x20000::16]]
    assert differing(graph(features), features, characters) == []


def test_a_sigma_that_training_has_at_the_end_of_words_only():
    features = TokenFeatures(normalise="wu", suffixes=())
    features.adapt({"tokens": ["ας", "α"]})
    assert differing(graph(features), features, ["ΑΣ", "Α", "Σ", "ΑΣΑ"]) == []


def test_every_character_is_a_letter():
    features = TokenFeatures(words=False, capitals=False, suffixes=(), letters=4)
    features.adapt({"tokens": [*PLANES[:0x2000], *PLANES[-2000:]]})
    session = graph(features)
    assert differing(session, features, [*PLANES[::9], *PLANES[-9000:]]) == []
    assert differing(session, features, [""]) == []
    assert differing(session, features, ["".join(PLANES[i:]) for i in (-2, -5)]) == []


def test_long_affixes_and_many_letters():
    features = TokenFeatures(suffixes=(1001,), prefixes=(1024,), letters=1024)
    texts = ["x" * 1000 + "y", "x" * 1025, "x", "é" * 2000, "a" * 512 + "b" * 512]
    features.adapt({"tokens": texts})
    assert differing(graph(features), features, texts) == []


def test_bytes_that_are_no_utf8_count_as_one_replacement_character():
    features = TokenFeatures()
    features.adapt({"tokens": ["\ufffd", "a"]})
    session = graph(features)
    # one byte more than the longest: ONNX Runtime reads on to the next zero
    given = np.array([[b"\xff", b"a\xc3", b"a", b"\xef\xbf\xbd"]], "S4")
    [[bad, cut, a, mark]] = session.run(None, {"tokens": given})[0].tolist()
    assert bad == cut == mark != a
