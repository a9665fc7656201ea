"""A pipeline that is served: raw text in, annotated sentences out."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from tritonclient.http import InferenceServerClient, InferInput

from keras_tagging import runtime
from keras_tagging.data.annotation import ConlluWriter, as_object
from keras_tagging.data.sentence import Sentence
from keras_tagging.service import model_files as files
from keras_tagging.service import texts
from keras_tagging.service.problems import Problem
from keras_tagging.service.worker import answer as run
from keras_tagging.service.worker import load, stamp

TEXTS = [
    "Don't panic! It works.\n\nDoes it?",
    "猫が好き。 Ms. Été a dit « non » \U0001f600",
    "a",
    "x" * 80,
    "",
    " \n\t ",
]


WORDS = [["Dogs", "sleep."], ["x"], [], ["猫"]]
V1, V2 = "/v1/models/whole:predict", "/v2/models/whole/infer"


def tensor(*data, name="text", shape=None):
    shape = shape or [len(data)]
    return {"name": name, "datatype": "BYTES", "shape": shape, "data": [*data]}


@pytest.fixture(scope="module")
def pipeline(folder):
    return runtime.load(folder, threads=1)


@pytest.fixture(scope="module")
def expected(pipeline):
    return {text: [as_object(s) for s in pipeline.annotate(text)] for text in TEXTS}


def conllu(sentences, number=None):
    return "".join(map(ConlluWriter(number).write, sentences))


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


def test_several_texts(whole, expected, pipeline):
    given = [TEXTS[1], "", TEXTS[2]]
    answer = whole.post("/annotate", {"texts": given}).json()
    assert set(answer) == {"model", "documents", "milliseconds"}
    assert answer["documents"] == [{"sentences": expected[text]} for text in given]
    answer = whole.post("/annotate", {"texts": given, "output": "conllu"})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    documents = (pipeline.annotate(text) for text in given)
    assert answer.text == "".join(map(conllu, documents, "123"))
    assert "# newdoc id = 3\n" in answer.text


def test_words_that_are_given_stay(whole, pipeline):
    found = [*pipeline.annotate([Sentence(words) for words in WORDS])]
    body = {"sentences": ["Dogs sleep.", *WORDS[1:]]}
    answer = whole.post("/annotate", body).json()
    assert answer["sentences"] == [*map(as_object, found)]
    assert [len(s["tokens"]) for s in answer["sentences"]] == [2, 1, 0, 1]
    accept = {"Accept": "text/plain;q=1, */*"}
    answer = whole.post("/annotate", body, headers=accept)
    assert answer.text == conllu(found)
    answer = whole.post("/annotate", {**body, "output": "json"}, headers=accept)
    assert set(answer.json()) == {"model", "sentences", "milliseconds"}


def test_lines_are_not_split(whole, pipeline):
    text = "One. Two. Three.\n\nAnd so\n"
    assert len([*pipeline.annotate(text, lines=True)]) == 2
    body = {"text": text, "input": "lines"}
    answer = whole.post("/annotate", body).json()["sentences"]
    assert answer == [as_object(s) for s in pipeline.annotate(text, lines=True)]
    answer = whole.post("/annotate", {**body, "output": "conllu"}).text
    assert answer == conllu(pipeline.annotate(text, lines=True))


def test_the_protocols_of_others(whole, pipeline, expected):
    given = [TEXTS[0], ""]
    found = {
        "json": [json.dumps(expected[text], ensure_ascii=False) for text in given],
        "conllu": [conllu(pipeline.annotate(text)) for text in given],
    }
    rows = [{"json": found["json"][i], "conllu": found["conllu"][i]} for i in range(2)]
    encoded = [{"b64": base64.b64encode(text.encode()).decode()} for text in given]
    for sent in (given, [{"text": text} for text in given], encoded):
        assert whole.post(V1, {"instances": sent}).json() == {"predictions": rows}
    for sent in (given, {"text": given}):
        assert whole.post(V1, {"inputs": sent}).json() == {"outputs": found}
    answer = whole.post(V2, {"inputs": [tensor(*given)]}).json()
    assert answer["outputs"] == [tensor(*v, name=name) for name, v in found.items()]
    asked = {"inputs": [tensor(*given)], "outputs": [{"name": "conllu"}]}
    answer = whole.post(V2, asked).json()
    assert answer["outputs"] == [tensor(*found["conllu"], name="conllu")]
    text = InferInput("text", [2], "BYTES")
    text.set_data_from_numpy(np.array(given, object))
    with InferenceServerClient(whole.url.removeprefix("http://")) as client:
        packed = client.infer("whole", [text]).as_numpy("json")
    assert [x.decode() for x in packed] == found["json"]


def test_a_large_text_among_others_keeps_its_place():
    """It is cut by one request to a worker, and annotated by others."""
    pipeline = SimpleNamespace(
        parts={},
        sentences=lambda text, lines: [Sentence([w]) for w in text.split()],
        annotate_together=lambda sentences, probabilities: sentences,
        probability_columns=(),
    )
    model, names = texts.TextModel(pipeline), ["json", "conllu", texts.WORDS]
    given = ["a b", "x " * 251, "c"]
    answers = model.answer(given, names)
    rest = texts.unfinished(answers)
    assert len(rest) == 251
    answers = texts.finished(answers, model.answer(rest, names))
    assert answers == [
        model.answer(["a b"], names)[0],
        *answers[1:2],
        *model.answer(["c"], names),
    ]
    assert [s.tokens for s in answers[1]["conllu"]] == [["x"]] * 251
    assert texts.words_of(answers) == 254 and texts.unfinished(answers) == []


def test_probabilities_of_labels(whole, pipeline, folder):
    text = TEXTS[0]
    expected = [*map(as_object, pipeline.annotate(text, probabilities=True))]
    body = {"text": text, "probabilities": True}
    answer = whole.post("/annotate", body).json()
    assert answer["sentences"] == expected
    word = answer["sentences"][0]["tokens"][0]["words"][0]
    assert {*word["probabilities"]} == {"upos", "xpos", "lemma", "ner"}
    about = {
        m["name"]: m["probabilities"] for m in whole.get("/models").json()["models"]
    }
    assert about == {"whole": True, "tagger": False}
    # of requests that are run together, each has what it asked for
    load({"here": (folder, stamp(folder))})
    jobs = [([text], [texts.PROBABLE, "words"]), ([text], ["json", "words"])]
    [[probable], [plain]] = run("here", jobs)
    assert [*map(json.loads, probable[texts.PROBABLE])] == expected
    found = [as_object(s) for s in pipeline.annotate(text)]
    assert [*map(json.loads, plain["json"])] == found
    about = SimpleNamespace(name="trees", probabilities=False)
    with pytest.raises(Problem, match="trees has no tagger, whose labels have prob"):
        texts.read(about, body, 99)


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
        ("/annotate", {}, 400, "the body has no text: send text, texts or sentences"),
        ("/annotate", {"text": "a", "texts": ["a"]}, 400, "has text and texts: send"),
        (
            "/annotate",
            {"text": "a", "probabilities": 1},
            400,
            "probabilities is 1: it may be true or false",
        ),
        (
            "/annotate",
            {"text": "a", "probabilities": True, "output": "conllu"},
            400,
            "conllu has no place for probabilities: ask for json",
        ),
        ("/annotate", {"texts": "a"}, 400, "texts must be a list of strings, not 'a'"),
        ("/annotate", {"texts": []}, 400, "texts is empty: send at least one"),
        ("/annotate", {"sentences": []}, 400, "there are no tokens in"),
        (
            "/annotate",
            {"text": "a", "columns": {}},
            400,
            "whole reads no columns: send",
        ),
        ("/annotate", {"texts": ["a", 1]}, 400, "text must be a string, not 1: send"),
        ("/annotate", {"texts": ["a"] * 1001}, 413, "1,001 texts in one request: send"),
        ("/annotate", {"texts": ["a" * 50] * 3}, 413, "150 characters in one request"),
        ("/annotate", {"sentences": [["a"] * 21]}, 413, "21 tokens, padding included"),
        ("/annotate", {"sentences": [[]]}, 400, "there are no tokens in"),
        ("/annotate", {"sentences": [["a", ""]]}, 400, "a word is empty: leave it out"),
        ("/annotate", {"sentences": [[1]]}, 400, "tokens must be strings, but one of"),
        (
            "/annotate",
            {"sentences": ["a"], "input": "lines"},
            400,
            "input tells of text",
        ),
        (
            "/annotate",
            {"text": "a", "input": []},
            400,
            "input is []: it may be text or",
        ),
        ("/annotate", {"text": "a", "output": "x"}, 400, "it may be json or conllu"),
        ("/annotate", {"text": ["a"]}, 400, "text must be a string, not ['a']"),
        ("/annotate", {"text": "a", "beta": 1}, 400, "no 'beta' in a request: send"),
        ("/annotate", {"text": "a" * 101}, 413, "101 characters in one request: send"),
        ("/annotate", {"text": "\ud800"}, 400, "is no Unicode text"),
        ("/annotate", [], 400, "the body is no object: send text"),
        ("/annotate", {"model": "x", "text": "a"}, 404, "there is no model 'x'"),
        ("/annotate", {"model": "tagger", "text": "a"}, 400, "post to /tag"),
        ("/tag", {"model": "whole", "sentences": ["a"]}, 400, "post to /annotate"),
        (V1, {}, 400, "send either instances"),
        (V1, {"instances": [["a"]]}, 400, "text must be a string, not ['a']"),
        (V1, {"instances": ["a" * 101]}, 413, "101 characters in one request"),
        (V1, {"instances": []}, 400, "instances is empty: send at least one text"),
        (V1, {"instances": [5]}, 400, "not 5: send instances or inputs, a list of"),
        (V1, {"inputs": {"tokens": ["a"]}}, 400, "inputs must be a list of strings"),
        (V2, {}, 400, "send an object with inputs"),
        (V2, {"inputs": [tensor("a", name="x")]}, 400, "whole reads one input, text"),
        (V2, {"inputs": [tensor("a")] * 2}, 400, "whole reads one input, text"),
        (V2, {"inputs": [tensor(1)]}, 400, "text must be a string, not 1"),
        (V2, {"inputs": [tensor("a", shape=[1, 1])]}, 400, "one axis: [texts]"),
        (V2, {"inputs": [tensor()]}, 400, "text is empty: send at least one text"),
        (
            V2,
            {"inputs": [tensor("a")], "outputs": [{"name": "tags"}]},
            400,
            "whole has no output 'tags': it has json, conllu",
        ),
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
    assert whole.get("/v2/models/whole").json() == {
        "name": "whole",
        "versions": ["1"],
        "platform": "onnxruntime_onnx",
        "inputs": [{"name": "text", "datatype": "BYTES", "shape": [-1]}],
        "outputs": [
            {"name": "json", "datatype": "BYTES", "shape": [-1]},
            {"name": "conllu", "datatype": "BYTES", "shape": [-1]},
        ],
    }
    told = whole.get("/v1/models/whole/metadata").json()["metadata"]["signature_def"]
    signature = told["signature_def"]["serving_default"]
    assert list(signature["inputs"]) == ["text"]
    assert list(signature["outputs"]) == ["json", "conllu"]
    assert signature["outputs"]["json"]["tensor_shape"]["dim"] == [
        {"size": "-1", "name": ""}
    ]


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
