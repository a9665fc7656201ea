"""The forms of tokens are the same in Python, in ONNX, and as training has them."""

import random

import numpy as np
import pytest
import tensorflow as tf

from keras_tagging.encoding.tokens_to_ids import TokenFeatures, _is_capital
from keras_tagging.onnx.model_file import forms_model
from keras_tagging.runtime.onnx_file import forms_session
from keras_tagging.runtime.token_forms import (
    all_encodable,
    forms_needed,
    forms_of,
    of_ascii,
)

pytestmark = pytest.mark.one_backend

AFFIXES = ["suffix1", "suffix3", "prefix2"]
NAMES = ["raw", "lower", "kadari", "wu", "shape", "capital", *AFFIXES]
ASCII = [chr(code) for code in range(1, 128)]
MANY = ["", *ASCII, *(a + b for a in "aZ0\\/\n" for b in ASCII), "3,000.5-Year"]
MANY += [r"wife\/mother", r"1\/2\/3"]
rng = random.Random(0)
MANY += ["".join(rng.choices(ASCII, k=rng.randint(2, 12))) for _ in range(2000)]
OTHERS = ["Été", "ÉTÉ", "ΑΣ", "İx", "12٣", "Ǆa", "naïve\\/Œuvre", "日本"]
OTHERS += ["\ufb02o\ufb03", "so\xadft\u200b", "👩‍👧\u200d", "\ufeff", "a\U000ffffe"]


def as_training(tokens):
    """The forms that `TokenFeatures` has."""
    strings, found = {"tokens": tf.constant(tokens)}, {}
    for normalise in ("kadari", "wu"):
        features = TokenFeatures(
            suffixes=(1, 3),
            prefixes=(2,),
            shapes=True,
            normalise=normalise,
            lookup="cascade",
        )
        forms = features._forms(strings)
        found |= {name: forms[name][0] for name in [*AFFIXES, "shape"]}
        found |= zip(["raw", "lower", normalise], forms["word"], strict=True)
    found = {k: [x.decode() for x in v.numpy().tolist()] for k, v in found.items()}
    capital = _is_capital(strings["tokens"]).numpy()
    return found | {"capital": np.where(capital, "X", "x").tolist()}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    made = forms_model({"word": [*MANY, *OTHERS]}, NAMES)
    return forms_session(tmp_path_factory.mktemp("forms"), made.SerializeToString())


def made_by(session):
    def made(tokens):
        given = {"tokens": np.array(tokens, object)}
        return {k: x.tolist() for k, x in session.answers(NAMES, given).items()}

    return made


def refused(tokens):
    raise AssertionError(tokens)


def test_ascii_tokens_need_no_file():
    assert forms_of(MANY, NAMES, refused) == as_training(MANY)
    assert forms_of([], NAMES, refused).keys() in ({*NAMES}, set())


def test_the_file_makes_the_same_forms(session):
    tokens = [*MANY, *OTHERS]
    expected = as_training(tokens)
    # what stands behind U+0000 is lost in TensorFlow's lower case
    assert made_by(session)(tokens[:-1]) == {k: v[:-1] for k, v in expected.items()}


def test_other_tokens_are_asked_for_in_their_places(session):
    tokens = all_encodable(["Dog", *OTHERS[:3], "12", *OTHERS[3:6]])
    assert forms_of(tokens, NAMES, made_by(session)) == as_training(tokens)
    assert forms_of(["é"], NAMES, made_by(session)) == as_training(["é"])


def test_forms_of_other_names_are_asked_for():
    asked = []

    def made(tokens):
        asked.append(tokens)
        return {"form_0": [token * 2 for token in tokens], "raw": tokens}

    found = forms_of(["a", "é"], ["form_0"], made)
    assert found == {"form_0": ["aa", "éé"]} and asked == [["a", "é"]]
    unknown = ["form_0", "suffix0", "suffix", "prefix01", "suffix1x"]
    assert not any(map(of_ascii, unknown))


@pytest.mark.parametrize(
    "options, name, forms",
    [
        ({}, "word", ["kadari"]),
        ({"normalise": None}, "word", ["lower"]),
        ({"normalise": "lower"}, "cluster", ["raw", "lower", "lower"]),
        ({"normalise": "wu", "lookup": "cascade"}, "vector", ["raw", "lower", "wu"]),
        ({}, "suffix2", ["suffix2"]),
        ({}, "capital", ["capital"]),
    ],
)
def test_the_forms_that_a_feature_needs(options, name, forms):
    assert forms_needed(TokenFeatures(**options), name) == forms
