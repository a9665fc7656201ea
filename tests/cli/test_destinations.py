"""Where commands write."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keras_tagging.cli.annotation import destinations, written


def test_a_file_or_a_folder(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.conllu"
    files = [str(one), str(two)]
    assert destinations(["-"], None, "csv") == [None]
    assert destinations(["-"], "x", "csv") == [Path("x")]
    assert destinations(["a.txt"], "new/", "csv") == [Path("new/a.csv")]
    folder = tmp_path / "new"
    expected = [folder / "one.jsonl", folder / "two.jsonl"]
    assert destinations(files, str(folder), "jsonl") == expected
    (tmp_path / "there").mkdir()
    found = destinations(files[:1], str(tmp_path / "there"), "spans")
    assert found == [tmp_path / "there" / "one.tsv"]


@pytest.mark.parametrize(
    "files, out, output, part",
    [
        (["a", "b"], None, "csv", "b: a second file, which needs --out"),
        (["a", "-"], "x", "csv", "standard input has no name"),
        (["a.txt", "b/a.text"], "x", "csv", "x/a.csv: several files would be written"),
        (["a.txt"], "a.txt", "csv", "a.txt: would be replaced"),
        (["x/a.csv", "b"], "x", "csv", "x/a.csv: would be replaced"),
    ],
)
def test_nothing_is_lost(files, out, output, part):
    with pytest.raises(ValueError, match=re.escape(part)):
        destinations(files, out, output)


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "file"
    with pytest.raises(KeyboardInterrupt), written(path, "utf-8") as stream:
        stream.write("ä\n")
        raise KeyboardInterrupt
    assert not list(path.parent.iterdir())
    with written(path, "latin-1") as stream:
        stream.write("ä\n")
    assert path.read_bytes() == b"\xe4\n"


def test_what_is_no_file_is_written_to(tmp_path, capsys):
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_text("old")
    link.symlink_to(target)
    with written(link, "utf-8") as stream:
        stream.write("new")
    assert link.is_symlink() and target.read_text() == "new"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as reader:
        found = reader.submit(pipe.read_text)
        with written(pipe, "utf-8") as stream:
            stream.write("new")
        assert found.result() == "new"
    assert pipe.is_fifo()
