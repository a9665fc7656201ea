import math

import pytest

from keras_tagging.data.sentence import Sentence
from keras_tagging.metrics import token_accuracy

GOLD = [["D", "N", "V"], ["N"], [], ["RARE", "V"]]
PREDICTED = [["D", "N", "N"], ["N"], [], ["N", "V"]]
TOKENS = [["the", "dog", "barks"], ["dogs"], [], ["zyx", "ran"]]


def test_hand_count():
    sentences, words = map(Sentence, TOKENS), {"the", "dog", "ran", "zyx"}
    figures = token_accuracy(GOLD, PREDICTED, sentences=sentences, known_words=words)
    assert figures == {
        "accuracy": 4 / 6,
        "oov_accuracy": 1 / 2,  # "dogs" is right, "barks" wrong
        "known_accuracy": 3 / 4,
        "sentence_accuracy": 1 / 3,  # the empty sentence is not counted
        "tokens": 6,
        "oov_tokens": 2,
        "sentences": 3,
    }


def test_without_words():
    figures = token_accuracy(iter(GOLD), iter(PREDICTED))
    assert figures["accuracy"] == 4 / 6
    assert math.isnan(figures["oov_accuracy"])
    assert math.isnan(figures["known_accuracy"])


@pytest.mark.parametrize("gold", [[], [[]], [[], []]])
def test_nothing_to_count(gold):
    figures = token_accuracy(gold, gold, sentences=gold, known_words=set())
    shares = [value for name, value in figures.items() if "accuracy" in name]
    assert len(shares) == 4
    assert all(math.isnan(value) for value in shares)
    assert figures["tokens"] == figures["sentences"] == 0


@pytest.mark.parametrize(
    ("gold", "predicted", "words", "message"),
    [
        (
            [["A"], ["A", "B"]],
            [["A"], ["A"]],
            None,
            "sentence 2 has 2 gold tags but 1 predicted tags",
        ),
        ([["A"], ["A"]], [["A"]], None, "sentence 2 has 1 gold tags but no predicted"),
        ([["A"]], [["A"], ["A"]], None, "sentence 2 has no gold tags but 1"),
        ([["A"]], [["A"]], [["a", "b"]], "sentence 1 has 1 gold tags but 2 tokens"),
        ([["A"]], [["A"]], [["a"], ["b"]], "sentence 2 has no gold tags but 1 tokens"),
    ],
)
def test_length_mismatch(gold, predicted, words, message):
    known = None if words is None else set()
    with pytest.raises(ValueError, match=message):
        token_accuracy(gold, predicted, sentences=words, known_words=known)
