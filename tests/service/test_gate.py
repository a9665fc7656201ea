"""Which requests are let in, and the line that is written of each."""

import asyncio
import json
import logging
import re
import time
from importlib.metadata import version

import pytest
from starlette.responses import JSONResponse

from keras_tagging.service import gate
from keras_tagging.service.gate import Gate, Hosts, Metrics, begin_log

pytestmark = pytest.mark.one_backend
LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\S+) (\S+) (\S+) (\d+) (\d+) \d+\.\d"
ANSWER = JSONResponse({"error": None})


def asked(headers=(), allowed=(), path="/tag", app=ANSWER):
    """The status and the message of the answer to a request."""
    messages = []

    async def send(message):
        messages.append(message)

    headers = {"host": "localhost:8000", **dict(headers)}
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode() * 100,
        "client": None,
        "headers": [
            (k.encode(), v.encode()) for k, v in headers.items() if v is not None
        ],
    }
    door = Gate(app, Hosts("127.0.0.1"), frozenset(allowed), Metrics())
    asyncio.run(door(scope, None, send))
    start, body = messages
    return start["status"], json.loads(body["body"])["error"]


LOCAL = "localhost LOCALHOST:8000 localhost. 127.0.0.1:1 [::1] [::1]:8".split()
OTHERS = ["evil.example", "localhost.evil.example", "localhost@evil.example", "", "::1"]
ADDRESSES = ["10.1.2.3", "192.168.0.9:8000", "[fe80::1]:8000"]
MORE = ["Tagger.example", "*.cluster.local", "[fe80::1]"]


@pytest.mark.parametrize(
    "host, more, right, wrong",
    [
        # on the loopback only its names
        ("127.0.0.1", [], [*LOCAL, None], OTHERS + ADDRESSES),
        ("localhost", [], [*LOCAL, None], OTHERS + ADDRESSES),
        # elsewhere any address and the names of this machine
        ("0.0.0.0", [], [*LOCAL, *ADDRESSES, "box:8000"], [*OTHERS, "tagger.example"]),
        ("tagger.example", [], [*ADDRESSES, "tagger.example"], OTHERS),
        (
            "::1",
            MORE,
            [*LOCAL, "tagger.example:80", "a.b.cluster.local", "[fe80::1]:80"],
            ["x.tagger.example", "cluster.local", "[fe80::2]", "[", "a[b"],
        ),
        ("::1", ["*"], ["whatever.example"], []),
    ],
)
def test_hosts(host, more, right, wrong, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Box")
    hosts = Hosts(host, more)
    assert [name for name in right if not hosts.allow(name)] == []
    assert [name for name in wrong if hosts.allow(name)] == []


def test_a_name_that_a_page_has_made_to_mean_this_machine(caplog):
    status, told = asked({"host": "evil.example:8000"})
    assert status == 403 and told in caplog.text
    assert told == (
        "the service is not called 'evil.example:8000': start it with --allowed-host "
        "and that name"
    )
    for path in ("/v2/health/live", "/v2/health/ready"):  # of any orchestrator
        assert asked({"host": "pod.example"}, path=path)[0] == 200


TAGS = {"origin": "https://tags.org"}


@pytest.mark.parametrize(
    "headers, allowed, status",
    [
        ({}, [], 200),
        ({"origin": "http://localhost:8000"}, [], 200),
        ({"origin": "http://localhost:9000"}, [], 403),
        ({"origin": "null"}, [], 403),
        ({**TAGS, "sec-fetch-site": "cross-site"}, [], 403),
        # a proxy has changed the host, and the browser knows it as its own
        ({**TAGS, "sec-fetch-site": "same-origin"}, [], 200),
        (TAGS, ["https://tags.org"], 200),
        (TAGS, ["http://tags.org"], 403),
        (TAGS, ["*"], 200),
    ],
)
def test_pages_from_elsewhere(headers, allowed, status):
    found, told = asked(headers, allowed=allowed)
    assert found == status
    assert ("start it with --cors-origin and that" in str(told)) == (status == 403)


@pytest.fixture
def log():
    """The access log, which is left as it was."""
    log = gate.access_log
    before = log.handlers, log.propagate, log.level
    yield log
    for handler in log.handlers:
        handler.close()
    log.handlers, log.propagate = before[:2]
    log.setLevel(before[2])


def lines_of(running, before, count):
    """The fields of lines, each of which comes after its answer."""
    until = time.monotonic() + 20
    while len(lines := running.log.read_text().splitlines()[before:]) < count:
        assert time.monotonic() < until, lines
        time.sleep(0.01)
    assert "secret" not in str(lines)
    return [re.fullmatch(LINE, line).groups() for line in lines]


def test_a_line_for_each_request(whole):
    before = len(whole.log.read_text().splitlines())
    answers = [
        whole.get("/models?text=secret"),
        whole.post("/annotate", {"text": "A secret."}),
        whole.post("/annotate", {"secret": 1}),
        whole.get("/nowhere/%0Aa"),
    ]
    asked = ["GET /models", "POST /annotate", "POST /annotate", "GET /nowhere/%0Aa"]
    assert lines_of(whole, before, len(answers)) == [
        ("127.0.0.1", *line.split(), str(x.status_code), str(len(x.content)))
        for line, x in zip(asked, answers, strict=True)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 400, 404]


def test_a_client_that_does_not_send_the_rest(whole):
    before = len(whole.log.read_text().splitlines())
    head = b"POST /annotate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
    with whole.connect() as client:
        client.sendall(head + b"Content-Type: application/json\r\n\r\n{")
        time.sleep(0.05)
    assert [fields[3] for fields in lines_of(whole, before, 1)] == ["499"]


def test_a_client_that_goes(log, tmp_path):
    begin_log(tmp_path / "log")

    async def app(scope, receive, send):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        asked(app=app)
    [line] = (tmp_path / "log").read_text().splitlines()
    client, method, path, *numbers = re.fullmatch(LINE, line).groups()
    assert (client, method, len(path), numbers) == ("-", "POST", 200, ["499", "0"])


def test_by_default_it_is_standard_error(log, capsys, tmp_path):
    begin_log(None)
    logging.getLogger("keras_tagging.access").info("a line")
    assert capsys.readouterr().err.endswith("Z a line\n")
    with pytest.raises(OSError, match="directory"):
        begin_log(tmp_path)


def test_health(whole):
    other = {"Host": "tagger.example.org"}  # whatever an orchestrator calls it
    answer = whole.http.get(f"{whole.url}/health", headers=other)
    assert answer.status_code == 200
    assert answer.json() == {
        "live": True,
        "ready": True,
        "version": version("keras-tagging"),
        "models": {"whole": "pipeline", "tagger": "tagger"},
        "workers": {"ready": 2, "all": 2},
    }
