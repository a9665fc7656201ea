import pytest
import tensorflow as tf

from keras_tagging.encoding.tokens_to_ids import NORMALISATIONS
from preparing.preprocessing import PREPROCESSING

WORDS = ["Mr.", "1,989", "1989", "wife\\/mother", "a\\b\\/C3", "\\", "\\/", "x\\/"]
WORDS += ["\u0661\u0662", "\u00c9t\u00e9", "-LRB-", "1\\/2"]
PAPERS = {"k18": "kadari", "w16": "wu"}


@pytest.mark.parametrize("name", PREPROCESSING)
def test_words_are_those_of_the_models(name):
    expected = tf.strings.lower(WORDS, encoding="utf-8")
    for pattern, replacement in NORMALISATIONS[PAPERS[name]]:
        expected = tf.strings.regex_replace(expected, pattern, replacement)
    expected = [word.decode() for word in expected.numpy()]
    assert list(map(PREPROCESSING[name], WORDS)) == expected
