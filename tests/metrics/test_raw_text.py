"""Scores of annotated raw text, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.metrics import raw_text_scores
from keras_tagging.metrics.raw_text import common_subsequence


def sentence(*tokens, **columns):
    """A sentence of tokens; a tuple is a token and its words."""
    text, spans, words, counts = "", [], [], []
    for token in tokens:
        form, own = (token[0], token[1:]) if isinstance(token, tuple) else (token, [])
        own = list(own) or [form]
        text += " " if text else ""
        spans.append((len(text), len(text) + len(form)))
        text += form
        words += own
        counts.append(len(own))
    named = {name: values.split() for name, values in columns.items()}
    return Sentence(words, None, named, Surface(text, spans, counts))


def counts(found, name):
    return found[name].gold, found[name].found, found[name].correct


def test_white_space_does_not_count():
    found = raw_text_scores([sentence("10 000", "x")], [sentence("10000", "x")])
    assert counts(found, "tokens") == (2, 2, 2)


def test_entities_by_their_characters():
    gold = [
        sentence("Ada", "L", ".", "in", "New", "York", ner="B-P I-P I-P O B-L I-L"),
        sentence("Oslo", "Rome", ner="B-L B-L"),
    ]
    predicted = [
        sentence("Ada", "L.", "in", ner="B-P I-P O"),
        sentence("New", "York", "Oslo", ("Rome", "Ro", "me"), ner="B-L O B-P I-L O"),
    ]
    found = raw_text_scores(gold, predicted)
    # L. may be one word; Rome is a token
    assert counts(found, "entities") == (4, 4, 2)
    assert "entities" not in raw_text_scores(gold, [sentence("AdaL.inNewYorkOsloRome")])


def test_another_text_is_refused():
    with pytest.raises(ValueError, match="at character 2 without white space .*'abc'"):
        raw_text_scores([sentence("abc")], [sentence("adc")])
    with pytest.raises(ValueError, match="at character 4"):
        raw_text_scores([sentence("abc")], [sentence("abc", "d")])


def test_sentences_without_their_text_are_refused():
    """Their multiword tokens may have been left out: no count of tokens is right."""
    gold, words = [sentence(("can't", "ca", "n't"))], [Sentence(["ca", "n't"])]
    for pair in ((gold, words), (words, gold)):
        with pytest.raises(ValueError, match="sentence 1, .* with surface=True"):
            raw_text_scores(*pair)


def test_words_of_multiword_tokens_align_by_their_forms():
    gold = [sentence("I", ("can't", "ca", "n't"), "go", pos="P A N V")]
    # not split
    found = raw_text_scores(gold, [sentence("I", "can't", "go", pos="P A V")])
    assert counts(found, "tokens") == (3, 3, 3)
    assert counts(found, "words") == (4, 3, 2)
    assert counts(found, "upos") == (4, 3, 2)
    # split otherwise: one of the words is the same
    other = sentence("I", ("can't", "CA", "not"), "go", pos="P X N V")
    found = raw_text_scores(gold, [other])
    assert counts(found, "words") == (4, 4, 3)
    assert counts(found, "upos") == (4, 4, 2)
    # two tokens, which are the words
    parts = [sentence("I", "ca", "n't", "go", pos="P A N V")]
    found = raw_text_scores(gold, parts)
    assert counts(found, "tokens") == (3, 4, 2)
    assert counts(found, "words") == (4, 4, 4)
    assert raw_text_scores(parts, gold)["words"].correct == 4


def test_heads_are_compared_through_the_alignment():
    gold = [
        sentence(
            "I",
            ("can't", "ca", "n't"),
            "go",
            head="4 4 4 0",
            deprel="nsubj aux advmod:neg root",
        )
    ]
    # other numbers, the same tree
    predicted = [sentence("I", "can't", "go", head="3 3 0", deprel="nsubj:x aux root")]
    found = raw_text_scores(gold, predicted)
    assert counts(found, "uas") == (4, 3, 2)
    assert counts(found, "las") == (4, 3, 2)  # nsubj:x is nsubj
    # a head that is aligned with nothing
    wrong = [sentence("I", "can't", "go", head="2 0 2", deprel="nsubj root x")]
    assert counts(raw_text_scores(gold, wrong), "uas") == (4, 3, 0)


def test_heads_of_another_sentence():
    gold = [sentence("a", "b", head="2 0", deprel="x root")]
    predicted = [
        sentence("a", head="0", deprel="root"),
        sentence("b", head="0", deprel="root"),
    ]
    found = raw_text_scores(gold, predicted)
    assert counts(found, "uas") == counts(found, "las") == (2, 2, 1)


def test_a_gold_head_that_is_not_known_is_not_met():
    gold = [sentence("a", "b", "c", head="_ _ _")]
    predicted = [sentence("a", "bc", head="2 0")]
    assert counts(raw_text_scores(gold, predicted), "uas") == (3, 2, 0)


def test_features_and_lemmas():
    gold = [sentence("a", "b", feats="Number=Sing|Own=X _", lemma="_ b")]
    predicted = [sentence("a", "b", feats="Number=Sing Own=Y", lemma="A c")]
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
