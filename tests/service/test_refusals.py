"""What is wrong with a request is told in a sentence, and hurts no other."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

TAG, PARSE, ANNOTATE = "/tag", "/parse", "/annotate"
INFER, TEXTS = "/v2/models/tagger/infer", "/v2/models/whole/infer"


def tensor(name="tokens", data=("a",), shape=(1, 1), kind="BYTES"):
    return {"name": name, "datatype": kind, "shape": shape, "data": data}


def infer(*tensors, **more):
    return {"inputs": tensors, **more}


def lengths(*data, kind="INT32"):
    return infer(tensor(), tensor("lengths", data, [len(data)], kind))


REFUSED = [
    (TAG, {"sentences": []}, 400, "there are no tokens"),
    (TAG, {"sentences": [["a", 1]]}, 400, "sentences.0.1: Input should be a valid str"),
    (TAG, {"sentences": [["a"] * 301]}, 413, "301 tokens, padding included"),
    (TAG, {"sentences": [[]] * 1001}, 413, "1,001 sentences"),
    (TAG, {"sentences": [["x" * 1001]]}, 413, "at most 1000 characters"),
    (TAG, {"sentences": [["e" + "\u0301" * 101]]}, 400, "101 combining"),
    (TAG, {"sentences": ["a"], "columns": {"x": [["a"]]}}, 400, "tagger reads tokens"),
    (TAG, {"model": "x", "sentences": ["a"]}, 404, "no model 'x' for /tag: there are"),
    (TAG, {"model": "gold", "sentences": ["a"]}, 400, "gold: /parse"),
    (PARSE, {"sentences": ["a"]}, 400, "name a model for /parse: there are"),
    (
        PARSE,
        {"model": "gold", "sentences": ["a b"], "columns": {"pos": [["X"]]}},
        400,
        "pos must have a value for each token",
    ),
    (INFER, infer(tensor(), tensor()), 400, "the same name"),
    (INFER, infer(tensor("x")), 400, "tagger reads tokens, and the request has"),
    (INFER, infer(tensor(shape=[2, 3])), 400, "are not of the shape [2, 3]"),
    (INFER, infer(tensor(shape=[2**30, 1])), 400, "are not of the shape"),
    (INFER, infer(tensor(shape=[2, 0])), 400, "shape.1: Input should be greater"),
    (INFER, infer(tensor(shape=[9] * 10**5)), 413, "at most 2 items"),
    (INFER, infer(tensor(data=[1])), 400, "must be BYTES"),
    (INFER, infer(tensor(data=[["a"], ["b", "c"]], shape=[2, 2])), 400, "of the shape"),
    (
        INFER,
        infer(tensor(), tensor("pos", [["a", "b"]], [1, 2])),
        400,
        "the same shape",
    ),
    (INFER, lengths(5), 400, "from 0 to the number of its tokens"),
    (INFER, lengths(-1), 400, "from 0 to the number"),
    (INFER, lengths("1", kind="BYTES"), 400, "lengths must be of each sentence"),
    (INFER, infer(tensor(), outputs=[{"name": "x"}]), 400, "no 'x': it has tags, prob"),
    (INFER.replace("tagger", "x"), infer(tensor()), 404, "there are tagger, parser"),
]
REFUSED_TEXTS = [
    (ANNOTATE, {}, 400, "send one of text, texts and sentences"),
    (
        ANNOTATE,
        {"text": "a", "probabilities": True, "output": "conllu"},
        400,
        "conllu has no place for probabilities: ask for json",
    ),
    (ANNOTATE, {"texts": ["a"] * 1001}, 413, "1,001 texts"),
    (ANNOTATE, {"texts": ["a" * 50] * 3}, 413, "150 characters"),
    (ANNOTATE, {"sentences": [["a"] * 21]}, 413, "21 tokens, padding included"),
    (ANNOTATE, {"sentences": [["a", ""]]}, 400, "0.1: String should have at least 1"),
    (ANNOTATE, {"sentences": ["a"], "input": "lines"}, 400, "not of sentences"),
    (ANNOTATE, {"model": "tagger", "text": "a"}, 400, "tagger: /tag"),
    (TEXTS, infer(tensor("x", shape=[1])), 400, "whole reads one input, text"),
    (TEXTS, infer(tensor("text", [1], [1])), 400, "text must be strings"),
    (TEXTS, infer(tensor("text", ["a" * 101], [1])), 413, "101 characters"),
]


CASES = [("service", *case) for case in REFUSED]
CASES += [("whole", *case) for case in REFUSED_TEXTS]


@pytest.mark.parametrize("running, path, body, status, message", CASES)
def test_refused(request, running, path, body, status, message):
    answer = request.getfixturevalue(running).post(path, body)
    [(key, error)] = answer.json().items()
    assert (answer.status_code, key) == (status, "error"), error
    assert message in error and "\n" not in error and len(error) < 300


@pytest.mark.parametrize(
    "data, headers, status, message",
    [
        (b"", {}, 400, "Invalid JSON"),
        (b'{"sentences": ["\\ud800"]}', {}, 400, "Invalid JSON"),
        (b"[" * 100_000, {}, 400, "Invalid JSON: recursion limit"),
        (b" " * 2**20 + b"{}", {}, 413, "larger than 1,048,576 bytes"),
        # without an announced end
        ((b"x" * 2**16 for _ in range(20)), {}, 413, "larger than 1,048,576 bytes"),
        (b"{}", {"Content-Encoding": "gzip"}, 415, "not compressed"),
    ],
)
def test_bodies(service, data, headers, status, message):
    found = service.http.post(service.url + TAG, data=data, headers=headers, timeout=20)
    assert (found.status_code, list(found.json())) == (status, ["error"])
    assert message in found.json()["error"]


def test_a_page_from_elsewhere(service):
    """What any page may have a browser send without asking."""
    body, elsewhere = json.dumps({"sentences": ["a"]}), {"Origin": "http://a.example"}
    for headers, status in (
        ({"Content-Type": "text/plain", **elsewhere}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Origin": service.url}, 200),
    ):
        found = service.http.post(service.url + TAG, data=body, headers=headers)
        assert found.status_code == status
        assert "Access-Control-Allow-Origin" not in found.headers
    asking = {"Access-Control-Request-Method": "POST", **elsewhere}
    found = service.http.options(service.url + TAG, headers=asking)
    assert found.status_code == 403


def test_other_addresses_and_methods(service):
    assert service.get("/nothing").status_code == 404
    for path in ("/models", "/v2/models/tagger", "/static/page.css", TAG, INFER):
        allowed = {"POST"} if path in (TAG, INFER) else {"GET", "HEAD"}
        for method in {"GET", "POST", "PUT", "DELETE", "OPTIONS", "ANY"} - allowed:
            plain = {"Content-Type": "text/plain"}
            found = service.http.request(method, service.url + path, headers=plain)
            told = {*found.headers["Allow"].split(", ")}
            assert (found.status_code, told) == (405, allowed)
    # a redirection would be to http, which a proxy with TLS hides
    found = service.post("/tag/", {"sentences": ["a"]}, allow_redirects=False)
    assert found.status_code == 404
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Referrer-Policy"] == "no-referrer"


def test_a_bad_request_in_a_batch_hurts_no_other(service, direct):
    """Good and bad ones at the same time, many times."""
    good = {"sentences": [["the", "dog", "barks"]]}
    [expected] = direct["tagger"].predict_rows(good["sentences"], ["tags"])
    bad = [body for path, body, *_ in REFUSED if path == TAG]

    def ask(i):
        body = bad[i % len(bad)] if i % 3 == 0 else good
        return body, service.post(TAG, body)

    with ThreadPoolExecutor(8) as pool:
        for body, found in pool.map(ask, range(90)):
            if body is good:
                [answer] = found.json()["sentences"]
                assert answer["tags"] == expected["tags"]
            else:
                assert 400 <= found.status_code < 500


def test_a_body_of_two_lengths(service):
    """What follows it is no request either: the connection ends."""
    health = "GET /health HTTP/1.1\r\nHost: x\r\n"
    both = "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with service.connect() as client:
        client.sendall(f"{health}{both}{health}\r\n".encode())
        answer = b"".join(iter(lambda: client.recv(2**14), b"")).decode()
    assert answer.startswith("HTTP/1.1 400 ") and answer.count("HTTP/1.1 ") == 1


def test_headers_without_end(service):
    """They are cut off; the service goes on."""
    with service.connect() as client:
        client.sendall(b"POST /tag HTTP/1.1\r\nX: ")
        try:
            while client.send(b"x" * 2**14):
                pass
        except OSError:
            pass
    assert service.get("/v2/health/live").status_code == 200
