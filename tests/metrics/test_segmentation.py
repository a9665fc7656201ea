"""Segmentation scores against counts made by hand."""

import pytest

from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.metrics.raw_text import segmentation_scores


def sentence(text):
    """A sentence in which `don't=do+n't` is a multiword token, `~` joins tokens."""
    tokens, spans, words, joined = [], [], [], ""
    for item in text.split():
        form, _, parts = item.removeprefix("~").partition("=")
        joined += "" if item.startswith("~") or not joined else " "
        spans.append((len(joined), len(joined) + len(form)))
        joined += form
        parts = parts.split("+") if parts else [form]
        words.append(len(parts))
        tokens += parts
    return Sentence(tokens, surface=Surface(joined, spans, words))


def counts(gold, predicted):
    """(gold, predicted, right) of tokens, sentences, words and multiword tokens."""
    scores = segmentation_scores(map(sentence, gold), map(sentence, predicted))
    units = (scores.tokens, scores.sentences, scores.words, scores.multiwords)
    return [(unit.gold, unit.found, unit.correct) for unit in units]


@pytest.mark.parametrize(
    "gold, predicted, expected",
    [
        (["a b", "c"], ["a b c"], [(3, 3, 3), (2, 1, 0), (3, 3, 3), (0, 0, 0)]),
        # white space is not counted
        (["a b"], ["a ~b"], [(2, 2, 2), (1, 1, 1), (2, 2, 2), (0, 0, 0)]),
        (["ab ~cd"], ["a ~bc ~d"], [(2, 3, 0), (1, 1, 1), (2, 3, 0), (0, 0, 0)]),
        # the words of a multiword token are compared by their forms
        (
            ["I don't=do+n't go"],
            ["I don't=DO+N'T go"],
            [(3, 3, 3), (1, 1, 1), (4, 4, 4), (1, 1, 1)],
        ),
        (
            ["du=de+le pain"],
            ["du=de+la pain"],
            [(2, 2, 2), (1, 1, 1), (3, 3, 2), (1, 1, 0)],
        ),
        # a multiword token that is too long takes its neighbour in
        (
            ["du=de+le ~pain"],
            ["dupain=de+le+pain"],
            [(2, 1, 0), (1, 1, 1), (3, 3, 3), (1, 1, 0)],
        ),
        # two that overlap are one region: de le x against de y
        (
            ["abc=de+le ~d=d"],
            ["ab ~cd=le+d"],
            [(2, 2, 0), (1, 1, 1), (3, 3, 2), (1, 1, 0)],
        ),
        # and one behind it too
        (["x=a+b bb b"], ["x=a+b b ~bb"], [(3, 3, 1), (1, 1, 1), (4, 4, 2), (1, 1, 1)]),
        # a word that is only partly inside of a region is compared by its span
        (
            ["ab=a+b ~cd"],
            ["a ~bc ~d"],
            [(2, 3, 0), (1, 1, 1), (3, 3, 1), (1, 0, 0)],
        ),
    ],
)
def test_counts_made_by_hand(gold, predicted, expected):
    assert counts(gold, predicted) == expected
    swapped = [(b, a, right) for a, b, right in expected]
    assert counts(predicted, gold) == swapped


def test_nothing_to_count():
    scores = segmentation_scores([], [Sentence([])])
    assert (scores.tokens.f1, scores.words.recall, scores.words.precision) == (0, 0, 0)
