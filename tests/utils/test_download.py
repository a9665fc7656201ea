"""Downloads from a server on the loopback."""

import hashlib
import re
import threading

import pytest
from corpora.web import serving

from keras_tagging.utils import download

DATA = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(DATA).hexdigest()
TRIES = 1 + download.RETRIES


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as site:
        site.files["/f"] = DATA
        yield site


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "corpus" / "f.txt"


def fetch(site, path):
    return download.fetch(f"{site.url}/f", path, SHA256, len(DATA))


def refusal(site, path):
    """The message of the error, which is one line with a remedy."""
    with pytest.raises(OSError) as caught:
        fetch(site, path)
    message = str(caught.value)
    assert re.fullmatch(r"\S+: [^;]+; .+", message)
    assert not path.exists()
    return message


def test_a_file_is_downloaded_once(site, path):
    assert fetch(site, path) == path
    assert path.read_bytes() == DATA
    site.files.clear()
    assert fetch(site, path) == path and len(site.seen) == 1
    assert {p.name for p in path.parent.iterdir()} <= {"f.txt", ".lock"}


@pytest.mark.parametrize("checksum", [SHA256, f"md5:{hashlib.md5(DATA).hexdigest()}"])
def test_a_damaged_file_is_downloaded_again(site, path, checksum):
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA[:5])
    assert not download.is_intact(path, checksum)
    download.fetch(f"{site.url}/f", path, checksum, len(DATA))
    assert path.read_bytes() == DATA and download.is_intact(path, checksum)


@pytest.mark.parametrize("length", [None, ""])
def test_a_broken_connection_is_tried_again(site, path, length):
    site.length, site.cuts = length, [5, 300_000]
    assert fetch(site, path).read_bytes() == DATA
    path.unlink()
    site.seen, site.cuts = [], [5] * TRIES
    assert "; " in refusal(site, path) and len(site.seen) == TRIES


def test_another_file_is_refused(site, path):
    site.files["/f"] = DATA[:-1] + b"x"
    assert f"checksum is not {SHA256[:16]}...; log in" in refusal(site, path)
    assert not list(path.parent.glob("tmp*"))


def test_a_body_without_end_is_cut(site, path):
    site.length, site.more = "", b"x" * 2**16
    assert "another file came" in refusal(site, path)


@pytest.mark.parametrize("status", [404, 503])
def test_refusals(site, path, status):
    site.statuses["/f"] = status
    message = refusal(site, path)
    assert f"the server answers {status} " in message
    assert f"or save the file yourself as {path}" in message


def test_no_server(site, path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", (1, 0.05))
    site.gate = threading.Event()
    try:
        assert "failed (ReadTimeout); check" in refusal(site, path)
    finally:
        site.gate.set()
    site.url = "http://127.0.0.1:9"
    assert "the connection failed (ConnectionError); check" in refusal(site, path)


def test_a_cache_that_cannot_be_written(site, tmp_path):
    (tmp_path / "file").write_text("")
    message = refusal(site, tmp_path / "file" / "f.txt")
    assert "cannot be written to: " in message and "KERAS_TAGGING_CACHE" in message
    assert not site.seen
