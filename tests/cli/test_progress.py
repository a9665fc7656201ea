"""Progress on standard error, with made-up terminals."""

import gzip
import io
import sys

import pytest
from conftest import TINY, WORDS_ONLY, random_sentences

import keras_tagging
from keras_tagging import cli
from keras_tagging.cli import output
from keras_tagging.cli.progress import Source, applied, epoch_bars
from keras_tagging.data import read


class Terminal(io.StringIO):
    """Standard output or standard error."""

    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    def reconfigure(self, **_):
        """Nothing: it is text."""


@pytest.fixture
def streams(monkeypatch):
    """Makes standard output and standard error, which are terminals or are not."""

    def make(out, err):
        monkeypatch.setattr(output, "_quiet", False)  # as another test may leave it
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stdout", Terminal(out))
        monkeypatch.setattr(sys, "stderr", Terminal(err))
        return sys.stderr

    return make


def doubled(items):
    """As models do, it reads ahead."""
    yield from [2 * item for item in items]


@pytest.mark.parametrize("out, err", [(False, False), (True, True), (True, False)])
def test_nothing_is_shown(streams, tmp_path, out, err):
    terminal = streams(out, err)
    path = tmp_path / "x.txt"
    path.write_text("a\n")
    source = Source(str(path))
    assert source.stream == str(path) and source.position() is None
    assert list(applied(doubled, range(3), source)) == [(0, 0), (1, 2), (2, 4)]
    with epoch_bars() as callbacks:
        assert callbacks == []
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_share_of_a_file(streams, tmp_path, suffix):
    terminal = streams(False, True)
    path = tmp_path / f"x.txt{suffix}"
    rows = b"the dog barks\n" * 50
    path.write_bytes(gzip.compress(rows) if suffix else rows)
    source = Source(str(path))
    assert source.position() == 0
    pairs = applied(lambda s: map(len, s), read(source.stream, "text"), source)
    assert [n for _, n in pairs] == [3] * 50
    assert source.position() == source.size == path.stat().st_size
    assert source.stream.closed
    assert "50 sentences" in terminal.getvalue()


def test_tag_shows_it(streams, run_dir, tmp_path):
    """And the output is the same."""
    path = tmp_path / "x.txt"
    path.write_text("She reads the book .\n" * 3)
    found = []
    for err in (False, True):
        terminal = streams(False, err)
        with pytest.raises(SystemExit) as caught:
            cli.main(["tag", str(run_dir), str(path), "--format", "text"])
        assert caught.value.code == 0
        found.append(sys.stdout.getvalue())
    assert found[0] == found[1] and found[0].count("\n") == 18
    assert "3 sentences" in terminal.getvalue()


def test_inside_an_epoch(streams):
    """The estimate of an epoch is on standard error, its line on standard output."""
    terminal = streams(False, True)
    model = keras_tagging.build("bigru", **TINY | WORDS_ONLY)
    model.run_eagerly = True
    with epoch_bars() as callbacks:
        options = {"epochs": 2, "batch_size": 2, "verbose": 2, "callbacks": callbacks}
        model.fit(random_sentences(6, 1), **options)
    shown = terminal.getvalue()
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor
    assert "epoch 2/2" in shown and "3/3 batches" in shown
    assert "Epoch 2/2" in sys.stdout.getvalue()
    assert "epoch 2/2" not in sys.stdout.getvalue()
