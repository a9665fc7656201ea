import gzip
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec

from keras_tagging.data.sentence import Sentence
from keras_tagging.embeddings import WordVectors, load_vectors, train_vectors

WORDS = ["the", "Über", "1.5", "a\u00a0b"]
MATRIX = np.array(
    [[0.5, -1, 0.25], [1e-3, 2, 3], [0, 0, -4], [7, 8, 9]], dtype=np.float32
)
ROWS = [
    " ".join([word, *map(str, row)]) for word, row in zip(WORDS, MATRIX, strict=True)
]
GLOVE = "\n".join(ROWS) + "\n"
WORD2VEC = f"4 3\n{GLOVE}"
FASTTEXT = "4 3\n" + "".join(f"{row} \n" for row in ROWS)
BINARY = b"4 3\n" + b"".join(
    word.encode() + b" " + struct.pack("<3f", *row) + b"\n"
    for word, row in zip(WORDS, MATRIX, strict=True)
)
CONTENTS = {
    "glove": GLOVE.encode(),
    "glove-crlf": GLOVE.replace("\n", "\r\n").encode(),
    "glove-no-last-newline": GLOVE.rstrip().encode(),
    "word2vec": WORD2VEC.encode(),
    "word2vec-blank-end": (WORD2VEC + "\n").encode(),
    "fasttext": FASTTEXT.encode(),
    "binary": BINARY,
    "binary-no-newlines": BINARY.replace(b"\n", b"").replace(b"4 3", b"4 3\n", 1),
}


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def assert_is_the_example(vectors):
    assert vectors.words == WORDS
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, MATRIX)


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("compressed", [False, True])
def test_formats(kind, compressed, tmp_path):
    content = CONTENTS[kind]
    # The name says nothing about the format.
    path = tmp_path / ("vectors.dat.gz" if compressed else "vectors.dat")
    write(path, gzip.compress(content, mtime=0) if compressed else content)
    assert_is_the_example(load_vectors(path))
    assert_is_the_example(load_vectors(str(path)))
    first = load_vectors(path, limit=2)
    assert first.words == WORDS[:2]
    np.testing.assert_array_equal(first.matrix, MATRIX[:2])
    assert_is_the_example(load_vectors(path, limit=99))


def test_gensim_keyed_vectors(tmp_path):
    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, MATRIX)
    keyed.save(str(tmp_path / "vectors"))
    assert_is_the_example(load_vectors(tmp_path / "vectors"))
    first = load_vectors(tmp_path / "vectors", limit=2)
    assert first.words == WORDS[:2]
    np.testing.assert_array_equal(first.matrix, MATRIX[:2])


@pytest.mark.parametrize("kind", [Word2Vec, FastText])
def test_gensim_models(kind, tmp_path):
    text = [["a", "b", "a"], ["b", "c"]]
    options = {"bucket": 50} if kind is FastText else {}
    model = kind(text, vector_size=4, min_count=1, workers=1, **options)
    model.save(str(tmp_path / "a.model"))
    vectors = load_vectors(tmp_path / "a.model")
    assert sorted(vectors.words) == ["a", "b", "c"]
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        np.testing.assert_array_equal(row, model.wv[word])


def test_the_first_of_two_equal_words_is_kept(tmp_path):
    path = write(tmp_path / "v", "a 1 2\nb 3 4\na 5 6\n")
    vectors = load_vectors(path)
    assert vectors.words == ["a", "b"]
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_encoding(tmp_path):
    path = write(tmp_path / "v", GLOVE.encode("latin-1"))
    assert_is_the_example(load_vectors(path, encoding="latin-1"))
    assert load_vectors(path).words[1] == "\ufffdber"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "v: is empty"),
        ("a 1 2\nb 3\n", "v:2: has 1 values where 2 are expected"),
        ("a 1 2\nb c 3 4\n", "v:2: has 3 values .*awk 'NF == 3'"),
        ("a 1 2\n\nb 3 4\n", "v:2: has 0 values"),
        ("a 1 2\nb 3 x\n", "v:2: is not a word and its values"),
        ("a 1 2\nb 3  4\n", "v:2: has 3 values"),
        ("a\t1\t2\n", "v:1: is not a word and its values, with single spaces"),
        ("Some prose, not vectors.\n", "v:1: is not a word and its values"),
        ("a 1 2\nb 3 nan\n", "v: the vector of 'b' holds a value that is not a finite"),
        ("a 1 2\nb -inf inf\n", "v: the vector of 'b' holds a value"),
        ("2 2\na 1 2\nb 3\n", "v:3: has 1 values where 2 are expected"),
        ("2 2\na 1 2\nb 3 x\n", "v:3: is not a word and its values"),
        ("3 2\na 1 2\nb 3 4\n", "v:1: announces 3 vectors but 2 follow"),
        ("1 2\na 1 2\nb 3 4\n", "v:1: announces 1 vectors but 2 follow"),
        ("2 3\na 1 2\nb 3 4\n", "v:2: has 2 values where 3 are expected"),
        ("0 3\n", "v:1: announces 0 vectors of 3 values"),
        ("2 0\n", "v:1: announces 2 vectors of 0 values"),
        (BINARY[:-9], "v: not the vectors that its first line announces"),
        (BINARY.replace(b"4 3", b"9 3"), "v: not the vectors that its first line"),
        (
            gzip.compress(GLOVE.encode(), mtime=0),
            "v: is compressed: give it a name .* .gz",
        ),
        (b"PK\x03\x04rest", "v: is a zip archive: unzip it first"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "v: is a fastText model: use the .vec file"),
        (pickle.dumps({"a": 1}), "v: gensim cannot load it"),
        (b"\x80\x04damaged", "v: gensim cannot load it"),
    ],
)
def test_malformed(content, message, tmp_path):
    path = write(tmp_path / "v", content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "content", [GLOVE.encode(), gzip.compress(GLOVE.encode() * 9, mtime=0)[:-20]]
)
def test_wrongly_compressed(content, tmp_path):
    path = write(tmp_path / "v.gz", content)
    with pytest.raises(ValueError, match="v.gz: cannot be uncompressed as its name"):
        load_vectors(path)


def test_gensim_object_without_vectors(tmp_path):
    from gensim.corpora import Dictionary

    Dictionary([["a"]]).save(str(tmp_path / "v"))
    with pytest.raises(ValueError, match="v: holds a Dictionary, not word vectors"):
        load_vectors(tmp_path / "v")


def test_lines_beyond_the_limit_are_not_read(tmp_path):
    path = write(tmp_path / "v", "a 1 2\nb 3 4\nbroken\n")
    assert load_vectors(path, limit=2).words == ["a", "b"]


def test_bad_arguments(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        load_vectors(tmp_path / "missing")
    with pytest.raises(ValueError, match="limit is 0"):
        load_vectors(write(tmp_path / "v", GLOVE), limit=0)


def test_mean():
    mean = WordVectors(WORDS, MATRIX).mean()
    assert mean.dtype == np.float32
    np.testing.assert_array_equal(mean, np.float32([7.501 / 4, 9 / 4, 8.25 / 4]))


def test_lookup():
    vectors = WordVectors(["the", "The", "0"], np.float32([[1, 2], [3, 4], [5, 6]]))
    rows, found = vectors.lookup(["The", "THE", "the"])
    assert rows.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert rows.dtype == np.float32
    assert found.tolist() == [True, False, True]
    # One form only: the exact one is not tried.
    rows, found = vectors.lookup(["The", "17"], str.lower)
    assert rows.tolist() == [[1, 2], [0, 0]]
    # Several, in order.
    rows, found = vectors.lookup(["The", "THE", "x"], lambda w: (w, w.lower()))
    assert rows.tolist() == [[3, 4], [1, 2], [0, 0]]
    assert found.tolist() == [True, True, False]
    rows, found = vectors.lookup([])
    assert rows.shape == (0, 2) and found.shape == (0,)


TEXT = [["a", "b", "c", "a"], ["b", "d"], [], ["a", "d", "b"]] * 20


def test_training():
    vectors = train_vectors(TEXT, size=8, epochs=2)
    assert vectors.words[0] in {"a", "b"}
    assert sorted(vectors.words) == ["a", "b", "c", "d"]
    assert vectors.matrix.shape == (4, 8)
    assert vectors.matrix.dtype == np.float32
    assert train_vectors(TEXT, size=8, min_count=30).index.keys() == {"a", "b", "d"}


@pytest.mark.parametrize("skip_gram", [False, True])
def test_training_repeats(skip_gram):
    def train(sentences=TEXT, **options):
        vectors = train_vectors(sentences, size=8, skip_gram=skip_gram, **options)
        return vectors.matrix[[vectors.index[word] for word in "abcd"]]

    first = train()
    np.testing.assert_array_equal(train(), first)
    np.testing.assert_array_equal(train(Sentence(list(s)) for s in TEXT), first)
    assert np.abs(train(seed=1) - first).max() > 1e-3
    assert np.abs(train(epochs=9) - first).max() > 1e-5


def test_training_reads_all_of_a_long_sentence():
    vectors = train_vectors([["a"] * 10_000 + ["b", "c"] * 3000], size=4, epochs=1)
    cut = train_vectors([["a"] * 10_000, ["b", "c"] * 3000], size=4, epochs=1)
    np.testing.assert_array_equal(vectors.matrix, cut.matrix)


def test_training_errors():
    with pytest.raises(ValueError, match="sentence 2 is a string"):
        train_vectors([["a"], "a b"])
    for sentences in ([], [[]], [["a", "b"]]):
        with pytest.raises(ValueError, match="no word occurs 2 times"):
            train_vectors(sentences, min_count=2)


DATA = os.environ.get("KERAS_TAGGING_DATA")


@pytest.mark.skipif(not DATA, reason="KERAS_TAGGING_DATA is not set")
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("glove.6B.50d.top500.txt", (500, 50)),
        ("glove.840B.300d.top256.txt", (256, 300)),
        ("glove.6B.100d.sample.txt.gz", (100, 100)),
        ("glove.6B.300d.sample.txt.gz", (100, 300)),
        ("gensim_test_glove.txt", (76, 50)),
        ("googlenews_style_w2v_test.bin", (10, 300)),
        ("EN.1-10.cbow1_300d.txt", (20, 300)),
        ("pang_lee_polarity_fasttext_100d.vec", (1694, 100)),
        ("lee_fasttext_10d.vec", (1762, 10)),
        ("lee_word2vec_10d_c_text.txt", (1750, 10)),
    ],
)
def test_real_files(name, shape):
    path = Path(DATA, "vectors", name)
    vectors = load_vectors(path)
    assert vectors.matrix.shape == shape
    assert len(vectors.index) == shape[0]
    if path.suffix != ".bin":
        opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
        with opened as file:
            last = (
                file.read()
                .decode(errors="replace")
                .rstrip("\n")
                .split("\n")[-1]
                .split()
            )
        assert vectors.words[-1] == last[0]
        np.testing.assert_array_equal(vectors.matrix[-1], np.float32(last[1:]))
