"""Which requests are let in: names, pages from elsewhere, kinds of bodies."""

import asyncio
import json

import pytest
from starlette.responses import JSONResponse

from keras_tagging.service.connections import Connections
from keras_tagging.service.gate import Gate, Hosts, origins

pytestmark = pytest.mark.one_backend


def asked(headers=(), hosts=None, allowed=(), connections=None, **options):
    """The status, the headers and the message of the answer to a request."""
    found, body = [], options.pop("body", [b"{}"])
    left = [
        {"type": "http.request", "body": part, "more_body": i < len(body)}
        for i, part in enumerate(body, 1)
    ]

    async def receive():
        return left.pop(0)

    async def send(message):
        found.append(message)

    async def app(scope, receive, send):
        await JSONResponse({"error": None})(scope, receive, send)

    def refused(request, problem):
        return JSONResponse({"error": problem.message}, problem.status)

    hosts = hosts or Hosts("127.0.0.1")
    if connections is None:
        connections = Connections()
    gate = Gate(app, connections, hosts, origins(allowed), refused)
    headers = {"host": "localhost:8000", **dict(headers)}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/tag",
        "state": {},
        "headers": [
            (k.encode(), v.encode()) for k, v in headers.items() if v is not None
        ],
        **options,
    }
    asyncio.run(gate(scope, receive, send))
    start, body = found
    sent = {k.decode(): v.decode() for k, v in start["headers"]}
    return start["status"], sent, json.loads(body["body"])["error"], len(left)


LOCAL = ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1:1", "[::1]", "[::1]:8"]
OTHERS = ["evil.example", "localhost.evil.example", "localhost@evil.example", "", "::1"]
ADDRESSES = ["10.1.2.3", "192.168.0.9:8000", "[fe80::1]:8000"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_the_loopback_only_its_names(host):
    hosts = Hosts(host)
    assert [name for name in LOCAL if not hosts.allow(name)] == []
    assert [name for name in OTHERS + ADDRESSES if hosts.allow(name)] == []
    assert hosts.allow(None) and not hosts.anywhere


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "tagger.example"])
def test_elsewhere_any_address_and_the_names_of_this_machine(host, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Box")
    hosts = Hosts(host)
    assert hosts.allow("tagger.example") == (host == "tagger.example")
    assert all(map(hosts.allow, LOCAL + ADDRESSES + ["box:8000"]))
    assert not any(map(hosts.allow, OTHERS))
    assert "any address, localhost" in str(hosts) and "box" in str(hosts)


def test_further_names():
    hosts = Hosts("127.0.0.1", ["Tagger.example", "*.cluster.local", "[fe80::1]"])
    for name in ("tagger.example:80", "a.b.cluster.local", "[fe80::1]:80"):
        assert hosts.allow(name)
    for name in ("x.tagger.example", "cluster.local", "fe80::2"):
        assert not hosts.allow(name)
    assert Hosts("127.0.0.1", ["*"]).allow("whatever.example")
    for name in ("http://a", "a:80", "a/b", "", "a b/"):
        with pytest.raises(ValueError, match=r"--allowed-host .*: give a name or"):
            Hosts("127.0.0.1", [name])


def test_a_name_that_a_page_has_made_to_mean_this_machine(caplog):
    for _ in range(3):
        status, _, told, _ = asked({"host": "evil.example:8000"})
        assert status == 403 and told == (
            "the service is not called 'evil.example:8000': start it with "
            "--allowed-host and that name"
        )
    for path in ("/v2/health/live", "/v2/health/ready"):  # of any orchestrator
        assert asked({"host": "pod.example"}, path=path)[0] == 200
    assert "refused a request for 'evil.example:8000'" in caplog.text


@pytest.mark.parametrize(
    "headers, allowed, status",
    [
        ({}, [], 200),
        ({"origin": "http://localhost:8000"}, [], 200),
        ({"origin": "http://localhost:9000"}, [], 403),
        ({"origin": "http://evil.example"}, [], 403),
        ({"origin": "null"}, [], 403),
        ({"origin": "http://evil.example", "sec-fetch-site": "cross-site"}, [], 403),
        # a proxy has changed the host, and the browser knows it as its own
        ({"origin": "https://tags.org", "sec-fetch-site": "same-origin"}, [], 200),
        ({"origin": "https://tags.org"}, ["https://Tags.org"], 200),
        ({"origin": "http://tags.org"}, ["https://tags.org"], 403),
        ({"origin": "https://tags.org"}, ["*"], 200),
    ],
)
def test_pages_from_elsewhere(headers, allowed, status):
    found, _, told, _ = asked(headers, allowed=allowed)
    assert found == status
    assert (told is None) == (status == 200)
    assert told is None or "start it with --cors-origin and that origin" in told


def test_what_is_no_origin():
    for origin in ("tags.org", "https://", "https://tags.org/page", "https://a b"):
        with pytest.raises(ValueError, match=r"--cors-origin .*: give the scheme"):
            origins([origin])


@pytest.mark.parametrize(
    "kind, status",
    [
        (None, 200),
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("application/octet-stream", 200),
        ("application/x-www-form-urlencoded", 200),  # what `curl -d` says
        ("text/plain", 415),
        ("text/plain;charset=UTF-8", 415),
        ("multipart/form-data; boundary=x", 415),
    ],
)
def test_kinds_of_bodies(kind, status):
    found, _, told, _ = asked({"content-type": kind})
    assert found == status and (told is None or "send application/json" in told)


def test_a_service_that_stops_tells_so_and_closes():
    connections = Connections()
    connections.stopping = True
    status, headers, told, left = asked(connections=connections, body=[b"{", b"}"])
    assert (status, headers["connection"], left) == (503, "close", 0)
    assert "the service stops" in told
    status, headers, _, _ = asked(connections=connections, path="/v2/health/live")
    assert (status, headers["connection"]) == (200, "close")


def test_without_room_only_health_is_answered():
    status, headers, told, left = asked(state={"full": True}, body=[b"{", b"}"])
    assert (status, headers["connection"], left) == (503, "close", 0)
    assert "too many connections" in told
    status, headers, _, _ = asked(state={"full": True}, path="/v2/health/ready")
    assert status == 200 and "connection" not in headers
