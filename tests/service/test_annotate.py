"""A pipeline that is served: raw text in, annotated sentences out."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from keras_tagging import runtime
from keras_tagging.data.annotation import as_object
from keras_tagging.service import model_files as files
from keras_tagging.service.worker import load, stamp

TEXTS = [
    "Don't panic! It works.\n\nDoes it?",
    "猫が好き。 Ms. Été a dit « non » \U0001f600",
    "a",
    "x" * 80,
    "",
    " \n\t ",
]


@pytest.fixture(scope="module")
def expected(folder):
    pipeline = runtime.load(folder, threads=1)
    return {text: [as_object(s) for s in pipeline.annotate(text)] for text in TEXTS}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_annotated_as_by_the_pipeline(whole, expected, text):
    answer = whole.post("/annotate", {"text": text}).json()
    assert set(answer) == {"model", "sentences", "milliseconds"}
    assert answer["model"] == "whole" and answer["sentences"] == expected[text]
    tokens = [token for s in answer["sentences"] for token in s["tokens"]]
    assert all(text[t["start"] : t["end"]] == t["text"] for t in tokens)
    spans = [span for s in answer["sentences"] for span in s["spans"]]
    assert len(spans) == len(tokens)  # each word is an entity, and each token one word
    assert all(text[span["start"] : span["end"]] == span["text"] for span in spans)


def test_texts_that_come_together_are_kept_apart(whole, expected):
    texts = TEXTS * 8
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda x: whole.post("/annotate", {"text": x}), texts)
        answers = [response.json()["sentences"] for response in found]
    assert answers == [expected[text] for text in texts]
    counted = whole.get("/metrics").text
    [line] = [x for x in counted.splitlines() if 'tokens_total{model="whole"}' in x]
    assert float(line.split()[-1]) > 8


@pytest.mark.parametrize(
    "path, body, status, message",
    [
        ("/annotate", {}, 400, "text must be a string, not None: send text"),
        ("/annotate", {"text": ["a"]}, 400, "text must be a string, not ['a']"),
        ("/annotate", {"text": "a", "beta": 1}, 400, "no 'beta' in a request: send"),
        ("/annotate", {"text": "a" * 101}, 413, "101 characters in one request: send"),
        ("/annotate", {"text": "\ud800"}, 400, "is no Unicode text"),
        ("/annotate", [], 400, "the body is no object: send text"),
        ("/annotate", {"model": "x", "text": "a"}, 404, "there is no model 'x'"),
        ("/annotate", {"model": "tagger", "text": "a"}, 400, "post to /tag"),
        ("/tag", {"model": "whole", "sentences": ["a"]}, 400, "post to /annotate"),
        ("/v1/models/whole:predict", {}, 400, "post to /annotate"),
        ("/v2/models/whole/infer", {}, 400, "reads text: post to /annotate"),
    ],
)
def test_what_is_refused(whole, path, body, status, message):
    response = whole.post(path, body)
    assert response.status_code == status and message in response.json()["error"]


def test_what_is_told(whole):
    described = {m["name"]: m for m in whole.get("/models").json()["models"]}
    assert described["whole"]["kind"] == "pipeline"
    assert described["whole"]["command"] == "annotate"
    assert described["whole"]["architecture"] == "segmenter, bigru, lstm-parser, bigru"
    assert whole.get("/v2/models/whole/ready").json()["ready"] is True
    assert whole.get("/v2/models/whole").status_code == 400


def test_a_folder_that_changes_is_noticed(folder, tmp_path):
    before = stamp(str(folder))
    (tmp_path / "pipeline.json").write_text("{}")
    with pytest.raises(ValueError, match="has changed since the service was started"):
        load({"whole": (str(tmp_path), before)})


def test_a_pipeline_of_keras_is_exported_whole(tmp_path, monkeypatch):
    (tmp_path / "pipeline.json").write_text('{"format": 1, "parts": {"tagger": {}}}')
    asked = []

    def run(command, **_):
        asked.append(command[3:])
        return SimpleNamespace(returncode=len(asked) - 1, stderr="error: no disk")

    monkeypatch.setattr(files.subprocess, "run", run)
    made = files.as_onnx("en", tmp_path, tmp_path / "made")
    assert made == tmp_path / "made" / "en"
    assert asked == [["export", str(tmp_path), str(made), "--onnx"]]
    with pytest.raises(ValueError, match="no disk. Where .* en --onnx does it, and"):
        files.as_onnx("en", tmp_path, tmp_path / "made")
