"""The Open Inference Protocol with a client of somebody else, and our own."""

import numpy as np
import pytest
from conftest import random_sentences
from tritonclient import http as triton

SENTENCES = [s for s in random_sentences(12, 5) if len(s) > 1] + random_sentences(
    1, 6, longest=1
)
WORDS = [s.tokens for s in SENTENCES]
LENGTHS = [*map(len, WORDS)]
WIDTH = max(LENGTHS)
PADDED = [words + ["junk"] * (WIDTH - len(words)) for words in WORDS]
NAMES = ("tags", "probabilities", "top_tags", "top_probabilities")


def cut(rows):
    return [row[:length] for row, length in zip(rows, LENGTHS, strict=True)]


def tensors(words=PADDED, lengths=LENGTHS, **columns):
    made = []
    for name, rows in {"tokens": words, **columns}.items():
        made.append(triton.InferInput(name, [len(rows), len(rows[0])], "BYTES"))
        made[-1].set_data_from_numpy(np.array(rows, object), binary_data=False)
    made.append(triton.InferInput("lengths", [len(lengths)], "INT32"))
    made[-1].set_data_from_numpy(np.array(lengths, "int32"), binary_data=False)
    return made


def outputs(*names):
    return [triton.InferRequestedOutput(name, binary_data=False) for name in names]


@pytest.fixture(scope="module")
def client(service):
    with triton.InferenceServerClient(service.url.removeprefix("http://")) as client:
        yield client


def test_what_a_client_asks_first(client):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("parser") and client.is_model_ready("tagger", "1")
    assert not client.is_model_ready("nobody")
    about = client.get_server_metadata()
    assert about["name"] == "keras-tagging" and about["extensions"] == []
    metadata = client.get_model_metadata("gold")
    assert [x["name"] for x in metadata["inputs"]] == ["tokens", "pos", "lengths"]
    assert metadata["outputs"][0]["datatype"] == "INT32"
    shapes = {
        x["name"]: x["shape"] for x in client.get_model_metadata("tagger")["outputs"]
    }
    assert shapes["tags"] == [-1, -1] and shapes["top_tags"] == [-1, -1, 5]


def test_infer(client, direct):
    expected = direct["tagger"].predict_rows(WORDS, direct["tagger"].served_outputs)
    answer = client.infer("tagger", tensors(), outputs=outputs(*NAMES), request_id="7")
    assert answer.get_response()["id"] == "7"
    found = {name: answer.as_numpy(name) for name in NAMES}
    assert found["top_tags"].shape == (len(WORDS), WIDTH, 5)
    for name, rows in found.items():
        for row, sentence, length in zip(rows, expected, LENGTHS, strict=True):
            if "tags" in name:
                assert row[:length].tolist() == np.array(sentence[name]).tolist()
            else:
                np.testing.assert_allclose(row[:length], sentence[name], atol=1e-6)
    beyond = np.arange(WIDTH) >= np.array(LENGTHS)[:, None]
    assert set(found["tags"][beyond]) == {""}
    assert not found["probabilities"][beyond].any()


def test_all_outputs_and_rows_of_full_width(service):
    """Flat or nested, and without lengths."""
    tokens = {"name": "tokens", "datatype": "BYTES", "shape": [2, 2]}
    answers = []
    for data in (["a", "b", "c", "d"], [["a", "b"], ["c", "d"]]):
        body = {"inputs": [tokens | {"data": data}]}
        answers.append(service.post("/v2/models/tagger/infer", body).json())
    assert answers[0] == answers[1] and "id" not in answers[0]
    assert [len(x["data"]) for x in answers[0]["outputs"]] == [4, 4, 20, 20]


def test_infer_parsers_and_columns(client, direct):
    trees = direct["parser"].predict_rows(WORDS, ["heads", "deprels"])
    answer = client.infer("parser", tensors(), outputs=outputs("heads", "deprels"))
    heads = answer.as_numpy("heads")
    assert heads.dtype == np.int32
    assert cut(heads.tolist()) == [tree["heads"] for tree in trees]
    assert cut(answer.as_numpy("deprels").tolist()) == [x["deprels"] for x in trees]
    assert {h for row, n in zip(heads, LENGTHS, strict=True) for h in row[n:]} <= {-1}
    pos = [[tag[-1:] for tag in row] for row in PADDED]
    assert [s.columns["pos"] for s in SENTENCES] == cut(pos)
    heads = client.infer("gold", tensors(pos=pos), outputs=outputs("heads"))
    trees = direct["gold"].predict_rows(SENTENCES, ["heads"])
    assert cut(heads.as_numpy("heads").tolist()) == [tree["heads"] for tree in trees]


def test_tag_and_parse(service, direct):
    body = {"model": "tagger", "sentences": ["the \tdog ", ["the", "dog"], []]}
    found = service.post("/tag", body)
    [tags] = direct["tagger"].predict_rows(
        [["the", "dog"]], direct["tagger"].served_outputs
    )
    first, second, empty = found.json()["sentences"]
    assert first == second == {"tokens": ["the", "dog"], **tags}
    assert empty["tokens"] == empty["tags"] == []
    assert found.json()["milliseconds"] > 0
    assert "total;dur=" in found.headers["Server-Timing"]
    columns = {"pos": [["a", "b"]]}
    body = {"model": "gold", "sentences": [["the", "dog"]], "columns": columns}
    [tree] = service.post("/parse", body).json()["sentences"]
    assert len(tree["heads"]) == len(tree["deprels"]) == 2


def test_models_and_metrics(service):
    listed = {m["name"]: m for m in service.get("/models").json()["models"]}
    assert list(listed) == ["tagger", "parser", "gold"]
    assert listed["gold"]["command"] == "parse" and listed["gold"]["columns"] == ["pos"]
    service.post("/tag", {"model": "tagger", "sentences": ["a b c"]})
    service.post("/tag", {"model": "tagger", "sentences": []})
    found = service.get("/metrics")
    assert found.headers["Content-Type"].startswith("text/plain")
    for line in (
        'keras_tagging_requests_total{model="tagger",route="tag",status="200"}',
        'keras_tagging_requests_total{model="tagger",route="tag",status="400"}',
        'keras_tagging_tokens_total{model="tagger"}',
        'keras_tagging_batch_sentences_count{model="tagger"}',
        'keras_tagging_request_seconds_bucket{le="0.1",model="tagger"}',
        "keras_tagging_ready_workers 1.0",
        "keras_tagging_waiting_requests 0.0",
    ):
        assert line in found.text
