import bz2
import gzip
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from vectors.examples import (
    BINARY,
    CONTENTS,
    GLOVE,
    MATRIX,
    WORDS,
    assert_are,
    write,
)

from keras_tagging.vectors import WordVectors, as_vectors, load_vectors

ALL = [0, 1, 2, 3]


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("compressed", [False, True])
def test_formats(kind, compressed, tmp_path):
    content = CONTENTS[kind]
    # The name says nothing about the format.
    path = tmp_path / ("vectors.dat.gz" if compressed else "vectors.dat")
    write(path, gzip.compress(content, mtime=0) if compressed else content)
    assert_are(load_vectors(path, cache=False), ALL)
    assert_are(load_vectors(str(path)), ALL)
    assert_are(load_vectors(path, limit=2), [0, 1])
    assert_are(load_vectors(path, limit=99), ALL)


def test_gensim_keyed_vectors(tmp_path):
    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, MATRIX)
    keyed.save(str(tmp_path / "vectors"))
    path = tmp_path / "vectors"
    assert_are(load_vectors(path, allow_pickle=True), ALL)
    assert_are(load_vectors(path, limit=2, allow_pickle=True), [0, 1])


@pytest.mark.parametrize("kind", [Word2Vec, FastText])
def test_gensim_models(kind, tmp_path):
    text = [["a", "b", "a"], ["b", "c"]]
    options = {"bucket": 50} if kind is FastText else {}
    model = kind(text, vector_size=4, min_count=1, workers=1, **options)
    model.save(str(tmp_path / "a.model"))
    vectors = load_vectors(tmp_path / "a.model", allow_pickle=True)
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
    assert_are(load_vectors(path, encoding="latin-1"), ALL)
    path = write(tmp_path / "u", GLOVE)
    assert_are(load_vectors(path, encoding=None), ALL)
    with pytest.raises(ValueError, match="^encoding=7 does not work for word vectors"):
        load_vectors(path, encoding=7)


def test_a_compressed_file_is_known_by_its_name_in_any_case(tmp_path):
    path = write(tmp_path / "V.GZ", gzip.compress(GLOVE.encode()))
    assert_are(load_vectors(path), ALL)


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
        ("Some prose, not vectors.\n", "v:1: is not .*, or name a file of word"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "v: is binary data of another kind: name"),
        (
            "a 1 2\nb 3 nan\n",
            "v:2: the vector of 'b' holds a value that is not a finite",
        ),
        ("2 2\na 1 2\nb -inf inf\n", "v:3: the vector of 'b' holds a value"),
        ("2 2\na 1 2\nb 3\n", "v:3: has 1 values where 2 are expected"),
        ("2 2\na 1 2\nb 3 x\n", "v:3: is not a word and its values"),
        ("3 2\na 1 2\nb 3 4\n", "v:1: announces 3 vectors but 2 follow"),
        ("1 2\na 1 2\nb 3 4\n", "v:1: announces 1 vectors but 2 follow"),
        ("2 3\na 1 2\nb 3 4\n", "v:2: has 2 values where 3 are expected"),
        ("0 3\n", "v:1: announces 0 vectors of 3 values"),
        ("2 0\n", "v:1: announces 2 vectors of 0 values"),
        ("1 10000000\na 1\n", "v:1: announces .* 10000000 values .1 to 10000 are"),
        (b"1 10001\na \0\0", "v:1: announces 1 vectors of 10001 values .1 to 10000"),
        ("a" + 10_001 * " 0", "v:1: has 10,001 values .at most 10,000 are read.: name"),
        ("a" + 2**20 * " 0", "v:1: has more than 1,048,576 bytes in one line"),
        (BINARY[:-9], "v: ends before the last vector that it announces"),
        (BINARY.replace(b"4 3", b"9 3"), "v: ends before the last vector"),
        (BINARY.replace(b"4 3", b"2 3"), "v: continues after the 2 .* limit=2 to read"),
        (
            gzip.compress(GLOVE.encode(), mtime=0),
            "v: is compressed: give it a name .* .gz",
        ),
        (b"PK\x03\x04rest", "v: is a zip archive: unzip it first"),
        (bz2.compress(b"a 1\n"), "v: is compressed: give it a name .* .bz2"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", "v: ends before the last vector"),
        (pickle.dumps({"a": 1}), "v: is a pickle, .* allow_pickle=True"),
        (b"\x80\x04damaged", "v: is a pickle"),
    ],
)
def test_malformed(content, message, tmp_path):
    path = write(tmp_path / "v", content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


PACKED = gzip.compress(GLOVE.encode() * 9, mtime=0)


@pytest.mark.parametrize(
    "content, message",
    [
        (GLOVE.encode(), "is not compressed as its name says; rename it"),
        (PACKED[:-20], "cannot be read: it ends too early; check"),
        (
            PACKED[:-6] + bytes([PACKED[-6] ^ 1]) + PACKED[-5:],
            "cannot be read: its compressed data is damaged; copy or download it again",
        ),
    ],
    ids=["text", "cut", "changed"],
)
def test_wrongly_compressed(content, message, tmp_path):
    path = write(tmp_path / "v.gz", content)
    with pytest.raises(ValueError, match=f"v.gz: {message}"):
        load_vectors(path)


def test_fasttext_models(tmp_path):
    text = [["a", "b", "a"], ["b", "cabbage"]]
    model = FastText(text, vector_size=4, min_count=1, workers=1, bucket=50)
    save_facebook_model(model, str(tmp_path / "v.bin"))
    expected = load_facebook_vectors(str(tmp_path / "v.bin"))
    vectors = load_vectors(tmp_path / "v.bin")
    assert vectors.words == expected.index_to_key
    np.testing.assert_allclose(vectors.matrix, expected.vectors, rtol=1e-5, atol=1e-8)
    first = load_vectors(tmp_path / "v.bin", limit=1)
    assert first.words == vectors.words[:1]
    np.testing.assert_array_equal(first.matrix, vectors.matrix[:1])


def test_vectors_in_memory():
    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, MATRIX)
    vectors = as_vectors(keyed)
    assert_are(vectors, ALL)
    assert as_vectors(vectors) is vectors
    model = Word2Vec([["a", "b"]], vector_size=3, min_count=1, workers=1)
    assert as_vectors(model).words == model.wv.index_to_key
    assert isinstance(as_vectors(model.wv), WordVectors)
    with pytest.raises(ValueError, match="a dict holds no word vectors: give the name"):
        as_vectors({"a": [1.0]})
    keyed.vectors[1, 0] = np.nan
    with pytest.raises(ValueError, match="vectors: the vector of 'Über' holds a value"):
        as_vectors(keyed)
    with pytest.raises(ValueError, match="vectors: has no vectors"):
        as_vectors(KeyedVectors(3))
    with pytest.raises(ValueError, match="the vector of 'b' holds a value"):
        as_vectors(WordVectors(["a", "b"], np.array([[1.0], [np.inf]], np.float32)))
    with pytest.raises(ValueError, match="vectors: has 1 words and 2 vectors"):
        as_vectors(WordVectors(["a"], np.ones((2, 3), np.float32)))


def test_gensim_object_without_vectors(tmp_path):
    from gensim.corpora import Dictionary

    Dictionary([["a"]]).save(str(tmp_path / "v"))
    with pytest.raises(ValueError, match="v: holds a Dictionary, not word vectors"):
        load_vectors(tmp_path / "v", allow_pickle=True)


@pytest.mark.parametrize("content", [pickle.dumps({"a": 1}), b"\x80\x04damaged"])
def test_damaged_pickles(content, tmp_path):
    path = write(tmp_path / "v", content)
    with pytest.raises(ValueError, match="v: gensim cannot load it .*: save it again"):
        load_vectors(path, allow_pickle=True)


def test_lines_beyond_the_limit_are_not_read(tmp_path):
    path = write(tmp_path / "v", "a 1 2\nb 3 4\nbroken\n")
    assert load_vectors(path, limit=2).words == ["a", "b"]


@pytest.mark.parametrize("limit", [None, 3])
def test_a_control_character_does_not_make_text_binary(tmp_path, limit):
    path = write(tmp_path / "v", "3 2\nthe 0.12 0.5\nof\x01 0.22 1\nand 1 2\n")
    found = load_vectors(path, limit=limit)
    assert found.words == ["the", "of\x01", "and"]
    np.testing.assert_allclose(found.matrix, [[0.12, 0.5], [0.22, 1], [1, 2]])


def test_bad_arguments(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "missing.npz")
    with pytest.raises(FileNotFoundError, match="/missing: there is no such file; "):
        load_vectors(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match=": is a folder; name the file"):
        load_vectors(tmp_path)
    with pytest.raises(ValueError, match="limit is 0"):
        load_vectors(write(tmp_path / "v", GLOVE), limit=0)


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
    if path.suffix == ".bin":
        with pytest.raises(ValueError, match="continues after the 10 vectors of 300"):
            load_vectors(path)
    vectors = load_vectors(path, limit=shape[0])
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
