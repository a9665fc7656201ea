"""What is wrong with a request is told in a sentence, and hurts no other."""

import json
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

TAG, INFER, PREDICT = "/tag", "/v2/models/tagger/infer", "/v1/models/tagger:predict"


def tensor(name="tokens", data=("a",), shape=(1, 1), kind="BYTES", **more):
    return {"name": name, "datatype": kind, "shape": shape, "data": data, **more}


def own(**body):
    return {"model": "tagger", **body}


REFUSED = {
    # our own
    "no sentences": (TAG, own(), 400, "sentences must be a list"),
    "no list": (TAG, own(sentences="a b"), 400, "sentences must be a list"),
    "empty": (TAG, own(sentences=[]), 400, "there are no tokens"),
    "empty sentences": (TAG, own(sentences=[[], ""]), 400, "there are no tokens"),
    "numbers": (TAG, own(sentences=[["a", 1]]), 400, "one of them is 1"),
    "nested": (TAG, own(sentences=[[["a"]]]), 400, "tokens must be strings"),
    "tokens": (TAG, own(sentences=[["a"] * 301]), 413, "301 tokens"),
    "sentences": (TAG, own(sentences=[[]] * 1001), 413, "1,001 sentences"),
    "marks": (TAG, own(sentences=[["e" + "\u0301" * 101]]), 400, "101 combining"),
    "surrogate": (TAG, own(sentences=[["\ud800"]]), 400, "send UTF-8"),
    "which model": (TAG, {"sentences": ["a"]}, 400, "one of tagger, columns"),
    "unknown": (TAG, {"model": "x", "sentences": ["a"]}, 404, "no model 'x'"),
    "odd name": (TAG, {"model": ["x"], "sentences": ["a"]}, 404, "no model ['x']"),
    "kind": (TAG, {"model": "parser", "sentences": ["a"]}, 400, "post to /parse"),
    "unknown key": (TAG, own(sentences=["a"], tags=1), 400, "no 'tags' in a request"),
    "beta": (
        TAG,
        own(sentences=["a"], beta=0.1),
        400,
        "there is no 'beta' in a request: send sentences, and model and columns",
    ),
    "verb": ("/v1/models/tagger:classify", {}, 404, "no verb 'classify' here: post to"),
    "verb of a version": ("/v1/models/tagger/versions/1:x", {}, 404, "no verb 'x'"),
    "version": (
        "/v1/models/tagger/versions/2:predict",
        {},
        404,
        "there is no version '2' of a model: each has 1",
    ),
    "version of infer": ("/v2/models/tagger/versions/x/infer", {}, 404, "each has 1"),
    "path of a version": ("/v1/models/tagger/versions/1/x", {}, 404, "nothing at"),
    "verb of no model": ("/v1/models/x:classify", {}, 404, "no model 'x'"),
    "column": (TAG, own(sentences=["a"], columns={"x": [["a"]]}), 400, "no input 'x'"),
    "no object": (TAG, [1], 400, "the body is no object: send sentences"),
    # Open Inference Protocol
    "no inputs": (INFER, {}, 400, "send an object with inputs"),
    "id": (INFER, {"inputs": [tensor()], "id": "\ud800"}, 400, "send UTF-8"),
    "no tensor": (INFER, {"inputs": ["tokens"]}, 400, "each input must be an object"),
    "no data": (
        INFER,
        {"inputs": [{"name": "tokens", "datatype": "BYTES", "shape": [1, 1]}]},
        400,
        "'tokens' has no data",
    ),
    "shape": (INFER, {"inputs": [tensor(shape=[2, 3])]}, 400, "has 1 values"),
    "huge shape": (INFER, {"inputs": [tensor(shape=[2**30] * 2)]}, 400, "1 values"),
    "many sizes": (INFER, {"inputs": [tensor(shape=[9] * 10**5)]}, 400, "two sizes"),
    "empty rows": (
        INFER,
        {"inputs": [tensor(data=[], shape=[2**30, 0])]},
        400,
        "has 0 values",
    ),
    "negative": (INFER, {"inputs": [tensor(shape=[-1, -1])]}, 400, "one or two sizes"),
    "rank": (INFER, {"inputs": [tensor(shape=[1])]}, 400, "two axes"),
    "type": (INFER, {"inputs": [tensor(kind="FP32")]}, 400, "must be BYTES"),
    "ragged": (
        INFER,
        {"inputs": [tensor(data=[["a"], ["a", "b"]], shape=[2, 2])]},
        400,
        "the same width",
    ),
    "twice": (INFER, {"inputs": [tensor(), tensor()]}, 400, "tokens is given twice"),
    "lengths": (
        INFER,
        {"inputs": [tensor(), tensor("lengths", [5], [1], "INT32")]},
        400,
        "a length is 5, but its sentence has 1 tokens",
    ),
    "negative length": (
        INFER,
        {"inputs": [tensor(), tensor("lengths", [-1], [1], "INT32")]},
        400,
        "must be integers from 0, but one is -1",
    ),
    "length of a type": (
        INFER,
        {"inputs": [tensor(), tensor("lengths", [True], [1], "INT32")]},
        400,
        "but one is True",
    ),
    "type of lengths": (
        INFER,
        {"inputs": [tensor(), tensor("lengths", ["1"], [1], "BYTES")]},
        400,
        "lengths must be INT32",
    ),
    "unknown output": (
        INFER,
        {"inputs": [tensor()], "outputs": [{"name": "colour"}]},
        400,
        "no output 'colour': it has tags, probabilities",
    ),
    "beyond the body": (
        INFER,
        {"inputs": [tensor(parameters={"binary_data_size": 9})]},
        400,
        "beyond the body",
    ),
    "no such model": ("/v2/models/x/infer", {}, 404, "there are tagger, columns"),
    # TensorFlow Serving
    "neither": (PREDICT, {}, 400, "either instances"),
    "both": (PREDICT, {"instances": [], "inputs": {}}, 400, "either instances"),
    "no instances": (PREDICT, {"instances": []}, 400, "instances must be a list"),
    "bare rows": (PREDICT, {"instances": [["a"]]}, 400, "objects with the same names"),
    "other names": (
        PREDICT,
        {"instances": [{"tokens": ["a"]}, {"lengths": 1}]},
        400,
        "objects with the same names",
    ),
    "signature": (
        PREDICT,
        {"signature_name": "x", "instances": [{"tokens": ["a"]}]},
        400,
        "no signature 'x'",
    ),
    "a long token": (TAG, own(sentences=[["x" * 1001]]), 413, "has 1,001 characters"),
    "half a pair": (
        INFER,
        {"inputs": [tensor("\ud800", kind="INT32", data=[1])]},
        400,
        r"\ud800",
    ),
    "half a pair of bytes": (
        INFER,
        {"inputs": [tensor("\ud800", parameters={"binary_data_size": 99})]},
        400,
        r"of \ud800 is 99, beyond",
    ),
    "base64": (PREDICT, {"inputs": {"tokens": [[{"b64": "/w=="}]]}}, 400, "UTF-8"),
    "columns": (PREDICT, {"inputs": [["a"]]}, 400, "inputs must be an object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(service, case):
    path, body, status, message = REFUSED[case]
    found = service.post(path, body)
    [(key, told)] = found.json().items()
    assert (found.status_code, key) == (status, "error"), told
    assert message in told and "\n" not in told and len(told) < 300


@pytest.mark.parametrize(
    "data, headers, status, message",
    [
        (b"", {}, 400, "the body is empty"),
        (b"{", {}, 400, "the body is no JSON"),
        (b'{"a": "\xff"}', {}, 400, "the body is not UTF-8, from byte 7"),
        ('{"sentences": []}'.encode("utf-16"), {}, 400, "not UTF-8"),
        (b"[" * 100_000, {}, 400, "too many lists inside of lists"),
        (b" " * 2**20 + b"{}", {}, 413, "larger than 1,048,576 bytes"),
        (b"{}", {"Content-Encoding": "gzip"}, 415, "not compressed"),
        (b'{"a": ' + b"9" * 5000 + b"}", {}, 400, "no JSON"),
    ],
)
def test_bodies(service, data, headers, status, message):
    found = service.http.post(service.url + TAG, data=data, headers=headers, timeout=20)
    assert (found.status_code, list(found.json())) == (status, ["error"])
    assert message in found.json()["error"]


@pytest.mark.parametrize(
    "header, body, message",
    [
        ("x", b"{}", "must be a number of bytes"),
        ("99", b"{}", "the body has 2 bytes"),
        (None, b"\x01\x00\x00", "cut short"),
        (None, b"\x05\x00\x00\x00a", "cut short"),
        (None, b"\x01\x00\x00\x00\xff", "a string that is not UTF-8"),
    ],
)
def test_binary_bodies(service, header, body, message):
    tokens = tensor(parameters={"binary_data_size": len(body)})
    head = json.dumps({"inputs": [tokens]}).encode()
    headers = {"Inference-Header-Content-Length": header or str(len(head))}
    content = body if header else head + body
    found = service.http.post(service.url + INFER, data=content, headers=headers)
    assert found.status_code == 400 and message in found.json()["error"]


def test_bytes_of_no_tensor(service):
    head = json.dumps({"inputs": [tensor()]}).encode()
    headers = {"Inference-Header-Content-Length": str(len(head))}
    found = service.http.post(service.url + INFER, data=head + b"xy", headers=headers)
    assert "2 bytes of the body belong to no tensor" in found.json()["error"]


def test_a_page_from_elsewhere(service):
    """What any page may have a browser send without asking."""
    body, elsewhere = json.dumps(own(sentences=["a"])), {"Origin": "http://a.example"}
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


def test_a_body_without_an_announced_end(service):
    parts = (b"x" * 2**16 for _ in range(20))
    found = service.http.post(service.url + TAG, data=parts, timeout=20)
    assert found.status_code == 413


def test_other_addresses_and_methods(service):
    assert service.get("/nothing").status_code == 404
    assert "GET /models" in service.get("/nothing").json()["error"]
    found = service.get(TAG)
    assert (found.status_code, found.json()["error"]) == (405, "/tag is for POST")
    assert service.get("/v2/models/tagger/versions/2").status_code == 404
    # a redirection would be to http, which a proxy with TLS hides
    found = service.post("/tag/", own(sentences=["a"]), allow_redirects=False)
    assert found.status_code == 404
    assert found.headers["X-Content-Type-Options"] == "nosniff"
    assert found.headers["Referrer-Policy"] == "no-referrer"


def test_only_blanks_and_tabs_separate_words(service):
    found = service.post(TAG, own(sentences=["10\u00a0000 dogs\tbark "]))
    [sentence] = found.json()["sentences"]
    assert sentence["tokens"] == ["10\u00a0000", "dogs", "bark"]


def test_a_bad_request_in_a_batch_hurts_no_other(service, direct):
    """Good and bad ones at the same time, many times."""
    good = own(sentences=[["the", "dog", "barks"]])
    [expected] = direct["tagger"].answer(good["sentences"], ["tags"])
    bad = [body for path, body, *_ in REFUSED.values() if path == TAG]

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


def test_headers_without_end(service):
    """They are cut off; the service goes on."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as client:
        client.sendall(b"POST /tag HTTP/1.1\r\nX: ")
        try:
            while client.send(b"x" * 2**14):
                pass
        except OSError:
            pass
    assert service.get("/v2/health/live").status_code == 200
