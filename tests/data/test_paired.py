"""Formats of two files: `seq.in` and `seq.out`, and brat's texts and entities."""

import pytest

from keras_tagging import CorpusError, Sentence, load_corpus
from keras_tagging.data import read, to_brat
from keras_tagging.data.annotation import BratWriter
from keras_tagging.data.surface import Span, Surface


@pytest.fixture
def write(tmp_path):
    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def slots(write, words="play a b\n\nstop\n", tags="O B-x I-x\n\nO\n"):
    return write(seq_in=words, seq_out=tags, label="Play\nNo\nStop\n") / "seq.in"


SLOTS = [Sentence(["play", "a", "b"], ["O", "B-x", "I-x"]), Sentence([], [])]
SLOTS += [Sentence(["stop"], ["O"])]


def test_words_and_slots_in_two_files(write, tmp_path):
    path = slots(write)
    assert list(read(path)) == SLOTS == list(read(str(path), "seq"))
    for split in ("train", "valid", "test"):
        write(**{f"snips/{split}/seq_in": "go\n", f"snips/{split}/seq_out": "O\n"})
        write(**{f"snips/{split}/label": "Go\n"})
    corpus = load_corpus(tmp_path / "snips")
    assert corpus.format == "seq"
    assert corpus.train == corpus.dev == corpus.test == [Sentence(["go"], ["O"])]
    (tmp_path / "seq.out").unlink()
    assert list(read(path, "text"))[2].tokens == ["stop"]  # a file like others


@pytest.mark.parametrize(
    "words, tags, message",
    [
        ("a\nb c\n", "O\nO\n", "seq.in:2: 2 words, but 1 tags in seq.out; give one"),
        ("a\nb\n", "O\n", "seq.in:2: seq.out has no line 2, which this file has"),
        ("a\n", "O\nO\n", "seq.in:2: seq.out has a line 2, which this file has not"),
        ("a\nb\n", b"O\n\xff\n", "seq.in:2: seq.out: byte 1 of the line is not utf-8"),
    ],
)
def test_slots_that_cannot_be(write, words, tags, message):
    path = slots(write, words, tags)
    with pytest.raises(CorpusError, match=message):
        list(read(path))
    skipped = []
    list(read(path, errors="skip", skipped=skipped))
    assert len(skipped) == 1


TEXT = "Ada, of New\tYork.\r\n\nCafé\u0301 No 5\n"
ANN = "T1\tPER 0 3\tAda\nR1\tof Arg1:T1 Arg2:T2\nT2\tLOC 8 16\tNew York\n"
ENTITIES = [
    Sentence(["Ada", ",", "of", "New", "York", "."], "B-PER O O B-LOC I-LOC O".split()),
    Sentence(["Café\u0301", "No", "5"], ["O", "O", "B-NR"]),
]


def test_entities_of_brat(write, tmp_path):
    write(a_txt=TEXT, a_ann=f"T4\tNR 29 30\t5\n{ANN}", **{"annotation_conf": "x"})
    assert list(read(tmp_path / "a.ann")) == ENTITIES
    assert list(read(tmp_path / "a.txt", "brat")) == ENTITIES
    write(**{"all/train/a_txt": TEXT, "all/train/a_ann": ANN, "all/train/b_txt": "B\n"})
    write(**{"all/train/b_ann": "", "all/train/annotation_conf": "[entities]\n"})
    corpus = load_corpus(tmp_path / "all")
    assert [len(s) for s in corpus.train] == [6, 3, 1] and corpus.format == "brat"
    parts = "T1\tLOC 8 11;12 16\tNew York\n"  # only white space between
    write(a_ann=parts)
    assert next(read(tmp_path / "a.ann")).tags[3:] == ["B-LOC", "I-LOC", "O"]


@pytest.mark.parametrize(
    "entity, message",
    [
        ("T9\tX 0 3;5 7\tAda of", "txt:1: T9 is not one stretch of this line"),
        ("T9\tX 0 3\tAdam", "txt:1: T9 is 'Adam', but 'Ada' is there; give the text"),
        ("T9\tX 0 2\tAd\nT8\tY 1 3\tda", "txt:1: the spans 'X' and 'Y' overlap"),
        ("T9\tX 99 100\tx", "txt:3: T9 in .*a.ann begins at character 99, behind the"),
        ("\nT9 X 0 3 Ada", r"a.ann:2: 'T9 X 0 3 Ada' is no entity.*; write T1"),
    ],
)
def test_entities_that_cannot_be(write, entity, message):
    folder = write(a_txt=TEXT, a_ann=entity)
    with pytest.raises(CorpusError, match=message):
        list(read(folder / "a.ann"))


def test_one_of_two_files(write, tmp_path):
    write(a_ann=ANN)
    with pytest.raises(CorpusError, match="a.txt: there is no such file"):
        read(tmp_path / "a.ann")
    write(a_txt=b"a\n\xff\n")
    with pytest.raises(CorpusError, match="a.txt:2: byte 1 of the line is not utf-8"):
        list(read(tmp_path / "a.ann", errors="skip", skipped=[]))


def test_entities_for_brat(write, tmp_path):
    text, ann = to_brat(ENTITIES)
    folder = write(b_txt=text, b_ann=ann)
    assert list(read(folder / "b.ann")) == ENTITIES
    marked = write(c_txt="\ufeff" + text, c_ann=ann)  # a mark does not count
    assert list(read(marked / "c.ann")) == ENTITIES
    assert ann.endswith("T3\tNR 29 30\t5\n")
    surface = Surface("New\nYork", [(0, 3), (4, 8)], [1, 1], start=7)
    span = Span("New\nYork", "LOC", 7, 15, 0.9, (0, 2))
    sentence = Sentence(["New", "York"], surface=surface, spans=[span])
    writer = BratWriter()
    assert writer.write(sentence) == "T1\tLOC 7 10;11 15\tNew York\n"
    assert writer.write(sentence).startswith("T2\t")
    assert to_brat([sentence]) == ("New York\n", "T1\tLOC 0 8\tNew York\n")
    with pytest.raises(ValueError, match="the label 'a b' has white space"):
        to_brat([Sentence(["x"], ["B-a b"])])
