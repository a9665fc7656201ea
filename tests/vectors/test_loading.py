"""Files of vectors: all of one, or some of it; and what is malformed."""

import bz2
import gzip
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from conftest import DATA, needs_data
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from vectors.examples import BINARY, CONTENTS, GLOVE, MATRIX, WORDS, assert_are, write

from keras_tagging import Sentence
from keras_tagging.utils import limits
from keras_tagging.vectors import WordVectors, as_vectors, load_vectors, reading

ALL = [0, 1, 2, 3]


@pytest.fixture(params=[1, 7, 2**20])
def chunk(request, monkeypatch):
    """Blocks of every size: what is read at once must not matter."""
    monkeypatch.setattr(reading, "_CHUNK", request.param)
    monkeypatch.setattr(reading, "_BLOCK", request.param)
    monkeypatch.setattr(limits, "VECTOR_LINE", 40)
    monkeypatch.setattr(limits, "VECTOR_WORD", 40)


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("compressed", [False, True])
def test_formats(kind, compressed, tmp_path, chunk):
    content = CONTENTS[kind]
    # The name says nothing about the format.
    path = tmp_path / ("vectors.dat.GZ" if compressed else "vectors.dat")
    write(path, gzip.compress(content, mtime=0) if compressed else content)

    def found(words=None, **options):
        return load_vectors(path, vocabulary=words, cache=False, **options)

    assert_are(found(), ALL)
    assert_are(found(limit=2), [0, 1])
    assert_are(found(limit=99), ALL)
    assert_are(found(["1.5", "the", "missing"]), [0, 2])
    assert_are(found(["a\u00a0b", "U\u0308ber"]), [1, 3])
    assert_are(found([Sentence(["the"]), ["Über", "the"], []]), [0, 1])
    assert_are(found({"THE": 3}), [0])
    assert_are(found(["the", "Über", "1.5"], limit=2), [0, 1])
    assert_are(found(["7"], normalise=lambda word: "1.5"), [2])
    with pytest.raises(ValueError, match="none of the wanted words, such as '1.5':"):
        found(["1.5"], limit=2)


def test_forms_and_the_unknown_word_are_kept(tmp_path):
    path = write(tmp_path / "v", "the 1\nThe 2\nunk 3\n0 4\n17 5\nTHE 6\n<unk> 7\n")

    def words(*vocabulary, **options):
        return load_vectors(path, vocabulary=vocabulary, **options).words

    assert words("The") == ["the", "The", "unk", "<unk>"]
    assert words("23", "17") == ["unk", "17", "<unk>"]
    assert words("23", "17", normalise="kadari") == ["unk", "0", "17", "<unk>"]


def test_the_first_of_two_equal_words_is_kept(tmp_path):
    path = write(tmp_path / "v", "a 1\ncafe\u0301 2\na 3\ncaf\u00e9 4\n")
    assert load_vectors(path, limit=3).matrix.tolist() == [[1], [2]]
    vectors = load_vectors(path, vocabulary=["a", "caf\u00e9"])
    assert vectors.words == ["a", "caf\u00e9"]
    assert vectors.matrix.tolist() == [[1], [2]]


def test_encoding(tmp_path):
    path = write(tmp_path / "v", GLOVE.encode("latin-1"))
    assert_are(load_vectors(path, encoding="latin-1"), ALL)
    assert_are(load_vectors(path, vocabulary=["Über"], encoding="latin-1"), [1])


def test_blanks_and_tabs_in_and_behind_words(tmp_path):
    for text, words in (
        ("2 2\nmy name 1 2\n. . . 3 4\n", ["my name", ". . ."]),
        ("a 1 2\n. . . 3 4\n", ["a", ". . ."]),
        ("the\t1 2\ndog\t3\t4\n", ["the", "dog"]),
    ):
        vectors = load_vectors(write(tmp_path / "v", text), cache=False)
        assert vectors.words == words and vectors.matrix.tolist() == [[1, 2], [3, 4]]


def test_values_of_other_lines_are_not_parsed(tmp_path):
    path = write(tmp_path / "v", "a 1 2\nb x nan\nc 3 4\n")
    assert load_vectors(path, vocabulary=["c"]).matrix.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "v: is empty"),
        ("a 1 2\nb 3\n", "v:2: has 1 values where 2 are expected"),
        ("a 1 2\nb 5 3 4\n", "v:2: has 3 values where 2"),
        ("a 1 2\nb -.5e3 3 4\n", "v:2: has 3 values where 2"),
        ("a 1 2\n\nb 3 4\n", "v:2: has 0 values"),
        ("a 1 2\nb 3 x\n", "v:2: is not a word and its values"),
        ("a 1 2\nb 3 4 c 5 6\n", "v:2: has 5 values where 2"),
        ("Some prose, not vectors.\n", "v:1: is not .*, or name a file of word"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "v: is binary data of another kind: name"),
        (
            "a 1 2\nb 3 nan\n",
            "v:2: the vector of 'b' holds a value that is not a finite",
        ),
        ("2 2\na 1 2\nb -inf inf\n", "v:3: the vector of 'b' holds a value"),
        ("2 2\na 1 2\nb 3\n", "v:3: has 1 values where 2 are expected"),
        ("1 2\na 1 2\nb 3 4\n", "v:1: announces 1 vectors but 2 follow"),
        ("0 3\n", "v:1: announces 0 vectors of 3 values"),
        ("2 0\n", "v:1: announces 2 vectors of 0 values"),
        ("a" + 10_001 * " 0", "v:1: has 10,001 values, over 10,000: name"),
        ("a" + 2**20 * " 0", "v:1: has more than 1,048,576 bytes in one line"),
        (BINARY[:-9], "v: ends before the last vector that it announces"),
        (BINARY.replace(b"4 3", b"2 3"), "v: continues after the 2 .* limit=2 to read"),
        (
            gzip.compress(GLOVE.encode(), mtime=0),
            "v: is compressed: give it a name .* .gz",
        ),
        (b"PK\x03\x04rest", "v: is a zip archive: unzip it first"),
        (bz2.compress(b"a 1\n"), "v: is compressed: give it a name .* .bz2"),
        (b"2 1\n" + b"\0" * 99, "v: ends before the last vector"),
        (b"1 1\nb " + struct.pack("<f", np.inf), "v: the vector of 'b' holds a value"),
    ],
)
def test_malformed(content, message, tmp_path):
    path = write(tmp_path / "v", content)
    # values are parsed for the wanted words only
    for words in (None, ["b"]):
        with pytest.raises(ValueError, match=message) as caught:
            load_vectors(path, vocabulary=words)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("limit", [None, 3])
def test_a_control_character_does_not_make_text_binary(tmp_path, limit):
    path = write(tmp_path / "v", "3 2\nthe 0.12 0.5\nof\x01 0.22 1\nand 1 2\n")
    found = load_vectors(path, limit=limit)
    assert found.words == ["the", "of\x01", "and"]
    np.testing.assert_allclose(found.matrix, [[0.12, 0.5], [0.22, 1], [1, 2]])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="/missing: there is no such file; "):
        load_vectors(tmp_path / "missing")


@pytest.mark.parametrize("binary", [False, True])
def test_memory_is_that_of_what_is_kept(binary, tmp_path):
    """Of 20,000 vectors a hundredth: 0.08 MB of 8."""
    row = np.float32([0.25, -0.5] * 50)
    text = " ".join(map(str, row)).encode()
    words = [f"w{i}" for i in range(20_000)]
    rows = (b"%s %s\n" % (w.encode(), row.tobytes() if binary else text) for w in words)
    path = write(tmp_path / "v", b"20000 100\n" + b"".join(rows))
    vocabulary = words[::100]
    load_vectors(path, vocabulary=words[:2], cache=False)  # imports
    tracemalloc.start()
    vectors = load_vectors(path, vocabulary=vocabulary, cache=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert vectors.words == vocabulary
    np.testing.assert_array_equal(vectors.matrix, np.tile(row, (200, 1)))
    # words, forms and one block beside the matrix
    assert peak < 2_000_000


# fastText

TEXT = [["walking", "walked", "über", "a"], ["talking", "Walked", "b"]] * 5


@pytest.fixture(scope="module", params=[0, 300])
def model(request, tmp_path_factory):
    """A file as fastText writes it, and what gensim reads from it."""
    bucket = request.param
    options = {"max_n": 0} if not bucket else {"bucket": bucket}
    trained = FastText(
        TEXT, vector_size=6, min_count=1, workers=1, min_n=3, epochs=1, **options
    )
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    save_facebook_model(trained, str(path))
    return path, load_facebook_vectors(str(path))


@pytest.mark.parametrize("compressed", [False, True])
def test_fasttext_models(model, compressed, tmp_path, chunk):
    path, expected = model
    if compressed:
        path = write(tmp_path / "v.bin.gz", gzip.compress(path.read_bytes()))
    whole = load_vectors(path, cache=False)
    assert whole.words == expected.index_to_key
    np.testing.assert_allclose(whole.matrix, expected.vectors, rtol=1e-5, atol=1e-8)
    # of a word that was not seen its pieces, unless its lower case was; no piece of ""
    vocabulary = ["walked", "über", "talked", "A", ""]
    vectors = load_vectors(path, vocabulary=vocabulary, cache=False)
    seen = [w for w in expected.index_to_key if w in {"walked", "über", "a"}]
    made = ["talked"] if expected.bucket else []
    assert vectors.words == [*seen, *made]
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        np.testing.assert_allclose(row, expected.get_vector(word), rtol=1e-5, atol=1e-8)
    assert len({tuple(row) for row in vectors.matrix.tolist()}) == len(vectors.words)
    first = expected.index_to_key[0]
    limited = load_vectors(path, vocabulary=TEXT, limit=1, cache=False)
    assert limited.words[0] == first
    # of all others the pieces, if there are any
    assert len(limited.words) == (7 if expected.bucket else 1)


# gensim's own


@pytest.mark.parametrize("separately", [False, True])
def test_gensims_own_files(separately, tmp_path):
    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, MATRIX)
    options = {"separately": ["vectors"]} if separately else {}
    keyed.save(str(tmp_path / "v"), **options)
    assert (tmp_path / "v.vectors.npy").exists() == separately

    def native(**options):
        return load_vectors(tmp_path / "v", allow_pickle=True, **options)

    assert_are(native(), ALL)
    assert_are(native(limit=2), [0, 1])
    assert_are(native(vocabulary=["1.5", "THE"]), [0, 2])
    found = native(vocabulary=["1.5", "THE"], limit=2)
    assert_are(found, [0])
    found.matrix[0] = 0  # it is in memory
    assert_are(native(vocabulary=["the"]), [0])


def test_gensims_fasttext(tmp_path):
    trained = FastText(TEXT, vector_size=6, min_count=1, workers=1, bucket=300)
    trained.save(str(tmp_path / "v"))
    words = ["walked", "talked", "B"]
    vectors = load_vectors(tmp_path / "v", vocabulary=words, allow_pickle=True)
    assert sorted(vectors.words) == ["b", "talked", "walked"]
    for word, row in zip(vectors.words, vectors.matrix, strict=True):
        np.testing.assert_array_equal(row, trained.wv[word])


def test_vectors_in_memory():
    keyed = KeyedVectors(3)
    keyed.add_vectors(WORDS, MATRIX)
    vectors = as_vectors(keyed)
    assert_are(vectors, ALL)
    assert as_vectors(vectors) is vectors
    model = Word2Vec([["a", "b"]], vector_size=3, min_count=1, workers=1)
    assert as_vectors(model).words == model.wv.index_to_key
    assert isinstance(as_vectors(model.wv), WordVectors)
    keyed.vectors[1, 0] = np.nan
    with pytest.raises(ValueError, match="vectors: the vector of 'Über' holds a value"):
        as_vectors(keyed)
    with pytest.raises(ValueError, match="vectors: has no vectors"):
        as_vectors(KeyedVectors(3))
    with pytest.raises(ValueError, match="vectors: has 1 words and 2 vectors"):
        as_vectors(WordVectors(["a"], np.ones((2, 3), np.float32)))


@needs_data
@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("glove.6B.50d.top500.txt", (500, 50)),
        ("glove.840B.300d.top256.txt", (256, 300)),
        ("glove.6B.300d.sample.txt.gz", (100, 300)),
        ("gensim_test_glove.txt", (76, 50)),
        ("googlenews_style_w2v_test.bin", (10, 300)),
        ("EN.1-10.cbow1_300d.txt", (20, 300)),
        ("pang_lee_polarity_fasttext_100d.vec", (1694, 100)),
        ("lee_word2vec_10d_c_text.txt", (1750, 10)),
    ],
)
def test_real_files(name, shape):
    path = Path(DATA, "vectors", name)
    if path.suffix == ".bin":
        with pytest.raises(ValueError, match="continues after the 10 vectors that"):
            load_vectors(path)
    vectors = load_vectors(path, limit=shape[0])
    assert vectors.matrix.shape == shape
    assert len(vectors.index) == shape[0]
    if path.suffix != ".bin":
        opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
        with opened as file:
            text = file.read().decode(errors="replace")
        last = text.rstrip("\n").split("\n")[-1].split()
        assert vectors.words[-1] == last[0]
        np.testing.assert_array_equal(vectors.matrix[-1], np.float32(last[1:]))
    words = vectors.words[1::3]
    some = load_vectors(path, vocabulary=words, limit=shape[0], cache=False)
    assert {*words} <= {*some.words} and len(some.words) < len(vectors.words) / 1.5
    for word, row in zip(some.words, some.matrix, strict=True):
        np.testing.assert_array_equal(row, vectors.matrix[vectors.index[word]])


def test_words_with_blanks_in_word2vec_binary(tmp_path):
    """What gensim writes, and word2vec with a line end behind each vector."""
    words = ["the", "a b", "dog", "New York City", "no 1", "1999 AD", "c  d", "x y"]
    kept = KeyedVectors(25)
    kept.add_vectors(words, np.random.default_rng(0).normal(size=(8, 25)) / 4)
    kept.save_word2vec_format(path := tmp_path / "v", binary=True)
    for end in (b"", b"\n"):
        for row in map(np.ndarray.tobytes, kept.vectors):
            write(path, path.read_bytes().replace(row, row + end))
        found = load_vectors(path)
        assert found.words == words and (found.matrix == kept.vectors).all()
        assert load_vectors(path, vocabulary=["dog", "x y"]).words == ["dog", "x y"]
