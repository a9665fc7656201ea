import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_tagging.data.lemmas.rules import LemmaRules, read_lexicon
from keras_tagging.data.lemmas.scripts import (
    LONGEST,
    is_script,
    lemma_of,
    script_of,
    shown_pairs,
)
from keras_tagging.data.records import CorpusError

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
        ("Ǆungla", "Ǆungla", "!Ǆungla", None),
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
        # one letter for one: ß and ﬂ have two in upper case, ǆ has a title case
        *(("U0,L1;|", x, x) for x in ("\xdfa", "\ufb02ora", "\u0149a")),
        ("U0;|", "ma\xdf", "MA\xdf"),
        ("U0,L1;|", "\u01c6ep", "\u01c5ep"),
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


# Rules that say which scripts may win

UPOS = {"VBG": "VERB", "VBD": "VERB", "NNS": "NOUN", "NN": "NOUN", "NNP": "PROPN"}
UPOS |= {"CD": "NUM", "VBN": "VERB", "VBZ": "VERB"}


def word(form, tag, lemma):
    return form, lemma, {"upos": UPOS[tag], "xpos": tag}


TRAIN = [
    *(word(f"{x}ating", "VBG", f"{x}ate") for x in ("cre", "rel", "st", "don")),
    *(word(f"{x}ing", "VBG", x) for x in ("walk", "talk", "ask", "think", "mark")),
    word("lying", "VBG", "lie"),
    *(word(f"{x}ed", "VBD", x) for x in ("walk", "talk", "ask", "mark")),
    word("chose", "VBD", "choose"),
    *(word(f"{x}s", "NNS", x) for x in ("dog", "cat", "tree", "talk")),
    *(word(x, "NN", x) for x in ("dog", "cat", "tree", "house")),
    *(word(x, "NNP", x) for x in ("Paris", "McCoy", "McAdam", "London", "Rome") * 2),
    *(word(x, "CD", x.replace(",", "")) for x in ("1,000", "20,000", "7", "3.5")),
    *[word("k", "CD", "thousand"), word("al", "NNP", "al")] * 2,
    *[word("PARIS", "NNP", "Paris"), *(word(x, "NNP", x) for x in ("UN", "CPA"))] * 2,
]
RULES = LemmaRules.learnt(TRAIN, [("taught", "VBD", "teach"), ("rove", "VERB", "rove")])


def lemma(form, tag, *scripts, rules=RULES):
    """The lemma of a word whose scripts are these, each half as probable as before."""
    ranked = [(script, 0.5 ** (i + 1)) for i, script in enumerate(scripts)]
    labels = {"upos": UPOS[tag], "xpos": tag}
    return rules.chosen(form, scripts[0], labels, lambda _: ranked)[0]


@pytest.mark.parametrize(
    ("form", "tag", "scripts", "found"),
    [
        ("estimating", "VBG", [";|---", ";|---+e"], "estimate"),  # its ending
        ("lying", "VBG", [";|---"], "lie"),  # training has it
        ("chose", "VBD", [";..-+i|"], "choose"),
        ("taught", "VBD", [";.-+i|", ";|-+i."], "teach"),  # the list has it
        ("roving", "VBG", [";|---", ";|---+e"], "rove"),  # a lemma that is known
        ("sung", "VBG", [";|---+e", ";|---"], "sung"),  # without the letters it drops
        ("YouTube", "NNP", ["U0,L1;|"], "YouTube"),
        ("YOUTUBE", "NNP", ["U0,L1;|"], "Youtube"),
        ("MSN", "NNP", ["U0,L1;|"], "MSN"),  # a short one
        ("al", "NNP", ["U0,L1;|"], "al"),  # as training writes it
        ("rome", "NNP", ["U0,L1;|"], "Rome"),
        ("250,000", "CD", [";..-|", ";|"], "250000"),
        ("m", "CD", [";=thousand", ";|"], "m"),  # a lemma that is one word's alone
        ("k", "CD", [";|"], "thousand"),
    ],
)
def test_no_lemma_is_invented(form, tag, scripts, found):
    assert lemma(form, tag, *scripts) == found


def test_the_most_probable_script_that_may_win_does():
    """A lemma that is known goes before one that is not, up to a hundred times."""
    assert lemma("talking", "VBG", ";|---", ";|---+e") == "talk"
    assert lemma("roving", "VBG", ";|---", *[";x"] * 9, ";|---+e") == "rov"


VERBS = (
    "walk talk ask mark create relate state donate think lie choose stare sing know "
)
VERBS += "sky stop drop trap try cry dry"
NOUNS = ["dog", "cat", "tree", "talk", "house"]
NOUNS += [x + y for x in "bdfglmnprst" for y in ("ank", "ilt", "ont", "urd", "esk")]
LISTED = LemmaRules.learnt(
    [
        *TRAIN,
        *(word(f"{x}s", "NNS", x) for x in NOUNS),
        *(word(f"{x}ped", "VBD", x) for x in ("stop", "drop", "trap")),
        *(word(f"{x}ied", "VBD", f"{x}y") for x in ("tr", "cr", "dr")),
        # that the list lacks
        *(word(f"{x}ks", "NNS", f"{x}k") for x in ("bli", "pla", "dro", "gru", "fli")),
        *(word(f"{x}ms", "NNS", f"{x}m") for x in ("no", "spa", "tru", "ple", "wo")),
        *(word(f"{x}es", "NNS", f"{x}e") for x in ("bav", "dov", "lov", "pav", "rov")),
        *(word(f"{x}es", "NNS", f"{x}es") for x in ("bab", "dob", "lob", "pab", "rob")),
    ],
    [
        *((x, "VERB", x) for x in [*VERBS.split(), "star"]),
        *(
            (x, "NOUN", x)
            for x in [*NOUNS, *"ethos metric metrics selfless rostrum".split()]
        ),
        ("staring", "VBG", "stare"),
        ("sung", "VBN", "sing"),
    ],
)


@pytest.mark.parametrize(
    ("form", "tag", "scripts", "found"),
    [
        ("staring", "VBG", [";|---"], "stare"),  # which the list says
        ("knowing", "VBG", [";|---+e", ";|---"], "know"),  # the list has no "knowe"
        ("re-asking", "VBG", [";|---+e", ";|---"], "re-ask"),
        ("zimming", "VBG", [";|---", ";|----"], "zimming"),  # no verb of the list
        ("vorks", "NNS", [";|-"], "vork"),  # most words in -s do, listed or not
        ("achilles", "NNS", [";|-"], "achilles"),  # those in -es do not
        ("Achilles", "NNS", [";|-"], "Achilles"),  # and are names
        ("sung", "NN", [";|"], "sing"),  # known with another tag
        ("skyped", "VBD", [";|---"], "skyped"),  # no letter was doubled
        # no plural, however sure the network is
        ("ethos", "NNS", [";|-", *[";x"] * 9, ";|"], "ethos"),
        ("metrics", "NNS", [";|-"], "metrics"),  # a field, as the list says
        # inflected words whose lemmas end as known ones do, whatever the network says
        ("mistalked", "VBD", [";|-"], "mistalk"),
        ("Deskied", "VBD", [";|"], "desky"),
        ("unstopping", "VBG", [";|"], "unstop"),
        ("upsinging", "VBG", [";|---+e"], "upsing"),
        ("re-dates", "VBZ", [";|"], "re-date"),
        ("restates", "NNS", [";|"], "restates"),  # of no noun
    ],
)
def test_words_that_a_list_lacks_keep_their_forms(form, tag, scripts, found):
    assert {*LISTED.listed} == {"VERB", "NOUN"}
    assert lemma(form, tag, *scripts, rules=LISTED) == found


def test_a_short_list_leaves_other_words_to_their_endings():
    assert RULES.listed == ()
    assert lemma("zimmating", "VBG", ";|---+e", rules=RULES) == "zimmate"


@settings(max_examples=50)
@given(
    form=st.from_regex(r"[-+]?[0-9]{1,9}([.,:/-][0-9]{1,4}){0,4}", fullmatch=True),
    like=st.sampled_from(["12,345", "1,2", "ab", "7"]),
    other=st.text("0123,.;|-+", max_size=6),
)
def test_a_number_keeps_its_digits(form, like, other):
    found = lemma(form, "CD", script_of(like, other))
    assert [x for x in found if x.isdigit()] == [x for x in form if x.isdigit()]


@settings(max_examples=50)
@given(form=st.text(max_size=9), other=st.text(max_size=9), like=st.text(max_size=9))
def test_any_word_and_script_give_some_lemma(form, other, like):
    for tag in UPOS:
        assert isinstance(lemma(form, tag, script_of(like, other)), str)


def test_a_list_of_words_is_read(tmp_path):
    path = tmp_path / "words.tsv.gz"
    path.write_bytes(gzip.compress(b"taught\tVBD\tteach\nteach\tVERB\tteach\n"))
    assert read_lexicon(path) == [
        ("taught", "VBD", "teach"),
        ("teach", "VERB", "teach"),
    ]
    (bad := tmp_path / "bad.tsv").write_text("taught\tVBD\tteach\ntaught teach\n")
    with pytest.raises(
        CorpusError, match="bad.tsv:2: no row of a list .* write a form"
    ):
        read_lexicon(bad)
