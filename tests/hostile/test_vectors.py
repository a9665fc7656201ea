"""Damaged and hostile files of word vectors: an error of ours, or what is there."""

import bz2
import gzip
import os
import pickle
import random
import struct

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model
from hostile.harness import ROUNDS, within
from hostile.mutations import mutate
from pickles import Runs
from vectors.examples import BINARY, FASTTEXT, GLOVE, WORDS, write

# `build` imports Keras and TensorFlow, which is not to happen while memory is limited
from keras_tagging import build
from keras_tagging.data import CorpusError
from keras_tagging.vectors import as_vectors, load_vectors


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def limits_of_each_test():
    with within(60, 900):
        yield


def attempt(path, **options):
    """The vectors, or None after an error of ours."""
    try:
        vectors = load_vectors(path, **options)
    except (ValueError, OSError) as error:
        message = str(error)
        assert type(error) in (ValueError, CorpusError, OSError), repr(error)
        assert message.startswith(str(path)) and "\n" not in message, message
        return None
    assert vectors.matrix.dtype == np.float32 and np.isfinite(vectors.matrix).all()
    assert len(vectors.index) == len(vectors.words) == len(vectors.matrix) > 0
    return vectors


def refuse(path, message, **options):
    with pytest.raises(ValueError, match=message) as error:
        load_vectors(path, cache=False, **options)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


# Damage


def model(folder):
    """A file as fastText writes it."""
    text = [["walking", "walked", "Über", "a"], ["talking", "b"]] * 5
    trained = FastText(text, vector_size=6, min_count=1, workers=1, bucket=30, epochs=1)
    save_facebook_model(trained, str(folder / "model"))
    return (folder / "model").read_bytes()


def contents(folder):
    return {
        "glove": GLOVE.encode(),
        "fasttext": FASTTEXT.encode(),
        "binary": BINARY,
        "model": model(folder),
    }


ROADS = (
    {},
    {"limit": 2},
    {"vocabulary": [*WORDS, "walked", "talked"]},
    {"vocabulary": ["the", "missing", "talked"], "limit": 3},
)


def plainly(content):
    """What text or word2vec's binary holds, read as simply as can be."""
    first, _, rest = content.partition(b"\n")
    fields = first.split()
    announced = len(fields) == 2 and all(field.isdigit() for field in fields)
    found = {}
    if announced and b"\0" in rest:
        for _ in range(int(fields[0])):
            name, _, rest = rest.lstrip(b"\n").partition(b" ")
            end = 4 * int(fields[1])
            found.setdefault(name.decode(errors="replace"), rest[:end])
            rest = rest[end:]
        return {name: np.frombuffer(row, "<f4") for name, row in found.items()}
    size = int(fields[1]) if announced else None
    for line in (rest if announced else content).split(b"\n"):
        fields = line.rstrip().replace(b"\t", b" ").split(b" ")
        size = size or len(fields) - 1
        name = b" ".join(fields[:-size]).decode(errors="replace")
        if len(fields) > size:
            found.setdefault(name, np.array(fields[-size:], "f4"))
    return found


@pytest.mark.parametrize("kind", ["glove", "fasttext", "binary", "model"])
def test_damaged_files(kind, tmp_path):
    content = contents(tmp_path)[kind]
    rng = random.Random(kind)
    path = tmp_path / "v"
    right = 0
    for _ in range(60 * ROUNDS):
        write(path, changed := mutate(rng, [content]))
        whole, *others = (attempt(path, cache=False, **road) for road in ROADS)
        if whole is None:
            continue
        right += 1
        if kind != "model":
            expected = plainly(changed)
            assert whole.words == list(expected), changed
            np.testing.assert_array_equal(whole.matrix, list(expected.values()))
        for some in filter(None, others):
            rows = [whole.index[word] for word in some.words if word in whole.index]
            assert len(rows) == len(some.words) or kind == "model"
            if kind != "model":
                np.testing.assert_array_equal(some.matrix, whole.matrix[rows])
    assert right < 55 * ROUNDS


# Pickles


@pytest.fixture(params=["v.kv", "v.gz", "v.bz2"])
def payload(request, tmp_path, monkeypatch):
    """A file of vectors that leaves a folder; gensim must not even see it."""
    monkeypatch.setattr(KeyedVectors, "load", None)
    path = tmp_path / request.param
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
    yield write(path, compress(pickle.dumps(Runs(os.mkdir, tmp_path / "ran"))))
    assert not (tmp_path / "ran").exists()


def test_pickles_are_refused(payload):
    message = "is a pickle, .* can run any code: .* allow_pickle=True"
    for road in ROADS:
        refuse(payload, message, **road)
    for source in (payload, str(payload)):
        with pytest.raises(ValueError, match=message):
            as_vectors(source)


@pytest.mark.parametrize("keyword", ["embeddings", "vectors"])
def test_build_refuses_pickles(keyword, payload):
    with pytest.raises(ValueError, match="is a pickle"):
        build("bigru", **{keyword: str(payload)})


def test_pickles_that_are_trusted(tmp_path):
    path = write(tmp_path / "v.kv", pickle.dumps(Runs(os.mkdir, tmp_path / "ran")))
    with pytest.raises(ValueError, match="v.kv: gensim cannot load it"):
        load_vectors(path, allow_pickle=True)
    assert (tmp_path / "ran").exists()
    write(path, b"\x80\x04damaged")
    with pytest.raises(ValueError, match="v.kv: gensim cannot load it .*: save it ag"):
        load_vectors(path, allow_pickle=True)


# Sizes that are not there


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("5" * 5000 + " 3", "1: announces 5{18} vectors but 4 follow|ends before"),
        ("4 9999999999999", "1: announces 4 vectors of 9999999999999 values .1 to 10"),
        ("9999999999999 3", "announces 9999999999999 vectors but 4 follow|ends before"),
        ("4 -3", "2: has 3 values where 1 are expected|is binary data of another kind"),
        ("\u0664 \u0663", "where 1 are expected|1: is not a word|binary data"),
    ],
)
@pytest.mark.parametrize("content", [GLOVE.encode(), BINARY.partition(b"\n")[2]])
def test_first_lines(content, first, message, tmp_path):
    path = write(tmp_path / "v", f"{first}\n".encode() + content)
    for road in ROADS[::2]:
        refuse(path, message, **road)


@pytest.mark.parametrize("value", [-1, 0, 7, 10_000, 2**31 - 1])
@pytest.mark.parametrize("place", [1, 9, 10, 11, 15, 16, 17])
def test_sizes_in_fasttext_models(place, value, tmp_path):
    """Dimension, buckets, shortest and longest piece; words, seen words, labels."""
    content = bytearray(model(tmp_path))
    struct.pack_into("<i", content, 4 + 4 * place, value)
    for suffix, packed in (("", content), (".gz", gzip.compress(content))):
        path = write(tmp_path / f"v{suffix}", bytes(packed))
        found = [attempt(path, cache=False, **road) for road in ROADS]
        # with other pieces it is a sound model, of other vectors
        sound = {10: value >= 0, 11: 0 <= value < 10_000, 17: value == 0}
        assert (found[0] is not None) == sound.get(place, False)
        assert found[0] or not any(found)


# Lines, words and values without an end


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("start", [b"", b"a 1 2\n", b"1 1\n", b"1 1\n\0"])
def test_two_gigabytes_in_one_line(start, compress, tmp_path):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}[compress]
    content = compress(start) + compress(b"x" * 2**20) * 2000
    path = write(tmp_path / f"v{suffix}", content)
    message = "(1|2): has more than 1,048,576 bytes in one line|ends before|is not a wo"
    for road in ROADS[::2]:
        refuse(path, message, **road)


def test_words_without_an_end(tmp_path):
    name = "x" * 70_000
    path = write(tmp_path / "v", f"a 1\n{name} 2\n")
    for road in ({}, {"vocabulary": ["a"]}):
        refuse(path, "v:2: has a word of 70,000 bytes, over 65,536", **road)
    write(path, b"2 1\n" + name.encode() + BINARY)
    refuse(path, "ends before|has a word of|is not a word")


# Compression


@pytest.mark.parametrize("content", [GLOVE.encode() * 2, BINARY])
@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_what_follows_compressed_content(compress, content, tmp_path):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}[compress]
    packed = compress(content)
    for wrong in (packed[:-1], packed[:-8], packed + packed[:-9]):
        path = write(tmp_path / f"v{suffix}", wrong)
        for road in ROADS:
            refuse(
                path, "cannot be read: (Compressed file ended|its compressed)", **road
            )
    refuse(write(path, b""), "cannot be read: (Compressed file ended|it is empty)")
    refuse(write(path, compress(b"")), "is empty")


# Encodings


def test_text_that_is_not_utf_8(tmp_path):
    words = ["na\u00efve", "caf\u00e9s", *(f"w{number}" for number in range(98))]
    text = "".join(f"{word} 1\n" for word in words)
    path = write(tmp_path / "v", text.encode("latin-1"))
    message = r"v:1: b'na\\xefve' is not in utf-8, nor are 2 of 100 words: .*latin-1"
    for road in ({}, {"vocabulary": ["w1"]}):
        refuse(path, message, **road)
    assert attempt(path, encoding="latin-1").words == words
    # one in a hundred, as public files have some
    write(path, text.encode("latin-1").replace(b"caf\xe9s", b"cafes"))
    assert attempt(path).words[0] == "na\ufffdve"
    # word2vec cuts words wherever that is
    write(path, "".join(f"{number}\u00e9 1\n" for number in range(9)).encode())
    write(path, path.read_bytes().replace(b"\xa9", b""))
    assert attempt(path).words[3] == "3\ufffd"


@pytest.mark.parametrize("content", [GLOVE, FASTTEXT])
def test_a_byte_order_mark_is_no_part_of_the_first_word(content, tmp_path):
    path = write(tmp_path / "v", content.encode("utf-8-sig"))
    assert attempt(path).words == WORDS
