"""A pipeline that is served: raw text in, annotated sentences out."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from keras_tagging import runtime
from keras_tagging.data.annotation import ConlluWriter, as_object
from keras_tagging.data.sentence import Sentence
from keras_tagging.service import worker
from keras_tagging.service.json_protocol import annotated
from keras_tagging.service.worker import PROBABLE, TextModel, stamp

TEXTS = [
    "Don't panic! It works.\n\nDoes it?",
    "猫が好き。 Ms. Été a dit « non » \U0001f600",
    "a",
    "x" * 80,
    "",
    " \n\t ",
]


WORDS = [["Dogs", "sleep."], ["x"], [], ["猫"]]
V2 = "/v2/models/whole/infer"


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


def test_open_inference(whole, pipeline, expected):
    given = [TEXTS[0], ""]
    found = {
        "json": [json.dumps(expected[text], ensure_ascii=False) for text in given],
        "conllu": [conllu(pipeline.annotate(text)) for text in given],
    }
    answer = whole.post(V2, {"inputs": [tensor(*given)]}).json()
    assert answer["outputs"] == [tensor(*v, name=name) for name, v in found.items()]
    asked = {"inputs": [tensor(*given)], "outputs": [{"name": "conllu"}]}
    answer = whole.post(V2, asked).json()
    assert answer["outputs"] == [tensor(*found["conllu"], name="conllu")]


def test_a_large_text_among_others_keeps_its_place():
    """It is cut by one request to a worker, and annotated by others."""
    pipeline = SimpleNamespace(
        parts={},
        sentences=lambda text, lines: [Sentence([w]) for w in text.split()],
        annotate_together=lambda sentences, probabilities: sentences,
        probability_columns=(),
    )
    model, asked = TextModel(pipeline), []

    async def ask(items, outputs):
        asked.append(len(items))
        return model.predict_rows(items, outputs)

    texts = ["a b", "x " * 251, "c"]
    small, large, last = asyncio.run(annotated(ask, texts, ["json", "conllu"]))
    assert asked == [3, 251] and large["words"] == [1] * 251
    assert [s.tokens for s in large["conllu"]] == [["x"]] * 251
    assert [s.tokens for x in (small, last) for s in x["conllu"]] == [*map(list, "abc")]
    assert [json.loads(x)["tokens"][0]["text"] for x in large["json"]] == ["x"] * 251


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
    worker.load({"here": (folder, stamp(folder))})
    jobs = [([text], [PROBABLE, "words"]), ([text], ["json", "words"])]
    [[probable], [plain]] = worker.answer("here", jobs)
    assert [*map(json.loads, probable[PROBABLE])] == expected
    found = [as_object(s) for s in pipeline.annotate(text)]
    assert [*map(json.loads, plain["json"])] == found
