"""Text as symbols, and a stream of text, against a reference of regular expressions."""

import random
import re
import sys

import numpy as np
import pytest

from keras_tagging.segmenting import characters
from keras_tagging.segmenting.characters import (
    WHITE,
    CharacterFeatures,
    TextStream,
    are_white,
    codes_of,
    symbols_of,
)
from keras_tagging.utils import limits

BREAKS = re.compile("\r\n|\n|\r|\x85|\u2028|\u2029")
ODD = ["a", "é", "\U0001f600", "\ud800", "\u200b", "\u0301", "\x00", "\x1c", "\ufeff"]
SPACES = [" ", "\n", "\r", "\r\n", "\t", "\u00a0", "\u3000", "\x85", "\u2028", "\u2029"]


def reference(text, start=0):
    """The symbols as (character, offset), one run of white space after the other."""
    found = []
    for run in re.finditer(r"\s+|\S", text):
        symbol = run[0]
        if symbol.isspace():
            breaks = BREAKS.findall(symbol)
            ends = len(breaks) + breaks.count("\u2029") >= 2
            symbol = "\n" if ends or len(symbol) > limits.WHITE_CHARACTERS else " "
        found.append((symbol, start + run.start()))
    return found


def listed(symbols):
    return list(zip(map(chr, symbols.codes), symbols.offsets.tolist(), strict=True))


def texts(count=200):
    rng = random.Random(1)
    for _ in range(count):
        yield "".join(rng.choices(ODD + 2 * SPACES, k=rng.randrange(12)))


def test_white_space_is_that_of_python():
    codes = np.arange(sys.maxunicode + 1, dtype="uint32")
    expected = np.array([chr(code).isspace() for code in codes.tolist()])
    np.testing.assert_array_equal(are_white(codes), expected)
    np.testing.assert_array_equal(WHITE, codes[expected])


def test_symbols_are_those_of_the_reference():
    plain = ["", " ", "a", "a b", " a b. ", "a  b", "a\tb", "a b\x7f", "é b", "a\nb"]
    for text in [*texts(), *plain]:
        symbols = symbols_of(text, 7)
        assert listed(symbols) == reference(text, 7)
        assert symbols.end == 7 + len(text)
        assert "".join(map(chr, codes_of(text))) == text


@pytest.mark.parametrize("piece", [1, 2, 5, 1000])
def test_a_stream_has_the_symbols_of_the_text(monkeypatch, piece):
    monkeypatch.setattr(characters, "PIECE", piece)
    monkeypatch.setattr(limits, "WHITE_CHARACTERS", 3)
    rng = random.Random(2)
    for text in texts():
        cuts = sorted(rng.choices(range(len(text) + 1), k=rng.randrange(4)))
        ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
        for chunks in (text, list(text), [text[a:b] for a, b in ends]):
            stream = TextStream(chunks)
            found = [pair for symbols in stream for pair in listed(symbols)]
            assert found == reference(text)
            assert stream.end == len(text)
            for character, offset in found:
                if character not in " \n":
                    assert stream.text(offset, offset + 1) == character


def test_a_stream_keeps_what_is_not_forgotten():
    stream = TextStream(["ab", "c" * characters.PIECE, "de"])
    assert sum(map(len, stream)) == stream.end == characters.PIECE + 4
    assert stream.text(1, 4) == "bcc"
    stream.forget(characters.PIECE + 2)
    assert stream.text(characters.PIECE + 2, stream.end) == "de"
    assert len(stream._kept) == 1


def test_endless_white_space_needs_no_memory(monkeypatch):
    monkeypatch.setattr(characters, "PIECE", 64)
    stream = TextStream(char for char in ["a", *" " * 10_000, "b"])
    assert [c for symbols in stream for c, _ in listed(symbols)] == ["a", "\n", "b"]
    assert sum(len(text) for _, text in stream._kept) < 1_200
    assert stream.text(10_001, 10_002) == "b"


# Characters


def test_ids_of_characters():
    features = CharacterFeatures()
    features.adapt(symbols_of("aab B\n\n\ud800"))
    known = {"character": ["a", "\n", " ", "B", "b"], "lexicon": []}
    assert features.vocabularies == known
    ids = features.encode(codes_of("aZ\ud800b "))
    known = features.vocabularies["character"]
    assert [known[i - 2] if i > 1 else None for i in ids[:, 0]] == [
        "a",
        *[None] * 2,
        "b",
        " ",
    ]
    same = features.encode(codes_of("bxyz"))[:, 1]
    assert len(set(same)) == 1 and same[0] == ids[0, 1] != ids[1, 1]
    every = features.encode(np.arange(0xD000, 0xE100, dtype="uint32"))
    assert every.min() == 1 and (every.max(0) < list(features.sizes.values())).all()
    # an unknown digit is a digit
    one, two, letter = features.encode(codes_of("1٢٣"[:2] + "x"))[:, 1]
    assert one == two != letter
