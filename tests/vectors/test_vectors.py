import numpy as np
import pytest
from vectors.examples import MATRIX, WORDS

from keras_tagging import Sentence
from keras_tagging.vectors import WordVectors, coverage


def test_they_are_scaled():
    """Turian et al. (2010), Eq. 1: sigma * E / stddev(E)."""
    drawn = np.random.default_rng(1).normal(0.3, 0.7, (40, 5)).astype("float32")
    vectors = WordVectors([f"word{i}" for i in range(40)], drawn, frozenset({"word3"}))
    before = drawn.copy()
    assert vectors.std() == pytest.approx(drawn.astype("float64").std())
    for std, found in ((0.1, vectors.scaled()), (2.0, vectors.scaled(2.0))):
        expected = std * drawn.astype("float64") / drawn.astype("float64").std()
        np.testing.assert_allclose(found.matrix, expected, rtol=1e-6)
        assert found.matrix.dtype == np.float32
        assert (found.words, found.composed) == (vectors.words, vectors.composed)
        [row], _ = found.lookup(["word7"])
        np.testing.assert_allclose(row, expected[7], rtol=1e-6)
    np.testing.assert_array_equal(vectors.matrix, before)


def test_what_they_are_not_scaled_to():
    for std in (0, -0.1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="must be above 0"):
            WordVectors(WORDS, MATRIX).scaled(std)
    for count, value in ((4, 0.0), (4, 0.1), (0, 1.0)):  # vectors without a scale
        matrix = np.full((count, 3), value, "float32")
        assert WordVectors(WORDS[:count], matrix).std() == 0
        with pytest.raises(ValueError, match="must be above 0"):
            WordVectors(WORDS[:count], matrix).scaled()


def test_the_unknown_word():
    vectors = WordVectors(WORDS, MATRIX)
    np.testing.assert_array_equal(vectors.unknown(), vectors.mean())
    for name in ("UNKNOWN", "*UNKNOWN*", "<unk>", "unk"):
        vectors = WordVectors([*WORDS[:3], name], MATRIX)
        np.testing.assert_array_equal(vectors.unknown(), MATRIX[3])


def test_lookup():
    vectors = WordVectors(["the", "The", "0"], np.float32([[1, 2], [3, 4], [5, 6]]))
    rows, found = vectors.lookup(["The", "THE", "the"])
    assert rows.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert rows.dtype == np.float32
    assert found.tolist() == [True, False, True]
    # One form only: the exact one is not tried.
    rows, found = vectors.lookup(["The", "17"], str.lower)
    assert rows.tolist() == [[1, 2], [0, 0]]
    # Several, in order.
    rows, found = vectors.lookup(["The", "THE", "x"], lambda w: (w, w.lower()))
    assert rows.tolist() == [[3, 4], [1, 2], [0, 0]]
    assert found.tolist() == [True, True, False]
    rows, found = vectors.lookup([])
    assert rows.shape == (0, 2) and found.shape == (0,)


# Coverage


KNOWN = ["the", "Paris", "nice", "caf\u00e9", "9999"]
VECTORS = WordVectors(KNOWN, np.eye(5, dtype=np.float32))
TEXT = ["The", "the", "the", "cafe\u0301", "1984", "1984", "Nice", "zzz", "PARIS"]


@pytest.mark.parametrize("normalise", ["wu", lambda word: word.replace("1984", "9999")])
def test_coverage(normalise):
    """Worked out by hand."""
    found = coverage(TEXT, VECTORS, normalise)
    assert found.exact == {"the": 2, "caf\u00e9": 1}
    assert found.lower == {"Nice": 1, "The": 1}
    assert found.normalised == {"1984": 2}
    assert found.missing == {"PARIS": 1, "zzz": 1}
    assert found.tokens == 7 / 9 and found.types == 5 / 7
    lines = str(found).splitlines()
    assert lines[1].split() == ["exact", "2", "28.6%", "3", "33.3%"]
    assert lines[4].split() == ["missing", "2", "28.6%", "2", "22.2%"]
    assert lines[5] == "most frequent of the missing: PARIS, zzz"


def test_coverage_of_sentences_and_counts():
    expected = coverage(TEXT, VECTORS)
    assert expected.missing == {"1984": 2, "PARIS": 1, "zzz": 1}
    assert list(expected.missing) == ["1984", "PARIS", "zzz"]
    assert expected.normalised == {}
    sentences = [Sentence(TEXT[:4]), TEXT[4:], Sentence([])]
    assert coverage(sentences, VECTORS) == expected
    assert coverage({w: TEXT.count(w) for w in TEXT}, VECTORS) == expected
    assert coverage(iter(TEXT), VECTORS) == expected


def test_coverage_errors():
    with pytest.raises(ValueError, match="'a text' is a string: give a list of words"):
        coverage("a text", VECTORS)
    with pytest.raises(ValueError, match="depends on the training sentences"):
        coverage(["a"], VECTORS, "dinarelli")
