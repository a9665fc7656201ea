"""The real downloading code against a server on the loopback."""

import hashlib
import io
import re
import subprocess
import sys
import threading
import time

import pytest
from corpora.web import serving

from keras_tagging.corpora import download
from keras_tagging.corpora.download import BLOCK, RETRIES
from keras_tagging.data import CorpusError
from keras_tagging.utils.cache import cache_folder

DATA = bytes(range(256)) * 2000
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.001)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def site():
    with serving() as site:
        site.files["/f"] = DATA
        yield site


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "corpus" / "f.txt"


def fetch(url, path):
    return download.fetch(url, path, SHA256, len(DATA))


def refusal(url, path):
    """The message of the error, which is one line with a remedy."""
    with pytest.raises(CorpusError) as caught:
        fetch(url, path)
    message = str(caught.value)
    assert re.fullmatch(r"\S+: [^;]+; .+", message)
    assert not path.exists()
    return message


def test_a_file_is_downloaded_once(site, path):
    assert fetch(f"{site.url}/f", path) == path
    assert path.read_bytes() == DATA
    assert site.requests() == [None]
    fetch(f"{site.url}/f", path)
    assert len(site.seen) == 1
    assert {p.name for p in path.parent.iterdir()} <= {"f.txt", ".lock"}


def test_what_is_cached_needs_no_network(path):
    with serving() as site:
        site.files["/f"] = DATA
        url = f"{site.url}/f"
        fetch(url, path)
    assert fetch(url, path).read_bytes() == DATA


def test_a_broken_connection_is_resumed(site, path):
    site.cuts = [3 * BLOCK + 5, 0, BLOCK, None]
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    rest = [f"bytes={blocks * BLOCK}-" for blocks in (3, 3, 4)]
    assert site.requests() == [None, *rest]


def test_a_download_goes_on_where_an_earlier_run_stopped(site, path):
    site.cuts = [BLOCK] + [0] * (RETRIES + 1)
    message = refusal(f"{site.url}/f", path)
    assert (
        f"broke after {BLOCK} bytes; run this again: it continues from there" in message
    )
    assert len(site.seen) == 2 + RETRIES
    site.seen.clear()
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    assert site.requests() == [f"bytes={BLOCK}-"]


def test_a_server_without_ranges_sends_all_again(site, path):
    site.ranges, site.cuts = False, [2 * BLOCK, 3 * BLOCK]
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    assert site.requests() == [None, f"bytes={2 * BLOCK}-", f"bytes={3 * BLOCK}-"]


def test_a_server_that_sends_another_range_is_asked_for_all(site, path):
    site.shift, site.cuts = 3, [BLOCK]
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    assert site.requests() == [None, f"bytes={BLOCK}-", None]


@pytest.mark.parametrize(
    ("left", "requests"),
    [
        (DATA, []),  # complete, but not yet given its name
        (DATA + b"x", [None]),  # of another file
        (DATA[:-1] + b"x", [None]),
        (b"x" * 1000, ["bytes=1000-", None]),
        (b"", [None]),
    ],
)
def test_whatever_an_earlier_run_left(site, path, left, requests):
    path.parent.mkdir(parents=True)
    path.with_name("f.txt.part").write_bytes(left)
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    assert site.requests() == requests


def test_a_wrong_checksum(site, path):
    site.files["/f"] = DATA[:-1] + b"x"
    message = refusal(f"{site.url}/f", path)
    assert f"not {SHA256[:16]}..." in message
    assert "update keras-tagging" in message
    assert len(site.seen) == 1
    site.files["/f"] = DATA
    assert fetch(f"{site.url}/f", path).read_bytes() == DATA
    assert site.requests()[-1] is None  # nothing of the wrong file is kept


def test_a_damaged_file_is_downloaded_again(site, path):
    fetch(f"{site.url}/f", path)
    path.write_bytes(DATA[:5])
    fetch(f"{site.url}/f", path)
    assert path.read_bytes() == DATA
    assert len(site.seen) == 2


def test_a_file_of_another_size_is_not_downloaded(site, path):
    site.files["/f"] = DATA + b"x"
    message = refusal(f"{site.url}/f", path)
    assert f"its size is {len(DATA) + 1} bytes, not {len(DATA)}; check" in message
    site.files["/f"], site.cuts = DATA, [BLOCK]
    site.length = "5"
    assert "its size is 5 bytes, not" in refusal(f"{site.url}/f", path)


def test_a_body_of_unknown_length_must_be_whole(site, path):
    """One that is cut off ends as a whole one does."""
    site.length, site.cuts = "", [BLOCK, 5]
    assert fetch(f"{site.url}/f", path).read_bytes() == DATA
    assert site.requests() == [None, f"bytes={BLOCK}-", f"bytes={BLOCK + 5}-"]
    path.unlink()
    site.cuts = [5] + [0] * (RETRIES + 1)
    assert "the connection broke after 5 bytes" in refusal(f"{site.url}/f", path)


@pytest.mark.parametrize("content", [DATA, b"other"])
def test_a_body_without_end_is_cut_at_the_size(site, path, content):
    site.files["/f"], site.length, site.more = content, "", b"x" * BLOCK
    if content == DATA:
        assert fetch(f"{site.url}/f", path).read_bytes() == DATA
    else:
        assert "its SHA-256 is " in refusal(f"{site.url}/f", path)
    assert len(site.seen) == 1
    assert not path.with_name("f.txt.part").exists()


def test_a_server_that_never_gets_on_is_given_up(site, path):
    site.ranges, site.cuts = False, [2 * BLOCK, BLOCK] * 20
    assert "the connection broke after" in refusal(f"{site.url}/f", path)
    assert len(site.seen) <= 2 + RETRIES


def test_a_redirect_to_another_scheme_is_refused(site, path):
    for target in ("https://127.0.0.1:9/f", "file:///etc/passwd", "ftp://127.0.0.1/f"):
        site.redirects = {"/a": target}
        told = refusal(f"{site.url}/a", path)
        assert "it redirects to another scheme; check the proxy" in told
    assert len(site.seen) == 3


def test_a_file_that_the_user_saved_is_taken_if_it_is_the_one(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA)
    assert fetch("http://127.0.0.1:9/f", path) == path
    path.write_bytes(DATA[:-1])
    with pytest.raises(CorpusError, match="the server cannot be reached"):
        fetch("http://127.0.0.1:9/f", path)


def test_redirects_are_followed(site, path):
    site.redirects = {"/a": "/b", "/b": f"{site.url}/f"}
    site.cuts = [BLOCK]
    fetch(f"{site.url}/a", path)
    assert path.read_bytes() == DATA
    assert site.seen[-1] == ("/f", f"bytes={BLOCK}-")
    path.unlink()
    site.redirects = {"/a": "/a"}
    assert "it redirects too many times; check" in refusal(f"{site.url}/a", path)


@pytest.mark.parametrize(
    ("status", "part", "count"),
    [
        (404, "404 Not Found: it has no such file; update keras-tagging, or save", 1),
        (403, "403 Forbidden; check that nothing keeps you from this site", 1),
        (503, "503 Service Unavailable; run this again later", 1 + RETRIES),
        (429, "429 Too Many Requests; run this again later", 1 + RETRIES),
    ],
)
def test_refusals(site, path, status, part, count):
    site.statuses["/f"] = status
    message = refusal(f"{site.url}/f", path)
    assert part in message
    assert str(path) in message  # where to save the file by hand
    assert len(site.seen) == count
    del site.statuses["/f"]
    fetch(f"{site.url}/f", path)


def test_a_login_page_is_no_corpus(site, path):
    site.type = "text/html; charset=utf-8"
    told = refusal(f"{site.url}/f", path)
    assert "a web page came instead of the file; log in" in told


def test_no_server(path):
    with serving() as site:
        url = f"{site.url}/f"
    assert "the server cannot be reached; check the connection" in refusal(url, path)
    assert refusal("http:///f", path)


def test_a_server_that_does_not_answer(site, path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", (1, 0.05))
    site.gate = threading.Event()
    try:
        assert "no answer came in time; check" in refusal(f"{site.url}/f", path)
    finally:
        site.gate.set()


def test_a_cache_that_cannot_be_written(site, tmp_path):
    (tmp_path / "file").write_text("")
    message = refusal(f"{site.url}/f", tmp_path / "file" / "f.txt")
    assert "cannot be written to" in message
    assert "set KERAS_TAGGING_CACHE to another folder" in message


def test_two_processes_download_once(site, path, tmp_path):
    # a script of this name does not load TensorFlow
    script = tmp_path / "keras-tagging"
    script.write_text(
        "import sys\n"
        "from keras_tagging.corpora.download import fetch\n"
        "print('ready', flush=True)\n"
        "fetch(*sys.argv[1:4], int(sys.argv[4]))\n"
    )
    site.gate = threading.Event()
    command = [sys.executable, script, f"{site.url}/f", path, SHA256, len(DATA)]
    command = list(map(str, command))
    both = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == b"ready\n"
    while not site.seen:
        time.sleep(0.01)
    time.sleep(0.3)  # in which the other one would ask as well
    site.gate.set()
    for process in both:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert path.read_bytes() == DATA
    assert len(site.seen) == 1


def test_progress_is_shown_on_a_terminal(site, path, monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    fetch(f"{site.url}/f", path)
    assert "f.txt" in terminal.getvalue()


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_TAGGING_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("KERAS_TAGGING_CACHE", "")
    assert cache_folder().name == "keras-tagging"
