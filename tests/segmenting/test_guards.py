"""Guards: what is one token or sentence, though the network would cut everywhere."""

import re
import time

import numpy as np
import pytest
from segmenters import fitting_labels

from keras_tagging.segmenting.guards import GUARDS, guarded
from keras_tagging.segmenting.segmentation import INSIDE, SENTENCE, TOKEN
from keras_tagging.segmenting.symbols import codes_of, symbols_of, text_of_codes

TONE, JOIN = "\U0001f3fd", "\u200d"
FAMILY = JOIN.join("\U0001f468\U0001f469\U0001f467")
LONG = "abcd " * 5 + "abcd"
FLAG, KEYCAP, HEART = "\U0001f1eb\U0001f1f7", "1\ufe0f\u20e3", "\u2764\ufe0f"
SCOTLAND = "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "gbsct") + "\U000e007f"


def pieces(text, label, behind=None):
    """The pieces that a text is cut into by a network with one answer.

    Args:
        text: the text.
        label: what the network says of each character.
        behind: those of which it says so; of others it says that nothing ends.
    """
    symbols = symbols_of(text)
    codes = symbols.codes
    told = np.isin(codes, codes if behind is None else codes_of(behind))
    scores = np.eye(5)[np.where(told, label, INSIDE)]
    labels = fitting_labels(scores, symbols)
    cuts = np.flatnonzero(labels >= max(label, TOKEN)) + 1
    parts = [text_of_codes(part).strip() for part in np.split(codes, cuts)]
    return [part for part in parts if part]


@pytest.mark.parametrize("where", ["{}", "a {}, b", "({})", "«{}»!"])
@pytest.mark.parametrize(
    "token",
    [
        *("4.46", "10:30", "10.0.0.7:9090", "3.12.1", "12,50", "1,200.50", "v2.0"),
        *("7/12/1999", "2020/01/31", "https://a.org/x_y?z=1&w=2", "ftp://b.net/c-d.gz"),
        *("www.uni-x.de/~me", "jo.doe+a@mail.b-c.co.uk", "example.org", "x.com/a/b"),
        *("www.ab.com/a_b/c", "a_b@c.org", "3/4", "11/12", "'twas", "\u2019em"),
        *("my-file.tar.gz", "setup.py", "C:\\temp\\b_1.txt", "/usr/local/lib"),
        *("#Ab_c", "@jo_b", "max_len", "ab.bc.De", "-4.1", "Ph.D", "XM4", "5W-30"),
        *("WH-1000XM2s", "Ca2+", "1.4e-23", "$$$", "DK50-2V", "0x1F", "9fe03ab", "2½"),
        *("1⅓", "m²", "m2", "a_b[c].d()", "a.b()", "abc()", "!="),
        *("abc77", "6LY", "14b", "A*", "9x13", "2.5×4x1", "R12yf", "°C", "25(OH)D"),
        *("@jo-b", "#a-b", "$HOME", "ab.bc", "../a/b", "get_b(id)", "len(x)", "O(n²)"),
        *("HF-220", "HF-220/B", "23/01784/FUL", "12/2018", "#couchto5km", "f_g(h(x))"),
        *("https://a.org/5km?x=10km&u=2", "run5km@ab.com", "abc.de[f]"),
        *("2022-03-08T04:00:01Z", "2022-03-08T04:00:01.5+01:00", "--dry-run"),
        *("~/.bashrc", FLAG, FAMILY, f"\U0001f44d{TONE}", KEYCAP, HEART, SCOTLAND),
    ],
)
def test_what_is_one_token(token, where):
    if token in ("12,50", "1,200.50") and where.startswith("("):
        return  # "(3,5)" may be two numbers
    assert token in pieces(where.format(token), TOKEN)


@pytest.mark.parametrize(
    "text", ["ab", "and/or", "3/a", "[3,5]", "a,b", "don't", "b(s)"]
)
def test_everything_else_is_asked_of_the_network(text):
    assert pieces(text, TOKEN) == list(text)


def test_what_is_one_token_between_blanks():
    text = "a ;-) :D <3 :oops: -v -5 \u20130.4 /tmp .env u/ab ABS' -2:00 .e"
    parts = ["a", ";-)", ":D", "<3", ":oops:", "-v", "-5", "\u20130.4", "/tmp", ".env"]
    parts += ["u/ab", "ABS'"]
    assert pieces(text, TOKEN) == [*parts, "-", "2:00", ".", "e"]


def test_the_links_of_a_badge_are_tokens():
    links = pieces("[![ab](https://a.org/b.svg)](https://c.org)", TOKEN)
    assert {"https://a.org/b.svg", "https://c.org"} < {*links}


def test_an_abbreviation_before_a_bracket_keeps_its_stop():
    parts = ["(", "etc.", ")", "(", "8", "p.m.", ")", "(", "a", ".", ")"]
    assert pieces("(etc.) (8 p.m.) (a.)", TOKEN) == parts


def test_quoted_code_is_one_token():
    parts = ["`", "f(x)==[2]:", "`", "f", "(", "x", ")"]
    assert pieces("`f(x)==[2]:` f(x)", TOKEN) == parts
    assert pieces("(`a`),(`b`)", TOKEN) == list("(`a`),(`b`)")


def test_a_quoted_line_that_is_no_greeting_goes_on_behind_a_comma():
    assert len(pieces(f"> X {LONG},\n> b", SENTENCE, ",")) == 1
    assert len(pieces("> Jo,\n> b", SENTENCE, ",")) == 2


def test_stars_around_words_are_tokens():
    parts = ["**", "a_b:", "**", "(", "**", "ab", "***", ")", "a**b", "*", "c"]
    assert pieces("**a_b:** (**ab***) a**b * c", INSIDE, "(") == parts


@pytest.mark.parametrize("quote", "'\u2019")
def test_an_irish_name_is_one_word(quote):
    assert pieces(f"O{quote}Ha", TOKEN) == [f"O{quote}H", "a"]
    assert pieces(f"XO{quote}Ha", TOKEN) == ["X", "O", quote, "H", "a"]


def test_pictures_end_where_they_end():
    """Though the network would end nothing before the next blank."""
    text = f"so\U0001f600\U0001f600{FAMILY}{FLAG}{FLAG}! \u2605\u2605"
    assert pieces("1990\u201399", INSIDE) == ["1990", "\u2013", "99"]
    parts = ["so", "\U0001f600", "\U0001f600", FAMILY, FLAG, FLAG, "!", "\u2605\u2605"]
    assert pieces(text, INSIDE) == parts
    parts = "10 % / 25% \u2265 5% 180 C / 90 C 9 ft / b 9.5 s U+200F x5km 101C 1980s"
    text = "10%/25% \u22655% 180C/90C 9ft/b 9.5s U+200F x5km 101C 1980s"
    assert pieces(text, INSIDE) == parts.split()
    assert pieces("a\U0001f1eb", INSIDE) == ["a\U0001f1eb"]  # half a flag


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("a.b a", ["a.b a"]),
        ("a?b!a", ["a?", "b!", "a"]),
        ("a.B", ["a.", "B"]),
        ("1. X\n- X\n> X\n(a) X", ["1. X", "- X", "> X", "(a) X"]),
        ("no - b) a", ["no -", "b)", "a"]),
        ("X\n\n-", ["X", "-"]),
        ("a\n* b\nc\n(2) d", ["a", "* b", "c", "(2) d"]),
        ("a\n- b\n12. c", ["a", "- b", "12. c"]),
        ("Ab\nMi,\nBr\nand b\n\u8bed", ["Ab", "Mi, Br", "and b", "\u8bed"]),
        ("[9:05] a\nX\n> b\n>\n>> X c", ["[9:05] a", "X", "> b", ">", ">> X", "c"]),
        (9 * "abc " + "\nde\nf", [9 * "abc " + "de", "f"]),
        (f"> {LONG} X\n> c.\n> d", [f"> {LONG} X > c.", "> d"]),
        ("> Jo X\n> d", ["> Jo X", "> d"]),
        ("Messrs. X approx. $3 incl. a. B", ["Messrs. X", "approx. $3 incl. a.", "B"]),
        ('Ore. (b) Ore. "X', ["Ore. (b)", "Ore.", '"X']),
        ('"a?" said b. Every. single. c', ['"a?" said b.', "Every. single. c"]),
        ("a can. Sto. X", ["a can.", "Sto. X"]),
        ("a 9 Oct.\n2. b", ["a 9 Oct.", "2. b"]),
        ("MM. X, in 80 ms. X", ["MM. X", ", in 80 ms.", "X"]),
        ("a 3 p.m. Friday. p.m. X", ["a 3 p.m. Friday.", "p.m.", "X"]),
        ("X at 5 p.m. on X. A.C. X", ["X", "at 5 p.m. on X", ".", "A.", "C.", "X"]),
        ("a no. 3. b (Fig. 3) info. 3", ["a no. 3.", "b (Fig. 3)", "info.", "3"]),
        ("a:\n> b\n> c\nd", ["a:", "> b > c", "d"]),
        ("a (some. X? X) Wm. X sect. 9", ["a (some. X? X)", "Wm. X", "sect. 9"]),
        ("in the 80s. so 5 X fri. xx X", ["in the 80s.", "so 5 X", "fri.", "xx X"]),
        ("X \u2022 X | a. (X) (a. X)", ["X \u2022 X | a.", "(X", ")", "(a.", "X", ")"]),
        (f"{LONG} X\n@b: c", [f"{LONG} X", "@b: c"]),
        ("X see vol. IV b, sec. ii. X", ["X", "see vol. IV b, sec. ii.", "X"]),
        ("Assoc. Prof. X and Det. Sgt. X", ["Assoc. Prof. X", "and Det. Sgt. X"]),
        ("Max. 3 X Ltd. [3] X max. 3", ["Max.", "3 X", "Ltd. [3]", "X", "max. 3"]),
        ("X at 5s. 6d. a X in S. 5", ["X", "at 5s. 6d. a X", "in S.", "5"]),
        ("X\n3. nit: a X", ["X", "3. nit: a X"]),
        (f"AB {LONG}\nb@c.d", [f"AB {LONG}", "b@c.d"]),
        ("[1/2/2024, 9:05:10 PM] X", ["[1/2/2024, 9:05:10 PM] X"]),
        (f"Re: {LONG}\nb\n{LONG}\nwww.b.c", [f"Re: {LONG}", "b", LONG, "www.b.c"]),
        ("[w] X\n- [x] X\n2.1 X\n\u2605 X", ["[w] X", "- [x] X", "2.1 X", "\u2605 X"]),
        ("Def. 2. b:\nStep 1. a\n§2. B", ["Def. 2. b:", "Step 1. a", "§2.", "B"]),
        ("X\u2192 a | b? said", ["X", "\u2192 a | b?", "said"]),
        ("a since.[3][4] X. (-v) X", ["a since.[3][4]", "X", ".", "(-v)", "X"]),
        ("On Mon X a X <b> wrote:\n> X", ["On Mon X a X <b> wrote:", "> X"]),
        (f"X {LONG}\n2024-03-15 10:22 X", ["X", LONG, "2024-03-15 10:22 X"]),
        ("2024-03-15 10:22 some. X\nX", ["2024-03-15 10:22 some. X", "X"]),
    ],
)
def test_where_sentences_end(text, sentences):
    """By a network that ends one behind each mark, and behind each X."""
    parts = pieces(text, SENTENCE, "?!.->)]X")
    assert [re.sub(r"\s+", " ", part) for part in parts] == sentences


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("no. 3", ["no.", "3"]),
        ("C. Wu", ["C.", "Wu"]),
        ("cf. this", ["cf.", "this"]),
        ("no. (3)", ["no.", "(", "3", ")"]),
        ("no. \u2013", ["no", ".", "\u2013"]),
        ("3. X", ["3", ".", "X"]),
        ("on.\n\na", ["on", ".", "a"]),
    ],
)
def test_a_stop_inside_of_a_sentence_belongs_to_its_word(text, tokens):
    """By a network that ends a token before and behind each mark, and no sentence."""
    symbols = symbols_of(text)
    codes = symbols.codes
    following = np.append(codes[1:], ord("\n"))
    marks = codes_of(".()")
    cut = np.isin(codes, marks) | np.isin(following, marks)
    scores = np.eye(5)[np.where(cut, TOKEN, INSIDE)]
    cuts = np.flatnonzero(fitting_labels(scores, symbols) != INSIDE) + 1
    parts = [text_of_codes(part).strip() for part in np.split(codes, cuts)]
    assert [part for part in parts if part] == tokens


@pytest.mark.parametrize(
    "text, ends, doubtful, sure",
    [
        ("nooo.", {4: SENTENCE}, "nooo .", "nooo."),
        ("a-b", {0: TOKEN}, "a-b", "a -b"),
        ("a/b", {1: TOKEN}, "a / b", "a/ b"),
        ("a- b", {0: TOKEN}, "a - b", "a - b"),
        ("(0)7 {b", {1: TOKEN}, "( 0 ) 7 { b", "(0 )7 {b"),
        ("1/[b K+-a", {1: TOKEN, 6: TOKEN}, "1 / [ b K+ - a", "1 / [b K+ - a"),
        ("1-2.", {0: TOKEN, 3: SENTENCE}, "1-2 .", "1 -2."),
    ],
)
def test_what_is_mended_where_the_network_doubts(text, ends, doubtful, sure):
    """A stop at a sentence's end; one side of a dash; a bracket."""
    symbols = symbols_of(text)
    labels = [ends.get(place, INSIDE) for place in range(len(text))]
    for weight, tokens in ((1, doubtful), (9, sure)):
        scores = weight * np.eye(5)[labels]
        cuts = np.flatnonzero(fitting_labels(scores, symbols) != INSIDE) + 1
        parts = [text_of_codes(part).strip() for part in np.split(symbols.codes, cuts)]
        assert " ".join(filter(None, parts)) == tokens


def test_each_guard_says_why_and_holds_nothing_up():
    """A long word that nearly fits each pattern is read in the time of its length."""
    assert all(guard["reason"] for guard in GUARDS)
    for part in "1 a a. 1. 1, a_ @a a- /a \\a http:// % www. (( a(".split():
        codes = codes_of("b" + part * (40_000 // len(part)) + ".")
        began = time.process_time()
        guarded(codes, True)
        assert time.process_time() - began < 1
