"""The ids that an ONNX graph gives for strings, beside those of `TokenFeatures`."""

import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
from onnx import helper
from onnx_files.odd import PLANES, WORDS, words

from keras_tagging.encoding.token_features import TokenFeatures
from keras_tagging.onnx.arrays import Array, Arrays
from keras_tagging.onnx.builder import IR_VERSION, OPSETS, Builder, value_info
from keras_tagging.onnx.letters import character_class, lower_forms, members
from keras_tagging.onnx.text import TextGraph, clean
from keras_tagging.runtime.extensions import session_options
from keras_tagging.runtime.strings import encodable

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
    "no words": {"words": False, "suffixes": ()},
}
VECTORS = ["Éa", "éA", "ẞ", "Οδος", "THE", "the", "ΟΔΟΣ", "e\u0301"]


def graph(features):
    """A session from strings to ids."""
    builder = Builder()
    xp = Arrays(builder)
    names = ["tokens", *features.columns]
    strings = {name: Array(xp, name, "string", (None, None)) for name in names}
    strings["tokens"] = clean(xp, strings["tokens"])
    ids = TextGraph(xp, features).ids(strings)
    inputs = [value_info(name, "string", ("batch", "time")) for name in names]
    outputs = [value_info(ids.name, "int32", (None, None, None))]
    made = helper.make_graph(
        builder.nodes(), "text", inputs, outputs, builder.initializers
    )
    opsets = [helper.make_opsetid(*item) for item in OPSETS.items()]
    model = helper.make_model(made, ir_version=IR_VERSION, opset_imports=opsets)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), session_options(), ["CPUExecutionProvider"]
    )


def differing(session, features, texts):
    """The texts whose ids differ."""
    given = np.array([encodable(text) for text in texts], object)[None]
    names = ["tokens", *features.columns]
    [found] = session.run(None, dict.fromkeys(names, given))
    encoded = tf.constant([text.encode() for text in texts])
    expected = features(dict.fromkeys(names, encoded)).numpy()
    return [texts[i] for i in np.flatnonzero((found[0] != expected).any(-1))]


@pytest.mark.parametrize("name", FEATURES)
def test_ids_are_those_of_tensorflow(name):
    features = TokenFeatures(**FEATURES[name])
    train = [w for w in [*words(300, 1), *VECTORS] if len(w) < 100]
    columns = {column: train for column in features.columns}
    features.adapt({"tokens": train, **columns}, VECTORS, [1, len(train) - 1])
    session = graph(features)
    assert differing(session, features, words(2000, 2)) == []
    assert differing(session, features, train) == []
    for word in WORDS:  # each alone: classes are cut down to the usual characters
        assert differing(session, features, [word]) == []


def test_every_character_of_unicode():
    features = TokenFeatures(normalise="wu", shapes=True, suffixes=(1,))
    features.adapt({"tokens": PLANES[:0x2000]})
    assert differing(graph(features), features, PLANES) == []


def test_long_affixes():
    features = TokenFeatures(suffixes=(1001,), prefixes=(1024,))
    texts = ["x" * 1000 + "y", "x" * 1025, "x", "é" * 2000]
    features.adapt({"tokens": texts})
    assert differing(graph(features), features, texts) == []


def test_bytes_that_are_no_utf8_count_as_one_replacement_character():
    features = TokenFeatures()
    features.adapt({"tokens": ["\ufffd", "a"]})
    session = graph(features)
    given = np.array([[b"\xff", b"a\xc3", b"a", b"\xef\xbf\xbd"]])
    [[bad, cut, a, mark]] = session.run(None, {"tokens": given})[0].tolist()
    assert bad == cut == mark != a


def test_classes_are_written_out():
    digits = members(r"\p{Nd}")
    assert {"0", "٣", "１"} < digits and "Ⅷ" not in digits
    assert character_class("0129") == r"[\x{30}-\x{32}\x{39}]"
    found = tf.strings.regex_full_match(["a", "\x01"], character_class("")).numpy()
    assert not found.any()


def test_lower_forms_hold_for_characters_alone():
    forms = lower_forms()
    assert (forms["A"], forms["É"], forms["İ"], forms["Σ"]) == ("a", "é", "i̇", "σ")
    assert "a" not in forms and "\x00" not in forms
