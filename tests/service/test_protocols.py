"""Both protocols, each with a client of somebody else, and our own."""

import base64

import numpy as np
import pytest
from conftest import random_sentences
from tritonclient import http as triton
from tritonclient.utils import InferenceServerException

SENTENCES = [s for s in random_sentences(12, 5) if len(s) > 1] + random_sentences(
    1, 6, longest=1
)
WORDS = [s.tokens for s in SENTENCES]
ODD = [["É", "日本語", ""], ["ΟΔΟΣ."], ["1,000.5", "\x00", "👩‍👩‍👧"]]
LENGTHS = [*map(len, WORDS)]
WIDTH = max(LENGTHS)
PADDED = [words + ["junk"] * (WIDTH - len(words)) for words in WORDS]


@pytest.fixture(scope="module")
def expected(direct):
    return direct["tagger"].answer(WORDS, direct["tagger"].answers)


def cut(rows):
    return [row[:length] for row, length in zip(rows, LENGTHS, strict=True)]


def same(found, expected, names=("tags", "top_tags")):
    """The outputs `(batch, time, ...)` beside those of the sentences."""
    for name, rows in found.items():
        for row, answer, length in zip(rows, expected, LENGTHS, strict=True):
            if name in names:
                assert list(map(list, row[:length])) == list(map(list, answer[name]))
            else:
                np.testing.assert_allclose(row[:length], answer[name], atol=1e-6)


# The Open Inference Protocol, with NVIDIA's client


def tensors(binary, words=PADDED, lengths=LENGTHS, **columns):
    made = []
    for name, rows in {"tokens": words, **columns}.items():
        made.append(triton.InferInput(name, [len(rows), len(rows[0])], "BYTES"))
        made[-1].set_data_from_numpy(np.array(rows, object), binary_data=binary)
    made.append(triton.InferInput("lengths", [len(lengths)], "INT32"))
    made[-1].set_data_from_numpy(np.array(lengths, "int32"), binary_data=binary)
    return made


@pytest.fixture(scope="module")
def client(service):
    with triton.InferenceServerClient(service.url.removeprefix("http://")) as client:
        yield client


def test_what_a_client_asks_first(client, service):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("parser") and client.is_model_ready("tagger", "1")
    assert not client.is_model_ready("nobody")
    about = client.get_server_metadata()
    assert about["name"] == "keras-tagging"
    assert about["extensions"] == ["binary_tensor_data"]
    metadata = client.get_model_metadata("columns")
    assert [x["name"] for x in metadata["inputs"]] == ["tokens", "pos", "lengths"]
    shapes = {x["name"]: x["shape"] for x in metadata["outputs"]}
    assert shapes["tags"] == [-1, -1] and shapes["top_tags"] == [-1, -1, 5]
    assert client.get_model_metadata("gold")["outputs"][0]["datatype"] == "INT32"


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("binary_answer", [True, False])
def test_infer(client, expected, binary, binary_answer):
    names = ("tags", "probabilities", "top_tags", "top_probabilities")
    wanted = [triton.InferRequestedOutput(n, binary_data=binary_answer) for n in names]
    answer = client.infer("tagger", tensors(binary), outputs=wanted, request_id="7")
    assert answer.get_response()["id"] == "7"
    found = {name: answer.as_numpy(name) for name in names}
    if binary_answer:  # the client gives strings of binary tensors as bytes
        for name in ("tags", "top_tags"):
            decoded = [text.decode() for text in found[name].ravel()]
            found[name] = np.array(decoded, object).reshape(found[name].shape)
    assert found["top_tags"].shape == (len(WORDS), WIDTH, 5)
    same(found, expected)
    beyond = np.arange(WIDTH) >= np.array(LENGTHS)[:, None]
    assert (
        set(found["tags"][beyond]) == {""} and not found["probabilities"][beyond].any()
    )


def test_all_outputs_and_chosen_ones(client, service):
    everything = client.infer("tagger", tensors(True)).get_response()["outputs"]
    assert len(everything) == 4
    # as JSON, flat or nested, and without lengths: rows of full width
    tokens = {"name": "tokens", "datatype": "BYTES", "shape": [2, 2]}
    answers = []
    for data in (["a", "b", "c", "d"], [["a", "b"], ["c", "d"]]):
        body = {"inputs": [tokens | {"data": data}]}
        answers.append(service.post("/v2/models/tagger/infer", body).json())
    assert answers[0] == answers[1]
    assert [len(x["data"]) for x in answers[0]["outputs"]] == [4, 4, 20, 20]
    one = client.infer(
        "tagger", tensors(True), outputs=[triton.InferRequestedOutput("tags")]
    )
    [only] = one.get_response()["outputs"]
    assert (only["name"], only["shape"]) == ("tags", [len(WORDS), WIDTH])


def test_infer_a_parser_and_columns(client, direct):
    pos = [[tag[-1:] for tag in row] for row in PADDED]
    found = client.infer("columns", tensors(True, pos=pos)).as_numpy("tags")
    sentences = [s.columns["pos"] for s in SENTENCES]
    assert sentences == cut(pos)
    tags = [answer["tags"] for answer in direct["columns"].answer(SENTENCES, ["tags"])]
    decoded = [[tag.decode() for tag in row] for row in found]
    assert cut(decoded) == tags
    answer = client.infer("parser", tensors(True))
    trees = direct["parser"].answer(WORDS, ["heads", "deprels"])
    heads = answer.as_numpy("heads")
    assert heads.dtype == np.int32
    assert cut(heads.tolist()) == [tree["heads"] for tree in trees]
    labels = [[x.decode() for x in row] for row in answer.as_numpy("deprels")]
    assert cut(labels) == [tree["deprels"] for tree in trees]
    assert {h for row, n in zip(heads, LENGTHS, strict=True) for h in row[n:]} <= {-1}


def test_what_the_client_is_told(client):
    with pytest.raises(InferenceServerException, match="no output 'colour'"):
        client.infer(
            "tagger", tensors(True), outputs=[triton.InferRequestedOutput("colour")]
        )
    with pytest.raises(InferenceServerException, match="there is no model 'nobody'"):
        client.infer("nobody", tensors(True))
    with pytest.raises(InferenceServerException, match="pos is missing"):
        client.infer("columns", tensors(False))
    with pytest.raises(InferenceServerException, match="a length is 99"):
        client.infer("tagger", tensors(True, lengths=[99] * len(WORDS)))


# TensorFlow Serving's, as its documentation writes requests


def test_rows_and_columns_of_predict(service, expected):
    path = "/v1/models/tagger:predict"
    columns = {"tokens": PADDED, "lengths": LENGTHS}
    found = service.post(path, {"signature_name": "serving_default", "inputs": columns})
    same(found.json()["outputs"], expected)
    rows = [
        {"tokens": row, "lengths": n} for row, n in zip(PADDED, LENGTHS, strict=True)
    ]
    found = service.post(path, {"instances": rows}).json()["predictions"]
    assert {len(row["tags"]) for row in found} == {WIDTH}
    same({name: [row[name] for row in found] for name in found[0]}, expected)


def test_rows_without_padding_and_strings_in_base64(service, direct):
    encoded = [{"b64": base64.b64encode(w.encode()).decode()} for w in ODD[0]]
    rows = [{"tokens": row} for row in (encoded, *ODD[1:])]
    found = service.post("/v1/models/parser/versions/1:predict", {"instances": rows})
    assert found.json()["predictions"] == direct["parser"].answer(
        ODD, ["heads", "deprels"]
    )


def test_status_and_metadata(service):
    [state] = service.get("/v1/models/gold").json()["model_version_status"]
    assert (state["version"], state["state"]) == ("1", "AVAILABLE")
    found = service.get("/v1/models/gold/metadata").json()
    assert found["model_spec"]["name"] == "gold"
    [signature] = found["metadata"]["signature_def"]["signature_def"].values()
    assert set(signature["inputs"]) == {"tokens", "pos", "lengths"}
    assert signature["outputs"]["heads"]["dtype"] == "DT_INT32"
    assert len(signature["inputs"]["lengths"]["tensor_shape"]["dim"]) == 1


# Our own


def test_tag_and_parse(service, direct):
    body = {"model": "tagger", "sentences": ["the  dog", ["the", "dog"], []]}
    found = service.post("/tag", body)
    [tags] = direct["tagger"].answer([["the", "dog"]], direct["tagger"].answers)
    first, second, empty = found.json()["sentences"]
    assert first == second == {"tokens": ["the", "dog"], **tags}
    assert empty["tokens"] == empty["tags"] == []
    assert (
        found.json()["milliseconds"] > 0
        and "total;dur=" in found.headers["Server-Timing"]
    )
    columns = {"pos": [["a", "b"]]}
    body = {"model": "gold", "sentences": [["the", "dog"]], "columns": columns}
    [tree] = service.post("/parse", body).json()["sentences"]
    assert len(tree["heads"]) == len(tree["deprels"]) == 2


def test_models_and_metrics(service):
    listed = {m["name"]: m for m in service.get("/models").json()["models"]}
    assert list(listed) == ["tagger", "columns", "parser", "gold"]
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
