"""Lemmas as scripts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_tagging.data.lemmas.scripts import (
    LONGEST,
    is_script,
    lemma_of,
    script_of,
    shown_pairs,
)

# few letters, so that forms and lemmas share stretches
LIKE = st.text(st.sampled_from("abAB1-'"), max_size=9)
ANY = st.text(max_size=12)


@settings(max_examples=60)
@given(form=LIKE | ANY, lemma=LIKE | ANY)
def test_a_script_gives_the_lemma_back(form, lemma):
    script = script_of(form, lemma)
    assert is_script(script)
    assert lemma_of(form, script) == lemma
    assert script_of(form, lemma) == script


@given(form=ANY, script=ANY | st.text("UL0123,;|.-+=!", max_size=12))
def test_any_script_gives_some_lemma_of_any_form(form, script):
    lemma = lemma_of(form, script)
    assert isinstance(lemma, str)
    assert is_script(script) or lemma == form


@pytest.mark.parametrize(
    ("form", "lemma", "script", "unseen"),
    [
        ("dogs", "dog", ";|-", ("cats", "cat")),
        ("dog", "dog", ";|", ("cat", "cat")),
        ("London", "London", "U0,L1;|", ("Paris", "Paris")),
        ("NATO", "NATO", "U0;|", ("UN", "UN")),
        ("stopped", "stop", ";|---", ("planned", "plan")),
        ("sang", "sing", ";.-+i|", ("rang", "ring")),
        ("gegangen", "gehen", None, None),
        ("went", "go", ";=go", ("eat", "go")),
        ("me", "I", "U0;=i", ("us", "I")),
        ("McDonalds", "McDonald", "U0,L1,U2,L3;|-", ("McCoys", "McCoy")),
        ("iPhones", "iPhone", "U1,L2;|-", ("iPads", "iPad")),
        # an index of the first half, the middle included, is counted from the start
        ("WiFis", "WiFi", "U0,L1,U2,L-1;|-", ("HiFis", "HiFi")),
        ("'Tis", "it", None, None),
        ("22nd", "22nd", ";|", ("23rd", "23rd")),
        # of which no case of its own gives the lemma back
        ("ǅungla", "ǅungla", "!ǅungla", None),
    ],
)
def test_scripts_by_hand(form, lemma, script, unseen):
    found = script_of(form, lemma)
    assert script is None or found == script
    assert lemma_of(form, found) == lemma
    if unseen:
        assert lemma_of(unseen[0], found) == unseen[1]


@pytest.mark.parametrize(
    ("script", "form", "lemma"),
    [
        ("U1;|", "abcd", "aBCD"),
        ("U1,L2;|", "ABCD", "aBcd"),
        # from the end
        ("U-1;|", "a", "A"),
        ("U0,L-2,U-1;|", "abcde", "ABCdE"),
        ("U1,L-1;|-", "xyzqr", "xYZq"),
        ("U-3;=abcd", "any", "aBCD"),
        # words that are too short for it: no letter is lost, and none comes twice
        ("U-3;|", "ab", "AB"),
        ("U5;|", "abc", "abc"),
        ("U0,L1,U2,L-1;|", "un", "Un"),
    ],
)
def test_cases_of_other_words(script, form, lemma):
    assert lemma_of(form, script) == lemma


def test_a_script_that_does_not_fit_leaves_the_form():
    assert lemma_of("I", ";|--") == "I"  # more letters than there are
    assert lemma_of("an", ";|--") == "an"  # none would be left
    assert lemma_of("Any", "no script") == "Any"
    assert lemma_of("Any", "Ux;|") == "Any"


def test_long_words_are_not_compared():
    long = "a" * LONGEST
    assert script_of(long, long) == ";|"
    assert script_of(f"{long}b", long) == f"!{long}"


def test_several_scripts_of_a_word():
    rows = [[(";|-", 0.5), (";|", 0.3), ("!Dog", 0.1), (";=dog", 0.05)], []]
    found = shown_pairs(rows, ["Dogs", "x"])
    assert found == [[("dog", 0.5), ("dogs", 0.3), ("Dog", 0.1)], []]
