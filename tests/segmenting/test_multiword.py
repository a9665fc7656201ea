"""The words of multiword tokens."""

import itertools
import re

import pytest

from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.segmenting.multiword import MultiwordSplitter, analyses_of, usual_of

ENGLISH = ["don't=do n't", "It's=It 's", "it's=it 's", "IT'S=it is", "Anna's=Anna 's"]
ENGLISH += ["isn't=is n't", "gonna=gon na", "Bill's=Bill 's", "won't=wo n't"]
FRENCH = ["du=de le", "au=à le", "auxquels=à lesquels", "auxquelles=à lesquelles"]
ARABIC = ["وكتب=و كتب", "وبيت=و بيت", "وقرأ=و قرأ"]


def splitter(analyses):
    return MultiwordSplitter(a.replace("=", "\t").replace(" ", "\t") for a in analyses)


@pytest.mark.parametrize(
    "analyses, token, words",
    [
        (ENGLISH, "don't", "do n't"),
        # as written, before the small letters
        (ENGLISH, "IT'S", "it is"),
        (ENGLISH, "iT'S", "iT 'S"),
        (ENGLISH, "DON'T", "DO N'T"),
        (ENGLISH, "Don't", "Do n't"),
        # by rules: 's and n't behind a beginning
        (ENGLISH, "Mary's", "Mary 's"),
        (ENGLISH, "DOESN'T", "DOES N'T"),
        # a rule of one token alone is none
        (ENGLISH, "wanna", "wanna"),
        (ENGLISH, "'s", "'s"),
        (ENGLISH, "", ""),
        (FRENCH, "du", "de le"),
        (FRENCH, "Du", "De le"),
        (FRENCH, "DU", "DE LE"),
        (FRENCH, "AUXQUELS", "À LESQUELS"),
        # by a rule: aux before an end is à and les
        (FRENCH, "auxautres", "à lesautres"),
        (FRENCH, "X", "X"),
        (ARABIC, "وذهب", "و ذهب"),
        (["a=b c", "a=d e"], "a", "b c"),
        ([], "don't", "don't"),
        # I with a dot is two small letters, so the words cannot be cut out
        (["i\u0307x=i\u0307 x"], "\u0130X", "I\u0307 X"),
    ],
)
def test_words(analyses, token, words):
    assert splitter(analyses)(token) == words.split(" ")


def test_no_rule_gives_an_empty_word():
    """Rules of random analyses, tried on all short strings."""
    strings = ["".join(x) for n in (1, 2, 3) for x in itertools.product("ab", repeat=n)]
    every = [f"{t}={a} {b}" for t in strings for a in strings[:6] for b in strings[:6]]
    split = splitter(every)
    for token in map("".join, itertools.product("abB", repeat=4)):
        words = split(token)
        assert words and all(words)


def test_analyses_are_counted():
    def one(tokens, spans, words, text):
        return Sentence(tokens, surface=Surface(text, spans, words))

    du = one(["de", "le", "pain"], [(0, 2), (3, 7)], [2, 1], "du pain")
    aux = one(["à", "les"], [(0, 3)], [2], "aux")
    plain = one(["pain"], [(0, 4)], [1], "pain")
    tab = one(["a\tb", "c"], [(0, 2)], [2], "ac")
    assert analyses_of([aux, du, plain, tab, du]) == ["du\tde\tle", "aux\tà\tles"]


def test_usual_multiword_tokens():
    """Those that mostly are, and not once: "its" and "ive" are not."""
    text = "dont its Dont its its wanna ive ive"
    spans = [(found.start(), found.end()) for found in re.finditer(r"\S+", text)]
    words = "do nt it s Do nt its its wan na i ve ive".split()
    sentence = Sentence(words, surface=Surface(text, spans, [2, 2, 2, 1, 1, 2, 2, 1]))
    assert usual_of([sentence]) == ["dont"]
    split = MultiwordSplitter(analyses_of([sentence]), usual_of([sentence]))
    assert split("DONT", is_multiword=False) == ["DO", "NT"]
    assert split("its", is_multiword=False) == ["its"]
    assert split("its", is_multiword=True) == ["it", "s"]
