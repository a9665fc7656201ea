"""Some vectors of a file: the same as the whole file has, and nothing else."""

import gzip
import os
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from vectors.examples import BINARY, CONTENTS, GLOVE, MATRIX, assert_are, write

from keras_tagging import Sentence
from keras_tagging.utils import limits
from keras_tagging.vectors import fasttext, files, load_vectors


@pytest.fixture(params=[1, 7, 2**20])
def chunk(request, monkeypatch):
    """Blocks of every size: what is read at once must not matter."""
    monkeypatch.setattr(files, "_CHUNK", request.param)
    monkeypatch.setattr(fasttext, "_BLOCK", request.param)
    monkeypatch.setattr(limits, "VECTOR_LINE", 40)
    monkeypatch.setattr(limits, "VECTOR_WORD", 40)


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("compressed", [False, True])
def test_formats(kind, compressed, tmp_path, chunk):
    content = CONTENTS[kind]
    path = tmp_path / ("vectors.dat.gz" if compressed else "vectors.dat")
    write(path, gzip.compress(content, mtime=0) if compressed else content)

    def found(words, **options):
        return load_vectors(path, vocabulary=words, cache=False, **options)

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
    vectors = load_vectors(path, vocabulary=["a", "caf\u00e9"])
    assert vectors.words == ["a", "caf\u00e9"]
    assert vectors.matrix.tolist() == [[1], [2]]


def test_encoding(tmp_path):
    path = write(tmp_path / "v", GLOVE.encode("latin-1"))
    assert_are(load_vectors(path, vocabulary=["Über"], encoding="latin-1"), [1])


def test_values_of_other_lines_are_not_parsed(tmp_path):
    path = write(tmp_path / "v", "a 1 2\nb x nan\nc 3 4\n")
    assert load_vectors(path, vocabulary=["c"]).matrix.tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "v: is empty"),
        ("a 1 2\nb 3\n", "v:2: has 1 values where 2 are expected"),
        ("c 1 2\nb 3 x\n", "v:2: is not a word and its values"),
        ("Some prose, not vectors.\n", "v:1: is not .*, or name a file of word"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "v: is binary data of another kind: name"),
        (
            "c 1 2\nb 3 nan\n",
            "v:2: the vector of 'b' holds a value that is not a finite",
        ),
        ("3 2\na 1 2\nb 3 4\n", "v:1: announces 3 vectors but 2 follow"),
        (BINARY[:-9], "v: ends before the last vector that it announces"),
        (BINARY.replace(b"4 3", b"9 3"), "v: ends before the last vector"),
        (b"2 1\n" + b"\0" * 99, "v: ends before the last vector"),
        (b"1 1\nb " + struct.pack("<f", np.inf), "v: the vector of 'b' holds a value"),
    ],
)
def test_malformed(content, message, tmp_path):
    path = write(tmp_path / "v", content)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(path, vocabulary=["b"])
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_truncated_gzip(tmp_path):
    content = gzip.compress(os.urandom(300).hex().encode() + GLOVE.encode(), mtime=0)
    path = write(tmp_path / "v.gz", content[:-20])
    with pytest.raises(ValueError, match="v.gz: cannot be read: it ends too early"):
        load_vectors(path, vocabulary=["the"])


def test_bad_vocabularies(tmp_path):
    path = write(tmp_path / "v", GLOVE)
    with pytest.raises(ValueError, match="'the' is a string: give a list of words"):
        load_vectors(path, vocabulary="the")
    with pytest.raises(ValueError, match="the vocabulary has no words"):
        load_vectors(path, vocabulary=[])


@pytest.mark.parametrize("binary", [False, True])
def test_memory_is_that_of_what_is_kept(binary, tmp_path):
    """Of 20,000 vectors a tenth: 0.8 MB of 8."""
    rng = np.random.default_rng(0)
    keyed = KeyedVectors(100)
    words = [f"w{i}" for i in range(20_000)]
    keyed.add_vectors(words, rng.normal(size=(20_000, 100)).astype("float32"))
    keyed.save_word2vec_format(str(tmp_path / "v"), binary=binary)
    vocabulary = words[::10]
    load_vectors(tmp_path / "v", vocabulary=words[:2], cache=False)  # imports
    tracemalloc.start()
    vectors = load_vectors(tmp_path / "v", vocabulary=vocabulary, cache=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert vectors.words == vocabulary
    np.testing.assert_allclose(vectors.matrix, keyed.vectors[::10], rtol=1e-6)
    # words, forms and one block beside the matrix
    assert peak < vectors.matrix.nbytes + 4_500_000 < keyed.vectors.nbytes


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


def test_malformed_fasttext_models(model, tmp_path):
    content = model[0].read_bytes()
    header = struct.calcsize("<2i12id")
    sizes = list(struct.unpack_from("<3i2q", content, header))

    def refuse(content, message):
        path = write(tmp_path / "v.bin", content)
        with pytest.raises(ValueError, match=message) as error:
            load_vectors(path, vocabulary=["walked"])
        assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)

    for end in (20, header + 40, len(content) // 3):
        refuse(content[:end], "v.bin: ends before the last vector")
    sizes[2] = 1
    of_labels = bytearray(content)
    struct.pack_into("<3i2q", of_labels, header, *sizes)
    refuse(bytes(of_labels), "classifiers and quantised models")


# gensim's own


@pytest.mark.parametrize("separately", [False, True])
def test_gensims_own_files(separately, tmp_path):
    keyed = KeyedVectors(3)
    keyed.add_vectors(["the", "Über", "1.5", "a\u00a0b"], MATRIX)
    options = {"separately": ["vectors"]} if separately else {}
    keyed.save(str(tmp_path / "v"), **options)
    assert (tmp_path / "v.vectors.npy").exists() == separately

    def native(**options):
        return load_vectors(tmp_path / "v", allow_pickle=True, **options)

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


DATA = os.environ.get("KERAS_TAGGING_DATA")


@pytest.mark.skipif(not DATA, reason="KERAS_TAGGING_DATA is not set")
def test_real_files():
    files = sorted(Path(DATA, "vectors").iterdir())
    files = [path for path in files if path.suffix != ".md"]
    assert len(files) == 10
    for path in files:
        limit = 10 if path.suffix == ".bin" else None  # it announces 10 of its 11
        whole = load_vectors(path, limit=limit)
        words = whole.words[1::3]
        some = load_vectors(path, vocabulary=words, limit=limit, cache=False)
        assert set(words) <= set(some.words)
        assert len(some.words) < len(whole.words) / 1.5
        for word, row in zip(some.words, some.matrix, strict=True):
            np.testing.assert_array_equal(row, whole.matrix[whole.index[word]])
