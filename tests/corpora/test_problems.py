"""Damaged text, and one label for all tokens."""

import pytest

from keras_tagging import Sentence, load_corpus
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

CHUNKS = "They B-NP O\nleft O O\n\nThe B-NP O\nold I-NP O\ndogs I-NP O\nbark O O\n"


def told(*args):
    with pytest.raises(ValueError) as caught:
        refuse_one_label(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def read(tmp_path, text, **options):
    (tmp_path / "train.conll").write_text(text)
    return load_corpus(tmp_path / "train.conll", "conll", **options)


def test_the_column_of_a_file_is_named(tmp_path):
    corpus = read(tmp_path, CHUNKS)
    end = "column 1 looks like IOB2: pass tag_column=1"
    assert told(corpus.train, corpus) == f"all 6 tokens have the label 'O'; {end}"
    corpus = read(tmp_path, CHUNKS.replace(" ", "\t"), separator="\t")
    assert told(corpus.train, corpus, {"separator": "\t"}).endswith(end)
    iob1 = CHUNKS.replace("B-NP", "I-NP")
    corpus = read(tmp_path, iob1)
    assert told(corpus.train, corpus).endswith("IOB1: pass tag_column=1")


def test_a_column_of_parts_of_speech_is_named(tmp_path):
    rows = [f"{i} word{i % 20} {'NVD'[i % 3]} {i % 7} _" for i in range(60)]
    corpus = read(tmp_path, "\n".join(rows) + "\n", token_column=1)
    found = told(corpus.train, corpus, {"token_column": 1})
    assert found.endswith("label '_'; column 2 has 3 labels: pass tag_column=2")
    # chunks come before them
    corpus = read(tmp_path, "".join(f"w{i} B-X {'NV'[i % 2]} O\n" for i in range(30)))
    assert "column 1 looks like IOB2" in told(corpus.train, corpus)
    # and a file whose other columns are nothing
    corpus = read(tmp_path, "".join(f"w{i} {i} O\n" for i in range(30)))
    assert "nothing to learn" in told(corpus.train, corpus)


def test_the_columns_of_sentences_are_looked_at(tmp_path):
    pos = ["N", "V", "N", "V", "N"]
    columns = {"xpos": pos * 2, "lemma": [str(i) + "x" for i in range(10)]}
    sentences = [Sentence(list("abcdefghij"), ["_"] * 10, columns)]
    found = told(sentences)
    assert found.endswith("label '_'; column 'xpos' has 2 labels: make it the tags")
    row = "{0}\tw{0}\tl{0}\tX\t{1}\t_\t{2}\td\t_\t_\n"
    text = "".join(row.format(i, "NV"[i % 2], i - 1) for i in range(1, 13))
    (tmp_path / "train.conllu").write_text(text + "\n")
    corpus = load_corpus(tmp_path / "train.conllu")
    found = told(corpus.train, corpus)
    assert found.endswith("label 'X'; column 'xpos' has 2 labels: pass tag='xpos'")
