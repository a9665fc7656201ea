"""Damaged text, and one label for all tokens."""

import pytest

from keras_tagging import Sentence
from keras_tagging.corpora.problems import damage, refuse_one_label

MOJIBAKE = "UTF-8 read as Latin-1"
OPEN = (0x81, 0x8D, 0x8F, 0x90, 0x9D)  # bytes that Windows-1252 does not use


def misread(text, encoding="cp1252"):
    """UTF-8 that was read as something else; what that lacks, as Latin-1."""
    return "".join(
        bytes([byte]).decode("latin-1" if byte in OPEN else encoding)
        for byte in text.encode("utf-8")
    )


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_misread_text_is_found(encoding):
    for text in "café Müller naïve “so” a–b l’été 10°C Łódź привет ελλάδα".split():
        kinds = [kind for kind, _ in damage(f"a {misread(text, encoding)} b")]
        assert MOJIBAKE in kinds, text


@pytest.mark.parametrize(
    "text",
    [
        "Übergröße Ärger Åland ÄÖÜ",
        "«CAFÉ»",  # É before a quotation mark
        "ÉTÉ À Noël",
        "A&B AT&T a & b ; c",
        "Ελλάδα",
        "नमस्ते 中文 한국어 عربى",
        "20\u00a0000 l\u2019\u00e9t\u00e9 \u2028 \u200b",
        "😀",
        "a\u0301",
    ],
)
def test_sound_text_is_left_alone(text):
    assert list(damage(text)) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a\ufffdb", "replacement character"),
        ("a\x00b", "control character"),
        ("a\ue000b", "character for private use, or none"),
        ("a\ufffeb", "character for private use, or none"),
        ("a\ufeffb", "byte order mark inside"),
        ("caf&eacute;", "HTML entity"),
        ("it&#x2019;s", "HTML entity"),
        ("ï»¿first", MOJIBAKE),
        (misread("😀 fun"), MOJIBAKE),
    ],
)
def test_kinds(text, kind):
    assert [found for found, _ in damage(text)] == [kind]


def test_what_is_shown():
    [(_, what)] = damage("x" * 50 + misread("é") + "y" * 50)
    assert what == f"{'x' * 12}Ã©{'y' * 12} (é?)"
    assert [kind for kind, _ in damage("\ufffd" * 9 + "\x00" * 9)] == [
        "replacement character",
        "control character",
    ]


# One label


def test_one_label_is_nothing_to_learn():
    refuse_one_label([Sentence(["a", "b"], ["X", "Y"])])
    with pytest.raises(ValueError, match="have the label 'X', .*column of the labels"):
        refuse_one_label([Sentence(["a", "b"], ["X", "X"]), Sentence(["c"], ["X"])])
