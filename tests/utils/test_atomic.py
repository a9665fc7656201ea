import errno
import os
import resource
import subprocess

import pytest

from keras_tagging.data import Sentence, write
from keras_tagging.utils.atomic import locked, replacing, replacing_together


@pytest.fixture
def small_files():
    """The system refuses files of more than 4096 bytes, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_names_the_file_and_leaves_the_old_one(tmp_path, small_files):
    path = tmp_path / "model.keras"
    path.write_text("old")
    with pytest.raises(OSError) as caught:
        with replacing(path) as partial:
            partial.write_text("x" * 10_000)
    assert caught.value.errno == errno.EFBIG
    told = str(caught.value)
    assert told.endswith(
        f": free some space and repeat the command; it was writing: '{path}'"
    )
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    sentences = [Sentence(["a" * 5000], ["X"])]
    with pytest.raises(OSError, match="free some space .*corpus.conll"):
        write(sentences, tmp_path / "corpus.conll")


def test_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="vectors.txt"):
        with replacing(tmp_path / "model.keras"):
            open(tmp_path / "vectors.txt")
    (tmp_path / "folder" / "x").mkdir(parents=True)
    with pytest.raises(OSError) as caught:
        with replacing(tmp_path / "folder") as partial:
            partial.write_text("x")
    assert caught.value.filename == str(tmp_path / "folder")


def test_what_a_killed_process_left_of_a_file_is_removed(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    names = [f".{pid}123456789.x.csv" for pid in (ended.pid, os.getpid(), "")]
    for name in (*names, other := f".{ended.pid}123456789.y.x.csv"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    # of another machine perhaps, where such a process lives
    (tmp_path / (now := f".{ended.pid}000000000.x.csv")).touch()
    write([Sentence(["a"], ["X"])], tmp_path / "x.csv")
    assert {path.name for path in tmp_path.glob(".*")} == {now, other, *names[1:]}


def test_files_that_belong_together(tmp_path):
    paths = [tmp_path / name for name in ("a", "b")]
    for text in ("old", "new"):
        with replacing_together(*paths) as partials:
            for partial in partials:
                partial.write_text(text)
    assert [path.read_text() for path in paths] == ["new", "new"]
    with pytest.raises(ValueError, match="in the middle"):
        with replacing_together(*paths) as partials:
            partials[0].write_text("newer")
            raise ValueError("in the middle")
    assert [path.read_text() for path in paths] == ["new", "new"]
    assert sorted(tmp_path.iterdir()) == paths


def test_a_lock_is_for_one_and_goes_with_it(tmp_path):
    folder = tmp_path / "a" / "b"
    with locked(folder, "taken"):
        for _ in range(2):
            with pytest.raises(ValueError, match="^taken$"):
                with locked(folder, "taken"):
                    raise AssertionError
    with pytest.raises(KeyError):
        with locked(folder, "taken"):
            raise KeyError
    assert not list(tmp_path.iterdir())
    with locked(folder, "taken"):
        (folder / "x").touch()
    assert [path.name for path in folder.iterdir()] == ["x"]
