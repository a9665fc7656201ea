"""Scores of segmented and annotated raw text, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.metrics import raw_text_scores
from keras_tagging.metrics.raw_text import common_subsequence, segmentation_scores


def sentence(text, **columns):
    """A sentence in which `don't=do+n't` is a multiword token, `~` joins tokens."""
    tokens, spans, words, joined = [], [], [], ""
    for item in text.split(" "):
        form, _, parts = item.removeprefix("~").partition("=")
        joined += "" if item.startswith("~") or not joined else " "
        spans.append((len(joined), len(joined) + len(form)))
        joined += form
        parts = parts.split("+") if parts else [form]
        words.append(len(parts))
        tokens += parts
    named = {name: values.split() for name, values in columns.items()}
    return Sentence(tokens, None, named, Surface(joined, spans, words))


def counts(found, name):
    return found[name].gold, found[name].found, found[name].correct


def test_entities_by_their_characters():
    gold = [
        sentence("Ada L . in New York", ner="B-P I-P I-P O B-L I-L"),
        sentence("Oslo Rome", ner="B-L B-L"),
    ]
    predicted = [
        sentence("Ada L. in", ner="B-P I-P O"),
        sentence("New York Oslo Rome=Ro+me", ner="B-L O B-P I-L O"),
    ]
    found = raw_text_scores(gold, predicted)
    # L. may be one word; Rome is a token
    assert counts(found, "entities") == (4, 4, 2)
    assert "entities" not in raw_text_scores(gold, [sentence("AdaL.inNewYorkOsloRome")])


def test_another_text_is_refused():
    with pytest.raises(ValueError, match="at character 2 without white space .*'abc'"):
        raw_text_scores([sentence("abc")], [sentence("adc")])
    with pytest.raises(ValueError, match="at character 4"):
        raw_text_scores([sentence("abc")], [sentence("abc d")])


def test_sentences_without_their_text_are_refused():
    """Their multiword tokens may have been left out: no count of tokens is right."""
    gold, words = [sentence("can't=ca+n't")], [Sentence(["ca", "n't"])]
    for pair in ((gold, words), (words, gold)):
        with pytest.raises(ValueError, match="sentence 1, .* with surface=True"):
            raw_text_scores(*pair)


def unit_counts(*sides):
    """Of tokens, sentences, words and multiword tokens: gold, found and right ones."""
    scores = segmentation_scores(*(map(sentence, side.split("|")) for side in sides))
    units = (scores.tokens, scores.sentences, scores.words, scores.multiwords)
    return " ".join(f"{unit.gold}{unit.found}{unit.correct}" for unit in units)


@pytest.mark.parametrize(
    "gold, predicted, expected",
    [
        ("a b|c", "a b c", "333 210 333 000"),
        # white space is not counted
        ("a b", "a ~b", "222 111 222 000"),
        ("10\u00a0000 x", "10000 x", "222 111 222 000"),
        ("ab ~cd", "a ~bc ~d", "230 111 230 000"),
        # the words of a multiword token are compared by their forms
        ("I don't=do+n't go", "I don't=DO+N'T go", "333 111 444 111"),
        ("du=de+le pain", "du=de+la pain", "222 111 332 110"),
        ("I can't=ca+n't go", "I can't go", "333 111 432 100"),
        ("I can't=ca+n't go", "I ca ~n't go", "342 111 444 100"),
        # a multiword token that is too long takes its neighbour in
        ("du=de+le ~pain", "dupain=de+le+pain", "210 111 333 110"),
        # two that overlap are one region: de le x against de y
        ("abc=de+le ~d=d", "ab ~cd=le+d", "220 111 332 110"),
        # and one behind it too
        ("x=a+b bb b", "x=a+b b ~bb", "331 111 442 111"),
        # a word that is only partly inside of a region is compared by its span
        ("ab=a+b ~cd", "a ~bc ~d", "230 111 331 100"),
    ],
)
def test_counts_made_by_hand(gold, predicted, expected):
    assert unit_counts(gold, predicted) == expected
    swapped = " ".join(f"{b}{a}{right}" for a, b, right in expected.split())
    assert unit_counts(predicted, gold) == swapped


def test_nothing_to_count():
    scores = segmentation_scores([], [Sentence([])])
    assert (scores.tokens.f1, scores.words.recall, scores.words.precision) == (0, 0, 0)


def test_columns_are_compared_through_the_alignment():
    gold = [sentence("I can't=ca+n't go", pos="P A N V")]
    found = raw_text_scores(gold, [sentence("I can't go", pos="P A V")])
    assert counts(found, "words") == counts(found, "upos") == (4, 3, 2)
    other = sentence("I can't=CA+not go", pos="P X N V")
    found = raw_text_scores(gold, [other])
    assert counts(found, "words") == (4, 4, 3)
    assert counts(found, "upos") == (4, 4, 2)


def test_heads_are_compared_through_the_alignment():
    labels = "nsubj aux advmod:neg root"
    gold = [sentence("I can't=ca+n't go", head="4 4 4 0", deprel=labels)]
    # other numbers, the same tree
    predicted = [sentence("I can't go", head="3 3 0", deprel="nsubj:x aux root")]
    found = raw_text_scores(gold, predicted)
    assert counts(found, "uas") == (4, 3, 2)
    assert counts(found, "las") == (4, 3, 2)  # nsubj:x is nsubj
    # a head that is aligned with nothing
    wrong = [sentence("I can't go", head="2 0 2", deprel="nsubj root x")]
    assert counts(raw_text_scores(gold, wrong), "uas") == (4, 3, 0)


def test_heads_of_another_sentence():
    gold = [sentence("a b", head="2 0", deprel="x root")]
    predicted = [
        sentence("a", head="0", deprel="root"),
        sentence("b", head="0", deprel="root"),
    ]
    found = raw_text_scores(gold, predicted)
    assert counts(found, "uas") == counts(found, "las") == (2, 2, 1)


def test_a_gold_head_that_is_not_known_is_not_met():
    gold = [sentence("a b c", head="_ _ _")]
    predicted = [sentence("a bc", head="2 0")]
    assert counts(raw_text_scores(gold, predicted), "uas") == (3, 2, 0)


def test_features_and_lemmas():
    gold = [sentence("a b", feats="Number=Sing|Own=X _", lemma="_ b")]
    predicted = [sentence("a b", feats="Number=Sing Own=Y", lemma="A c")]
    found = raw_text_scores(gold, predicted)
    assert counts(found, "feats") == (2, 2, 2)
    assert counts(found, "lemma") == (2, 2, 1)


def test_a_column_that_one_side_lacks_has_no_figure():
    gold = [sentence("a", pos="X", head="0", deprel="root")]
    assert "upos" not in raw_text_scores(gold, [sentence("a")])
    assert "las" not in raw_text_scores(gold, [sentence("a", deprel="root")])


def longest(one, other):
    """By brute force."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest(one[1:], other[1:])
    return max(longest(one[1:], other), longest(one, other[1:]))


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_common_subsequences(one, other):
    pairs = common_subsequence(one, other)
    assert len(pairs) == longest(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert pairs == sorted(pairs) and len({j for _, j in pairs}) == len(pairs)
    assert [j for _, j in pairs] == sorted(j for _, j in pairs)
