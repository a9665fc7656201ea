"""A line for each request, and the service's health."""

import asyncio
import logging
import re
import socket
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest

from keras_tagging.service import access_log

pytestmark = pytest.mark.one_backend
LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\S+) (\S+) (\S+) (\d+) (\d+) \d+\.\d"


def test_a_line_for_each_request(whole):
    before = len(whole.log.read_text().splitlines())
    told = whole.get("/models?text=secret")
    found = whole.post("/annotate", {"text": "A secret."})
    refused = whole.post("/annotate", {"secret": 1})
    elsewhere = whole.get("/nowhere/%0Aa")
    answers = [told, found, refused, elsewhere]
    until = time.monotonic() + 10  # a line comes after its answer
    while len(lines := whole.log.read_text().splitlines()[before:]) < len(answers):
        assert time.monotonic() < until, lines
        time.sleep(0.01)
    assert "secret" not in str(lines)
    got = [re.fullmatch(LINE, line).groups() for line in lines]
    asked = ["GET /models", "POST /annotate", "POST /annotate", "GET /nowhere/%0Aa"]
    assert got == [
        ("127.0.0.1", *line.split(), str(x.status_code), str(len(x.content)))
        for line, x in zip(asked, answers, strict=True)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 404]


@pytest.fixture
def kept():
    """The log as it was."""
    log = access_log.log
    before = log.handlers, log.propagate, log.level
    yield
    for handler in log.handlers:
        with suppress(OSError):  # of a full disk
            handler.close()
    log.handlers, log.propagate = before[:2]
    log.setLevel(before[2])


def test_a_client_that_goes_is_told_of(kept, tmp_path):
    access_log.begin(tmp_path / "log")

    async def app(scope, receive, send):
        raise asyncio.CancelledError

    scope = {"type": "http", "client": None, "method": "GET", "raw_path": b"/x" * 500}
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(access_log.AccessLog(app)(scope, None, None))
    [line] = (tmp_path / "log").read_text().splitlines()
    client, method, path, *numbers = re.fullmatch(LINE, line).groups()
    assert (client, method, len(path), numbers) == ("-", "GET", 200, ["499", "0"])


def test_a_client_that_does_not_send_the_rest(whole):
    before = len(whole.log.read_text().splitlines())
    host, port = whole.url.removeprefix("http://").split(":")
    head = b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head + b"Content-Type: application/json\r\n\r\n{")
        time.sleep(0.05)
    until = time.monotonic() + 20
    while not (lines := whole.log.read_text().splitlines()[before:]):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert [re.fullmatch(LINE, line)[4] for line in lines] == ["499"]


def test_lines_that_are_lost_are_told_of_once(kept, capsys):
    access_log.begin(Path("/dev/full"))
    for _ in range(3):
        access_log.log.info("a line")
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("--access-log: lines are lost: ") and "space" in line


def test_by_default_it_is_standard_error(kept, capsys):
    access_log.begin(None)
    logging.getLogger("keras_tagging.access").info("a line")
    assert capsys.readouterr().err.endswith("Z a line\n")


def test_a_file_that_cannot_be_written(kept, tmp_path):
    with pytest.raises(ValueError, match="--access-log .*directory; give a new file"):
        access_log.begin(tmp_path)


def test_health(whole):
    answer = whole.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {
        "live": True,
        "ready": True,
        "version": version("keras-tagging"),
        "models": {"whole": "pipeline", "tagger": "tagger"},
        "workers": {"ready": 2, "all": 2},
    }
    other = {"Host": "tagger.example.org"}  # whatever an orchestrator calls it
    assert whole.http.get(f"{whole.url}/health", headers=other).status_code == 200
