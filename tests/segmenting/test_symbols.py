"""Text as symbols, and a stream of text, against a reference of regular expressions."""

import random
import re
import sys
import textwrap

import numpy as np
import pytest
from treebanks import TINY

import keras_tagging
from keras_tagging import Sentence
from keras_tagging.data.surface import Surface
from keras_tagging.models.segmenter import segmenter
from keras_tagging.segmenting import symbols as symbols_module
from keras_tagging.segmenting.characters import CharacterFeatures
from keras_tagging.segmenting.symbols import (
    MARK,
    WHITE,
    TextStream,
    are_white,
    codes_of,
    symbols_of,
    text_of_codes,
)
from keras_tagging.utils import limits

BREAKS = re.compile("\r\n|\n|\r|\f|\x85|\u2028|\u2029")
ODD = ["a", "é", "\U0001f600", "\ud800", "\u200b", "\u0301", "\x00", "\x1c", "\ufeff"]
SPACES = [*" \n\r", "\r\n", *"\t\f\u00a0\u3000\x85\u2028\u2029"]


def reference(text, start=0):
    """The symbols as (character, offset), one run of white space after the other."""
    found, line_ends = [], []
    for run in re.finditer(r"\s+|\S", text):
        symbol = run[0]
        if symbol.isspace():
            breaks = BREAKS.findall(symbol)
            ends = len(breaks) + breaks.count("\u2029")
            is_paragraph = ends >= 2 or len(symbol) > limits.WHITE_CHARACTERS
            is_paragraph |= run.end() == len(text)
            symbol = "\n" if is_paragraph else "line" if ends else " "
            line_ends += [(*run.span(), symbol)] * (symbol != " ")
        found.append((symbol, start + run.start()))
    return [
        (
            line_symbol(text, place - start, line_ends) if symbol == "line" else symbol,
            place,
        )
        for symbol, place in found
    ]


def line_symbol(text, place, line_ends):
    """Whether a line was full, by looking at each line around."""
    edges = [(0, 0), *(run[:2] for run in line_ends), (len(text), len(text))]
    number = [run[0] for run in line_ends].index(place)
    low, high = place - symbols_module.REACH, place + symbols_module.REACH
    stops = [-1, *(i for i, run in enumerate(line_ends) if run[2] == "\n"), 10**9]
    first = max(stop for stop in stops if stop < number) + 1
    last = min(stop for stop in stops if stop > number)

    def is_near(i):
        if not max(first, number - 5) <= i <= min(number + 6, last, len(line_ends)):
            return False
        return edges[i][0] >= low and edges[i + 1][1] <= high

    lines = {i: text[edges[i][1] : edges[i + 1][0]] for i in range(len(edges) - 1)}
    widest = max((len(lines[i]) for i in lines if is_near(i)), default=0)

    def is_full(i):
        begin = edges[i + 1][1]
        word = re.match(r"\S*", text[begin:])[0]
        size = len(word) if begin + len(word) <= high else 1_000_000
        return len(lines[i]) + 1 + size > widest - widest // 8

    ends = [
        i for i in range(number - 5, number + 6) if is_near(i) and i < len(line_ends)
    ]
    around = [is_full(i) for i in ends if line_ends[i][2] == "line"]
    heads = [text[edges[i + 1][1] :][:1] for i in ends if line_ends[i][2] == "line"]
    small = sum(
        full and head.isalpha() and not head.isupper()
        for full, head in zip(around, heads, strict=True)
    )
    mine = (
        is_near(number) and is_full(number) and symbols_module.NARROW <= widest <= 100
    )
    marked = MARK.match(text, edges[number + 1][1])
    mine = mine and sum(around) * 2 >= len(around)
    is_usual = all(around) and widest >= symbols_module.USUAL
    mine = mine and (is_usual or small * 3 >= sum(around))
    return "\v" if mine and not marked else "\r"


def listed(symbols):
    return list(zip(map(chr, symbols.codes), symbols.offsets.tolist(), strict=True))


def texts(count=200):
    rng = random.Random(1)
    for _ in range(count):
        yield "".join(rng.choices(ODD + 2 * SPACES, k=rng.randrange(12)))


def texts_of_lines(count=60):
    """Texts with lines of all widths, and with others beside them."""
    rng = random.Random(3)
    for _ in range(count):
        lines = []
        for _ in range(rng.randint(1, 5)):
            letters = rng.choices("wW1", (2, rng.random(), rng.random()), k=60)
            words = [x * rng.randint(1, 12) for x in letters[: rng.randint(1, 60)]]
            width = rng.choice([8, 30, 60, 80, 120, 700])
            lines += textwrap.wrap(
                rng.choice(["", "- ", "2. ", "> "]) + " ".join(words), width
            )
            lines += rng.choice([[], [""]])
        yield rng.choice(["\n", "\r\n", " \n\t"]).join(lines)


def test_the_ends_of_lines_of_wrapped_text():
    """They are other symbols than those of a list, or of a line of its own."""
    wrapped = textwrap.fill("The quick dog jumps over the lazy fox. " * 5, 60)
    lines = "Eggs\nMilk\nA long name of something to be bought in town\nBread"
    text = f"{wrapped}\nIn short,\nKim\n\n{lines}\n\n{'long ' * 30}\nline"
    codes = text_of_codes(symbols_of(text).codes)
    ends = re.findall("[\r\v\n]", codes)
    count = wrapped.count("\n")
    assert ends == [*"\v" * count, *"\r\r\n", *"\r\r\r\n", "\r"]
    assert text_of_codes(symbols_of(f"{wrapped}\n- x").codes).count("\r") == 1
    # though half of these lines are full, by chance
    chat = "Mia: are you coming tonight? We leave at six\nRaj: sure, but I may be late"
    chat += "\nMia: fine\nRaj: who drives?\nMia: Dan said that he could, as always"
    assert "\v" not in text_of_codes(symbols_of(chat).codes)
    # and an address in small letters is no word of a sentence
    head = "Kim Lee, B.Sc. (Hons), M.Sc. Bath\n27 Oak Hill Rd., Flat 3, Bristol BS 6QT1"
    assert "\v" in text_of_codes(symbols_of(f"{head}\nkim-and-so on and").codes)
    assert "\v" not in text_of_codes(symbols_of(f"{head}\nkim.li@a.org or so").codes)


def test_white_space_is_that_of_python():
    codes = np.arange(sys.maxunicode + 1, dtype="uint32")
    expected = np.array([chr(code).isspace() for code in codes.tolist()])
    np.testing.assert_array_equal(are_white(codes), expected)
    np.testing.assert_array_equal(WHITE, codes[expected])


def test_symbols_are_those_of_the_reference():
    plain = ["", " ", "a", "a b", " a b. ", "a  b", "a\tb", "a b\x7f", "é b", "a\nb"]
    for text in [*texts(), *plain, *texts_of_lines()]:
        symbols = symbols_of(text, 7)
        assert listed(symbols) == reference(text, 7)
        assert symbols.end == 7 + len(text)
        assert "".join(map(chr, codes_of(text))) == text


@pytest.mark.parametrize("piece", [1, 2, 5, 1000])
def test_a_stream_has_the_symbols_of_the_text(monkeypatch, piece):
    monkeypatch.setattr(symbols_module, "PIECE", piece)
    monkeypatch.setattr(limits, "WHITE_CHARACTERS", 9)
    monkeypatch.setattr(symbols_module, "REACH", 8)
    monkeypatch.setattr(symbols_module, "NARROW", 2)
    rng = random.Random(2)
    for text in [*texts(), *texts_of_lines(10)]:
        cuts = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(4)))
        ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
        for chunks in (text, list(text), [text[a:b] for a, b in ends]):
            stream = TextStream(chunks)
            found = [pair for symbols in stream for pair in listed(symbols)]
            assert found == reference(text)
            assert stream.end == len(text)
            for character, offset in found:
                if character not in " \n\r\v":
                    assert stream.text(offset, offset + 1) == character


def test_a_stream_keeps_what_is_not_forgotten():
    stream = TextStream(["ab", "c" * symbols_module.PIECE, "de"])
    assert sum(map(len, stream)) == stream.end == symbols_module.PIECE + 4
    assert stream.text(1, 4) == "bcc"
    stream.forget(symbols_module.PIECE + 2)
    assert stream.text(symbols_module.PIECE + 2, stream.end) == "de"
    assert len(stream._kept) == 1


def test_endless_white_space_needs_no_memory(monkeypatch):
    monkeypatch.setattr(symbols_module, "PIECE", 64)
    stream = TextStream(char for char in ["a", *" " * 10_000, "b"])
    assert [c for symbols in stream for c, _ in listed(symbols)] == ["a", "\n", "b"]
    assert sum(len(text) for _, text in stream._kept) < 1_200
    assert stream.text(10_001, 10_002) == "b"


# Characters


def test_ids_of_characters():
    features = CharacterFeatures()
    features.adapt(symbols_of("aab B\n\n\ud800"))
    known = {"character": ["a", "\n", " ", "B", "b"], "lexicon": [], "cluster": []}
    assert features.vocabularies == known
    ids = features.encode(codes_of("aZ\ud800b "))
    known = features.vocabularies["character"]
    read = [known[i - 2] if i > 1 else None for i in ids[:, 0]]
    assert read == ["a", None, None, "b", " "]
    same = features.encode(codes_of("bxyz"))[:, 1]
    assert len(set(same)) == 1 and same[0] == ids[0, 1] != ids[1, 1]
    every = features.encode(np.arange(0xD000, 0xE100, dtype="uint32"))
    assert every.min() == 1 and (every.max(0) < list(features.sizes.values())).all()
    # an unknown digit is a digit
    one, two, letter = features.encode(codes_of("1٢٣"[:2] + "x"))[:, 1]
    assert one == two != letter


@pytest.mark.parametrize("count", [segmenter.WRAPPED - 1, segmenter.WRAPPED])
def test_a_segmenter_that_learnt_wrapped_text_reads_line_ends(count):
    """Elsewhere they are blanks: a line that is a sentence would teach that all are."""
    text = "Forty characters and some more on a line\nthat goes on in another\none."
    words = [match.span() for match in re.finditer(r"[^\s.]+|[.]", text)]
    surface = Surface(text, words, [1] * len(words))
    model = keras_tagging.build("segmenter", **TINY)
    model.adapt([Sentence(surface.tokens, surface=surface)] * count)
    blank, line = model.features.encode(codes_of(" \r"))
    assert (blank.tolist() == line.tolist()) == (count < segmenter.WRAPPED)


def test_any_currency_is_read_as_one_of_training():
    features = CharacterFeatures()
    features.adapt(symbols_of("$5 or £5"))
    dollar, pound, other = features.encode(codes_of("$£₹"))
    assert dollar.tolist() == other.tolist() != pound.tolist()
