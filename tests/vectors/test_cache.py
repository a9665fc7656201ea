"""Vectors kept on disk."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from vectors.examples import BINARY, GLOVE, assert_are, write

from keras_tagging.vectors import load_vectors, loading


@pytest.fixture
def reads(monkeypatch):
    """The files that are searched, one after the other."""
    found = []

    def spy(kind):
        function = loading._READERS[kind]

        def search(stream, *args):
            found.append(os.path.basename(stream.path))
            return function(stream, *args)

        monkeypatch.setitem(loading._READERS, kind, search)

    for kind in loading._READERS:
        spy(kind)
    return found


def test_the_second_time_nothing_is_searched(tmp_path, cache, reads):
    path = write(tmp_path / "v", GLOVE)
    for _ in range(2):
        assert_are(load_vectors(path, vocabulary=["1.5", "the"]), [0, 2])
        assert_are(load_vectors(path, vocabulary=["the", "1.5", "the"]), [0, 2])
        assert_are(load_vectors(path), [0, 1, 2, 3])
        assert_are(load_vectors(path, limit=1), [0])
    assert len(reads) == len(list(cache.iterdir())) == 3
    load_vectors(path).matrix[0] = 0  # may be changed, and nobody notices
    assert_are(load_vectors(path), [0, 1, 2, 3])
    assert len(reads) == 3


def test_every_argument_and_the_file_count(tmp_path, reads):
    path, other = (write(tmp_path / name, GLOVE) for name in ("v", "w"))
    load_vectors(path, vocabulary=["1.5"])
    load_vectors(other, vocabulary=["1.5"])
    load_vectors(path, vocabulary=["1.5", "the"])
    load_vectors(path, vocabulary=["1.5"], limit=3)
    load_vectors(path, vocabulary=["1.5"], encoding="latin-1")
    load_vectors(path, vocabulary=["1.5"], normalise=lambda word: "2")
    assert len(reads) == 6
    load_vectors(path, vocabulary=["1.5"], normalise=lambda word: word)
    assert len(reads) == 6  # the same words
    write(path, GLOVE.replace("-4", "-5"))
    os.utime(path, ns=(1, 1))
    found = load_vectors(path, vocabulary=["1.5"])
    assert found.matrix.tolist() == [[0, 0, -5]]
    assert len(reads) == 7
    (tmp_path / "link").symlink_to(path)
    load_vectors(tmp_path / "link", vocabulary=["1.5"])
    assert len(reads) == 7


def test_where_vectors_are_kept(tmp_path, cache, reads):
    path, binary = write(tmp_path / "v", GLOVE), write(tmp_path / "b", BINARY)
    for _ in range(2):
        load_vectors(path, cache=False)
        load_vectors(binary)  # as quick as the cache
    assert len(reads) == 4 and not cache.exists()
    for _ in range(2):
        assert_are(load_vectors(binary, vocabulary=["the"], cache=tmp_path / "c"), [0])
    assert len(reads) == 5 and not cache.exists()
    assert len(list((tmp_path / "c").iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", None])
def test_what_is_damaged_is_written_anew(damage, tmp_path, cache, reads):
    path = write(tmp_path / "v", GLOVE)
    load_vectors(path)
    (kept,) = cache.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-99] if damage is None else damage)
    assert_are(load_vectors(path), [0, 1, 2, 3])
    assert_are(load_vectors(path), [0, 1, 2, 3])
    assert len(reads) == 2
    assert len(list(cache.iterdir())) == 1


def test_a_folder_that_cannot_be_written(tmp_path):
    path = write(tmp_path / "v", GLOVE)
    with pytest.warns(UserWarning, match="cannot be kept there .*KERAS_TAGGING_CACHE"):
        assert_are(load_vectors(path, cache=path / "inside"), [0, 1, 2, 3])


def test_threads_that_write_at_once(tmp_path, cache):
    rows = np.arange(4000)[:, None] + np.zeros(30)
    text = "".join(f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(rows))
    path = write(tmp_path / "v", text)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(load_vectors, [path] * 4)]
    for vectors in found:
        assert vectors.matrix[:, 0].tolist() == [*range(4000)]
    assert len(list(cache.iterdir())) == 1
