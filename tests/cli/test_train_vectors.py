"""Word vectors from files of text."""

import gzip
from types import SimpleNamespace

import numpy as np
import pytest

from keras_tagging.cli import vectors as command
from keras_tagging.cli.vectors import Segmenting, pieces_of
from keras_tagging.data import Sentence
from keras_tagging.vectors import load_vectors, train_vectors
from keras_tagging.vectors.run import VectorRun

TEXT = "The dog saw 3 cats .\nthe Cats saw 12 dogs .\n\n" * 9
SMALL = ["--input", "tokens", "--dim", "4", "--min-count", "2", "--epochs", "2"]


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def learning(program, text, tmp_path):
    """Trains vectors of the text, and more files."""

    def run(*args, out="own.npz"):
        given = ["train", "vectors", text, *SMALL, "--out", tmp_path / out, *args]
        code, told, errors = program(*given)
        assert code == 0, errors
        return tmp_path / out, told

    return run


def test_vectors_are_learnt_from_text(learning, tmp_path):
    out, told = learning()
    found = load_vectors(out)
    assert set(found.words) == {"the", "dog", "saw", "0", "cats", "dogs", "."}
    assert found.matrix.shape == (7, 4)
    assert "108 words, 7 of them" in told and "Epoch 2 of 2" in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.npz", "text.txt"]
    (tmp_path / "more.gz").write_bytes(gzip.compress(b"The a a\n"))
    cased = learning(tmp_path / "more.gz", "--normalise", "none", out="own.txt")[0]
    assert {"The", "12", "Cats", "a"} <= set(load_vectors(cased, cache=False).words)
    assert learning("--quiet", out="quiet.npz")[1] == ""


def test_fasttext_has_its_pieces(learning):
    out, _ = learning("--method", "fasttext", out="own.bin")
    found = load_vectors(out, vocabulary=["dogged", "cats"], cache=False)
    assert {"dogged", "cats"} <= {*found.words} and "dogged" in found.composed


def test_a_killed_run_goes_on(learning, tmp_path, monkeypatch, program):
    whole = load_vectors(learning(out="whole.npz")[0])
    epochs = VectorRun.epochs

    def killed(self, watch):
        for epoch in epochs(self, watch):
            yield epoch
            raise KeyboardInterrupt

    monkeypatch.setattr(VectorRun, "epochs", killed)
    given = ["train", "vectors", tmp_path / "text.txt", *SMALL]
    given += ["--out", tmp_path / "own.npz"]
    assert program(*given)[0] == 130
    assert not (tmp_path / "own.npz").exists()
    monkeypatch.setattr(VectorRun, "epochs", epochs)
    for other in (("--normalise", "lower"), ("--encoding", "latin-1")):
        code, _, error = program(*given, *other)
        assert code == 2 and "a run on another text, or with other options" in error
    code, _, error = program(*given, "--dim", "5")
    assert code == 2 and "saved by a run with other dim" in error
    told = learning()[1]
    assert "split" not in told and "Epoch 1" not in told and "Epoch 2 of 2" in told
    found = load_vectors(tmp_path / "own.npz")
    assert found.words == whole.words
    np.testing.assert_array_equal(found.matrix, whole.matrix)


def test_what_a_segmenter_splits(text, monkeypatch, learning, tmp_path):
    """Pieces end with paragraphs; the order stays."""
    monkeypatch.setattr(command, "PIECE", 60)
    seen = []

    def segment(piece, lines):
        seen.append((piece, lines))
        return [Sentence(line.split()) for line in piece.splitlines() if line]

    found = SimpleNamespace(segmenter=SimpleNamespace(segment=segment))
    monkeypatch.setattr(command, "load_pipeline", lambda run, threads: found)
    options = ["--input", "lines", "--segmenter", "some"]
    own = load_vectors(learning(*options)[0])
    assert "".join(piece for piece, _ in seen) == TEXT
    assert all(piece.endswith("\n\n") and lines for piece, lines in seen[:-1])
    monkeypatch.undo()
    tokens = load_vectors(learning(out="tokens.npz")[0])
    np.testing.assert_array_equal(own.matrix, tokens.matrix)


def test_text_without_paragraphs_is_cut_all_the_same(monkeypatch):
    monkeypatch.setattr(command, "PIECE", 10)
    lines = ["a" * 30 + "\n"] * 9
    assert list(map(len, pieces_of(lines))) == [124, 124, 31]


def test_a_model_without_a_segmenter(monkeypatch):
    found = SimpleNamespace(segmenter=None)
    monkeypatch.setattr(command, "load_pipeline", lambda run, threads: found)
    with pytest.raises(ValueError, match="x has no segmenter: give one, such as en"):
        Segmenting("x", False).load()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--out", "v.kv"], "pickles, which can run code; name a file in .npz"),
        (["--out", "v.npy"], "v.npy: name a file in .npz or .txt, or with --method f"),
        (["--out", "v.bin"], ".bin is fastText's: give --method fasttext"),
        (["--input", "text"], "--input text needs what finds words: give --segmenter"),
        (["--segmenter", "en"], "split into words, and has no --segmenter"),
        (["--out", "text.txt"], "text.txt exists: choose another --out"),
        (["--min-count", "999"], "no word occurs 999 times"),
        (["--seed", "-1"], "'--seed': Input should be greater than or equal to 0"),
        (["gone.txt"], "gone.txt"),
        (["-"], "a killed run reads its text again: give files"),
    ],
)
def test_what_is_refused(failing, text, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    given = ["train", "vectors", text, *SMALL, "--out", "v.npz", *options]
    assert message in failing(*given)


def test_what_fails_before_the_first_text_is_split_leaves_nothing(failing, text):
    out, options = text.with_name("v.npz"), ["--input", "text", "--segmenter"]
    assert "gone" in failing("train", "vectors", text, *options, "gone", "--out", out)
    assert [path.name for path in text.parent.iterdir()] == [text.name]


def test_a_blank_in_a_word_is_no_text(failing, text, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_normal", lambda *_: iter([["10 000", "a"]] * 3))
    out = tmp_path / "v.txt"
    error = failing("train", "vectors", text, *SMALL, "--out", out)
    assert "the word '10 000' has a blank" in error and not out.exists()


def test_one_epoch_is_that_of_python(learning):
    """Beside `train_vectors`, which has all sentences in memory: the same words."""
    out, _ = learning("--normalise", "none")
    sentences = [line.split() for line in TEXT.splitlines()]
    assert set(load_vectors(out).words) == {*train_vectors(sentences, size=4).words}
